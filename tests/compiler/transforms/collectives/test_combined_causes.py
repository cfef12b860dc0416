"""A combined collective has the causes of each collective that it replaces."""

from __future__ import annotations

import pytest

import xla_explorer as xe

TEXT = """HloModule m, num_partitions=2
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
ENTRY main {{ x = f32[4] parameter(0) y = f32[4] parameter(1) z = f32[4] parameter(2)
  p = {0} q = {1} r = {2}
  ROOT t = ({3}, {3}, {3}) tuple(p, q, r) }}"""
KINDS = {
    "all-reduce": ("f32[4]", "replica_groups={}, to_apply=add"),
    "all-gather": ("f32[8]", "replica_groups={}, dimensions={0}"),
    "reduce-scatter": ("f32[2]", "replica_groups={}, dimensions={0}, to_apply=add"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_recorded_with_the_one_that_takes_its_place(kind: str) -> None:
    shape, rest = KINDS[kind]
    lines = [f"{shape} {kind}({v}), channel_id={k}, {rest}" for k, v in enumerate("xyz", 1)]
    name = f"{kind}-combiner"
    session = xe.compile(TEXT.format(*lines, shape), passes=name, journal="everything")
    journal = session.passes.journal
    assert journal is not None
    rows = [e.names for e in journal.events if e.kind == "rewrite" and e.by == name]
    assert rows == [("p", kind), ("q", kind), ("r", kind)]
    history = str(session.explain(kind))
    assert all(f"take the place of %{one}" in history for one in "pqr")
