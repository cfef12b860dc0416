"""The accesses of a loop nest to memory: step along each axis, bytes that loops touch, bytes that come from beyond a cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.codegen.nest.ir import (
    Array,
    AxisKind,
    BoundAxis,
    Load,
    LoopNest,
    Store,
    axes_of,
)
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, RuntimeValue
from xla_explorer.hlo.primitive_type import PrimitiveType

LINE_BYTES = 64
LEAST_STREAMED = 16  # bytes of a register that is written past the caches
SECTOR_BYTES = 32  # what a GPU's memory moves at least
WARP = 32


@dataclass(frozen=True)
class Access:
    """A load or a store.

    path: the axes around it, outermost first, but those of registers behind all loops. offset: in
    elements.

    origin: the HLO instruction.
    """

    array: Array
    written: bool
    path: tuple[BoundAxis, ...]
    offset: IndexExpression
    origin: int | None

    @property
    def element_bytes(self) -> int:
        """Bytes of an element in memory."""
        return max(self.array.shape.element_type.bits // 8, 1)

    @property
    def executions(self) -> int:
        """How many elements are accessed, each as often as it is."""
        return math.prod(
            [
                b.axis.extent
                for b in self.path
                if b.axis in self.offset.axes or b.kind in (AxisKind.SERIAL, AxisKind.PARALLEL)
            ]
        )

    def step(self, axis: Axis) -> int | None:
        """Elements from one step of an axis to the next; None where that is not constant."""
        return self.offset.coefficient(axis)

    @property
    def inner(self) -> BoundAxis | None:
        """The axis whose steps follow one another fastest: the vector's, else the innermost one that the access depends on."""
        vector = [b for b in self.path if b.kind is AxisKind.VECTOR]
        depended = [b for b in self.path if b.axis in self.offset.axes]
        return next(iter([*vector, *reversed(depended)]), None)

    @property
    def pattern(self) -> str:
        """contiguous, one element, every nth element, in pieces or gathered, along the inner axis."""
        if self.inner is None:
            return "one element"
        axis, step = self.inner.axis, self.step(self.inner.axis)
        if step is None:
            by_values = [
                x
                for x in self.offset.atoms()
                if isinstance(x, RuntimeValue) and any(axis in y.axes for y in x.place)
            ]
            return "gathered" if by_values else "in pieces"
        return {0: "one element", 1: "contiguous"}.get(step, f"every {step}th element")

    def distinct_bytes(self, axes: Sequence[Axis]) -> int:
        """Bytes that one pass over some axes touches, in whole lines where neighbours are not touched."""
        steps = [
            abs(self.step(a) or 1) for a in axes if a in self.offset.axes and self.step(a) != 0
        ]
        elements = math.prod([a.extent for a in axes if a in self.offset.axes])
        elements = min(elements, max(self.array.shape.element_count, 1))
        bytes_each = (
            self.element_bytes if not steps else min(min(steps) * self.element_bytes, LINE_BYTES)
        )
        whole = max(self.array.shape.element_count * self.element_bytes, self.element_bytes)
        return min(max(elements * bytes_each, self.element_bytes), whole)

    def sectors(self, lanes: int = WARP) -> int:
        """Sectors of 32 bytes that a warp would ask for at once, if its threads ran along the inner axis."""
        step = (self.step(self.inner.axis) if self.inner is not None else 0) or 0
        if self.pattern in ("gathered", "in pieces"):
            return lanes
        span = abs(step) * self.element_bytes
        return min(
            lanes, max(1, math.ceil(((lanes - 1) * span + self.element_bytes) / SECTOR_BYTES))
        )


def accesses_of(nest: LoopNest) -> list[Access]:
    """Every access, in the order of the text."""
    found = []
    for s, around in nest.statements():
        if (
            isinstance(s, Load | Store)
            and (array := nest.array(s.array)) is not None
            and not (isinstance(s, Load) and s.is_prefetch)
        ):
            axes = [b for x in around for b in axes_of(x)]
            path = tuple(
                sorted(axes, key=lambda b: b.kind in (AxisKind.UNROLLED, AxisKind.VECTOR))
            )  # registers are inside of every loop
            origin = s.origin.instruction if s.origin is not None else None
            found.append(Access(array, isinstance(s, Store), path, nest.offset_of(s), origin))
    return found


def whole_registers(
    offset: IndexExpression, vector: Axis | None, lanes: int, element: PrimitiveType
) -> bool:
    """Whether registers that are stored begin where registers of memory do, if the array begins with a cache line."""
    steps = [factor for atom, factor in offset.terms if atom != vector]
    return (
        not element.is_complex
        and lanes * element.bytes >= LEAST_STREAMED
        and all(n % lanes == 0 for n in (*steps, offset.constant))
    )


def is_whole(nest: LoopNest, array: Array) -> bool:
    """Whether most of an array is written in whole registers: that of the first store to it."""
    for s, around in nest.statements():
        if isinstance(s, Store) and s.array == array.name:
            vector = next(
                (b.axis for x in around for b in axes_of(x) if b.kind is AxisKind.VECTOR), None
            )
            offset = nest.offset_of(s)
            lanes = vector.extent if vector is not None and offset.coefficient(vector) == 1 else 1
            return whole_registers(offset, vector, lanes, array.shape.element_type)
    return False


class Traffic:
    """What the accesses of a nest move.

    A pass over loops that fits a cache finds there what it has touched before.
    """

    def __init__(self, accesses: Sequence[Access]) -> None:
        self.accesses = accesses
        self._footprints: dict[tuple[str, ...], int] = {}
        parts: dict[tuple[str, ...], dict[str, int]] = {}
        for a in accesses:
            for k in range(len(a.path) + 1):
                touched = a.distinct_bytes([b.axis for b in a.path[k:]])
                below = parts.setdefault(tuple([b.axis.name for b in a.path[:k]]), {})
                below[a.array.name] = max(below.get(a.array.name, 0), touched)
        self._footprints = {key: sum(value.values()) for key, value in parts.items()}

    @property
    def footprint(self) -> int:
        """Bytes that the whole nest touches."""
        return self._footprints.get((), 0)

    def beyond(self, a: Access, capacity: int) -> int:
        """Bytes that an access moves from and to what lies behind a cache of a capacity; a store reads its line first."""
        names = [b.axis.name for b in a.path]
        fits = next(
            (k for k in range(len(names) + 1) if self._footprints[tuple(names[:k])] <= capacity),
            len(names),
        )
        if fits == 0:
            return 0
        axes = [b.axis for b in a.path]
        again = math.prod([axis.extent for axis in axes[: fits - 1]])
        return a.distinct_bytes(axes[fits - 1 :]) * again * (2 if a.written else 1)
