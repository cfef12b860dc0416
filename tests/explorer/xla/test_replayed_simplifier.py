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


def _replayed(folder: Path, after: str, before: str = SOURCE) -> xe.xla.Replay:
    for name, text in (
        ("before_optimizations", before),
        ("0001.simplification.after_algsimp.before_dce", after),
    ):
        (folder / f"module_0000.jit_f.{name}.txt").write_text(text)
    return xe.xla.replay(xe.load(folder).session(), "simplifier")


def test_each_rewrite_of_xla_has_the_rule_that_says_the_same(tmp_path: Path) -> None:
    found = _replayed(tmp_path, BOTH)
    rules = {row.subject: row.code for row in found.rows}
    assert found.agreement == 1 and set(rules) == {"zero", "zeros", "s", "n", "t", "r"}
    assert rules["s"] and rules["t"] and not rules["n"] and not rules["zeros"]
    assert "2 of our rules explain 2 rewrites" in str(found) and found.rules == {
        rules["s"]: 1,
        rules["t"]: 1,
    }
    said = {row.subject: row.reason for row in found.rows}
    assert said["n"] == "%n (negate) other operands, because an operand was rewritten"
    assert said["zeros"] == "%zeros (broadcast) rewritten, because its user was rewritten"
    assert f"by our rule {rules['t']}" in said["t"]


def test_what_only_our_rules_rewrite_is_listed(tmp_path: Path) -> None:
    found = _replayed(tmp_path, ONE)
    assert {(row.subject, row.ours, row.xla) for row in found.disagreements()} == {
        ("t", "rewritten", "not rewritten"), ("r", "other operands", "not rewritten")}  # fmt: skip
    assert found.agreement == 4 / 6
    refused = [decision for decision in found.decisions() if decision.refused]
    assert {decision.code for decision in refused} == {"xla-decides-otherwise"} and len(
        refused
    ) == 2


def test_the_rewrites_of_a_page_are_our_rules_on_the_module_of_xla(tmp_path: Path) -> None:
    _replayed(tmp_path, ONE)  # XLA left the transpose
    source = SessionSource(xe.load(tmp_path).session())
    assert source.rewrites(0) == ()
    rows = {
        row.subject_name.lstrip("%"): (number, row)
        for number, row in enumerate(source.rewrites(1))
        if row.verdict == "accepted"
    }
    assert "XLA rewrote this instruction too" in rows["s"][1].sentence and not rows["s"][1].produced
    assert "XLA did not change this instruction" in rows["t"][1].sentence
    alone = source.rewrite(1, rows["t"][0])
    assert any("transpose(" in line.text for line in alone.before) and not any(
        "transpose(" in line.text for line in alone.after
    )
    with pytest.raises(ValueError, match="no single rewrites"):
        source.rewrite(0, 0)


TWO_READ = """HloModule jit_f
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY main {
  x = f32[6,4] parameter(0)
  zero = f32[] constant(0)
  wide = f32[1,6,4] reshape(x)
  sum = f32[1,6] reduce(wide, zero), dimensions={2}, to_apply=add
  t = f32[1,6,4] reshape(wide)
  ROOT r = (f32[1,6], f32[1,6,4], f32[1,6,4]) tuple(sum, t, wide)
}"""
TWO_READ_AFTER = TWO_READ.replace("  t = f32[1,6,4] reshape(wide)\n", "").replace(
    "tuple(sum, t,", "tuple(sum, wide,"
)


def _replayed_of(
    folder: Path,
    before: str,
    after: str,
    name: str = "0001.simplification.after_algsimp.before_dce",
) -> xe.xla.Replay:
    for kind, text in (("before_optimizations", before), (name, after)):
        (folder / f"module_0000.jit_f.{kind}.txt").write_text(text)
    return xe.xla.replay(xe.load(folder).session(), "simplifier")


def test_a_rule_acts_where_xla_has_it(tmp_path: Path) -> None:
    """A rule follows XLA: a reduce of a reshape with other readers stays, unless an option is set.

    Without the option our rule absorbs the reshape.
    """
    found = _replayed_of(tmp_path, TWO_READ, TWO_READ_AFTER)
    assert found.agreement == 1 and "sum" not in {row.subject for row in found.rows}
    assert "%wide" not in str(
        next(
            i
            for i in xe.optimize(TWO_READ, "algsimp").module.instructions()
            if i.name.startswith("reduce")
        )
    )


def test_new_names_of_xla_and_what_nothing_reads_are_no_difference(tmp_path: Path) -> None:
    before = """HloModule jit_f
ENTRY main {
  x = f32[8,4] parameter(0)
  unread = f32[8,4] reshape(x)
  a = f32[4,8] transpose(x), dimensions={1,0}
  b = f32[8,4] transpose(a), dimensions={1,0}
  c = f32[32] reshape(b)
  ROOT r = f32[4,8] reshape(c)
}"""
    after = "HloModule jit_f\nENTRY main {\n  x = f32[8,4] parameter(0)\n  ROOT c = f32[4,8] reshape(x)\n}"
    found = _replayed_of(tmp_path, before, after)
    assert found.agreement == 1 and {row.subject for row in found.rows} == {"a", "b", "c", "r"}


def test_layouts_stay_behind_the_assignment_of_layouts(tmp_path: Path) -> None:
    before = """HloModule jit_f
ENTRY main {
  x = f32[8,4]{1,0} parameter(0)
  c = f32[8,4]{0,1} copy(x)
  d = f32[8,4]{0,1} copy(c)
  ROOT r = f32[8,4]{0,1} negate(d)
}"""
    after = before.replace("  d = f32[8,4]{0,1} copy(c)\n", "").replace("negate(d)", "negate(c)")
    found = _replayed_of(
        tmp_path,
        before,
        after,
        "0001.simplification_after_layout_assignment.after_algsimp.before_dce",
    )
    assert found.agreement == 1 and {row.subject for row in found.rows} >= {"d", "r"}


def test_two_conversions_to_a_third_type_stay_two_as_in_xla(tmp_path: Path) -> None:
    before = """HloModule jit_f
ENTRY main {
  x = pred[4] parameter(0)
  y = f32[4] parameter(1)
  w = s64[4] convert(x)
  f = f32[4] convert(w)
  n = f32[4] negate(y)
  m = f32[4] negate(n)
  ROOT r = f32[4] add(f, m)
}"""
    after = before.replace("  n = f32[4] negate(y)\n  m = f32[4] negate(n)\n", "").replace(
        "add(f, m)", "add(f, y)"
    )
    found = _replayed_of(tmp_path, before, after)
    assert found.agreement == 1 and {row.subject for row in found.rows} == {"n", "m", "r"}


def test_broadcast_scales_stay_where_they_are_as_in_xla(tmp_path: Path) -> None:
    before = """HloModule jit_f
ENTRY main {
  x = f32[4] parameter(0)
  c = f32[] constant(3)
  b = f32[4] broadcast(c), dimensions={}
  s = f32[4] multiply(x, b)
  n = f32[4] negate(s)
  m = f32[4] negate(n)
  ROOT r = f32[4] multiply(s, m)
}"""
    after = before.replace("  n = f32[4] negate(s)\n  m = f32[4] negate(n)\n", "").replace(
        "multiply(s, m)", "multiply(s, s)"
    )
    found = _replayed_of(tmp_path, before, after)
    assert found.agreement == 1 and {row.subject for row in found.rows} == {"n", "m", "r"}


# XLA's rewrites, from its dumps of programs of JAX: before and after.
DEAD_RESHAPE = ("""HloModule jit_f
ENTRY main {
  a = f32[3,5] parameter(0)
  b = f32[5,4] parameter(1)
  d = f32[3,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  unread = f32[3,4] reshape(d)
  t = f32[4,3] transpose(d), dimensions={1,0}
  ROOT r = f32[4,3] negate(t)
}""", """HloModule jit_f
ENTRY main {
  a = f32[3,5] parameter(0)
  b = f32[5,4] parameter(1)
  dot.1 = f32[4,3] dot(b, a), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  ROOT r = f32[4,3] negate(dot.1)
}""")  # fmt: skip
DEAD_NAME = ("""HloModule jit_f
ENTRY main {
  a = f32[12] parameter(0)
  kept = f32[3,4] reshape(a)
  unread = f32[3,4] reshape(kept)
  ROOT r = f32[3,4] negate(kept)
}""", """HloModule jit_f
ENTRY main {
  a = f32[12] parameter(0)
  unread = f32[3,4] reshape(a)
  ROOT r = f32[3,4] negate(unread)
}""")  # fmt: skip
READ_BY_BROADCASTS = ("""HloModule jit_f
ENTRY main {
  i = s32[3] iota(), iota_dimension=0
  wide = s32[3,4] broadcast(i), dimensions={0}
  two = s32[] constant(2)
  twos = s32[3,4] broadcast(two), dimensions={}
  ROOT r = s32[3,4] maximum(wide, twos)
}""", """HloModule jit_f
ENTRY main {
  i = s32[3] iota(), iota_dimension=0
  two = s32[] constant(2)
  b = s32[3] broadcast(two), dimensions={}
  m = s32[3] maximum(i, b)
  ROOT r = s32[3,4] broadcast(m), dimensions={0}
}""")  # fmt: skip
SCALED = ("""HloModule jit_f
ENTRY main {
  x = f32[3,4] parameter(0)
  y = f32[4] parameter(1)
  two = f32[] constant(2)
  twos = f32[3,4] broadcast(two), dimensions={}
  scaled = f32[3,4] multiply(x, twos)
  ys = f32[3,4] broadcast(y), dimensions={1}
  ROOT r = f32[3,4] multiply(ys, scaled)
}""", """HloModule jit_f
ENTRY main {
  x = f32[3,4] parameter(0)
  y = f32[4] parameter(1)
  two = f32[] constant(2)
  b = f32[4] broadcast(two), dimensions={}
  m = f32[4] multiply(y, b)
  w = f32[3,4] broadcast(m), dimensions={1}
  ROOT r = f32[3,4] multiply(x, w)
}""")  # fmt: skip
OTHER_CONSTANT = ("""HloModule jit_f
ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  other = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  others = f32[4] broadcast(other), dimensions={}
  m = f32[4] maximum(x, zeros)
  n = f32[4] negate(m)
  t = f32[4] reshape(n)
  ROOT r = f32[4] minimum(t, others)
}""", """HloModule jit_f
ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  m = f32[4] maximum(x, zeros)
  n = f32[4] negate(m)
  others = f32[4] broadcast(zero), dimensions={}
  ROOT r = f32[4] minimum(n, others)
}""")  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [DEAD_RESHAPE, DEAD_NAME, READ_BY_BROADCASTS, SCALED],
                         ids=["dead reshape", "name of a dead one", "read by broadcasts", "scaled broadcast"])  # fmt: skip
def test_the_replay_does_as_xla(before: str, after: str, tmp_path: Path) -> None:
    found = _replayed(tmp_path, after, before)
    assert not found.disagreements(), str(found)


def test_which_of_two_equal_constants_is_read_is_no_rewrite(tmp_path: Path) -> None:
    rows = {
        row.subject: row.xla
        for row in _replayed(tmp_path, OTHER_CONSTANT[1], OTHER_CONSTANT[0]).rows
    }
    assert rows["t"] == "rewritten" and rows["r"] == "other operands" and "others" not in rows
