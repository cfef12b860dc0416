"""Thunks of asynchronous starts and dones.

The work runs on the stream chosen by the stream assignment, and the done waits for it. A start may
read its operands in place if nothing overwrites them before the done; else they are copied first on
the main stream. Source: xla/backends/gpu/runtime/async_thunk.cc, wait_for_streams_thunk.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.backends.gpu.thunk import CONTROL_FLOW, Thunk
from xla_explorer.compiler.buffers import BufferAssignment, BufferSlice
from xla_explorer.compiler.transforms.scheduling.stream_assignment import stream_of, waits_for
from xla_explorer.hlo.instruction import HloInstruction

STARTS = frozenset({"async-start", "copy-start"})
DONES = frozenset({"async-done", "copy-done"})


def start_of(done: HloInstruction) -> HloInstruction:
    """Return the start that a done waits for."""
    start = done.operands[0]
    while start.opcode.name == "async-update":
        start = start.operands[0]
    return start


def wrapped_operation(start: HloInstruction) -> HloInstruction | None:
    """Return the only instruction of an async-start's computation, else None."""
    computation = start.called[0]
    root = computation.root
    alone = all(
        i is root or i.opcode.name == "parameter" for i in computation.instructions.values()
    )
    return (
        root
        if alone and all(o.opcode.name == "parameter" for o in root.operands) and root.operands
        else None
    )


def operand_places(
    start: HloInstruction, sequence: Sequence[HloInstruction], assignment: BufferAssignment
) -> tuple[list[BufferSlice], list[Thunk]]:
    """Return the slices from which a start reads its operands, and the copies made before it.

    The copies go to the operand slots of the start's own tuple.
    """
    places: list[BufferSlice] = []
    copies: list[Thunk] = []
    written = _written_until_done(start, sequence, assignment)
    for number, operand in enumerate(start.operands):
        aside = (1,) if start.opcode.name == "copy-start" else (0, number)
        for index, leaf in operand.shape.leaves():
            if not leaf.is_array:
                continue
            place = assignment.slice_of(operand, index)
            if written is None or any(place.overlaps(other) for other in written):
                target = assignment.slice_of(start, (*aside, *index))
                if target != place:
                    copies.append(Thunk("copy", start, arguments=(place, target)))
                    place = target
            places.append(place)
    return places, copies


def result_places(start: HloInstruction, assignment: BufferAssignment) -> list[BufferSlice]:
    """Return the slices of a start's results, in the order of the done's leaves."""
    at = 0 if start.opcode.name == "copy-start" else 1
    return [
        assignment.slice_of(start, (at, *index))
        for index, leaf in start.shape.tuple_shapes[at].leaves()
        if leaf.is_array
    ]


def done_thunks(done: HloInstruction, assignment: BufferAssignment) -> list[Thunk]:
    """Return the wait, and copies to the done's slices if they differ."""
    targets = [
        assignment.slice_of(done, index) for index, leaf in done.shape.leaves() if leaf.is_array
    ]
    pairs = zip(result_places(start_of(done), assignment), targets, strict=True)
    stream, waits = stream_of(done), waits_for(done)
    thunks = [
        Thunk("copy", done, arguments=pair, stream=stream) for pair in pairs if pair[0] != pair[1]
    ]
    if not waits:
        return thunks
    return [Thunk("wait", done, stream=stream, waits=waits), *thunks]


def _written_until_done(
    start: HloInstruction, sequence: Sequence[HloInstruction], assignment: BufferAssignment
) -> list[BufferSlice] | None:
    """Return the slices written between a start and its done in program order, None if unknown."""
    written: list[BufferSlice] = []
    started = False
    for i in sequence:
        if i is start:
            started = True
            written += result_places(start, assignment)
            continue
        if not started:
            continue
        if i.opcode.name in DONES and start_of(i) is start:
            return written
        if i.opcode.name in CONTROL_FLOW:
            return None
        written += [
            assignment.slice_of(i, index) for index, leaf in i.shape.leaves() if leaf.is_array
        ]
    return None
