"""Causes survive combiners, reduce-scatter creation and async pairs."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.spmd.explanation.annotating import annotated
from xla_explorer.compiler.spmd.explanation.collective_rows import PlacedProgram
from xla_explorer.compiler.spmd.explanation.later_passes import collectives_after
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import recorded_partitioning

GRADIENTS = """HloModule m
ENTRY main {
  x = f32[64,32] parameter(0)
  y = f32[64,16] parameter(1)
  z = f32[64,8] parameter(2)
  a = f32[32,16] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  b = f32[32,8] dot(x, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  c = f32[16,8] dot(y, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (f32[32,16], f32[32,8], f32[16,8]) tuple(a, b, c)
}"""


def placed() -> PlacedProgram:
    module = annotated(xe.parse_hlo(GRADIENTS), "data=8", "x=data,-; y=data,-; z=data,-")
    program = recorded_partitioning(module)
    return PlacedProgram(program, Topology.named(program.mesh, "h100"))


@pytest.mark.parametrize(
    ("passes", "count"),
    [
        ((), 3),
        (("all-reduce-combiner",), 1),
        (("all-reduce-combiner", "async-collective-creator"), 1),
        (("dce", "cse"), 3),
    ],
)
def test_bytes_over_causes_are_bytes_over_collectives(passes: tuple[str, ...], count: int) -> None:
    before = placed()
    found = collectives_after(before, passes)
    assert len(found) == count
    shares = [sum([cause.share for cause in one.causes]) for one in found]
    assert shares == pytest.approx([1.0] * count)
    by_cause = sum([one.sent * cause.share for one in found for cause in one.causes])
    assert by_cause == pytest.approx(sum([one.sent for one in found]))
    assert by_cause == pytest.approx(before.sent)
    operations = {cause.operation for one in found for cause in one.causes}
    assert operations == {"%a", "%b", "%c"}


def test_each_cause_has_its_part_of_a_combined_collective() -> None:
    (one,) = collectives_after(placed(), ["all-reduce-combiner"])
    parts = {cause.operation: one.sent * cause.share for cause in one.causes}
    assert parts == pytest.approx(
        {"%a": 2 * 32 * 16 * 4 * 7 / 8, "%b": 2 * 32 * 8 * 4 * 7 / 8, "%c": 2 * 16 * 8 * 4 * 7 / 8}
    )
    assert all(note.value in ("%x", "%y", "%z") for c in one.causes for note in c.annotations)
