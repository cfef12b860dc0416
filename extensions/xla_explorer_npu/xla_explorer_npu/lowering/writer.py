"""Shared by all lowerings: emission, regions of device memory, tiles, the table of lowerings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from xla_explorer.plugin import HloInstruction, Reason, refuse
from xla_explorer_npu.architecture import NPU, Architecture
from xla_explorer_npu.instruction_set import OPERATIONS, Address, Instruction
from xla_explorer_npu.vector_functions import DTYPES

ARENA, CONSTANTS, WORKSPACE, FIRST_BUFFER = (
    0,
    1,
    2,
    3,
)  # base registers; parameters and results follow


class Label:
    """A target of branches, placed after they are written."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = -1


class Region(NamedTuple):
    """An array in memory: where, its element type, sizes, and steps in elements."""

    address: Address
    element_type: str
    sizes: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def item(self) -> int:
        """Bytes an element."""
        return DTYPES[self.element_type].itemsize

    def box(self, starts: Sequence[int], sizes: Sequence[int]) -> Region:
        """Return a block of the region."""
        offset = sum([a * b for a, b in zip(starts, self.steps, strict=True)]) * self.item
        return self._replace(
            address=self.address._replace(offset=self.address.offset + offset), sizes=tuple(sizes)
        )

    def dims(self, dimensions: Sequence[int]) -> Region:
        """Return the region of these dimensions, in this order; other indices are 0."""
        return self._replace(
            sizes=tuple([self.sizes[d] for d in dimensions]),
            steps=tuple([self.steps[d] for d in dimensions]),
        )


def dense(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return row-major steps."""
    return tuple([math.prod(sizes[d + 1 :]) for d in range(len(sizes))])


class Box(NamedTuple):
    """One tile of an index space."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.sizes)


def boxes(sizes: Sequence[int], most: int) -> Iterator[Box]:
    """Yield tiles of at most `most` elements in row-major order.

    A tile is whole in the last dimensions, cut in one, and of size 1 in those before it.
    """
    inner, cut = 1, len(sizes)
    while cut > 0 and inner * sizes[cut - 1] <= most:
        cut -= 1
        inner *= sizes[cut]
    if cut == 0:
        yield Box((0,) * len(sizes), tuple(sizes))
        return
    cut -= 1
    chunk = max(most // inner, 1)
    tail = tuple(sizes[cut + 1 :])
    for outer in itertools.product(*[range(n) for n in sizes[:cut]]):
        for start in range(0, sizes[cut], chunk):
            yield Box(
                (*outer, start, *[0] * len(tail)),
                (*[1] * cut, min(chunk, sizes[cut] - start), *tail),
            )


class ProgramWriter:
    """Writer of a program's instructions.

    region_of: returns the region of an instruction's result, or of a leaf, from buffer assignment.
    """

    def __init__(self, region_of: Callable[..., Region], architecture: Architecture = NPU) -> None:
        self.region_of, self.architecture = region_of, architecture
        self.program: list[Instruction] = []
        self.notes: dict[int, str] = {}
        self.origin: int | None = None
        self.workspace = 0
        self._queued = [0] * architecture.dma_queues  # cycles given to each queue so far

    def emit(self, operation: str, element_type: str, *operands: Any) -> None:
        """Emit one instruction on behalf of the current HLO instruction."""
        self.program.append(Instruction(operation, element_type, operands, self.origin))

    def note(self, text: str) -> None:
        """Add a comment before the next instruction."""
        self.notes[len(self.program)] = text

    def place(self, label: Label) -> None:
        """Place the label before the next instruction."""
        label.at = len(self.program)

    def finished(self) -> list[Instruction]:
        """Return the program with labels as numbers."""
        done = []
        for i in self.program:
            kinds = OPERATIONS[i.operation].operands
            if kinds and kinds[-1][1] == "label":
                i = i._replace(operands=(*i.operands[:-1], i.operands[-1].at))
            done.append(i)
        return done

    def scratch(self, offset: int) -> Address:
        """Return an address of the scratchpad."""
        return Address("s", offset)

    def _queue(
        self,
        sizes: Sequence[int],
        to: Sequence[int],
        source: Sequence[int],
        item: int,
        queues: range,
    ) -> int:
        """Return the given queue with the least work so far, and add the copy to its work."""
        queue = min(queues, key=lambda q: self._queued[q])
        self._queued[queue] += self.architecture.transfer_cycles(sizes, to, source, item)
        return queue

    def load(self, region: Region, offset: int) -> None:
        """Load a region to the scratchpad, dense.

        The last queue is for stores, which wait for results, so loads do not wait behind them.
        """
        steps = dense(region.sizes)
        queue = self._queue(
            region.sizes, steps, region.steps, region.item, range(self.architecture.dma_queues - 1)
        )
        self.emit(
            "dma.copy",
            region.element_type,
            self.scratch(offset),
            region.address,
            region.sizes,
            steps,
            region.steps,
            queue,
        )

    def store(self, region: Region, offset: int) -> None:
        """Store a dense tile of the scratchpad to a region, on the last queue."""
        last = self.architecture.dma_queues - 1
        queue = self._queue(
            region.sizes, region.steps, dense(region.sizes), region.item, range(last, last + 1)
        )
        self.emit(
            "dma.copy",
            region.element_type,
            region.address,
            self.scratch(offset),
            region.sizes,
            region.steps,
            dense(region.sizes),
            queue,
        )

    def copy(self, target: Region, source: Region) -> None:
        """Copy device memory to device memory, element by element in step."""
        if math.prod(target.sizes) == 0:
            return
        queue = self._queue(
            target.sizes,
            target.steps,
            source.steps,
            target.item,
            range(self.architecture.dma_queues),
        )
        self.emit(
            "dma.copy",
            target.element_type,
            target.address,
            source.address,
            target.sizes,
            target.steps,
            source.steps,
            queue,
        )

    def work_region(self, element_type: str, sizes: Sequence[int], offset: int = 0) -> Region:
        """Return a dense array in the workspace, which each instruction may use while it runs."""
        end = offset + math.prod(sizes) * DTYPES[element_type].itemsize
        self.workspace = max(self.workspace, end)
        return Region(Address("d", offset, WORKSPACE), element_type, tuple(sizes), dense(sizes))


Lowering = Callable[[ProgramWriter, HloInstruction], None]
Check = Callable[[HloInstruction], Reason | None]
_TABLE: dict[str, tuple[Lowering, tuple[Check, ...]]] = {}
RENAMES = frozenset(
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
CONTROL = frozenset({"while", "conditional", "call"})


def lowers(*opcodes: str, checks: tuple[Check, ...] = ()) -> Callable[[Lowering], Lowering]:
    """Declare the decorated function as the lowering of opcodes, unless a check refuses."""

    def declare(function: Lowering) -> Lowering:
        for opcode in opcodes:
            _TABLE[opcode] = (function, checks)
        return function

    return declare


def lowering_of(i: HloInstruction) -> Lowering:
    """Return the lowering of an instruction that `supports` accepts."""
    return _TABLE[i.opcode.name][0]


def element_types_are_known(i: HloInstruction) -> Reason | None:
    """Accept pred, integers of 8 to 64 bits, f16, bf16 and f32, without dynamic dimensions."""
    for shape in (i.shape, *[o.shape for o in i.operands]):
        for _, leaf in shape.leaves():
            if leaf.is_array and leaf.element_type.name not in DTYPES:
                name = leaf.element_type.name
                return refuse(
                    "element-type",
                    f"%{i.name}: the NPU has no {name}",
                    element_type=name,
                    known=sorted(DTYPES),
                )
            if any(leaf.dynamic):
                return refuse(
                    "dynamic-dimension",
                    f"%{i.name} has the dynamic shape {leaf.text_without_layout}; the NPU's "
                    "programs have fixed sizes",
                )
    return None


def supports(i: HloInstruction) -> Reason | None:
    """Return None if an optimised HLO instruction has a lowering, else the reason."""
    name = i.opcode.name
    types = element_types_are_known(i)
    if types is not None or name in RENAMES or name in CONTROL:
        return types
    if name not in _TABLE:
        return refuse(
            "opcode-without-lowering", f"%{i.name}: the NPU has no lowering for {name}", opcode=name
        )
    for check in _TABLE[name][1]:
        reason = check(i)
        if reason is not None:
            return reason
    return None
