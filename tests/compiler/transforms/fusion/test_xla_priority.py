"""The policy `xla` of priority fusion: each rule of XLA:GPU by its smallest module."""

from __future__ import annotations

import pytest

from tests.compiler.transforms.fusion.test_priority_fusion import entry, kernels
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.target import NVPTX
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo


def _fused(*lines: str) -> tuple[HloModule, Journal]:
    module, journal = parse_hlo(entry("zero = f32[] constant(0)", *lines)), Journal("decisions")
    make_pass("priority-fusion", policy="xla").run(module, PassContext(journal, None, NVPTX))
    return module, journal


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        # A bitcast of what a kernel reads goes into it.
        (["x = f32[4,64] parameter(0)", "b = f32[256] bitcast(x)", "ROOT r = f32[256] negate(b)"], ["{bitcast negate}"]),
        # One user that is no kernel, and the producer goes nowhere.
        (
            ["x = f32[64] parameter(0)", "e = f32[64] exponential(x)", "n = f32[64] negate(e)",
             "ROOT r = (f32[64], f32[64]) tuple(e, n)"],
            ["exponential", "negate"],
        ),
        # Users that are bitcasts do not count: the producer is computed in the others and once for
        # them.
        (
            ["x = f32[64] parameter(0)", "e = f32[64] exponential(x)", "b = f32[8,8] bitcast(e)", "n = f32[64] negate(e)",
             "ROOT r = (f32[8,8], f32[64]) tuple(b, n)"],
            ["bitcast", "exponential", "{exponential negate}"],
        ),
        # A reduction keeps its emitter behind operations of one operand, not behind others.
        (
            ["x = f32[64,512] parameter(0)", "s = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum", "ROOT r = f32[64] negate(s)"],
            ["{negate reduce}"],
        ),
        (
            ["x = f32[64,512] parameter(0)", "y = f32[64] parameter(1)", "s = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum",
             "ROOT r = f32[64] multiply(s, y)"],
            ["multiply", "{reduce}"],
        ),
        # A small reduction takes in a large one; two large ones stay apart.
        (
            ["x = f32[2,256,8,4] parameter(0)", "s = f32[2,8,4] reduce(x, zero), dimensions={1}, to_apply=sum",
             "ROOT r = f32[2,8] reduce(s, zero), dimensions={2}, to_apply=sum"],
            ["{reduce reduce}"],
        ),
        (
            ["x = f32[2,512,8,64] parameter(0)", "s = f32[2,8,64] reduce(x, zero), dimensions={1}, to_apply=sum",
             "ROOT r = f32[2,8] reduce(s, zero), dimensions={2}, to_apply=sum"],
            ["{reduce}", "{reduce}"],
        ),
        # A reduction to one value is one block: what it computes of many elements is quicker apart.
        (
            ["x = f32[65536] parameter(0)", "y = f32[65536] parameter(1)", "z = f32[65536] parameter(2)", "p = f32[65536] multiply(x, y)",
             "q = f32[65536] add(p, z)", "ROOT r = f32[] reduce(q, zero), dimensions={0}, to_apply=sum"],
            ["{add multiply}", "{reduce}"],
        ),
        # Windows are kernels and may have other layouts in them.
        (
            ["x = f32[16]{0} parameter(0)", "b = f32[2,16,8]{1,2,0} broadcast(x), dimensions={1}", "c = f32[2,8,16]{2,1,0} bitcast(b)",
             "ROOT r = f32[2,4,16] reduce-window(c, zero), window={size=1x2x1 stride=1x2x1}, to_apply=sum"],
            ["{bitcast broadcast reduce-window}"],
        ),
        # A scatter takes in its updates, not what it updates, and nothing takes it in.
        (
            ["x = f32[64] parameter(0)", "k = s32[16,1] parameter(1)", "u = f32[16] parameter(2)", "n = f32[64] negate(x)",
             "d = f32[16] add(u, u)", "s = f32[64] scatter(n, k, d), update_window_dims={}, inserted_window_dims={0}, "
             "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum", "ROOT r = f32[64] negate(s)"],
            ["negate", "negate", "{add scatter}"],
        ),
    ],
)  # fmt: skip
def test_fuses_as_xla_does(lines: list[str], found: list[str]) -> None:
    assert kernels(_fused(*lines)[0]) == found


def test_a_refusal_says_the_rule() -> None:
    _, journal = _fused(
        "x = f32[64,512] parameter(0)", "y = f32[64] parameter(1)", "s = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum",
        "ROOT r = f32[64] multiply(s, y)",
    )  # fmt: skip
    (event,) = [e for e in journal.events if e.names[0] == "s"]
    assert (
        event.reason is not None
        and event.reason.code == "reduce-is-root-only"
        and "it would be a loop" in event.reason.message
    )
