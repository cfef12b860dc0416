"""Matrices of an implicit GEMM: each side is an index of several dimensions with strides.

Both operands of a dot are such matrices, and so are image and weights of a convolution. No im2col
copy is made: an element of the image is at a position of the result plus a tap, and zero outside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.block import both
from xla_explorer.backends.gpu.emitters.narrow_index_arithmetic import NarrowIndexArithmetic
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word


class Axis(NamedTuple):
    """A dimension of a side.

    stride: in elements of the operand. result: stride in the result (0 of a reduced one). spatial:
    number of a convolution's spatial dimension with these positions or taps, else -1.
    """

    extent: int
    stride: int
    result: int = 0
    spatial: int = -1


class Border(NamedTuple):
    """Bounds of a spatial dimension: start + stride * kept + spread * reduced is in [0, size)."""

    start: Word
    stride: int
    spread: int
    size: int


class _Part(NamedTuple):
    """Half of a place. offset: elements. along: position by spatial dimension.

    inside: None: always.
    """

    offset: Word
    along: dict[int, Word]
    inside: Condition


class ImplicitMatrix:
    """A matrix of an implicit GEMM.

    base: offset of its first element. borders: by spatial dimension, None for an operand of a dot.
    taps: number of valid taps by spatial dimension, if it varies. others: factors of the base.
    """

    def __init__(
        self,
        indices: NarrowIndexArithmetic,
        kept: Sequence[Axis],
        reduced: Sequence[Axis],
        base: Word = 0,
        borders: dict[int, Border] | None = None,
        taps: dict[int, Word] | None = None,
        others: Sequence[int] = (),
    ) -> None:
        self.indices, self.kept, self.reduced, self.base = (
            indices,
            tuple(kept),
            tuple(reduced),
            base,
        )
        self.borders, self.taps, self.others, self.of_dot = (
            borders or {},
            taps or {},
            tuple(others),
            borders is None,
        )
        self.length, self.depth = (
            math.prod([a.extent for a in kept]),
            math.prod([a.extent for a in reduced]),
        )
        self._kept: dict[Word, _Part] = {}
        self._reduced: dict[tuple[Word, Word], _Part] = {}

    @property
    def kept_is_minor(self) -> bool:
        """True if the kept side has the smaller stride in memory."""
        kept, reduced = _minor(self.kept), _minor(self.reduced)
        return reduced is None or (kept is not None and kept.stride <= reduced.stride)

    def width(self, most: int) -> int:
        """Return the vector width along the minor side.

        Contiguous, aligned, uniformly in bounds.
        """
        side = self.kept if self.kept_is_minor else self.reduced
        minor = _minor(side)
        if (
            minor is None
            or minor is not side[-1]
            or minor.stride != 1
            or minor.spatial in (self.borders | self.taps)
        ):
            return 1
        strides = [a.stride for a in (*self.kept, *self.reduced) if a is not minor and a.extent > 1]
        width = most
        while width > 1 and any(s % width for s in (minor.extent, *strides, *self.others)):
            width //= 2
        return width

    def near(
        self, kept: Word, step: Word, inner: Word, tile: int, exact: bool
    ) -> tuple[Word, Condition]:
        """Return an element like `place`, if out-of-bounds results are discarded.

        Any element may then replace one that is out of bounds along the kept side. A dot needs no
        bounds check. A convolution reads less if all out-of-bounds accesses read one element.
        """
        if not self.of_dot:
            return self.place(kept, step, inner, tile, exact)
        indices = self.indices
        at = indices.add(indices.mul(step, tile), inner)
        within = (
            indices.below(at, self.depth)
            if self.depth % tile
            else indices.below(step, self.depth // tile)
        )
        index = (
            indices.where(None if exact else indices.below(kept, self.length), kept, 0),
            indices.where(within, at, 0),
        )
        return indices.add(
            self.base, indices.linear(index, [self.kept[0].stride, self.reduced[0].stride])
        ), within

    def place(
        self, kept: Word, step: Word, inner: Word, tile: int, exact: bool
    ) -> tuple[Word, Condition]:
        """Return the offset of (kept, step * tile + inner) and its bounds check.

        The check is None if the place is always valid. The offset is 0 out of bounds. exact: kept
        is always in bounds.
        """
        a, b = self._kept_part(kept, exact), self._reduced_part(step, inner, tile)
        indices, inside = self.indices, both(self.indices.w, a.inside, b.inside)
        for number, border in self.borders.items():
            at = indices.add(a.along.get(number, border.start), b.along.get(number, 0))
            inside = both(indices.w, inside, indices.below(at, border.size))
        offset = indices.add(indices.add(self.base, a.offset), b.offset)
        return indices.where(inside, offset, 0), inside

    def _kept_part(self, kept: Word, exact: bool) -> _Part:
        found = self._kept.get(kept)
        if found is None:
            indices = self.indices
            index = indices.unravel(kept, [a.extent for a in self.kept])
            along = {a.spatial: indices.add(self.borders[a.spatial].start, indices.mul(at, self.borders[a.spatial].stride))
                     for a, at in zip(self.kept, index, strict=True) if a.spatial in self.borders}  # fmt: skip
            inside = None if exact else indices.below(kept, self.length)
            found = self._kept[kept] = _Part(
                indices.linear(index, [a.stride for a in self.kept]), along, inside
            )
        return found

    def _reduced_part(self, step: Word, inner: Word, tile: int) -> _Part:
        found = self._reduced.get((step, inner))
        if found is None:
            indices, (*outer, last) = self.indices, self.reduced
            inside: Condition
            if (
                last.extent % tile == 0
            ):  # a tile is within one index of the other dimensions, the same for all threads
                per = last.extent // tile
                rest, at = (
                    indices.div(step, per),
                    indices.add(indices.mul(indices.mod(step, per), tile), inner),
                )
                index = (
                    [*indices.unravel(rest, [a.extent for a in outer]), at]
                    if outer
                    else [indices.add(indices.mul(step, tile), inner)]
                )
                inside = indices.below(step, self.depth // tile)
            else:
                number = indices.add(indices.mul(step, tile), inner)
                index = indices.unravel(number, [a.extent for a in self.reduced])
                inside = indices.below(number, self.depth)
            for a, at in zip(self.reduced, index, strict=True):
                if a.spatial in self.taps:
                    inside = both(indices.w, inside, indices.below(at, self.taps[a.spatial]))
            along = {a.spatial: indices.mul(at, self.borders[a.spatial].spread)
                     for a, at in zip(self.reduced, index, strict=True) if a.spatial in self.borders}  # fmt: skip
            found = self._reduced[step, inner] = _Part(
                indices.linear(index, [a.stride for a in self.reduced]), along, inside
            )
        return found

    def forget(self) -> None:
        """Forget values computed in a basic block that does not dominate the following code."""
        self._reduced.clear()


Side = tuple[ImplicitMatrix, ArrayInMemory]


def _minor(side: Sequence[Axis]) -> Axis | None:
    return next((a for a in reversed(side) if a.extent > 1), None)
