"""Programs that JAX exports, converted by us and by jaxlib: the same values.

By default a sample, all of them with `-m slow`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

jax = pytest.importorskip("jax", reason="needs the extra `jax`")
pytestmark = pytest.mark.jax

from tests.frontends.jax_programs import PROGRAMS  # noqa: E402
from tests.frontends.stablehlo.exported_programs import all_programs, exported  # noqa: E402
from tests.frontends.stablehlo.operation_examples import EXAMPLES  # noqa: E402
from xla_explorer.frontends.jax_program import module_from_mlir  # noqa: E402

ALL = {name: (name, function, arguments) for name, function, arguments in all_programs()}
SAMPLE = list(ALL)[:: max(len(ALL) // 60, 1)]
# CHLO functions that XLA and we approximate differently; the bound is that of the type.
BOUNDS = {
    "float32": (3e-5, 3e-6),
    "float16": (5e-3, 1e-3),
    "bfloat16": (3e-2, 5e-3),
    "complex64": (1e-4, 1e-5),
    "float64": (1e-10, 1e-12),
}


def leaves(value: Any) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None or not hasattr(value, "dtype") else [np.asarray(value)]


def compare(text: str, arguments: list[Any], name: str) -> None:
    ours, theirs = xe.parse_stablehlo(text, name), module_from_mlir(text)
    assert [str(p.shape) for p in ours.entry.parameters()] == [
        str(p.shape) for p in theirs.entry.parameters()
    ]
    got, want = leaves(xe.evaluate(ours, *arguments)), leaves(xe.evaluate(theirs, *arguments))
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        if g.dtype.name not in BOUNDS:
            np.testing.assert_array_equal(g, w)
            continue
        relative, absolute = BOUNDS[g.dtype.name]
        wide = np.complex128 if g.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            g.astype(wide), w.astype(wide), rtol=relative, atol=absolute, err_msg=name
        )


def check(name: str) -> None:
    program = ALL[name]
    text = exported(program)
    arguments = [
        jax.random.key_data(a)
        if jax.dtypes.issubdtype(getattr(a, "dtype", np.int32), jax.dtypes.prng_key)
        else a
        for a in jax.tree_util.tree_leaves(program[2])
    ]
    parameters = xe.parse_stablehlo(text).entry.parameters()
    compare(
        text,
        [
            np.asarray(a, p.shape.element_type.dtype)
            for a, p in zip(arguments, parameters, strict=True)
        ],
        name,
    )


def test_there_are_five_hundred() -> None:
    assert len(ALL) >= 500 and len(SAMPLE) >= 60


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_gives_the_values_of_jaxlibs_conversion(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALL if name not in SAMPLE])
def test_the_others_do_too(name: str) -> None:
    check(name)


def generic_text(text: str) -> str:
    """Return the same program as MLIR prints its generic form."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context(), ir.Location.unknown():
        return str(ir.Module.parse(text).operation.get_asm(print_generic_op_form=True))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.sampled(30)
def test_the_examples_in_the_printers_own_forms(name: str) -> None:
    """Each example printed by MLIR, in its pretty and its generic form, reads as it was written."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    def opcodes(module: xe.HloModule) -> list[tuple[str, str, str]]:
        return [
            (i.opcode.name, str(i.shape), i.attributes.text)
            for c in module.computations.values()
            for i in c.post_order()
        ]

    for given in EXAMPLES[name]:
        if (
            "{broadcast_dimensions = dense" in given.text
        ):  # as it was written before arrays; MLIR reads it no more
            continue
        with mlir.make_ir_context(), ir.Location.unknown():
            pretty = str(ir.Module.parse(given.text))
        want = opcodes(xe.parse_stablehlo(given.text))
        assert opcodes(xe.parse_stablehlo(pretty)) == want
        assert opcodes(xe.parse_stablehlo(generic_text(given.text))) == want


@pytest.mark.parametrize(
    "name", ["adam_step", "lstm", "newton_while", "branches", "linear_solve", "random_numbers"]
)
def test_whole_programs_in_the_generic_form(name: str) -> None:
    text = exported(ALL[name], debug=False)
    pretty, generic = xe.parse_stablehlo(text), xe.parse_stablehlo(generic_text(text))
    assert [(i.opcode.name, str(i.shape), i.attributes.text) for i in pretty.instructions()] == [
        (i.opcode.name, str(i.shape), i.attributes.text) for i in generic.instructions()
    ]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(15)
def test_instructions_say_which_line_they_came_from(name: str) -> None:
    every = list(xe.parse_stablehlo(exported(ALL[name])).instructions())
    assert len([i for i in every if i.op_metadata.source_line]) >= 0.95 * len(every)


@pytest.mark.parametrize("name", ["adam_step", "lstm", "cholesky_solve", "convolution_gradient"])
def test_what_we_read_runs_on_the_cpu_as_in_jax(name: str) -> None:
    _, function, arguments = ALL[name]
    session = xe.compile(exported(ALL[name]))
    got = session(*[np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(arguments)])
    for g, w in zip(
        leaves(got), jax.tree_util.tree_leaves(jax.jit(function)(*arguments)), strict=True
    ):
        np.testing.assert_allclose(g, np.asarray(w), rtol=2e-4, atol=2e-5)
