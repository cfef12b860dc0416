"""ragged-dot as one dot over all groups and a mask. Source: xla/service/ragged_dot_rewriter.cc.

XLA masks the left side before the dot. Here the results are masked after it if the ragged dimension
is free. So an infinity in the right side of one group makes no NaN in rows of others.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32

Dims = tuple[int, ...]


def zeros(b: HloBuilder, x: HloValue) -> HloValue:
    """Return zeros of the same shape."""
    return b.broadcast(b.constant(0, x.dtype), x.shape.dimensions, ())


def ends_of_groups(b: HloBuilder, sizes: HloValue) -> HloValue:
    """Return the sums of the sizes up to and including each, as s32."""
    count = sizes.shape.dimensions[0]
    square = sizes.shape.base.with_element_type(S32).with_dimensions((count, count))
    spread = b.broadcast(sizes.astype(S32), (count, count), (1,))
    return b.select(b.iota(square, 1) <= b.iota(square, 0), spread, zeros(b, spread)).sum(1)


def inside(b: HloBuilder, sizes: HloValue, dimensions: Dims, group: int, position: int) -> HloValue:
    """Return True where coordinate `position` is in the group of coordinate `group`."""
    ends = ends_of_groups(b, sizes)
    starts = ends - sizes.astype(S32)
    place = b.iota(sizes.shape.base.with_element_type(S32).with_dimensions(dimensions), position)
    first, end = [b.broadcast(bound, dimensions, (group,)) for bound in (starts, ends)]
    return (place >= first) & (place < end)


@register_pass("ragged_dot_rewriter")
@dataclasses.dataclass(frozen=True)
class RaggedDotRewriter(OpExpanderPass):
    """Replace a ragged-dot by one masked dot with a dimension of groups.

    It multiplies as often as the ragged dot times the number of groups.
    """

    name: ClassVar[str] = "ragged-dot-rewriter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["ragged-dot"])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | Reason:
        """Return the dot for a free, contracted or batch ragged dimension of the left side."""
        lhs, rhs, sizes = values_of(b, i)
        if sizes.ndim != 1:
            return refuse(
                "group-sizes-by-batch",
                f"the group sizes of %{i.name} differ along {sizes.ndim - 1} further dimensions",
            )
        value = i.attributes.value
        contracting: tuple[Dims, Dims] = (
            tuple(value("lhs_contracting_dims")),
            tuple(value("rhs_contracting_dims")),
        )
        batch: tuple[Dims, Dims] = (tuple(value("lhs_batch_dims")), tuple(value("rhs_batch_dims")))
        ragged = value("lhs_ragged_dims")[0]
        if ragged in contracting[0]:
            return _contracted(b, i, (lhs, rhs, sizes), contracting, batch, ragged)
        if ragged in batch[0]:
            made = _dot(b, i, lhs, rhs, contracting, batch)
            return b.select(
                _before_the_end(b, sizes, made.shape.dimensions, batch[0].index(ragged)),
                made,
                zeros(b, made),
            )
        made = _dot(b, i, lhs, rhs, contracting, batch)
        free = [
            [d for d in range(x.ndim) if d not in c and d not in s]
            for x, c, s in zip((lhs, rhs), contracting, batch, strict=True)
        ]
        row = len(batch[0]) + free[0].index(ragged)
        group = len(batch[0]) + len(free[0]) + free[1].index(value("rhs_group_dims")[0])
        return b.select(
            inside(b, sizes, made.shape.dimensions, group, row), made, zeros(b, made)
        ).sum(group)


def _before_the_end(b: HloBuilder, sizes: HloValue, dimensions: Dims, position: int) -> HloValue:
    """Return True where the coordinate is in any group."""
    shape = sizes.shape.base.with_element_type(S32).with_dimensions(dimensions)
    return b.iota(shape, position) < b.broadcast(sizes.astype(S32).sum(0), dimensions, ())


def _contracted(
    b: HloBuilder,
    i: HloInstruction,
    operands: tuple[HloValue, ...],
    contracting: tuple[Dims, Dims],
    batch: tuple[Dims, Dims],
    ragged: int,
) -> HloValue:
    """Return the dot with groups as a leading batch dimension.

    Both sides are zero outside their group, because zero times infinity is NaN.
    """
    lhs, rhs, sizes = operands
    count = sizes.shape.dimensions[0]
    sides = []
    for x, position in ((lhs, ragged), (rhs, contracting[1][contracting[0].index(ragged)])):
        dimensions = (count, *x.shape.dimensions)
        spread = b.broadcast(x, dimensions, tuple(range(1, x.ndim + 1)))
        sides.append(
            b.select(inside(b, sizes, dimensions, 0, position + 1), spread, zeros(b, spread))
        )
    moved = [tuple([d + 1 for d in dims]) for dims in (*contracting, *batch)]
    return _dot(b, i, sides[0], sides[1], (moved[0], moved[1]), ((0, *moved[2]), (0, *moved[3])))


def _dot(
    b: HloBuilder,
    i: HloInstruction,
    lhs: HloValue,
    rhs: HloValue,
    contracting: tuple[Dims, Dims],
    batch: tuple[Dims, Dims],
) -> HloValue:
    """Return a dot with the ragged dot's element type."""
    attributes = {
        "lhs_contracting_dims": contracting[0],
        "rhs_contracting_dims": contracting[1],
        "lhs_batch_dims": batch[0],
        "rhs_batch_dims": batch[1],
    }
    sizes = [lhs.shape.dimensions[d] for d in batch[0]]
    for x, c, s in zip((lhs, rhs), contracting, batch, strict=True):
        sizes += [n for d, n in enumerate(x.shape.dimensions) if d not in c and d not in s]
    return b.emit("dot", (lhs, rhs), attributes, shape=i.shape.base.with_dimensions(tuple(sizes)))
