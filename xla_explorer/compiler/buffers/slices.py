"""Allocations, and the slices of them that hold values."""

from __future__ import annotations

from typing import Final
from typing import Literal as OneOf

from xla_explorer.hlo.analysis.in_place import repacks
from xla_explorer.hlo.instruction import HloInstruction

AllocationKind = OneOf["parameter", "output", "constant", "arena"]
_RENAMES_MEMORY: Final = frozenset(
    {
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "after-all",
        "opt-barrier",
        "domain",
        "add-dependency",
    }
)


def renames_memory(i: HloInstruction) -> bool:
    """Return True if the result is existing memory: no backend runs code for it."""
    return i.opcode.name in _RENAMES_MEMORY and not repacks(i)


class Allocation:
    """One piece of memory.

    kind: `parameter` (number, leaf index: the caller's array), `output` (leaf index: the caller's
    result array), `constant` (instruction: its literal), `arena` (one block for everything else).
    size: bytes.
    """

    __slots__ = ("id", "index", "instruction", "kind", "number", "size")

    def __init__(
        self,
        identity: int,
        kind: AllocationKind,
        size: int,
        number: int = -1,
        index: tuple[int, ...] = (),
        instruction: HloInstruction | None = None,
    ) -> None:
        self.id, self.kind, self.size, self.number, self.index, self.instruction = (
            identity,
            kind,
            size,
            number,
            index,
            instruction,
        )

    @property
    def name(self) -> str:
        """A text such as `parameter 0`, `output {1}`, `constant c.3`, `arena`."""
        leaf = " {" + ",".join(map(str, self.index)) + "}" if self.index else ""
        if self.kind == "parameter":
            return f"parameter {self.number}{leaf}"
        if self.kind == "constant" and self.instruction is not None:
            return f"constant {self.instruction.name}{leaf}"
        return self.kind + leaf

    def __repr__(self) -> str:
        return f"<Allocation {self.id} {self.name}, {self.size} bytes>"


class BufferSlice:
    """Bytes offset .. offset + size of an allocation, compared by these three."""

    __slots__ = ("allocation", "offset", "size")

    def __init__(self, allocation: Allocation, offset: int, size: int) -> None:
        self.allocation, self.offset, self.size = allocation, offset, size

    def overlaps(self, other: BufferSlice) -> bool:
        """Return True if any byte is in both."""
        return (
            self.allocation is other.allocation
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BufferSlice) and (
            self.allocation is other.allocation
            and self.offset == other.offset
            and self.size == other.size
        )

    def __hash__(self) -> int:
        return hash((self.allocation.id, self.offset, self.size))

    def __repr__(self) -> str:
        return f"<{self.allocation.name} [{self.offset}:{self.offset + self.size}]>"
