"""Pictures of successive steps share unchanged nodes and edges, and equal fresh ones."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from tests.support.dag import dag_text
from xla_explorer.explorer.pictures.drawn_records import DrawnRecords
from xla_explorer.explorer.pictures.module_picture import snapshot_picture
from xla_explorer.hlo.opcodes import OPCODES

REDUCERS = """HloModule m
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
ENTRY main {
  x = f32[8,64] parameter(0)
  z = f32[] constant(0)
  ROOT sums = f32[8] reduce(x, z), dimensions={1}, to_apply=less
}"""
FUSED = (
    REDUCERS.replace("ENTRY main", "fused")
    .replace("ROOT sums", "sums")
    .replace("to_apply=less", "to_apply=less ROOT e = f32[8] tanh(sums)")
    + """
ENTRY main { y = f32[8,64] parameter(0) ROOT f = f32[8] fusion(y), kind=kLoop, calls=fused }"""
)


def test_a_picture_is_the_same_whatever_was_drawn_before() -> None:
    known, shared = DrawnRecords(), 0
    before: set[int] = set()
    for step in xe.optimize(dag_text(150, 3)).passes:
        for bare in (False, True):
            drawn = snapshot_picture(step.snapshot, bare=bare, known=known)
            assert drawn.to_json() == snapshot_picture(step.snapshot, bare=bare).to_json()
            now = set(map(id, drawn.nodes))
            shared += len(now & before)
            before |= now
    assert shared > 1_000, "nothing was shared"


@pytest.mark.parametrize("text", [REDUCERS, FUSED])
def test_a_reduction_is_called_by_what_its_computation_does_now(text: str) -> None:
    known = DrawnRecords()
    module = xe.parse_hlo(text)
    assert "max over 1" in [
        node.label for node in snapshot_picture(module.snapshot(), known=known).nodes
    ]
    body = module.find("sums").called[0]
    least = body.add(OPCODES["minimum"], body.root.shape, body.root.operands)
    body.replace(body.root, least)
    body.set_root(least)
    body.remove(next(i for i in body.instructions.values() if i.opcode.name == "maximum"))
    assert "min over 1" in [
        node.label for node in snapshot_picture(module.snapshot(), known=known).nodes
    ]
