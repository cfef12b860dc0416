"""Epilogues of a product on its tiles: conditions, refusals, and the values of separate kernels."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.target import Target, cpu_target
from xla_explorer.foundation.journal import Event, Journal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

TARGET = cpu_target(triple="x86_64-unknown-linux-gnu", bits=512)


def layer(
    *lines: str, rows: int = 64, depth: int = 96, columns: int = 80, kind: str = "f32"
) -> str:
    head = [
        "a = T[M,K] parameter(0)",
        "b = T[K,N] parameter(1)",
        "c = T[N] parameter(2)",
        "r = T[M,N] parameter(3)",
        "s = T[] parameter(4)",
        "zero = T[] constant(0)",
        "zeros = T[M,N] broadcast(zero), dimensions={}",
        "bias = T[M,N] broadcast(c), dimensions={1}",
        "d = T[M,N] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ]
    text = "HloModule m\nENTRY e {\n  " + "\n  ".join([*head, *lines]) + "\n}\n"
    for name, value in (
        ("M,", f"{rows},"),
        ("[K,", f"[{depth},"),
        (",K]", f",{depth}]"),
        ("N]", f"{columns}]"),
        ("T[", f"{kind}["),
    ):
        text = text.replace(name, value)
    return text


DENSE = ("x = T[M,N] add(d, bias)", "ROOT y = T[M,N] maximum(x, zeros)")


def run(
    text: str, control: PassControl | None = None, target: Target = TARGET
) -> tuple[HloModule, list[Event]]:
    module, journal = parse_hlo(text), Journal("decisions")
    make_pass("dot-epilogue-fusion").run(module, PassContext(journal, control, target))
    return module, [e for e in journal.events if e.by == "dot-epilogue-fusion"]


def code(text: str, target: Target = TARGET) -> str:
    (event,) = run(text, target=target)[1]
    return event.reason.code if event.reason else ""


def test_bias_and_activation_go_into_the_dot() -> None:
    module, (event,) = run(layer(*DENSE))
    (fusion,) = [i for i in module.entry.instructions.values() if i.opcode.name == "fusion"]
    assert fusion.attributes.get("kind") == "kOutput" and fusion.is_root
    assert {o.name for o in fusion.operands} == {"a", "b", "c"}
    assert (
        event.facts
        and event.facts["computes"] == ["add", "maximum"]
        and event.facts["bytes_saved"] == 2 * 64 * 80 * 4
    )


def test_a_bias_that_is_a_constant_is_in_memory() -> None:
    values = ",".join(map(str, range(80)))
    module, (event,) = run(layer(*DENSE).replace("c = f32[80] parameter(2)", f"c = f32[80] constant({{{values}}})").replace("parameter(3)", "parameter(2)")
                           .replace("parameter(4)", "parameter(3)"))  # fmt: skip
    assert event.verdict == "accepted" and {o.name for o in module.entry.root.operands} == {
        "a",
        "b",
        "c",
    }


REFUSALS = {
    "no-register-tile": layer(*DENSE, columns=1),
    "result-never-stored": layer(
        "x = T[M,N] add(d, bias)", "y = T[M,N] exponential(x)", "ROOT z = T[M,N] negate(y)"
    ),
    "computed-in-a-loop": layer("e = T[M,N] exponential(r)", "ROOT x = T[M,N] add(d, e)"),
}


@pytest.mark.parametrize("expected", REFUSALS)
def test_why_not(expected: str) -> None:
    assert code(REFUSALS[expected]) == expected


def test_without_vectors_or_against_the_users_override() -> None:
    assert code(layer(*DENSE), cpu_target(triple="x86_64-unknown-linux-gnu")) == "no-register-tile"
    module, (event,) = run(layer(*DENSE), PassControl(forbid={"fusion": [("d", "x")]}))
    assert event.reason is not None and event.reason.code == "forbidden-by-user"
    assert not list(module.fusion_computations())


def test_a_product_that_others_read_is_stored() -> None:
    text = layer("x = T[M,N] add(d, bias)", "ROOT t = (T[M,N], T[M,N]) tuple(d, x)")
    assert run(text)[1] == []


PROGRAMS = {
    "dense": DENSE,
    "residual": ("x = T[M,N] add(d, bias)", "ROOT y = T[M,N] subtract(r, x)"),
    "scaled": (
        "v = T[M,N] broadcast(s), dimensions={}",
        "x = T[M,N] multiply(v, d)",
        "n = T[M,N] negate(x)",
        "ROOT y = T[M,N] divide(n, r)",
    ),
}
SIZES = [(64, 96, 80), (33, 17, 29), (7, 9, 5), (1, 64, 64), (128, 300, 512), (20, 8, 3)]


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.sampled(6)
def test_the_same_values_as_separate_kernels(
    name: str, sizes: tuple[int, int, int], kind: str
) -> None:
    rows, depth, columns = sizes
    text = layer(*PROGRAMS[name], rows=rows, depth=depth, columns=columns, kind=kind)
    generator = np.random.default_rng(0)
    shapes = [s.dimensions for s in parse_hlo(text).parameter_shapes()]
    arguments = [
        generator.standard_normal(shape).astype(np.float32 if kind == "f32" else np.float64)
        for shape in shapes
    ]
    arguments[0][0, 0] = np.nan  # the activation hands it on
    for threads in (1, 2):
        session = xe.compile(text, threads=threads)
        apart = session.override(skip_rules=["dot-epilogue-fusion"])
        np.testing.assert_allclose(
            np.asarray(session(*arguments)), np.asarray(apart(*arguments)), rtol=1e-5, atol=1e-5
        )


def test_the_result_does_not_overwrite_a_residual_whose_tiles_are_written_twice() -> None:
    text = layer(
        "n = T[M,N] sine(r)",
        "q = T[M,N] dot(n, n2), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "ROOT y = T[M,N] add(q, n)",
        rows=33,
        depth=33,
        columns=33,
    )
    text = text.replace("  n = ", "  n2 = f32[33,33] parameter(5)\n  n = ")
    generator = np.random.default_rng(1)
    arguments = [
        generator.standard_normal(s.dimensions).astype(np.float32)
        for s in parse_hlo(text).parameter_shapes()
    ]
    session = xe.compile(text)
    r, n2 = arguments[3], arguments[5]
    np.testing.assert_allclose(
        np.asarray(session(*arguments)), np.sin(r) @ n2 + np.sin(r), rtol=1e-3, atol=1e-4
    )
