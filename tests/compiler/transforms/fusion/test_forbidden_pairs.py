"""Overrides of fusions hold for every pass that fills kernels."""

from __future__ import annotations

import pytest

from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

CHAIN = """HloModule chain
ENTRY e {
  x = f32[64,64] parameter(0)
  a = f32[64,64] exponential(x)
  b = f32[64,64] negate(a)
  c = f32[64,64] multiply(b, x)
  ROOT d = f32[64,64] add(c, x)
}"""
SIBLINGS = """HloModule siblings
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[8] exponential(x)
  b = f32[8] negate(x)
  ROOT t = (f32[8], f32[8]) tuple(a, b)
}"""
CPU = ("fusion", "fusion-wrapper", "multi-output-fusion")


def run(text: str, passes: tuple[str, ...] = CPU, **overrides: object) -> tuple[HloModule, Journal]:
    module, journal = parse_hlo(text), Journal("decisions")
    context = PassContext(journal, PassControl(**overrides))  # type: ignore[arg-type]
    for name in passes:
        make_pass(name).run(module, context)
    return module, journal


def kernels(module: HloModule) -> list[set[str]]:
    return [
        {i.name.split(".clone")[0] for i in c.instructions.values()}
        for c in module.fusion_computations()
    ]


@pytest.mark.parametrize("pair", [("a", "b"), ("a", "c"), ("a", "d"), ("d", "b")])
def test_a_forbidden_pair_stays_in_two_kernels_through_every_pass(pair: tuple[str, str]) -> None:
    module, journal = run(CHAIN, forbid={"fusion": [pair]})
    assert not any(set(pair) <= inside for inside in kernels(module))
    said = {
        e.by
        for e in journal.events
        if e.reason is not None and e.reason.code == "forbidden-by-user"
    }
    assert {"fusion", "multi-output-fusion"} <= said


def test_without_an_override_they_share_one() -> None:
    module, _ = run(CHAIN)
    assert any({"a", "b", "c", "d"} <= inside for inside in kernels(module))


@pytest.mark.parametrize("pair", [("a", "b"), ("b", "a")])
def test_a_forced_pair_of_siblings_shares_one_whoever_is_named_first(pair: tuple[str, str]) -> None:
    assert not any({"a", "b"} <= inside for inside in kernels(run(SIBLINGS)[0])), (
        "32 bytes are not worth it"
    )
    module, journal = run(SIBLINGS, force={"fusion": [pair]})
    assert any({"a", "b"} <= inside for inside in kernels(module))
    (event,) = [
        e for e in journal.events if e.by == "multi-output-fusion" and e.verdict == "accepted"
    ]
    assert event.facts and event.facts["forced-by-user"]
