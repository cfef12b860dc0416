"""Buffer assignment: the bytes of the allocation that hold each array of a scheduled program.

Values that must share a buffer are joined first: the state of loops, in-place updates, results of
branches. Then come those that may share: an elementwise result over an operand that dies there.
Entry results are written to the caller's arrays; the rest is packed into one arena. Source:
xla/service/buffer_assignment.cc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xla_explorer.compiler.buffers.donation import Alias, join_aliases, mark_donated, wanted_aliases
from xla_explorer.compiler.buffers.packing import pack
from xla_explorer.compiler.buffers.slices import Allocation, BufferSlice
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.coalescing import BufferSet, BufferSets
from xla_explorer.hlo.analysis.dataflow import Dataflow, Index, Value
from xla_explorer.hlo.analysis.in_place import in_place_pairs, may_overwrite
from xla_explorer.hlo.analysis.liveness import LiveRange, peak_live_bytes
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


class BufferAssignmentError(XlaExplorerError):
    """A required sharing is impossible: copy-insertion has not run."""


class BufferAssignment:
    """The allocations of a program and the slice of each value.

    allocations: every piece of memory. arena_size: bytes of the arena. arena_lower_bound: the
    largest number of bytes alive at once in it, which no packing can beat. flow: the program's
    values and positions. aliases: entries of the header's `input_output_alias`, each with the
    reason if a result does not reuse its parameter's memory.
    """

    def __init__(self, module: HloModule, flow: Dataflow, sets: BufferSets) -> None:
        self.module, self.flow, self.sets = module, flow, sets
        self.allocations: list[Allocation] = []
        self.arena: Allocation | None = None
        self.arena_size = 0
        self.arena_lower_bound = 0
        self.arena_peak_position = 0.0
        self.aliases: list[Alias] = []
        self._slices: dict[BufferSet, BufferSlice] = {}

    def slice_of(self, instruction: HloInstruction, index: Index = ()) -> BufferSlice:
        """Return the slice of a leaf of an instruction's result.

        KeyError for values without a buffer (tokens, bodies of fusions).
        """
        return self._slices[self.sets.set_of(self.flow.value_of(instruction, index))]

    def slice_of_value(self, value: Value) -> BufferSlice:
        """Return the slice of a value."""
        return self._slices[self.sets.set_of(value)]

    @property
    def output_slices(self) -> list[tuple[Index, BufferSlice]]:
        """Each leaf index of the entry's result, with its slice at the end of the program.

        The slice is the caller's array (kind `output`). A parameter, a constant or a repeated leaf
        has another slice, and must be copied out.
        """
        root = self.module.entry.root
        return [(index, self.slice_of_value(value)) for index, value in self.flow.leaves(root)]

    def memory_by_position(
        self, kinds: Iterable[str] = ("arena",)
    ) -> list[tuple[HloInstruction, int, int]]:
        """Return (instruction, position, live bytes while it runs) along the whole time line."""
        changes: list[tuple[float, int, int]] = []
        for home, where in self._slices.items():
            if where.allocation.kind in kinds and where.size:
                changes += [(home.start, 0, where.size), (home.end, 1, -where.size)]
        changes.sort()
        rows, live, at = [], 0, 0
        for i, position in self.flow.positions.items():
            pending = 0
            while at < len(changes) and changes[at][0] <= position:
                place, ends, size = changes[at]
                at += 1
                if ends and place == position:
                    pending += size  # the last read is here, so the bytes are still live
                else:
                    live += size
            rows.append((i, position, live))
            live += pending
        return rows

    def held_at(
        self, position: float, kinds: Iterable[str] = ("arena",)
    ) -> list[tuple[Value, int]]:
        """Return (value, bytes of its buffer) of the live buffers at a position, the largest first.

        A buffer that several values use in turn is named by the present one.
        """
        found = []
        for home, where in self._slices.items():
            if where.allocation.kind in kinds and where.size and home.start <= position <= home.end:
                written = [v for v in home.values if v.start <= position]
                found.append((max(written or home.values, key=lambda v: v.start), where.size))
        return sorted(found, key=lambda row: -row[1])

    @property
    def live_ranges(self) -> dict[str, LiveRange]:
        """The live range of each value by name."""
        return {
            v.name: LiveRange(v.start, v.end, v.shape.byte_size)
            for v in self.flow.values
            if v.forwarded_to is None
        }

    def why_not_shared(
        self, a: HloInstruction, b: HloInstruction, index_a: Index = (), index_b: Index = ()
    ) -> Reason | None:
        """Return None if both have the same slice, else why they do not."""
        first, second = self.flow.value_of(a, index_a), self.flow.value_of(b, index_b)
        if self.slice_of_value(first) == self.slice_of_value(second):
            return None
        reason = self.sets.why_not_shared(first, second)
        if (
            reason is not None and reason.code == "sizes-differ"
        ):  # packing puts values of any sizes into the same bytes in turn
            reason = self.sets.why_not_in_turn(first, second)
        if reason is not None:
            early, late = (first, second) if first.start <= second.start else (second, first)
            touching = reason.code == "live-ranges-overlap" and early.end == late.start
            if touching and any(o is early.instruction for o in late.instruction.operands):
                number = next(
                    k for k, o in enumerate(late.instruction.operands) if o is early.instruction
                )
                return why_not_overwritten(late.instruction, number, late.index) or reason
            return reason
        return refuse(
            "different-places",
            f"%{first.name} and %{second.name} could share; packing put them apart",
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row per value, for DataFrames and charts.

        Columns: name, opcode, shape, allocation, offset, size, start, end, shared_with.
        """
        rows = []
        for value in self.flow.values:
            if value.forwarded_to is not None:
                continue
            home = self.sets.set_of(value)
            where = self._slices[home]
            rows.append(
                {
                    "value": value.name,
                    "id": value.instruction.id,
                    "opcode": value.instruction.opcode.name,
                    "shape": value.shape.text,
                    "allocation": where.allocation.name,
                    "kind": where.allocation.kind,
                    "offset": where.offset,
                    "size": where.size,
                    "start": value.start,
                    "end": value.end,
                    "buffer_start": home.start,
                    "buffer_end": home.end,
                    "shared_with": [v.name for v in home.values if v is not value],
                }
            )
        return rows

    def __repr__(self) -> str:
        return (
            f"<BufferAssignment: {len(self.allocations)} allocations, arena {self.arena_size} "
            f"bytes (at least {self.arena_lower_bound})>"
        )


def why_not_overwritten(i: HloInstruction, number: int, index: Index = ()) -> Reason | None:
    """Return None if an operation may write a leaf of its result over an operand, else why not."""
    operand, result = i.operands[number], i.shape.sub_shape(index)
    if operand.shape.byte_size != result.byte_size:
        return refuse(
            "sizes-differ",
            f"%{operand.name} has {operand.shape.byte_size} bytes, %{i.name} {result.byte_size}",
        )
    if (number, index) in in_place_pairs(i) or may_overwrite(i, number):
        return None
    return refuse(
        "not-computed-in-step",
        f"%{i.name} reads %{operand.name} at other elements than the one it writes, or in "
        "several places",
    )


def assign_buffers(
    module: HloModule,
    *,
    reuse_operands: bool = True,
    alias_outputs: bool = True,
    donate: bool = False,
) -> BufferAssignment:
    """Assign buffers to a scheduled module with a flat call graph after copy-insertion.

    reuse_operands: elementwise results may overwrite operands that die. alias_outputs: results are
    written to the caller's arrays directly. donate: the caller donates the parameters in the
    header's `input_output_alias` and `buffer_donor`, so that results reuse their memory.
    BufferAssignmentError if a loop's state cannot stay in one buffer, or a `must-alias` cannot be
    kept.
    """
    flow = Dataflow(module)
    sets = BufferSets(flow)
    wanted = wanted_aliases(module)
    if donate:
        mark_donated(flow, wanted)
    _join_what_must(flow, sets)
    aliases = join_aliases(flow, sets, wanted, donate)
    for alias in aliases:
        if donate and alias.must and alias.reason is not None:
            raise BufferAssignmentError(
                f"result {alias.output} must alias parameter {alias.parameter} and cannot: "
                f"{alias.reason}"
            )
    if reuse_operands:
        _join_what_may(flow, sets)
    assignment = BufferAssignment(module, flow, sets)
    assignment.aliases = aliases
    _place(assignment, alias_outputs)
    return assignment


def _join_what_must(flow: Dataflow, sets: BufferSets) -> None:
    for phi in flow.loops:
        sets.join(phi.result, phi.state)
    for i in flow.instructions():
        if i.opcode.name in ("dynamic-update-slice", "scatter", "fusion"):
            for number, index in in_place_pairs(i):
                old, new = flow.value_of(i.operands[number]), flow.value_of(i, index)
                if sets.why_not_shared(old, new) is None:
                    sets.join(old, new)
    for branch_phi in flow.branches:
        for value in branch_phi.branches:
            if sets.why_not_shared(value, branch_phi.result) is None:
                sets.join(flow.resolve(value), branch_phi.result)
    for phi in flow.loops:
        for value in (phi.next, phi.initial):
            reason = sets.why_not_shared(value, phi.state)
            if reason is not None:
                raise BufferAssignmentError(
                    f"element {phi.index} of %{phi.loop.name} cannot stay in one buffer: "
                    f"{reason.message}",
                    "run the pass copy-insertion after scheduling",
                )
            sets.join(flow.resolve(value), phi.state)


def _join_what_may(flow: Dataflow, sets: BufferSets) -> None:
    for value in flow.values:
        i = value.instruction
        if (
            value.forwarded_to is not None
            or value.phi is not None
            or not (i.opcode.elementwise or i.opcode.name == "fusion")
        ):
            continue
        target = sets.set_of(value)
        position = value.start
        if target.start != position or i.opcode.name == "copy" or target.read_only:
            continue
        size = value.shape.byte_size
        for number, operand in enumerate(i.operands):
            if not operand.shape.is_array or operand.shape.byte_size != size:
                continue
            old = flow.value_of(operand)
            source = sets.set_of(old)
            if source is target or source.read_only or source.end != position:
                continue
            readers = [(user, n) for v in source.values for p, user, n in v.uses if p == position]
            if readers == [(i, number)] and may_overwrite(i, number):
                sets.join(old, value)
                break


def _place(assignment: BufferAssignment, alias_outputs: bool) -> None:
    flow, sets, slices = assignment.flow, assignment.sets, assignment._slices
    entry = assignment.module.entry

    def allocate(home: BufferSet, allocation: Allocation) -> None:
        assignment.allocations.append(allocation)
        slices[home] = BufferSlice(allocation, 0, allocation.size)

    for parameter in entry.parameters():
        for index, value in flow.leaves(parameter):
            allocate(
                sets.set_of(value),
                Allocation(
                    len(assignment.allocations),
                    "parameter",
                    value.shape.byte_size,
                    int(parameter.payload),
                    index,
                ),
            )
    for value in flow.values:
        if value.instruction.opcode.name == "constant":
            allocate(
                sets.set_of(value),
                Allocation(
                    len(assignment.allocations),
                    "constant",
                    value.shape.byte_size,
                    -1,
                    value.index,
                    value.instruction,
                ),
            )
    if alias_outputs:
        for index, value in flow.leaves(entry.root):
            home = sets.set_of(value)
            if home not in slices:
                allocate(
                    home,
                    Allocation(
                        len(assignment.allocations), "output", value.shape.byte_size, -1, index
                    ),
                )
    rest = [home for home in sets.all() if home not in slices]
    ranges = [LiveRange(home.start, home.end, home.values[0].shape.byte_size) for home in rest]
    offsets, total = pack(ranges)
    arena = assignment.arena = Allocation(len(assignment.allocations), "arena", total)
    assignment.allocations.append(arena)
    assignment.arena_size = total
    assignment.arena_lower_bound, assignment.arena_peak_position = peak_live_bytes(ranges)
    for home, offset, r in zip(rest, offsets, ranges, strict=True):
        slices[home] = BufferSlice(arena, offset, r.size)
