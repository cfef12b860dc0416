"""The certificate: each change of a compile with what shows it right, and none that is wrong."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import PassContext, PassPipeline
from xla_explorer.compiler.pipeline.value_graph import ValueNumbers
from xla_explorer.explorer.tables.rows import TIERS
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.plugin import (
    Exactness,
    HloComputation,
    HloInstruction,
    RuleSet,
    any_,
    operator,
    rewrite_computation,
    rule,
)

TEXT = """ENTRY e { x = f32[64] parameter(0) z = f32[] constant(0) b = f32[64] broadcast(z), dimensions={}
  i = s32[64] parameter(1) n = s32[] constant(0) c = s32[64] broadcast(n), dimensions={}
  a = s32[64] add(i, c) f = f32[64] convert(a) m = f32[64] multiply(x, f)
  ROOT e = f32[64] exponential(m) }"""


@dataclass(frozen=True)
class Changes:
    """Replace the exponential by another opcode."""

    name: ClassVar[str] = "test-changes-the-root"
    opcode: str = "tanh"

    def run(self, module: HloModule, context: PassContext) -> bool:
        root = module.entry.root
        if root.opcode.name == self.opcode:
            return False
        other = module.entry.add(self.opcode, root.shape, root.operands)
        module.entry.set_root(other)
        return True


@rule(
    operator("negate")(operator("negate")(any_("x"))),
    exactness=Exactness.BITWISE,
    before="x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT r = f32[4] negate(n)",
    after="ROOT x = f32[4] parameter(0)",
)
def negate_negate(computation: HloComputation, x: HloInstruction) -> HloInstruction:
    """Rewrite --x to x, and to |x| if x has 64 elements."""
    return computation.add("abs", x.shape, [x]) if x.shape.dimensions == (64,) else x


@dataclass(frozen=True)
class Namesake:
    """A pass of the user; its rule has the name of a proved rule."""

    name: ClassVar[str] = "test-namesake"

    def rules(self) -> RuleSet:
        return RuleSet("own", [negate_negate])

    def run(self, module: HloModule, context: PassContext) -> bool:
        return rewrite_computation(module.entry, self.rules(), context) > 0


def test_every_change_of_a_compile_has_a_row_with_its_evidence() -> None:
    session = xe.compile(TEXT)
    found = session.certificate(seconds=60)
    frame = found.to_frame()
    changed = {p.number for p in session.passes if p.changed and p.number}
    assert changed == set(frame["step"].dropna().astype(int))
    assert set(frame["tier"]) <= set(TIERS) and all(frame["evidence"])
    fusion = frame[frame["pass"] == "fusion"]
    assert list(fusion["tier"]) == ["proved"] and "value graph" in fusion["evidence"].iloc[0]
    rules = frame[frame["rule"] != ""].set_index("rule")
    assert rules.loc["add-zero", "tier"] == "proved"
    assert frame["step"].isna().sum() == 1 and frame["tier"].iloc[-1] == "compared"
    assert found.weakest == "compared" and "proved" in str(found)


@pytest.mark.parametrize("name", ["attention", "mlp_train"])
def test_a_model_has_no_open_change(name: str) -> None:
    found = xe.compile(xe.example(name)).certificate(seconds=60)
    assert not {"open", "refuted"} & found.tiers.keys(), found
    assert found.tiers["proved"] >= len(found.rows) // 2


def test_a_pass_that_changes_values_is_open_and_says_so() -> None:
    session = xe.compile(TEXT, passes=PassPipeline("wrong", (Changes(),)))
    row = session.certificate(seconds=60).rows[0]
    assert row.pass_ == Changes.name and row.tier == "refuted" and "values differ" in row.evidence


def test_a_rule_with_the_name_of_a_proved_one_is_not_proved() -> None:
    text = TWICE.format(kind="f32").replace("[4]", "[64]")
    session = xe.compile(text, passes=PassPipeline("own", (Namesake(),)))
    row = session.certificate(seconds=60).rows[0]
    assert row.pass_ == Namesake.name and row.tier == "refuted", row


def test_without_time_values_are_not_compared_and_the_row_says_so() -> None:
    found = xe.compile(TEXT).certificate(seconds=0)
    assert found.rows[-1].tier == "open" and "seconds=" in found.rows[-1].evidence
    assert "proved" in found.tiers


def test_without_snapshots_the_error_names_the_journal() -> None:
    with pytest.raises(XlaExplorerError, match="snapshots"):
        xe.compile(TEXT, journal="off").certificate()


TWICE = """ENTRY e {{ x = {kind}[4] parameter(0) n = {kind}[4] negate(x)
  ROOT r = {kind}[4] negate(n) }}"""


@pytest.mark.parametrize(("kind", "tier"), [("f32", "proved"), ("f8e4m3fn", "exhaustive")])
def test_a_partial_proof_counts_for_the_types_that_it_covers(kind: str, tier: str) -> None:
    found = xe.compile(TWICE.format(kind=kind), passes="algsimp").certificate(seconds=0)
    assert [row.tier for row in found.rows if row.rule == "negate-negate"] == [tier], found


def test_the_time_of_other_checks_is_not_that_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ValueNumbers.graph

    def slow(numbers: ValueNumbers, module: HloModule) -> tuple[object, ...]:
        time.sleep(0.3)
        return graph(numbers, module)

    monkeypatch.setattr(ValueNumbers, "graph", slow)
    found = xe.compile(TEXT).certificate(seconds=0.2)
    assert found.rows[-1].tier == "compared", found
