"""Empty arrays, reductions and slices: native code has the evaluator's value, reads nothing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.testing.opcode_program import OpcodeProgram, draw
from xla_explorer.backends.testing.programs import PROGRAMS
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.hlo.evaluator import flatten_value
from xla_explorer.hlo.verifier import HloVerifyError, verify

BACKENDS = ("cpu", "gpu")


def assert_same(
    module: xe.HloModule, arguments: tuple[Any, ...], backend: str, passes: str
) -> None:
    expected = flatten_value(xe.evaluate(module, *arguments))
    found = flatten_value(
        xe.compile(module, backend=backend, passes=passes, cache=False, journal="off")(*arguments)
    )
    for a, b in zip(expected, found, strict=True):
        assert (np.asarray(a).shape, np.asarray(a).dtype) == (
            np.asarray(b).shape,
            np.asarray(b).dtype,
        )
        np.testing.assert_array_equal(
            np.asarray(a).astype(np.complex128), np.asarray(b).astype(np.complex128)
        )


def _empty_programs() -> list[Any]:
    programs = [
        p for p in PROGRAMS if p.opcode != "cholesky"
    ]  # of n x n: never of nothing and something
    return [
        pytest.param(p, n, id=f"{p.opcode}-{k}")
        for k, (p, n) in enumerate(itertools.product(programs, ((0, 3), (3, 0))))
    ]


@pytest.mark.parametrize(("program", "sizes"), _empty_programs())
def test_every_opcode_takes_dimensions_of_size_zero(
    program: OpcodeProgram, sizes: tuple[int, int]
) -> None:
    """Every opcode takes empty dimensions, with only the passes that code generation needs.

    Other rules would remove the empty arrays.
    """
    module = xe.parse_hlo(
        program.text(
            next((t for t in ("f32", "s32") if t in program.types), program.types[0]), sizes
        )
    )
    try:
        verify(module)
    except HloVerifyError:
        return
    leaves = [p.shape for p in module.entry.parameters()]
    drawn = tuple(
        [draw(shape, program.values, k) for k, shape in enumerate(leaves) if shape.is_array]
    )
    arguments = drawn if len(drawn) == len(leaves) else xe.random_arguments(module)
    for backend in BACKENDS:
        assert_same(module, arguments, backend, "none")


def _literal(element_type: str, value: int) -> str:
    if element_type == "pred":
        return "true" if value else "false"
    return f"({value}, 0)" if element_type.startswith("c") else str(value)


REDUCED = """
f {{
  p = {t}[42,0] parameter(0)
  z = {t}[] constant({one})
  n = {t}[42,0] {opcode}(p)
  ROOT r = {t}[42] reduce(n, z), dimensions={{1}}, to_apply=fold
}}
ENTRY e {{
  p = {t}[42,0] parameter(0)
  q = {t}[42] parameter(1)
  r = {t}[42] fusion(p), kind=kLoop, calls=f
  k = {t}[42] {opcode}(q)
  ROOT t = ({t}[42], {t}[42]) tuple(r, k)
}}
"""


@pytest.mark.parametrize(
    "element_type",
    ["pred", "s4", "s8", "u16", "s64", "f8e4m3fn", "bf16", "f16", "f32", "f64", "c64"],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_reduction_over_nothing_in_a_fusion_is_its_initial_value(
    backend: str, element_type: str
) -> None:
    fold = (
        "fold {{\n a = {t}[] parameter(0)\n b = {t}[] parameter(1)\n ROOT r = {t}[] {o}(a, b)\n}}\n"
    )
    holes = {
        "t": element_type,
        "one": _literal(element_type, 1),
        "opcode": "not" if element_type == "pred" else "negate",
    }
    text = fold.format(
        t=element_type, o="and" if element_type == "pred" else "add"
    ) + REDUCED.format(**holes)
    module = xe.parse_hlo("HloModule m\n" + text)
    assert_same(module, xe.random_arguments(module), backend, "none")
    assert_same(module, xe.random_arguments(module), backend, "default")


FUSED_PRODUCT = """HloModule m
f {{
  p = {t}[{n},{k}] parameter(0)
  q = {t}[{k},{m}] {right}
  n = {t}[{n},{k}] negate(p)
  ROOT r = {t}[{n},{m}] dot(n, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
ENTRY e {{
  p = {t}[{n},{k}] parameter(0)
  q = {t}[{k},{m}] parameter(1)
  ROOT r = {t}[{n},{m}] fusion({operands}), kind=kLoop, calls=f
}}
"""


@pytest.mark.parametrize("passes", ["none", "default"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("element_type", ["s8", "f32", "f16"])
def test_a_product_over_nothing_in_a_fusion_is_zero(
    element_type: str, backend: str, passes: str
) -> None:
    text = FUSED_PRODUCT.format(
        t=element_type, n=500, k=0, m=3, right="parameter(1)", operands="p, q"
    )
    module = xe.parse_hlo(text)
    assert_same(module, xe.random_arguments(module), backend, passes)


@pytest.mark.parametrize("passes", ["none", "default"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_product_of_a_constant_in_a_fusion(backend: str, passes: str) -> None:
    text = FUSED_PRODUCT.format(
        t="s32", n=5, k=2, m=3, right="constant({{1,2,3},{4,5,6}})", operands="p"
    )
    module = xe.parse_hlo(text)
    assert_same(module, xe.random_arguments(module), backend, passes)


GATHERS = {
    "a collapsed dimension": "a = {t}[4,8] parameter(0)\n i = s32[2,1] parameter(1)\n ROOT g = {t}[2,8] gather(a, i), offset_dims={{1}}, "
    "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{0,8}}",
    "a batching dimension": "a = {t}[4,8] parameter(0)\n i = s32[4] parameter(1)\n ROOT g = {t}[4,8] gather(a, i), offset_dims={{1}}, "
    "collapsed_slice_dims={{}}, operand_batching_dims={{0}}, start_indices_batching_dims={{0}}, start_index_map={{1}}, index_vector_dim=1, "
    "slice_sizes={{0,8}}",
    "an empty operand": "a = {t}[0] parameter(0)\n i = s8[1,1] parameter(1)\n ROOT g = {t}[1] gather(a, i), offset_dims={{}}, "
    "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{0}}",
    "an empty window": "a = {t}[4,8] parameter(0)\n i = s32[2,1] parameter(1)\n ROOT g = {t}[2,0] gather(a, i), offset_dims={{1}}, "
    "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,0}}",
    "an empty operand and window": "a = {t}[0,4] parameter(0)\n i = s32[2,1] parameter(1)\n ROOT g = {t}[2,0] gather(a, i), offset_dims={{1}}, "
    "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{0,0}}",
    "one element": "a = {t}[1] parameter(0)\n i = s32[2,1] parameter(1)\n ROOT g = {t}[2] gather(a, i), offset_dims={{}}, "
    "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{0}}",
    "no indices": "a = {t}[4,8] parameter(0)\n i = s32[0,1] parameter(1)\n ROOT g = {t}[0,8] gather(a, i), offset_dims={{1}}, "
    "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,8}}",
}


@pytest.mark.parametrize("element_type", ["s32", "f32", "pred", "u8", "c64", "f8e8m0fnu"])
@pytest.mark.parametrize("kind", GATHERS)
def test_a_gather_of_empty_slices_is_zero(kind: str, element_type: str) -> None:
    module = xe.parse_hlo(
        "HloModule m\nENTRY e {\n " + GATHERS[kind].format(t=element_type) + "\n}"
    )
    arguments = xe.random_arguments(module)
    arguments = (arguments[0], np.full_like(arguments[1], 100))
    for backend, passes in itertools.product(BACKENDS, ("none", "default", "gather_expander")):
        assert_same(module, arguments, backend, passes)


def test_a_constant_range_without_elements_is_never_entered() -> None:
    w = FunctionWriter()
    with w.loop(0, stem="nothing"):
        w.number(1, I64) + 2
    with w.loop(3, 5, stem="nothing"):
        w.number(1, I64) + 2
    lines = w.lines()
    bodies = [
        line.removesuffix(":")
        for line in lines
        if line.startswith("nothing") and ".end" not in line
    ]
    assert len(bodies) == 2
    targets = [
        word.rstrip(",") for line in lines if line.startswith("  br") for word in line.split()
    ]
    assert not [body for body in bodies if f"%{body}" in targets]
