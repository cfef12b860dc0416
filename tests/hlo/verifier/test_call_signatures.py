"""Custom calls with known targets: wrong operand or result shapes are refused everywhere."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import CompileFailedError
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.call_signatures import CALL_SIGNATURES, MARKERS
from xla_explorer.hlo.evaluator.registry import EvaluationError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.verifier import violations

_TYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_FAMILIES = {
    "potrf": "{t}[2,4,4]", "getrf": "{t}[2,3,4]", "geqrf": "{t}[2,4,3]", "geqp3": "{t}[2,4,3], s32[2,3]", "orgqr": "{t}[2,4,3], {t}[2,2]",
    "ungqr": "{t}[2,4,3], {t}[2,2]", "ormqr": "{t}[2,4,3], {t}[2,3], {t}[2,4,5]", "unmqr": "{t}[2,4,3], {t}[2,3], {t}[2,4,5]",
    "syevd": "{t}[2,4,4]", "heevd": "{t}[2,4,4]", "gesdd": "{t}[2,3,4]", "gesvd": "{t}[2,4,3]", "geev": "{t}[2,4,4]", "gees": "{t}[2,4,4]",
    "gehrd": "{t}[2,4,4]", "sytrd": "{t}[2,4,4]", "hetrd": "{t}[2,4,4]", "gtsv": "{t}[2,4], {t}[2,4], {t}[2,4], {t}[2,4,3]",
    "trsm": "{t}[2,4,4], {t}[2,4,3]",
}  # fmt: skip
_OTHERS = {
    "Qr": "f32[2,4,3]", "Eigh": "f64[4,4]", "LuDecomposition": "c64[3,4]", "ProductOfElementaryHouseholderReflectors": "f32[4,3], f32[2]",
    "tridiagonal_solve_perturbed_ffi": "f32[2,4], f32[2,4], f32[2,4], f32[2,4,3]",
    "cpu_csr_sparse_dense_ffi": "f32[5], s32[4], s32[5], f32[3,2]", "TopK": "f32[2,8]", "__gpu$TopK": "f32[2,8]", "PadToStatic": "f32[4,8]",
    **dict.fromkeys(MARKERS, "f32[2,3]"),
}  # fmt: skip


def operands_of(target: str) -> str:
    """Operands that the target takes."""
    if target in _OTHERS:
        return _OTHERS[target]
    name = target.removeprefix("lapack_").removesuffix("_ffi")
    return _FAMILIES[name[1:]].format(t=_TYPES[name[0]])


def call(target: str, operands: str, result: str) -> xe.HloModule:
    shapes = _split(operands)
    lines = [f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes)]
    names = ", ".join(f"p{k}" for k in range(len(shapes)))
    typed = ", api_version=API_VERSION_TYPED_FFI" if target.endswith("_ffi") else ""
    return xe.parse_hlo("\n".join([
        "HloModule m", "ENTRY e {", *lines, f'  ROOT r = {result} custom-call({names}), custom_call_target="{target}"{typed}', "}",
    ]))  # fmt: skip


def _split(text: str) -> list[str]:
    found, depth = [""], 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return [x.strip() for x in found]


@functools.cache
def results_of(target: str) -> tuple[Shape, ...]:
    """Return the results for `operands_of`; k of TopK is 3."""
    made: HloInstruction = call(target, operands_of(target), "(f32[2,3], s32[2,3])").entry.root
    return CALL_SIGNATURES[target](made)


def _text(shapes: tuple[Shape, ...] | list[Shape], target: str) -> str:
    texts = [s.text_without_layout for s in shapes]
    return texts[0] if len(texts) == 1 and target != "PadToStatic" else f"({', '.join(texts)})"


def _changed(shape: Shape) -> Iterator[Shape]:
    kind = "s16" if shape.element_type.name != "s16" else "s8"
    yield xe.hlo.shape.parse_shape(f"{kind}[{','.join(map(str, shape.dimensions))}]")
    for d in range(shape.rank):
        yield shape.with_dimensions([n + (k == d) for k, n in enumerate(shape.dimensions)])
        yield shape.with_dimensions([n for k, n in enumerate(shape.dimensions) if k != d])
    yield shape.with_dimensions((*shape.dimensions, 7))


def _codes(module: xe.HloModule) -> set[str]:
    return {v.code for v in violations(module)}


def test_every_target_has_a_case() -> None:
    for target in CALL_SIGNATURES:
        module = call(target, operands_of(target), _text(results_of(target), target))
        assert not _codes(module), target


@pytest.mark.parametrize("target", sorted(CALL_SIGNATURES))
def test_other_results_are_refused(target: str) -> None:
    right = results_of(target)
    wrong = [
        [*right[:k], other, *right[k + 1 :]]
        for k, shape in enumerate(right)
        for other in _changed(shape)
    ]
    wrong += [[*right, right[0]], *([list(right[:-1])] if len(right) > 1 else [])]
    for shapes in wrong:
        if (
            target == "TopK"
            and {s.dimensions for s in shapes} == {shapes[0].dimensions}
            and [s.element_type for s in shapes] == [s.element_type for s in right]
        ):
            continue
        codes = _codes(call(target, operands_of(target), _text(shapes, target)))
        assert codes & {"call-results", "call-operands"}, (target, _text(shapes, target))


@pytest.mark.parametrize("target", sorted(CALL_SIGNATURES))
def test_other_operands_are_refused(target: str) -> None:
    """Of another type or rank, with the results of the right ones."""
    operands = [xe.hlo.shape.parse_shape(s) for s in _split(operands_of(target))]
    for k, shape in enumerate(operands):
        for other in (
            next(_changed(shape)),
            shape.with_dimensions(shape.dimensions[1:]),
            shape.with_dimensions((*shape.dimensions, 7)),
        ):
            texts = [s.text_without_layout for s in (*operands[:k], other, *operands[k + 1 :])]
            codes = _codes(call(target, ", ".join(texts), _text(results_of(target), target)))
            assert codes & {"call-results", "call-operands"}, (target, texts)


HOSTILE = [
    ("lapack_sgetrf_ffi", "f32[64,64]", "(f32[1,1], s32[64], s32[])"),
    ("lapack_spotrf_ffi", "f32[2,2]", "(f32[64,64], s32[2], f32[2], s32[])"),
    ("lapack_sormqr_ffi", "f32[64,64], f32[64], f32[2,2]", "f32[2,2]"),
    ("PadToStatic", "f32[8]", "f32[4096]"),
    ("PadToStatic", "f32[8]", "(f32[4096], s32[])"),
    ("TopK", "f32[8]", "f32[8]"),
    ("TopK", "f32[8]", "(f32[800], s32[800])"),
    ("cpu_csr_sparse_dense_ffi", "f32[64], s32[4], s32[5], f32[3,2]", "f32[3,2]"),
    ("tridiagonal_solve_perturbed_ffi", "f32[4], f32[64], f32[4], f32[64,3]", "f32[64,3]"),
]


@pytest.mark.parametrize(("target", "operands", "result"), HOSTILE, ids=lambda x: x)
def test_nobody_computes_a_call_with_shapes_of_its_own(
    target: str, operands: str, result: str
) -> None:
    module = call(target, operands, result)
    assert _codes(module)
    arguments = xe.random_arguments(module)
    for backend, verifies in itertools.product(("cpu", "interpreter"), (True, False)):
        with pytest.raises((CompileFailedError, XlaExplorerError)):
            xe.compile(module, backend=backend, verify=verifies, cache=False)(*arguments)


@pytest.mark.parametrize("attribute", ["uplo = 78 : ui8", "uplo = 0 : ui8"])
def test_letters_are_those_that_lapack_knows(attribute: str) -> None:
    text = (
        call("lapack_spotrf_ffi", "f32[4,4]", "(f32[4,4], s32[])")
        .to_text()
        .replace("TYPED_FFI", f"TYPED_FFI, backend_config={{{attribute}}}")
    )
    assert _codes(xe.parse_hlo(text)) == {"call-operands"}


def test_a_static_array_is_its_own_size() -> None:
    module = call("PadToStatic", "f32[2,3]", "(f32[2,3], s32[], s32[])")
    x = xe.random_arguments(module)[0]
    whole, rows, columns = xe.compile(module, cache=False)(x)
    assert (whole == x).all() and (int(rows), int(columns)) == (2, 3)


@pytest.mark.parametrize("aliasing", ["{{}: (0, {})}", "{{}: (3, {})}", "{{1}: (0, {})}"])
def test_a_result_in_the_memory_of_an_operand_has_its_shape(aliasing: str) -> None:
    text = f"""HloModule m
ENTRY e {{
  a = f32[4] parameter(0)
  ROOT r = f32[400] custom-call(a), custom_call_target="anything", output_to_operand_aliasing={aliasing}
}}"""
    assert _codes(xe.parse_hlo(text)) == {"operand-alias"}


BORDERS = [
    ("xla.sdy.GlobalToLocalShape", "f32[4]", "(f32[4], s32[])", "each operand must have a result"),
    (
        "xla.sdy.GlobalToLocalShape",
        "f32[4]",
        "f32[2]",
        "frontend_attributes must have xla.sdy.in_shardings",
    ),
    (
        "xla.sdy.LocalToGlobalShape",
        "f32[4]",
        "f32[8]",
        "frontend_attributes must have xla.sdy.out_shardings",
    ),
    ("SPMDFullToShardShape", "f32[4]", "s32[2]", "must be a part of"),
    ("SPMDShardToFullShape", "f32[4,4]", "f32[2]", "must be a part of"),
]


@pytest.mark.parametrize(("target", "operands", "result", "message"), BORDERS)
def test_a_border_of_a_region_says_what_its_call_lacks(
    target: str, operands: str, result: str, message: str
) -> None:
    module = call(target, operands, result)
    with pytest.raises(EvaluationError, match=message):
        xe.evaluate(module, *xe.random_arguments(module))


@pytest.mark.parametrize("batch", ["", "2,"])
@pytest.mark.parametrize("layout", ["", "column-major"])
@pytest.mark.parametrize("whole", [True, False])
def test_singular_values_alone_are_stated_with_vectors_of_either_size(
    batch: str, layout: str, whole: bool
) -> None:
    """JAX writes the shapes of full matrices, and LAPACK's layouts."""

    def laid(dimensions: str) -> str:
        rank = dimensions.count(",") + 1
        order = (
            [rank - 2, rank - 1, *reversed(range(rank - 2))] if layout else [*reversed(range(rank))]
        )
        return f"f32[{dimensions}]{{{','.join(map(str, order))}}}"

    vectors = ("3,3", "4,4") if whole else ("3,3", "3,4")
    results = [
        laid(batch + "3,4"),
        f"f32[{batch}3]",
        *[laid(batch + v) for v in vectors],
        f"s32[{batch.strip(',')}]",
    ]
    text = f"""HloModule m
    ENTRY e {{
      p0 = f32[{batch}3,4] parameter(0)
      ROOT r = ({", ".join(results)}) custom-call(p0), custom_call_target="lapack_sgesdd_ffi", api_version=API_VERSION_TYPED_FFI,
        backend_config="{{mode = 78 : ui8}}"
    }}"""
    assert not violations(xe.parse_hlo(text))
