"""Horizontal fusion: small independent kernels share a launch."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.decisions.fusion_reasons import HORIZONTAL as HORIZONTAL_REASONS
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify

_SUM = "sum {\n  l = f32[] parameter(0)\n  r = f32[] parameter(1)\n  ROOT o = f32[] add(l, r)\n}\n"


def module_text(*lines: str) -> str:
    return "HloModule m\n" + _SUM + "ENTRY e {\n  " + "\n  ".join(lines) + "\n}\n"


def merged(
    text: str, *horizontal: str, control: PassControl | None = None
) -> tuple[HloModule, Journal]:
    module, journal = parse_hlo(text), Journal("decisions")
    for name in ("priority-fusion", "fusion-wrapper", "multi-output-fusion", *horizontal):
        make_pass(name).run(module, PassContext(journal, control))
    verify(module)
    return module, journal


def results(module: HloModule) -> list[int]:
    """Return the number of results of each fusion."""
    return sorted(
        max(1, len(i.shape.tuple_shapes))
        for i in module.entry.instructions.values()
        if i.opcode.name == "fusion"
    )


def check(module: HloModule, text: str) -> None:
    generator = np.random.default_rng(0)
    arguments = [
        generator.standard_normal(s.dimensions).astype(np.float32)
        for s in module.parameter_shapes()
    ]
    expected = flatten_value(evaluate(parse_hlo(text), *arguments))
    for version in (module, parse_hlo(module.to_text())):
        for a, b in zip(expected, flatten_value(evaluate(version, *arguments)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    for backend in ("cpu", "gpu"):  # and the code generators take it
        found = xe.compile(module.to_text(), backend=backend, passes="none")(*arguments)
        for a, b in zip(expected, flatten_value(found), strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=1e-5)


UPDATES = module_text(
    "w = f32[30,7] parameter(0)", "v = f32[100] parameter(1)", "g = f32[30,7] parameter(2)", "h = f32[100] parameter(3)",
    "c = f32[] parameter(4)", "cw = f32[30,7] broadcast(c), dimensions={}", "cv = f32[100] broadcast(c), dimensions={}",
    "dw = f32[30,7] multiply(g, cw)", "dv = f32[100] multiply(h, cv)", "nw = f32[30,7] subtract(w, dw)", "nv = f32[100] subtract(v, dv)",
    "ROOT t = (f32[30,7], f32[100]) tuple(nw, nv)",
)  # fmt: skip


def test_updates_of_different_sizes_share_a_launch() -> None:
    before, _ = merged(UPDATES)
    module, journal = merged(UPDATES, "horizontal-loop-fusion")
    assert results(before) == [1, 1] and results(module) == [2]
    (event,) = [
        e for e in journal.events if e.by == "horizontal-loop-fusion" and e.verdict == "accepted"
    ]
    assert event.facts and event.facts["fused_microseconds"] < event.facts["unfused_microseconds"]
    check(module, UPDATES)


def test_kernels_with_several_results_share_one_too() -> None:
    text = module_text(
        "x = f32[512] parameter(0)", "y = f32[64] parameter(1)", "a = f32[512] sine(x)", "b = f32[512] cosine(x)", "c = f32[64] tanh(y)",
        "ROOT t = (f32[64], f32[512], f32[512], f32[512]) tuple(c, a, b, a)",
    )  # fmt: skip
    assert results(merged(text)[0]) == [1, 2]
    module, _ = merged(text, "horizontal-loop-fusion")
    assert results(module) == [3]
    check(module, text)


def test_reductions_of_the_same_dimensions() -> None:
    text = module_text(
        "x = f32[16,20] parameter(0)", "y = f32[16,20] parameter(1)", "w = f32[16,21] parameter(2)", "z = f32[] constant(0)",
        "e = f32[16,20] exponential(x)", "a = f32[16] reduce(e, z), dimensions={1}, to_apply=sum",
        "b = f32[16] reduce(y, z), dimensions={1}, to_apply=sum", "d = f32[16] reduce(w, z), dimensions={1}, to_apply=sum",
        "ROOT t = (f32[16], f32[16], f32[16]) tuple(a, b, d)",
    )  # fmt: skip
    module, journal = merged(text, "horizontal-input-fusion")
    assert results(module) == [1, 2]
    assert "dimensions-differ" in {
        e.reason.code for e in journal.events if e.reason and e.by == "horizontal-input-fusion"
    }
    check(module, text)


REFUSALS = {
    "too-large-to-share": (
        "x = f32[2048,1024] parameter(0)", "y = f32[512] parameter(1)", "a = f32[2048,1024] sine(x)", "b = f32[512] tanh(y)",
        "ROOT t = (f32[2048,1024], f32[512]) tuple(a, b)",
    ),
    "would-create-cycle": (
        "x = f32[8,8] parameter(0)", "a = f32[8,8] sine(x)", "d = f32[8,8] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "b = f32[8,8] tanh(d)", "ROOT t = (f32[8,8], f32[8,8]) tuple(a, b)",
    ),
    "depends-on-the-other": (
        "x = f32[8,8] parameter(0)", "a = f32[8,8] sine(x)", "r = f32[8,8] reverse(a), dimensions={0}",
        "b = f32[8,8] tanh(r)", "ROOT t = (f32[8,8], f32[8,8]) tuple(a, b)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", REFUSALS)
def test_why_not(code: str) -> None:
    text = module_text(*REFUSALS[code])
    _, journal = merged(text, "horizontal-loop-fusion")
    said = {e.reason.code for e in journal.events if e.reason and e.by == "horizontal-loop-fusion"}
    assert code in said and said <= set(HORIZONTAL_REASONS)


def test_the_user_keeps_two_apart() -> None:
    control = PassControl(forbid={"fusion": [("nw", "nv")]})
    module, journal = merged(UPDATES, "horizontal-loop-fusion", control=control)
    assert results(module) == [1, 1]
    assert "forbidden-by-user" in {
        e.reason.code for e in journal.events if e.reason and e.by == "horizontal-loop-fusion"
    }


def test_many_kernels_do_not_take_quadratic_work_or_unbounded_kernels() -> None:
    lines = [f"x{k} = f32[{10 + k}] parameter({k})" for k in range(100)] + [
        f"a{k} = f32[{10 + k}] negate(x{k})" for k in range(100)
    ]
    shapes = ", ".join([f"f32[{10 + k}]" for k in range(100)])
    text = module_text(
        *lines, f"ROOT t = ({shapes}) tuple({', '.join([f'a{k}' for k in range(100)])})"
    )
    module, journal = merged(text, "horizontal-loop-fusion")
    assert results(module) == [4, 32, 32, 32]  # 64 arrays each, read and written
    assert len([e for e in journal.events if e.by == "horizontal-loop-fusion"]) < 200
