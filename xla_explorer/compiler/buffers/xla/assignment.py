"""XLA:CPU's buffer assignment: single allocations from the largest buffer down, then packing.

Source: xla/service/buffer_assignment.cc (`AssignSingleHloBuffer`, `CombineTempAllocations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xla_explorer.compiler.buffers.xla.heap import ALIGNMENT, packed
from xla_explorer.compiler.buffers.xla.sharing import XlaBuffer, buffers_of, interfere
from xla_explorer.compiler.buffers.xla.values import XlaValue, XlaValues, indices
from xla_explorer.hlo.analysis.call_graph import CONTROL_FLOW_NAMES
from xla_explorer.hlo.analysis.dataflow import Index
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

PARAMETER, CONSTANT, RESULT, TEMPORARY, THREAD = (
    "parameter",
    "constant",
    "result",
    "temporary",
    "thread-local",
)
_FORWARD = frozenset({"get-tuple-element", "bitcast"})


class XlaAllocation:
    """An allocation. offsets: by value name. reusable: values of other times may use it too."""

    def __init__(self, kind: str, size: int, reusable: bool = False) -> None:
        self.kind, self.size, self.reusable = kind, size, reusable
        self.values: list[XlaValue] = []
        self.offsets: dict[str, int] = {}

    def take(self, buffer: XlaBuffer) -> None:
        """Put a buffer at the start of the allocation."""
        self.values += buffer.values
        self.offsets.update(dict.fromkeys([value.name for value in buffer.values], 0))


class XlaBuffers(NamedTuple):
    """The buffers of a module.

    allocations: in XLA's order. values: those of the entry's control flow. results: by index.
    """

    allocations: list[XlaAllocation]
    values: list[XlaValue]
    results: list[tuple[Index, XlaValue]]

    @property
    def total_bytes(self) -> int:
        """Bytes of all allocations."""
        return sum([allocation.size for allocation in self.allocations])

    @property
    def temporary_bytes(self) -> int:
        """Bytes of the allocation that XLA packs."""
        return sum(
            [allocation.size for allocation in self.allocations if allocation.kind == TEMPORARY]
        )


def assign_as_xla(module: HloModule) -> XlaBuffers:
    """Assign buffers to a module that XLA:CPU has scheduled.

    Parameters
    ----------
    module
        After all of XLA's passes.

    Returns
    -------
    XlaBuffers
        Allocations and the values in them.

    Raises
    ------
    NotFlatError
        A computation has several callers.
    """
    found = XlaValues(module)
    of = buffers_of(found)
    order = _post_order(found)
    singles: list[XlaAllocation] = []
    reusable: list[XlaAllocation] = []
    home: dict[XlaValue, XlaAllocation] = {}
    later: set[XlaValue] = set()

    def rank(buffer: XlaBuffer) -> tuple[int, bool, int]:
        return (
            -buffer.size,
            not buffer.lives_out,
            min([order[value.instruction] for value in buffer.values]),
        )

    for buffer in sorted(dict.fromkeys(of.values()), key=rank):
        allocation = _own(buffer, module.entry)
        reused = _reused(found, buffer, home, reusable) if allocation is None else None
        if allocation is None and reused is None and not buffer.lives_out:
            later.update(buffer.values)
            continue
        if reused is None:
            allocation = allocation or XlaAllocation(RESULT, buffer.size, True)
            singles.append(allocation)
            reusable += [allocation] if allocation.reusable else []
        placed = reused or allocation
        assert placed is not None
        placed.take(buffer)
        home.update(dict.fromkeys(buffer.values, placed))
    if later:
        singles.append(_packed(found, of, later))
    threads = [one for computation in _thread_local(module) for one in _locals(computation)]
    return XlaBuffers(
        _combined([*singles, *threads]), found.values, list(found.of(module.entry.root).items())
    )


def _own(buffer: XlaBuffer, entry: HloComputation) -> XlaAllocation | None:
    """Return the fixed allocation of a constant, a parameter or a tuple's pointers, else None."""
    for value in buffer.values:
        if value.instruction.opcode.name == "constant":
            return XlaAllocation(CONSTANT, buffer.size)
        if value.instruction.opcode.name == "parameter" and value.instruction.parent is entry:
            return XlaAllocation(PARAMETER, buffer.size, not value.fixed)
    if any(value.shape.is_tuple for value in buffer.values):
        return XlaAllocation(RESULT if buffer.lives_out else TEMPORARY, buffer.size)
    return None


def _reused(
    found: XlaValues,
    buffer: XlaBuffer,
    home: dict[XlaValue, XlaAllocation],
    reusable: list[XlaAllocation],
) -> XlaAllocation | None:
    """Return a free existing allocation: an operand's first, then the smallest."""
    preferred = [
        home[value]
        for made in buffer.values
        if not made.index
        for operand in made.instruction.operands
        if (value := found.of(operand).get(())) in home
    ]
    for allocation in (*[one for one in preferred if one.reusable], *reversed(reusable)):
        if buffer.size > allocation.size or (buffer.lives_out and buffer.size != allocation.size):
            continue
        if not any(
            interfere(new, old) or _copies(new, old)
            for old in allocation.values
            for new in buffer.values
        ):
            return allocation
    return None


def _copies(new: XlaValue, old: XlaValue) -> bool:
    """Return True if one is a copy of the other: XLA keeps the two apart."""
    return new.instruction.opcode.name == "copy" and any(
        i in new.instruction.operands for i, _ in old.positions
    )


def _packed(found: XlaValues, of: dict[XlaValue, XlaBuffer], later: set[XlaValue]) -> XlaAllocation:
    offsets, size = packed(found, of, later)
    made = XlaAllocation(TEMPORARY, size)
    made.values = [value for value in found.values if value in offsets]
    made.offsets = {value.name: offset for value, offset in offsets.items()}
    return made


def _combined(allocations: list[XlaAllocation]) -> list[XlaAllocation]:
    """Return the allocations with the temporary ones concatenated into one.

    The order is that of C++'s `std::partition`, which swaps.
    """
    order, first, last = list(allocations), 0, len(allocations)
    while True:
        while first < last and order[first].kind != TEMPORARY:
            first += 1
        last -= 1
        while first < last and order[last].kind == TEMPORARY:
            last -= 1
        if first >= last:
            break
        order[first], order[last] = order[last], order[first]
        first += 1
    kept, temporary = order[:first], order[first:]
    if temporary:
        made = temporary[0]
        kept.append(made)
        for one in temporary[1:]:
            base = -(-made.size // ALIGNMENT) * ALIGNMENT
            made.size = base + one.size
            made.values += one.values
            made.offsets.update({name: base + offset for name, offset in one.offsets.items()})
    return kept


def _post_order(found: XlaValues) -> dict[HloInstruction, int]:
    order: dict[HloInstruction, int] = {}
    for computation in found.spans:
        for i in computation.post_order():
            order[i] = len(order)
    return order


def _thread_local(module: HloModule) -> list[HloComputation]:
    """Return the computations that kernels call for each element, except those of fusions."""
    found: dict[HloComputation, bool] = {}
    work = [(module.entry, False)]
    while work:
        computation, inside = work.pop()
        if computation in found:
            continue
        found[computation] = inside
        for i in computation.instructions.values():
            work += [
                (called, inside or i.opcode.name not in CONTROL_FLOW_NAMES) for called in i.called
            ]
    fused = {
        called
        for computation in found
        for i in computation.instructions.values()
        if i.opcode.name == "fusion"
        for called in i.called
    }
    return [
        computation for computation, inside in found.items() if inside and computation not in fused
    ]


def _locals(computation: HloComputation) -> Iterator[XlaAllocation]:
    for i in computation.sequence():
        if i.opcode.name in _FORWARD:
            continue
        kind = CONSTANT if i.opcode.name == "constant" else THREAD
        for index, shape in [((), i.shape)] if i.opcode.name == "tuple" else indices(i.shape):
            value = XlaValue(-1, i, index, shape, False)
            one = XlaAllocation(kind, value.size)
            one.values, one.offsets = [value], {value.name: 0}
            yield one
