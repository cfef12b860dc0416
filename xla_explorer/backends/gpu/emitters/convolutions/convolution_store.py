"""Where the sums of a convolution's products go: positions and features to places of the result, in any layout."""

from __future__ import annotations

from xla_explorer.backends.gpu.emitters.block import Block, both
from xla_explorer.backends.gpu.emitters.convolutions.geometry import ConvolutionProduct
from xla_explorer.backends.gpu.emitters.dots.result_store import Product, ResultStore
from xla_explorer.backends.gpu.emitters.index_words import Words
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext


class ConvolutionStore(ResultStore):
    """batch (see `at`): the group, before it the part where there are several. phases: the block's, by spatial dimension."""

    def __init__(self, context: KernelContext, block: Block, product: Product, geometry: ConvolutionProduct, words: Words,
                 phases: list[Word]) -> None:  # fmt: skip
        super().__init__(context, block, product, *geometry.sides)
        self.geometry, self.words, self.phases = geometry, words, phases
        self.together = geometry.together

    def _position(self, number: str | int) -> list[Word]:
        """Index of a position, by the axes of positions."""
        return self.words.unravel(self.words.of(number), [axis.extent for axis in self.geometry.positions])

    def _sides(self, row: str | int, column: str | int) -> tuple[str | int, str | int]:
        """(position, feature)."""
        return (column, row) if self.geometry.features_are_rows else (row, column)

    def index(self, row: str | int, column: str | int) -> tuple[str | int, ...]:
        """Of an element, in the result."""
        words, geometry = self.words, self.geometry
        position, feature = self._sides(row, column)
        labels = self.product.dot.attribute("dim_labels")
        index: list[str | int] = [0] * self.product.dot.shape.rank
        for axis, at in zip(geometry.positions, self._position(position), strict=True):
            if axis.spatial < 0:
                index[labels.output_batch] = words.wide(at)
                continue
            found = geometry.spatial[axis.spatial].phases
            first = words.pick(self.phases[axis.spatial], [phase.first for phase in found])
            index[labels.output_spatial[axis.spatial]] = words.wide(words.add(words.mul(at, found[0].step), first))
        index[labels.output_feature] = self.w.add(self.w.mul(self.batch[-1], geometry.features.extent), feature)
        return tuple(index)

    def rows_inside(self, row: str | int, exact: bool) -> tuple[str | int, str | None]:
        """See `ResultStore`; a phase may have fewer positions than another."""
        at, inside = super().rows_inside(row, exact)
        return self._in_phase(at, inside) if not self.geometry.features_are_rows else (at, inside)

    def columns_inside(self, column: str | int, exact: bool) -> tuple[str | int, str | None]:
        """See `ResultStore`."""
        at, inside = super().columns_inside(column, exact)
        return self._in_phase(at, inside) if self.geometry.features_are_rows else (at, inside)

    def _in_phase(self, position: str | int, inside: str | None) -> tuple[str | int, str | None]:
        words, uneven = self.words, None
        axes = self.geometry.positions
        if not any(a.spatial >= 0 and self.geometry.spatial[a.spatial].uneven_positions for a in axes):
            return position, inside
        for axis, at in zip(axes, self._position(position), strict=True):
            if axis.spatial >= 0 and self.geometry.spatial[axis.spatial].uneven_positions:
                counts = [phase.outputs for phase in self.geometry.spatial[axis.spatial].phases]
                uneven = both(self.w, uneven, words.below(at, words.pick(self.phases[axis.spatial], counts)))
        if uneven is None:
            return position, inside
        return self.w.choose(uneven, position, 0), both(self.w, inside, uneven)

    def _offset(self, row: str | int, column: str | int) -> str | int:
        if self._sums_only:
            return super()._offset(row, column)
        words, geometry = self.words, self.geometry
        position, feature = self._sides(row, column)
        at = words.linear(self._position(position), [axis.result for axis in geometry.positions])
        at = words.add(at, words.mul(words.of(feature), geometry.features.result))
        at = words.add(at, words.mul(words.of(self.batch[-1]), geometry.group_strides[2]))
        for phase, one in zip(self.phases, geometry.spatial, strict=True):
            at = words.add(at, words.pick(phase, [found.first * one.result for found in one.phases]))
        return words.wide(at)
