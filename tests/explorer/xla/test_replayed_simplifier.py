"""XLA's algebraic simplifier, replayed rule by rule on XLA's own snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.explorer.page.session_source import SessionSource

SOURCE = """HloModule jit_f
ENTRY main {
  x = f32[8,4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[8,4] broadcast(zero), dimensions={}
  s = f32[8,4] add(x, zeros)
  n = f32[8,4] negate(s)
  t = f32[8,4] transpose(n), dimensions={0,1}
  ROOT r = f32[8,4] abs(t)
}"""
BOTH = """HloModule jit_f
ENTRY main {
  x = f32[8,4] parameter(0)
  n = f32[8,4] negate(x)
  ROOT r = f32[8,4] abs(n)
}"""
ONE = """HloModule jit_f
ENTRY main {
  x = f32[8,4] parameter(0)
  n = f32[8,4] negate(x)
  t = f32[8,4] transpose(n), dimensions={0,1}
  ROOT r = f32[8,4] abs(t)
}"""


def _replayed(folder: Path, after: str) -> xe.xla.Replay:
    for name, text in (("before_optimizations", SOURCE), ("0001.simplification.after_algsimp.before_dce", after)):
        (folder / f"module_0000.jit_f.{name}.txt").write_text(text)
    return xe.xla.replay(xe.load(folder).session(), "simplifier")


def test_each_rewrite_of_xla_has_the_rule_that_says_the_same(tmp_path: Path) -> None:
    found = _replayed(tmp_path, BOTH)
    rules = {row.subject: row.code for row in found.rows}
    assert found.agreement == 1 and set(rules) == {"zero", "zeros", "s", "n", "t", "r"}
    assert rules["s"] and rules["t"] and not rules["n"] and not rules["zeros"]
    assert "2 of our rules explain 2 rewrites" in str(found) and found.rules == {rules["s"]: 1, rules["t"]: 1}
    said = {row.subject: row.message for row in found.rows}
    assert said["n"] == "%n (negate) other operands, as an operand was rewritten"
    assert said["zeros"] == "%zeros (broadcast) rewritten, as what reads it was rewritten"
    assert f"by our rule {rules['t']}" in said["t"]


def test_what_only_our_rules_rewrite_is_listed(tmp_path: Path) -> None:
    found = _replayed(tmp_path, ONE)
    assert {(row.subject, row.ours, row.xla) for row in found.disagreements()} == {
        ("t", "rewritten", "not rewritten"), ("r", "other operands", "not rewritten")}  # fmt: skip
    assert found.agreement == 4 / 6
    refused = [decision for decision in found.decisions() if decision.refused]
    assert {decision.code for decision in refused} == {"xla-decides-otherwise"} and len(refused) == 2


def test_the_rewrites_of_a_page_are_our_rules_on_the_module_of_xla(tmp_path: Path) -> None:
    _replayed(tmp_path, ONE)  # XLA left the transpose
    source = SessionSource(xe.load(tmp_path).session())
    assert source.rewrites(0) == ()
    rows = {row.subject_name.lstrip("%"): (number, row) for number, row in enumerate(source.rewrites(1)) if row.verdict == "accepted"}
    assert "XLA rewrote this instruction too" in rows["s"][1].sentence and not rows["s"][1].produced
    assert "XLA left this instruction as it was" in rows["t"][1].sentence
    alone = source.reports.rewrite(1, rows["t"][0])
    assert any("transpose(" in line.text for line in alone.before) and not any("transpose(" in line.text for line in alone.after)
    with pytest.raises(ValueError, match="no single rewrites"):
        source.reports.rewrite(0, 0)
