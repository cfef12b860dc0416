"""Memory accesses of a loop nest: strides, bytes touched by loops, bytes from beyond a cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    BoundAxis,
    Load,
    LoopNest,
    NestArray,
    Store,
    axes_of,
)
from xla_explorer.compiler.target import SECTOR_BYTES, WARP_SIZE
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, RuntimeValue
from xla_explorer.hlo.primitive_type import PrimitiveType

LINE_BYTES = 64
LEAST_STREAMED = 16  # bytes of a register for a non-temporal store
MOST_SCRATCH = 1 << 18  # bytes of an array on the stack of a thread


@dataclass(frozen=True)
class Access:
    """A load or a store.

    Attributes
    ----------
    path : tuple of BoundAxis
        The axes around it, outermost first. Unrolled and vector axes come last, since they are
        inside of every loop.
    offset : IndexExpression
        In elements from the beginning of the array.
    origin : int or None
        The id of the HLO instruction.
    """

    array: NestArray
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
        """The number of accessed elements, repetitions included."""
        return math.prod(
            [
                b.axis.extent
                for b in self.path
                if b.axis in self.offset.axes or b.kind in (AxisKind.SERIAL, AxisKind.PARALLEL)
            ]
        )

    def step(self, axis: Axis) -> int | None:
        """Return the stride along an axis in elements, None if it is not constant."""
        return self.offset.coefficient(axis)

    @property
    def inner(self) -> BoundAxis | None:
        """The vector axis, else the innermost axis on which the access depends."""
        vector = [b for b in self.path if b.kind is AxisKind.VECTOR]
        depended = [b for b in self.path if b.axis in self.offset.axes]
        return next(iter([*vector, *reversed(depended)]), None)

    @property
    def pattern(self) -> str:
        """The access along the inner axis: contiguous, every nth element, gathered and so on."""
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
        """Return the bytes that one pass over some axes touches.

        Strided accesses count whole cache lines.
        """
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

    def sectors(self, lanes: int = WARP_SIZE) -> int:
        """Return the sectors of 32 bytes that a warp accesses at once along the inner axis."""
        step = (self.step(self.inner.axis) if self.inner is not None else 0) or 0
        if self.pattern in ("gathered", "in pieces"):
            return lanes
        span = abs(step) * self.element_bytes
        return min(
            lanes, max(1, math.ceil(((lanes - 1) * span + self.element_bytes) / SECTOR_BYTES))
        )


def accesses_of(nest: LoopNest) -> list[Access]:
    """Return every access except prefetches, in the order of the text."""
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
    """Return True if stores fill aligned registers, for an array that begins with a cache line."""
    steps = [factor for atom, factor in offset.terms if atom != vector]
    return (
        not element.is_complex
        and lanes * element.bytes >= LEAST_STREAMED
        and all(n % lanes == 0 for n in (*steps, offset.constant))
    )


def is_whole(nest: LoopNest, array: NestArray) -> bool:
    """Return True if the first store to an array fills aligned registers."""
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
    """The bytes that the accesses of a nest move.

    Data that a pass over loops touches stays in a cache if it fits.
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
        """Return the bytes that an access moves to and from memory beyond a cache.

        capacity: of the cache in bytes. A store counts twice, because it reads its line first.
        """
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


def is_inside(s: Load, array: NestArray) -> bool:
    """Return True if a load never leaves its array, whatever the guards around are."""
    return all(
        x.bounds[0] >= 0 and x.bounds[1] < n
        for x, n in zip(s.place, array.shape.dimensions, strict=True)
    )


def axis_along_memory(
    offset: IndexExpression, vector: Axis, unrolled: Sequence[Axis]
) -> Axis | None:
    """Return the unrolled axis along which a load is contiguous, for a strided vector axis.

    It must have as many steps as the vector has lanes. The load must be inside its array.
    """
    if offset.coefficient(vector) in (0, 1, None):
        return None
    return next(
        (
            axis
            for axis in unrolled
            if axis.extent == vector.extent and offset.coefficient(axis) == 1
        ),
        None,
    )


def packed_pair_axis(
    offset: IndexExpression, vector: Axis, unrolled: Sequence[Axis]
) -> Axis | None:
    """Return the unrolled axis over the two elements of 16 bits in a 32-bit word.

    The lanes must be consecutive words, so that the axis has even and odd elements.
    """
    if offset.coefficient(vector) != 2:
        return None
    return next(
        (axis for axis in unrolled if axis.extent == 2 and offset.coefficient(axis) == 1), None
    )


def are_contiguous(offset: IndexExpression, axis: Axis, width: int) -> bool:
    """Return True if elements along an axis are contiguous, and each `width` of them aligned."""
    first = offset.substitute({axis: IndexExpression()})
    if first.constant % width or any(factor % width for _, factor in first.terms):
        return False
    steps = [
        offset.substitute({axis: IndexExpression((), k)}) - first for k in range(1, axis.extent)
    ]
    return all(step.constant == k and not step.terms for k, step in enumerate(steps, 1))
