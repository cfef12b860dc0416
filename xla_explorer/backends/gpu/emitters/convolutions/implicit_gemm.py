"""Convolution as implicit GEMM: supported convolutions, tiles of a block, stores of results."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block, both
from xla_explorer.backends.gpu.emitters.convolutions.geometry import (
    ConvolutionProduct,
    convolution_product,
)
from xla_explorer.backends.gpu.emitters.dots.implicit_matrix import Border, ImplicitMatrix
from xla_explorer.backends.gpu.emitters.dots.result_store import (
    FusedProduct,
    ResultStore,
    product_in,
)
from xla_explorer.backends.gpu.emitters.narrow_index_arithmetic import NarrowIndexArithmetic
from xla_explorer.backends.gpu.product_rates import product_us
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

TYPES = frozenset({"f32", "f64", "bf16", "f16", "s32", "u32"})
# of the lanes' peak with one thread an element: two loads and their addresses for a product;
# assumed
_LOOP_SHARE = 0.06
_RESULTS = {"bf16": ("bf16", "f32"), "f16": ("f16", "f32")}


class ServedConvolution(NamedTuple):
    """A supported convolution. product: with its elementwise epilogue.

    geometry: as implicit GEMM.
    """

    product: FusedProduct
    geometry: ConvolutionProduct


def served_convolution(
    i: HloInstruction, types: frozenset[str] = TYPES, code: str = "type-not-tiled"
) -> ServedConvolution | Reason:
    """Return the convolution of an instruction or fusion with its geometry, or a refusal.

    code: of the refusal if the types are not supported.
    """
    product = product_in(i, "convolution")
    if isinstance(product, Reason):
        return product
    conv = product.dot
    kind, result = conv.operands[0].shape.element_type, conv.shape.element_type
    same = conv.operands[1].shape.element_type is kind and (
        result is kind or result.name in _RESULTS.get(kind.name, ())
    )
    if kind.name not in types or not same:
        text = (
            f"%{conv.name}: {kind} x {conv.operands[1].shape.element_type} to {result}, where "
            f"{', '.join(sorted(types))} are served"
        )
        return refuse(code, text, type=kind.name)
    geometry = convolution_product(conv)
    return geometry if isinstance(geometry, Reason) else ServedConvolution(product, geometry)


def loop_us(
    geometry: ConvolutionProduct, conv: HloInstruction, architecture: GpuArchitecture
) -> float:
    """Return the estimated device time of a kernel with one thread an element.

    Each thread adds one product after the other.
    """
    kind = conv.operands[0].shape.element_type
    elements = geometry.products * geometry.positions_in_all * geometry.features.extent
    rate = architecture.lanes * (architecture.double_rate if kind.bytes == 8 else 1)
    busy = min(1.0, elements / (architecture.multiprocessors * 1024))
    return product_us(elements * geometry.depth, rate, _LOOP_SHARE * busy, architecture)


class BlockPlace(NamedTuple):
    """The work of a block.

    row, column: first of its tile. phases: by spatial dimension. split: part of the reduced
    dimension.
    """

    row: Word
    column: Word
    phases: list[Word]
    group: Word
    split: Word


def block_place(
    indices: NarrowIndexArithmetic,
    number: Word,
    geometry: ConvolutionProduct,
    tile: tuple[int, int],
    parts: int,
) -> BlockPlace:
    """Return the work of block `number`: parts vary fastest, then columns, rows, phases, groups."""
    m, n = geometry.sides
    extents = [geometry.groups, *geometry.phases, -(-m // tile[0]), -(-n // tile[1]), parts]
    group, *phases, row, column, split = indices.unravel(number, extents)
    return BlockPlace(indices.mul(row, tile[0]), indices.mul(column, tile[1]), phases, group, split)


def implicit_matrices(
    indices: NarrowIndexArithmetic, geometry: ConvolutionProduct, place: BlockPlace
) -> tuple[ImplicitMatrix, ImplicitMatrix]:
    """Return image and weights as matrices of the implicit GEMM."""
    image, weights = (indices.mul(place.group, stride) for stride in geometry.group_strides[:2])
    borders, taps = {}, {}
    for number, (phase, one) in enumerate(zip(place.phases, geometry.spatial, strict=True)):
        start = indices.pick(phase, [found.start for found in one.phases])
        image = indices.add(image, indices.mul(start, one.image))
        weights = indices.add(
            weights, indices.pick(phase, [one.first_weight(found) for found in one.phases])
        )
        if one.leaves_image:
            borders[number] = Border(start, one.phases[0].stride, one.phases[0].spread, one.size)
        if one.uneven_taps:
            taps[number] = indices.pick(phase, [found.taps for found in one.phases])
    groups = geometry.groups > 1
    others = ([geometry.group_strides[0]] if groups else []) + [
        found.start * one.image for one in geometry.spatial for found in one.phases
    ]
    left = ImplicitMatrix(
        indices, geometry.positions, [a for a, _ in geometry.reduced], image, borders, taps, others
    )
    others = ([geometry.group_strides[1]] if groups else []) + [
        one.first_weight(p) for one in geometry.spatial for p in one.phases
    ]
    right = ImplicitMatrix(
        indices, [geometry.features], [b for _, b in geometry.reduced], weights, {}, taps, others
    )
    return left, right


class ConvolutionStore(ResultStore):
    """Store of a convolution's results.

    batch (see `at`): the group, after the part if there are several. phases: the block's, by
    spatial dimension.
    """

    def __init__(self, context: KernelContext, block: Block, product: FusedProduct, geometry: ConvolutionProduct,
                 indices: NarrowIndexArithmetic,
                 phases: list[Word]) -> None:  # fmt: skip
        super().__init__(context, block, product, *geometry.sides)
        self.geometry, self.indices, self.phases = geometry, indices, phases
        self.together = geometry.together

    def _position(self, number: Word) -> list[Word]:
        """Return the index of a position, by the axes of positions."""
        return self.indices.unravel(
            self.indices.of(number), [axis.extent for axis in self.geometry.positions]
        )

    def _sides(self, row: Word, column: Word) -> tuple[Word, Word]:
        """Return (position, feature)."""
        return (column, row) if self.geometry.features_are_rows else (row, column)

    def index(self, row: Word, column: Word) -> tuple[Word, ...]:
        """Return the result's index of an element."""
        indices, geometry = self.indices, self.geometry
        position, feature = self._sides(row, column)
        labels = self.product.dot.attribute("dim_labels")
        index: list[Word] = [0] * self.product.dot.shape.rank
        for axis, at in zip(geometry.positions, self._position(position), strict=True):
            if axis.spatial < 0:
                index[labels.output_batch] = indices.wide(at)
                continue
            found = geometry.spatial[axis.spatial].phases
            first = indices.pick(self.phases[axis.spatial], [phase.first for phase in found])
            index[labels.output_spatial[axis.spatial]] = indices.wide(
                indices.add(indices.mul(at, found[0].step), first)
            )
        index[labels.output_feature] = self.w.add(
            self.w.mul(self.batch[-1], geometry.features.extent), feature
        )
        return tuple(index)

    def inside(self, side: int, at: Word, exact: bool) -> tuple[Word, Condition]:
        """Return the clamped index and its bounds check (see `ResultStore`).

        A phase may have fewer positions than another.
        """
        found, inside = super().inside(side, at, exact)
        return (
            self._in_phase(found, inside)
            if side == self.geometry.features_are_rows
            else (found, inside)
        )

    def _in_phase(self, position: Word, inside: Condition) -> tuple[Word, Condition]:
        indices = self.indices
        uneven: Condition = None
        axes = self.geometry.positions
        if not any(
            a.spatial >= 0 and self.geometry.spatial[a.spatial].uneven_positions for a in axes
        ):
            return position, inside
        for axis, at in zip(axes, self._position(position), strict=True):
            if axis.spatial >= 0 and self.geometry.spatial[axis.spatial].uneven_positions:
                counts = [phase.outputs for phase in self.geometry.spatial[axis.spatial].phases]
                uneven = both(
                    self.w,
                    uneven,
                    indices.below(at, indices.pick(self.phases[axis.spatial], counts)),
                )
        if uneven is None:
            return position, inside
        return self.w.choose(uneven, position, 0), both(self.w, inside, uneven)

    def _offset(self, row: Word, column: Word) -> Word:
        if self._sums_only:
            return super()._offset(row, column)
        indices, geometry = self.indices, self.geometry
        position, feature = self._sides(row, column)
        at = indices.linear(self._position(position), [axis.result for axis in geometry.positions])
        at = indices.add(at, indices.mul(indices.of(feature), geometry.features.result))
        at = indices.add(at, indices.mul(indices.of(self.batch[-1]), geometry.group_strides[2]))
        for phase, one in zip(self.phases, geometry.spatial, strict=True):
            at = indices.add(
                at, indices.pick(phase, [found.first * one.result for found in one.phases])
            )
        return indices.wide(at)


def index_arithmetic_for(conv: HloInstruction, context: KernelContext) -> NarrowIndexArithmetic:
    """Return index arithmetic wide enough for the indices of all arrays."""
    return NarrowIndexArithmetic(
        context.writer, 2 * max(o.shape.element_count for o in (conv, *conv.operands))
    )
