"""Convolutions by register tiles: a row of output positions times all output features, contracted over the whole window.

No patches are copied: the left operand of a tile has free strides, so output positions are `stride` input columns apart
and overlap. Window column and input feature become one loop where they are contiguous in both operands, which is what
makes few input features fast. Padding (or an input whose features are not contiguous) costs one copy of each image into
scratch memory, which has the border of zeros; weights whose output features are not contiguous are copied once.

Where the input is dilated (transposed convolutions, derivatives of strided ones), neighbouring outputs see different taps of the window and
the zeros between the inputs contribute nothing: the outputs of each remainder are a convolution of their own (`Phase`).
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from itertools import pairwise
from math import gcd, prod
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, FunctionWriter
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import DotSizes
from xla_explorer.compiler.codegen.kernels.products.dot_plan import COPY_CYCLES, library_cycles
from xla_explorer.compiler.codegen.kernels.products.matrix_multiply import (
    LANES,
    DepthLoop,
    TileWriter,
    choose_tile,
    cut_product,
)
from xla_explorer.compiler.codegen.nest.policies.tiles import Tile
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import WindowDimension
from xla_explorer.hlo.instruction import HloInstruction

LARGEST_IMAGE = 4 << 20  # bytes of scratch memory for one padded image
LARGEST_WEIGHTS = 4 << 20
MOST_PHASES = 16  # code for each
GATHER_CYCLES = 2.0  # an element copied one by one


class Phase(NamedTuple):
    """Outputs of one spatial dimension that see the same taps: `outputs` of them, from `first` on, `step` apart.

    They see `taps` taps, from `tap` on, `tap_step` apart; the first tap of the first output is at input `start`, that of the next one
    `stride` further; taps are `spread` inputs apart.
    """

    first: int
    outputs: int
    step: int
    tap: int
    taps: int
    tap_step: int
    start: int
    stride: int
    spread: int


def all_phases(rule: WindowDimension, outputs: int) -> list[Phase]:
    """The phases of a dimension, one unless the input is dilated; some may have no tap."""
    dilation, spread = rule.base_dilation, rule.window_dilation
    step, tap_step = dilation // gcd(dilation, rule.stride), dilation // gcd(dilation, spread)
    found = []
    for first in range(min(step, outputs)):
        taps = [k for k in range(rule.size) if (first * rule.stride + k * spread - rule.padding_low) % dilation == 0]
        tap = taps[0] if taps else 0
        start = (first * rule.stride + tap * spread - rule.padding_low) // dilation if taps else 0
        found.append(Phase(first, -(-(outputs - first) // step), step, tap, len(taps), tap_step, start, step * rule.stride // dilation,
                           tap_step * spread // dilation))  # fmt: skip
    return found


def phases(rule: WindowDimension, outputs: int) -> list[Phase] | Reason:
    """`all_phases` where this kernel's tiles serve them."""
    dilation = rule.base_dilation
    if dilation > 1 and (rule.stride != 1 or dilation > MOST_PHASES):
        text = f"a dilated input must have stride 1 and a dilation of at most {MOST_PHASES}"
        return refuse("dilated-and-strided", text, stride=rule.stride, dilation=dilation)
    return all_phases(rule, outputs)


class ConvolutionPlan(NamedTuple):
    """rows x columns x depth of the product at each of `positions` places (batch and outer spatial positions).

    whole: a 1x1 window over contiguous positions, one single product. phases: of each spatial dimension. image: spatial extents of the
    padded copy, or () where the input is read in place, and `before` the rows of zeros before it. gathered_weights: the weights are
    copied to make output features contiguous.
    """

    sizes: DotSizes
    tile: Tile
    whole: bool
    phases: tuple[tuple[Phase, ...], ...]
    image: tuple[int, ...]
    before: tuple[int, ...]
    gathered_weights: bool
    cycles: float
    library_cycles: float


def plan_convolution(i: HloInstruction, target: Target) -> ConvolutionPlan | Reason:
    """The plan, or why register tiles do not serve this convolution."""
    element_type = i.shape.element_type
    if not target.vector.bits or not target.vector.fma:
        return refuse("no-vectors", "the target has no vector registers with a fused multiply-add", target=target.name)
    if element_type.name not in LANES or any(o.shape.element_type is not element_type for o in i.operands):
        return refuse("type-without-tile", f"no register tile for {element_type}", element_type=element_type.name)
    if i.attribute("feature_group_count") != 1 or i.attribute("batch_group_count") != 1:
        return refuse("grouped-convolution", f"%{i.name} works in groups", feature_groups=i.attribute("feature_group_count"))
    labels, rules = i.attribute("dim_labels"), i.attribute("window").dimensions
    if not rules:
        return refuse("no-window", f"%{i.name} has no spatial dimension")
    lhs, rhs = i.operands
    depth, features = rhs.shape.dimensions[labels.kernel_input_feature], rhs.shape.dimensions[labels.kernel_output_feature]
    extents = [lhs.shape.dimensions[d] for d in labels.input_spatial]
    if 0 in i.shape.dimensions or 0 in lhs.shape.dimensions or 0 in rhs.shape.dimensions:
        return refuse("empty-convolution", f"%{i.name} has no multiply-add")
    if features == 1 or i.shape.strides[labels.output_feature] != 1:
        return refuse("features-not-contiguous", f"the output features of %{i.name} must be contiguous", features=features)
    taps = prod([r.size for r in rules])
    outputs = [i.shape.dimensions[d] for d in (labels.output_batch, *labels.output_spatial)]
    cut: list[tuple[Phase, ...]] = []
    for rule, n in zip(rules, outputs[1:], strict=True):
        found = phases(rule, n)
        if isinstance(found, Reason):
            return found
        cut.append(tuple(found))
    if prod([len(one) for one in cut]) > MOST_PHASES:
        return refuse("too-many-phases", f"the outputs of %{i.name} use too many different parts of the window", dilations=len(cut))
    plain = all(r.size == 1 and r.stride == 1 and r.padding_low == 0 and r.padding_high == 0 and r.base_dilation == 1 for r in rules)
    whole = (plain and lhs.shape.layout.is_default and i.shape.layout.is_default and labels.input_feature == lhs.shape.rank - 1
             and labels.output_feature == i.shape.rank - 1
             and (labels.input_batch, *labels.input_spatial) == (labels.output_batch, *labels.output_spatial))
    rows, positions = (prod(outputs), 1) if whole else (min([phase.outputs for phase in cut[-1]]), prod(outputs[:-1]))
    sizes = DotSizes(rows, features, taps * depth, positions)
    tile = choose_tile(rows, features, taps * depth, element_type.bytes, target, near=not whole)
    assert tile is not None
    before = [max(0, *[-phase.start for phase in one]) for one in cut]
    behind = [_rows_behind(rule, one, n) for rule, one, n in zip(rules, cut, extents, strict=True)]
    image: tuple[int, ...] = tuple([a + n + b for a, n, b in zip(before, extents, behind, strict=True)])
    if not any((*before, *behind)) and (depth == 1 or lhs.shape.strides[labels.input_feature] == 1):
        image = ()
    gathered = rhs.shape.strides[labels.kernel_output_feature] != 1
    bytes_ = element_type.bytes
    if prod(image) * depth * bytes_ > LARGEST_IMAGE or (gathered and rhs.shape.element_count * bytes_ > LARGEST_WEIGHTS):
        text = f"the copies of the operands of %{i.name} do not fit the cache"
        return refuse("convolution-too-large", text, image=list(image), depth=depth)
    seen = prod([sum([phase.outputs * phase.taps for phase in one]) for one in cut]) / (taps * prod(outputs[1:]))
    cycles = positions * tile.cycles * seen
    if image:
        contiguous = _rows_contiguous(i)
        cycles += outputs[0] * prod(image) * depth * (COPY_CYCLES if contiguous else GATHER_CYCLES)
    if gathered:
        cycles += rhs.shape.element_count * GATHER_CYCLES
    calls = 1 if whole else taps * positions
    library = calls * library_cycles(DotSizes(rows, features, depth, 1), bytes_, target)
    return ConvolutionPlan(sizes, tile, whole, tuple(cut), image, tuple(before), gathered, cycles, library)


def _rows_behind(rule: WindowDimension, cut: tuple[Phase, ...], extent: int) -> int:
    """Rows of zeros behind the input in a dimension."""
    if rule.base_dilation == 1:
        return max(rule.padding_high, 0)
    return max(0, *[one.start + (one.outputs - 1) * one.stride + (one.taps - 1) * one.spread - extent + 1 for one in cut])


def _rows_contiguous(i: HloInstruction) -> bool:
    """Whether a row of the input (last spatial dimension and features) is contiguous."""
    labels, shape = i.attribute("dim_labels"), i.operands[0].shape
    depth: int = shape.dimensions[labels.input_feature]
    return bool(depth == 1 or shape.strides[labels.input_feature] == 1) and shape.strides[labels.input_spatial[-1]] == depth


def _merged(levels: list[DepthLoop]) -> list[DepthLoop]:
    """Loops of one trip dropped, and an outer loop joined with the one inside where it goes on in both operands."""
    levels = [level for level in levels if level.extent != 1]
    merged = True
    while merged:
        merged = False
        for k, (outer, inner) in enumerate(pairwise(levels)):
            if outer.left == inner.left * inner.extent and outer.right == inner.right * inner.extent:
                levels[k : k + 2] = [DepthLoop(outer.extent * inner.extent, inner.left, inner.right)]
                merged = True
                break
    return levels


class _Writer:
    """Writes the kernel of one planned convolution."""

    def __init__(self, context: KernelContext, i: HloInstruction, plan: ConvolutionPlan) -> None:
        self.context, self.i, self.plan = context, i, plan
        self.w: FunctionWriter = context.writer
        self.tiles = TileWriter(self.w, i.shape.element_type.name, plan.tile)
        self.labels = i.attribute("dim_labels")
        self.rules: tuple[WindowDimension, ...] = i.attribute("window").dimensions
        self.input, self.weights, self.output = context.arrays[i.operands[0]], context.arrays[i.operands[1]], context.outputs[0]
        self.depth = i.operands[1].shape.dimensions[self.labels.kernel_input_feature]

    def write(self) -> None:
        """The whole kernel."""
        w, plan, labels, tiles = self.w, self.plan, self.labels, self.tiles
        features = plan.sizes.columns
        weights, tap_strides, depth_stride = self._weights()
        if plan.whole:
            tiles.product(plan.sizes.rows, features, [DepthLoop(self.depth, 1, depth_stride)], self.input.pointer, self.depth, weights,
                          self.output.pointer, features, cut=cut_product(self.context.shares, plan.tile, plan.sizes.rows, features))
            return
        image, in_strides, in_depth = self._image_strides()
        if image:
            self._clear(image)
        for rule, stride in zip(self.rules, tap_strides, strict=True):
            if rule.window_reversal:
                weights = tiles.at(weights, (rule.size - 1) * stride)
        out = self.i.shape
        cut = self.context.shares.cut_loop(out.dimensions[labels.output_batch])
        begin, end = (cut.begin, cut.end) if cut is not None else (0, out.dimensions[labels.output_batch])
        with w.loop(end, begin, stem="batch", metadata=NO_UNROLL) as batch:
            source = tiles.at(self.input.pointer, w.mul(batch, self.i.operands[0].shape.strides[labels.input_batch]))
            if image:
                self._fill(source, image, in_strides)
                source = image
            target = w.mul(batch, out.strides[labels.output_batch])
            for chosen in itertools.product(*plan.phases):
                self._phase(chosen, source, in_strides, in_depth, weights, tap_strides, depth_stride, target, cut is None)

    def _phase(self, chosen: tuple[Phase, ...], source: str, in_strides: list[int], in_depth: int, weights: str, tap_strides: list[int],
               depth_stride: int, target: str | int, share: bool) -> None:
        """The outputs of one phase in each dimension, for one element of the batch."""
        w, tiles, plan = self.w, self.tiles, self.plan
        out, places, features = self.i.shape, self.labels.output_spatial, plan.sizes.columns
        start = sum([(one.start + low) * s for one, low, s in zip(chosen, plan.before, in_strides, strict=True)])
        target = w.add(target, sum([one.first * out.strides[d] for one, d in zip(chosen, places, strict=True)]))
        column = chosen[-1].step * out.strides[places[-1]]
        empty = any(one.taps == 0 for one in chosen)
        levels = []
        for one, rule, a, b in zip(chosen, self.rules, in_strides, tap_strides, strict=True):
            stride = -b if rule.window_reversal else b
            weights = tiles.at(weights, one.tap * stride)
            levels.append(DepthLoop(one.taps, one.spread * a, one.tap_step * stride))
        levels = _merged([*levels, DepthLoop(self.depth, in_depth, depth_stride)])
        with self.context.iterate([one.outputs for one in chosen[:-1]], cut=share) as where:
            at: str | int = start
            to = target
            for x, one, stride, d in zip(where, chosen[:-1], in_strides[:-1], places[:-1], strict=True):
                at = w.add(at, w.mul(x, one.stride * stride))
                to = w.add(to, w.mul(x, one.step * out.strides[d]))
            if empty:
                self._zeros(tiles.at(self.output.pointer, to), chosen[-1].outputs, column, features)
                return
            tiles.product(chosen[-1].outputs, features, levels, tiles.at(source, at), chosen[-1].stride * in_strides[-1], weights,
                          tiles.at(self.output.pointer, to), column)

    def _zeros(self, to: str, count: int, column: int, features: int) -> None:
        """Outputs of a row that no tap reaches."""
        w, tiles = self.w, self.tiles
        w.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        with w.loop(count, stem="empty", metadata=NO_UNROLL) as x:
            w.do(f"call void @llvm.memset.p0.i64(ptr {tiles.at(to, w.mul(x, column))}, i8 0, i64 {features * tiles.bytes}, i1 false)")

    def _weights(self) -> tuple[str, list[int], int]:
        """Address of the weights, and the strides of the window dimensions and of the input feature."""
        labels, shape, tiles = self.labels, self.i.operands[1].shape, self.tiles
        if not self.plan.gathered_weights:
            return self.weights.pointer, [shape.strides[d] for d in labels.kernel_spatial], shape.strides[labels.kernel_input_feature]
        order = [*labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature]
        extents = [shape.dimensions[d] for d in order]
        scratch = self.context.scratch(prod(extents) * tiles.bytes)
        strides = [prod(extents[k + 1 :]) for k in range(len(extents))]
        self._copy(self.weights.pointer, [shape.strides[d] for d in order], scratch, strides, extents)
        return scratch, strides[: len(self.rules)], strides[-2]

    def _image_strides(self) -> tuple[str, list[int], int]:
        """Address of the padded image ("" without one), and the strides of the spatial dimensions and features to read."""
        labels, shape, plan = self.labels, self.i.operands[0].shape, self.plan
        if not plan.image:
            return "", [shape.strides[d] for d in labels.input_spatial], shape.strides[labels.input_feature]
        strides = [prod(plan.image[k + 1 :]) * self.depth for k in range(len(plan.image))]
        return self.context.scratch(prod(plan.image) * self.depth * self.tiles.bytes), strides, 1

    def _clear(self, image: str) -> None:
        """Zeros everywhere, once: each image overwrites the same inner part."""
        self.w.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        size = prod(self.plan.image) * self.depth * self.tiles.bytes
        self.w.do(f"call void @llvm.memset.p0.i64(ptr align 64 {image}, i8 0, i64 {size}, i1 false)")

    def _fill(self, source: str, image: str, strides: list[int]) -> None:
        """Copy one image inside its border."""
        labels, shape, w, tiles = self.labels, self.i.operands[0].shape, self.w, self.tiles
        extents = [shape.dimensions[d] for d in labels.input_spatial]
        from_strides = [shape.strides[d] for d in labels.input_spatial]
        inner = tiles.at(image, sum([low * s for low, s in zip(self.plan.before, strides, strict=True)]))
        if not _rows_contiguous(self.i):
            self._copy(source, [*from_strides, shape.strides[labels.input_feature]], inner, [*strides, 1], [*extents, self.depth])
            return
        w.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        size = extents[-1] * self.depth * tiles.bytes
        with self.context.iterate(extents[:-1], cut=False) as where:
            a, b = w.linear(where, tuple(from_strides[:-1])), w.linear(where, tuple(strides[:-1]))
            w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {tiles.at(inner, b)}, ptr {tiles.at(source, a)}, i64 {size}, i1 false)")

    def _copy(self, source: str, from_strides: list[int], target: str, strides: list[int], extents: list[int]) -> None:
        """Copy element by element; the innermost loop runs where the source is contiguous."""
        w, tiles = self.w, self.tiles
        order = sorted(range(len(extents)), key=lambda d: -from_strides[d])
        with ExitStack() as loops:
            index = [loops.enter_context(w.loop(extents[d], stem="copy", metadata=NO_UNROLL)) for d in order]
            a = tiles.at(source, w.linear(tuple(index), tuple([from_strides[d] for d in order])))
            b = tiles.at(target, w.linear(tuple(index), tuple([strides[d] for d in order])))
            value = w.value(f"load {tiles.scalar}, ptr {a}, align {tiles.bytes}")
            w.do(f"store {tiles.scalar} {value}, ptr {b}, align {tiles.bytes}")


def write_tiled_convolution(context: KernelContext) -> None:
    """The loops over batch and outer output positions, and the product of each row of positions, of a convolution that has a plan."""
    plan = plan_convolution(context.roots[0], context.target)
    assert isinstance(plan, ConvolutionPlan)
    _Writer(context, context.roots[0], plan).write()
