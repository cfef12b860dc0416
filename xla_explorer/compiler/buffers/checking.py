"""An independent check of a buffer assignment: live values never share a byte."""

from __future__ import annotations

from xla_explorer.compiler.buffers.assignment import BufferAssignment, why_not_overwritten
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.dataflow import Value


def check_assignment(assignment: BufferAssignment) -> list[Reason]:
    """Return every violation found.

    Violations are live values whose slices overlap, slices outside their allocation, and loop state
    that moves.
    """
    found: list[Reason] = []
    by_allocation: dict[int, list[Value]] = {}
    for value in assignment.flow.values:
        if value.forwarded_to is None and value.shape.byte_size:
            where = assignment.slice_of_value(value)
            if (
                where.offset + where.size > where.allocation.size
                or where.size < value.shape.byte_size
            ):
                found.append(
                    refuse(
                        "outside-allocation",
                        f"%{value.name} ({value.shape.byte_size} bytes) does not fit {where}",
                    )
                )
            by_allocation.setdefault(where.allocation.id, []).append(value)
    for values in by_allocation.values():
        values.sort(key=lambda v: v.start)
        alive: list[Value] = []
        for value in values:
            alive = [v for v in alive if v.end >= value.start]
            where = assignment.slice_of_value(value)
            found += [
                refuse(
                    "overlap",
                    f"%{other.name} is still needed when %{value.name} is written over it",
                    first=other.name,
                    second=value.name,
                )
                for other in alive
                if assignment.slice_of_value(other).overlaps(where)
                and not _handed_over(assignment, other, value)
            ]
            alive.append(value)
    for phi in assignment.flow.loops:
        places = {
            assignment.slice_of_value(v) for v in (phi.initial, phi.state, phi.next, phi.result)
        }
        if len(places) != 1:
            found.append(
                refuse(
                    "loop-state-moves",
                    f"element {phi.index} of %{phi.loop.name} lives in {len(places)} places",
                )
            )
        found += [  # no other value may overlap the state while the loop runs
            refuse(
                "loop-state-clobbered",
                f"%{value.name} overwrites element {phi.index} of %{phi.loop.name}",
            )
            for value in assignment.flow.values
            if value.forwarded_to is None
            and value not in (phi.state, phi.next, phi.result, phi.initial)
            and phi.begin < value.start < phi.finish
            and value.end >= phi.body_end
            and assignment.slice_of_value(value).overlaps(assignment.slice_of_value(phi.next))
        ]
    return found


def _handed_over(assignment: BufferAssignment, old: Value, new: Value) -> bool:
    """Return True if `new` overwrites `old` at its last reader, and that reader allows it."""
    if old.end != new.start or assignment.slice_of_value(old) != assignment.slice_of_value(new):
        return False
    readers = [(user, number) for position, user, number in old.uses if position == new.start]
    if len(readers) != 1 or readers[0][0] is not new.instruction:
        return False
    return why_not_overwritten(readers[0][0], readers[0][1], new.index) is None
