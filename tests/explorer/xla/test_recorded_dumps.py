"""Replays of what real XLA wrote: its decisions on the CPU, and on a GPU that it compiled for without a device."""

from __future__ import annotations

from pathlib import Path

import xla_explorer as xe

DUMPS = Path(__file__).parent / "dumps"


def test_every_decision_about_attention_on_the_cpu_is_that_of_the_policy() -> None:
    session = xe.load(DUMPS / "cpu_attention").session()
    fusion, library = [xe.xla.replay(session, kind) for kind in ("fusion", "dot-library")]
    assert (len(fusion.rows), len(library.rows)) == (7, 14) and fusion.agreement == library.agreement == 1
    refused = {(row.subject, row.consumer): row.code for row in library.rows if row.xla == "memory"}
    assert refused == {
        ("exp.1", "reduce_sum.7"): "library-other-readers", ("multiply", "reduce_max.7"): "library-several-readers",
        ("reduce_sum.7", "reduce_max.7"): "library-several-readers", ("divide", "reduce_sum.7"): "library-array-small"}  # fmt: skip
    assert {row.code for row in fusion.rows} == {"", "fused-before", "recomputed-per-element"}


def test_a_dump_of_xla_on_a_gpu_is_replayed_by_priority_fusion() -> None:
    found = xe.xla.replay(xe.load(DUMPS / "gpu_products").session(), "fusion")
    assert found.by == "priority-fusion" and len(found.rows) == 9 and found.agreement >= 8 / 9
    assert all(row.message for row in found.rows if row.agrees and row.xla == "memory")
