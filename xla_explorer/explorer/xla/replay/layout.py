"""XLA:CPU's `layout-assignment`: the layout of each array, and the copies between layouts."""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.explorer.sessions.passes import RecordedPass
from xla_explorer.explorer.xla.replay.correspondence import Correspondence
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.hlo.shape import Shape

PASS: Final = "layout-assignment"
_POLICY: Final = "layout-assignment{policy=xla}"
COPIED, KEPT = "copied", "kept"


def replayed_layouts(step: RecordedPass) -> Replay:
    """Return the layout of each array, and for each operand whether it is copied."""
    before = step.before
    trace = optimize(before.clone(), _POLICY)
    theirs, ours = [
        Correspondence(before, after, lambda _, late: late.opcode.name == "copy")
        for after in (step.module, trace.module)
    ]
    rows = []
    for i, places in theirs.places.items():
        if not i.shape.is_array or i.shape.rank < 2:
            continue  # only one order is possible
        here, there = [
            _order(found[0].instruction.shape) if found else "?"
            for found in (ours.places.get(i, []), places)
        ]
        rows.append(
            ReplayRow(
                i.name,
                "",
                here,
                there,
                here == there,
                "",
                f"%{i.name} has the layout {there}",
                i.shape.byte_size,
                (i.id,),
            )
        )
    copied, wanted = [
        {(e.producer, e.consumer, e.number): bool(e.between) for e in found.edges}
        for found in (ours, theirs)
    ]
    for edge, there_copied in wanted.items():
        producer, consumer, _ = edge
        if copied.get(edge) or there_copied:
            here, there = [
                COPIED if yes else KEPT for yes in (copied.get(edge, False), there_copied)
            ]
            found = (theirs if there_copied else ours).places.get(producer)
            order = _order(found[0].instruction.shape) if found else "another layout"
            message = f"%{producer.name} has {order}; %{consumer.name} reads it in another order"
            rows.append(ReplayRow(producer.name, consumer.name, here, there, here == there, "layout-differs", message,
                                  producer.shape.byte_size, (producer.id, consumer.id)))  # fmt: skip
    return Replay("layout", rows, step.name, step.number, "layouts and copies")


def _order(shape: Shape) -> str:
    return (
        f"{{{','.join(map(str, shape.layout.minor_to_major))}}}" if shape.is_array else str(shape)
    )
