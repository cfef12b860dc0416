"""`session.devices.memory_per_device`: the values of one device at the peak of a step."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.compiler.spmd.explanation.collective_rows import PlacedProgram
from xla_explorer.compiler.spmd.explanation.device_work import NO_KERNEL, is_fused
from xla_explorer.compiler.spmd.propagation.report import ShardingRow
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import byte_count
from xla_explorer.explorer.display.report import Report
from xla_explorer.hlo.analysis.collective_traffic import collective_kind
from xla_explorer.hlo.analysis.liveness import LiveRange, peak_live_bytes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


class HeldValue(NamedTuple):
    """A value that one device holds.

    Attributes
    ----------
    value, opcode : str
        Of the program of one device; of an argument, its global name.
    size : int
        Bytes on one device.
    kind : str
        argument, gathered, result or value.
    sharding : str
        Of an argument, in axis names.
    replicas : int
        Devices that hold the same part; 1 for a value that is not known to be copied.
    padding_bytes : int
        Bytes of padding on all devices, if a dimension does not divide.
    at_peak : bool
        True if it is alive when most bytes are.
    """

    value: str
    opcode: str
    size: int
    kind: str
    sharding: str = ""
    replicas: int = 1
    padding_bytes: int = 0
    at_peak: bool = True


class DeviceMemory(Report):
    """The memory of one device in a step.

    Values of elementwise kernels that one kernel reads are not stored. Buffers are not shared, so
    the peak is that of liveness.

    Attributes
    ----------
    peak_bytes : int
        The most bytes that live at once.
    argument_bytes, gathered_bytes, replicated_bytes, padding_bytes : int
        Of arguments, of results of all-gathers at the peak, of the copies among arguments (what
        sharding them over all devices would save), and of padding.
    rows : list of HeldValue
        The largest first.
    """

    def __init__(self, peak: int, rows: list[HeldValue]) -> None:
        self.peak_bytes, self.rows = peak, rows
        arguments = [row for row in rows if row.kind == "argument"]
        self.argument_bytes = sum([row.size for row in arguments])
        self.gathered_bytes = sum([r.size for r in rows if r.kind == "gathered" and r.at_peak])
        self.replicated_bytes = sum([r.size - r.size // r.replicas for r in arguments])
        self.padding_bytes = sum([row.padding_bytes for row in rows])

    def headline(self) -> str:
        """Return the peak and its parts."""
        parts = [f"arguments {byte_count(self.argument_bytes)}"]
        if self.gathered_bytes:
            parts.append(f"gathered {byte_count(self.gathered_bytes)}")
        if self.replicated_bytes:
            parts.append(f"copies of other devices' arguments {byte_count(self.replicated_bytes)}")
        if self.padding_bytes:
            parts.append(f"padding {byte_count(self.padding_bytes)}")
        return f"a device holds at most {byte_count(self.peak_bytes)}: {', '.join(parts)}"

    def blocks(self) -> Blocks:
        """Yield the values, the largest first, and what would shard the copied ones."""
        yield Table(HeldValue._fields, self.rows, "values of one device")
        copied = [r for r in self.rows if r.kind == "argument" and r.replicas > 1]
        for row in sorted(copied, key=lambda one: -one.size)[:3]:
            yield Sentence(
                f"{row.value} ({byte_count(row.size)}) is equal on {row.replicas} devices:"
                f" an annotation that splits it over all would save"
                f" {byte_count(row.size - row.size // row.replicas)} each"
            )


def device_memory(placed: PlacedProgram) -> DeviceMemory:
    """Return the memory of one device by liveness in program order."""
    stored, ranges = _live_ranges(placed)
    peak, where = peak_live_bytes(ranges)
    rows = [
        _row(placed, i, one.start <= where <= one.end)
        for i, one in zip(stored, ranges, strict=False)
    ]
    return DeviceMemory(peak, sorted(rows, key=lambda row: -row.size))


def peak_bytes(placed: PlacedProgram) -> int:
    """Return the most bytes that one device holds at once."""
    return peak_live_bytes(_live_ranges(placed)[1])[0]


def _live_ranges(placed: PlacedProgram) -> tuple[list[HloInstruction], list[LiveRange]]:
    """Return the stored values and their ranges; then come ranges inside loops and branches."""
    order = list(placed.program.module.entry.sequence())
    ends = _ends(order)
    stored = [i for i in order if _is_stored(i)]
    last = len(order)
    ranges = []
    for i in stored:
        whole = i.opcode.name == "parameter" or _is_result(i)
        ranges.append(LiveRange(0 if i.opcode.name == "parameter" else ends[i][0],
                                last if whole else ends[i][1], i.shape.byte_size))  # fmt: skip
    for i in order:
        inner = _inner_peak(i)
        if inner:
            ranges.append(LiveRange(ends[i][0], ends[i][0], inner))
    return stored, ranges


def _ends(order: list[HloInstruction]) -> dict[HloInstruction, tuple[int, int]]:
    """Return the first and the last position at which each value is needed."""
    place = {i: k for k, i in enumerate(order)}
    last = dict(place)
    for i in reversed(order):
        if i.opcode.name in ("bitcast", "reshape", "get-tuple-element", "tuple") or is_fused(i):
            for operand in i.operands:  # read when the user of the view is
                last[operand] = max(last[operand], last[i])
        for operand in i.operands:
            last[operand] = max(last[operand], place[i])
    return {i: (place[i], last[i]) for i in order}


def _is_stored(i: HloInstruction) -> bool:
    if i.opcode.name == "parameter":
        return True
    return i.opcode.name not in NO_KERNEL and not is_fused(i) and i.opcode.name != "while"


def _is_result(i: HloInstruction) -> bool:
    root = i.parent.root
    return i is root or (root.opcode.name == "tuple" and i in root.operands)


def _inner_peak(i: HloInstruction) -> int:
    """Return the bytes that the computations of a loop or branch hold beside their state."""
    if i.opcode.name not in ("while", "conditional", "call"):
        return 0
    return max([_peak_of(called) for called in i.called], default=0)


def _peak_of(computation: HloComputation) -> int:
    order = list(computation.sequence())
    ends = _ends(order)
    ranges = [
        LiveRange(*ends[i], i.shape.byte_size)
        for i in order
        if _is_stored(i) and i.opcode.name != "parameter"
    ]
    ranges += [LiveRange(ends[i][0], ends[i][0], _inner_peak(i)) for i in order]
    return peak_live_bytes(ranges)[0]


def _row(placed: PlacedProgram, i: HloInstruction, at_peak: bool) -> HeldValue:
    name, size = i.opcode.name, i.shape.byte_size
    if name != "parameter":
        kind = "gathered" if collective_kind(i) == "all-gather" else "result" if _is_result(i) else "value"  # fmt: skip
        return HeldValue(f"%{i.name}", name, size, kind, at_peak=at_peak)
    row = _argument_row(placed, int(i.payload))
    if row is None:
        count = placed.program.devices
        given = placed.program.source.entry.parameters()[int(i.payload)].name
        return HeldValue(f"%{given}", name, size, "argument", "", count, 0, at_peak)
    whole = math.prod(row.dimensions)
    width = size // max(math.prod(row.local_dimensions), 1)
    parts = placed.program.devices // max(row.replicas, 1)
    padding = (math.prod(row.local_dimensions) * parts - whole) * width
    return HeldValue(f"%{row.name}", name, size, "argument", placed.spec(row), row.replicas,
                     max(padding, 0), at_peak)  # fmt: skip


def _argument_row(placed: PlacedProgram, number: int) -> ShardingRow | None:
    """Return the sharding of an argument of the global program by its number."""
    for value in placed.program.report.graph.arguments:
        if int(value.instruction.payload) == number and not value.leaf:
            rows = placed.program.report.rows_of(value.instruction.name)
            return rows[0] if rows else None
    return None
