"""Starts and dones of asynchronous work as thunks: the work goes to the stream that the stream assignment chose, the done waits for it.

A start may read its operands where they lie as long as nobody writes there before the done; else they are copied first, on the main
stream. Source: xla/backends/gpu/runtime/async_thunk.cc, wait_for_streams_thunk.cc.
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
    """The start that a done waits for."""
    start = done.operands[0]
    while start.opcode.name == "async-update":
        start = start.operands[0]
    return start


def wrapped_operation(start: HloInstruction) -> HloInstruction | None:
    """The one instruction that an async-start runs, when it is all there is in its computation."""
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
    """Where the work of a start reads its operands, and the copies to be made before: to the places that its own tuple has for them."""
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
    """Where the work of a start leaves its results, in the order of the leaves of the done."""
    at = 0 if start.opcode.name == "copy-start" else 1
    return [
        assignment.slice_of(start, (at, *index))
        for index, leaf in start.shape.tuple_shapes[at].leaves()
        if leaf.is_array
    ]


def done_thunks(done: HloInstruction, assignment: BufferAssignment) -> list[Thunk]:
    """Wait, and copy what does not lie where the done has it."""
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
    """What is written after the start in program order, until its done; None when that is hard to say."""
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
