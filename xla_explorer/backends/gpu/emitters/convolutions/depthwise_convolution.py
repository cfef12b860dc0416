"""Convolutions in groups of few features: each thread computes neighbouring results, without shared memory.

A product for each group would leave most of a tile empty, and there is little to reuse: the work is bound by memory. Where a group is one
feature, features are the minor dimension and their number is even enough, a thread takes 16 bytes of neighbouring features: image, weights
and result are read and written by vectors, and taps that several threads need come from the cache.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block, both
from xla_explorer.backends.gpu.emitters.convolutions.gathered_convolution import ServedConvolution, served_convolution, words_for
from xla_explorer.backends.gpu.emitters.dots.blocked_product import sum_type
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore, product_in
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions, launch_dimensions
from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.records import INVARIANT
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import from_memory, memory_type, real, scalar_constant, to_memory
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import WindowDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

_MOST_FEATURES = 4  # of a group
_LARGEST_SUM = 4096  # products that one thread adds
_INSTRUCTIONS = 4.0  # of a product in a vector, relative to its multiplication; assumed


class DepthwisePlan(NamedTuple):
    """width: neighbouring features of a thread."""

    served: ServedConvolution
    width: int
    launch: LaunchDimensions
    estimated_us: float


def plan_depthwise_convolution(i: HloInstruction, architecture: GpuArchitecture) -> DepthwisePlan | Reason:
    """The plan for a convolution, or one in a fusion with what follows it; or why it is left to other kernels."""
    product = product_in(i, "convolution")
    if isinstance(product, Reason):
        return product
    if product.dot.attribute("feature_group_count") == 1:
        return refuse("not-depthwise", f"%{i.name} must have a feature_group_count above 1")
    served = served_convolution(i)
    if isinstance(served, Reason):
        return served
    product, geometry = served
    conv = product.dot
    groups = conv.attribute("feature_group_count")
    depth = geometry.depth
    if geometry.features.extent > _MOST_FEATURES or depth > _LARGEST_SUM:
        text = f"%{i.name}: {groups} groups of {geometry.features.extent} features, each a sum of {depth} products, have tiles or are sums"
        return refuse("not-depthwise", text, groups=groups, features=geometry.features.extent, products=depth)
    kind = conv.operands[0].shape.element_type
    width = _width(conv, 16 // kind.bytes)
    threads = conv.shape.element_count // width
    launch = launch_dimensions(threads, architecture)
    rate = architecture.lanes * (architecture.double_rate if kind.bytes == 8 else 1)
    work = conv.shape.element_count * depth * (_INSTRUCTIONS if width > 1 else 4 * _INSTRUCTIONS)
    arithmetic = work / (rate * architecture.multiprocessors * architecture.clock_gigahertz * 1e3)
    moved = sum([o.shape.byte_size for o in (conv, *conv.operands)]) / architecture.dram_bytes_per_nanosecond / 1e3
    why = f"{groups} groups of {geometry.features.extent} features, {width} results a thread: {launch.reasoning}"
    return DepthwisePlan(served, width, launch._replace(reasoning=why), max(arithmetic, moved))


def _width(conv: HloInstruction, most: int) -> int:
    """Neighbouring features that can be loaded and stored together."""
    lhs, rhs = conv.operands
    labels = conv.attribute("dim_labels")
    places = ((lhs, labels.input_feature), (rhs, labels.kernel_output_feature), (conv, labels.output_feature))
    if rhs.shape.dimensions[labels.kernel_input_feature] != 1 or lhs.shape.dimensions[labels.input_feature] != conv.attribute(
        "feature_group_count"
    ) or conv.shape.dimensions[labels.output_feature] != conv.attribute("feature_group_count"):
        return 1
    others = [s for o, d in places for e, (n, s) in enumerate(zip(o.shape.dimensions, o.shape.strides, strict=True)) if n > 1 and e != d]
    while most > 1:
        fits = all(o.shape.strides[d] == 1 and o.shape.dimensions[d] % most == 0 for o, d in places)
        if fits and not any(s % most for s in others):
            break
        most //= 2
    return most


class _Kernel:
    """The kernel being written."""

    def __init__(self, context: KernelContext, plan: DepthwisePlan) -> None:
        self.context, self.plan, self.w = context, plan, context.writer
        product = plan.served.product
        self.conv = product.dot
        self.block = Block(context, plan.launch.threads_per_block)
        self.words = words_for(self.conv, context)
        self.labels, self.rules = self.conv.attribute("dim_labels"), self.conv.attribute("window").dimensions
        self.store = ResultStore(context, self.block, product, 1, 1)
        self.wide = sum_type(self.conv.operands[0].shape.element_type)

    def write(self) -> None:
        """One thread for so many neighbours, in the order in which the result lies in memory."""
        words, conv, width = self.words, self.conv, self.plan.width
        number = words.add(words.mul(words.of(self.block.number), self.plan.launch.threads_per_block), words.of(self.block.thread))
        total = conv.shape.element_count // width
        with self.block.only_if(words.below(number, total)):
            order = tuple(reversed(conv.shape.layout.minor_to_major))
            feature = self.labels.output_feature
            parts = words.unravel(number, [conv.shape.dimensions[d] // (width if d == feature else 1) for d in order])
            index: list[Word] = [0] * conv.shape.rank
            for d, part in zip(order, parts, strict=True):
                index[d] = words.mul(part, width) if d == feature else part
            self._one(index)
        self.block.finish()

    def _one(self, index: list[Word]) -> None:
        w, words, labels, conv = self.w, self.words, self.labels, self.conv
        lhs, rhs = conv.operands
        sums = Accumulators(self.context, [self.wide] * self.plan.width)
        sums.store([scalar_constant(0, self.wide)] * self.plan.width)
        feature = index[labels.output_feature]
        per_group = conv.shape.dimensions[labels.output_feature] // conv.attribute("feature_group_count")
        depth = rhs.shape.dimensions[labels.kernel_input_feature]
        first = words.mul(words.div(feature, per_group), depth)
        with ExitStack() as loops:
            taps = [words.of(loops.enter_context(w.loop(rule.size, stem="window"))) for rule in self.rules]
            inner = words.of(loops.enter_context(w.loop(depth, stem="depth")))
            image: list[Word] = [0] * lhs.shape.rank
            weights: list[Word] = [0] * rhs.shape.rank
            image[labels.input_batch], image[labels.input_feature] = index[labels.output_batch], words.add(first, inner)
            weights[labels.kernel_input_feature], weights[labels.kernel_output_feature] = inner, feature
            inside: str | None = None
            for number, rule in enumerate(self.rules):
                d = labels.input_spatial[number]
                weights[labels.kernel_spatial[number]] = taps[number]
                image[d], condition = self._place(rule, index[labels.output_spatial[number]], taps[number], lhs.shape.dimensions[d])
                inside = both(w, inside, condition)
            left = self._load(self.context.arrays[lhs], words.linear(image, lhs.shape.strides), inside)
            right = self._load(self.context.arrays[rhs], words.linear(weights, rhs.shape.strides), None)
            totals = sums.load()
            added = [binary_value(w, "add", self.wide, total, binary_value(w, "multiply", self.wide, a, b))
                     for total, a, b in zip(totals, left, right, strict=True)]  # fmt: skip
            # Left out rather than multiplied with zero: the weight may be infinite.
            t = memory_type(self.wide)
            sums.store(added if inside is None else [
                w.choose(inside, new, old, t) for new, old in zip(added, totals, strict=True)
            ])  # fmt: skip
        self._store(index, sums.load())

    def _place(self, rule: WindowDimension, position: Word, tap: Word, size: int) -> tuple[Word, str | None]:
        """Where in the image a tap of a position is, and whether it exists (None: always)."""
        w, words = self.w, self.words
        if rule.window_reversal:
            tap = words.add(words.mul(tap, -1), rule.size - 1)
        at = words.add(words.add(words.mul(position, rule.stride), words.mul(tap, rule.window_dilation)), -rule.padding_low)
        if rule.padding_low <= 0 and rule.padding_high <= 0 and rule.base_dilation == 1:
            return at, None
        if rule.base_dilation == 1:
            return at, words.below(at, size)
        among = words.below(at, (size - 1) * rule.base_dilation + 1)
        at = words.where(among, at, 0)
        whole = w.test("eq", words.mod(at, rule.base_dilation), 0, words.kind)
        return words.div(at, rule.base_dilation), both(w, among, whole)

    def _load(self, array: ArrayInMemory, offset: Word, inside: str | None) -> list[Scalar]:
        """The thread's neighbours from an offset on, or any others."""
        w, words, width = self.w, self.words, self.plan.width
        kind: PrimitiveType = array.shape.element_type
        stored = memory_type(kind)
        place = words.wide(words.where(inside, offset, 0))
        address = w.element_at(array.pointer, stored, place, array.pointer_type)
        tail = INVARIANT if array.invariant else ""
        raw = w.read_lanes(address, stored, width, array.pointer_type, tail)
        return [convert_value(w, from_memory(w, x, kind), kind, self.wide) for x in raw]

    def _store(self, index: list[Word], values: list[Scalar]) -> None:
        words, store, feature = self.words, self.store, self.labels.output_feature
        finished = []
        with store.emitter.scope():
            for j, value in enumerate(values):
                at = tuple([words.wide(words.add(x, j)) if d == feature else words.wide(x) for d, x in enumerate(index)])
                finished.append(store.finished_at(value, self.wide, at))
        offset = words.wide(words.linear(index, store.output.shape.strides))
        if len(finished) == 1:
            store.output.store_linear(self.w, offset, finished[0])
        elif store.output.shape.element_type.bytes * len(finished) <= 16:
            store.store_vector([to_memory(self.w, real(x), store.output.shape.element_type).name for x in finished], offset)
        else:  # the results are longer than the operands
            half = 16 // store.output.shape.element_type.bytes
            for first in range(0, len(finished), half):
                some = [to_memory(self.w, real(x), store.output.shape.element_type).name for x in finished[first : first + half]]
                store.store_vector(some, self.w.add(offset, first))


def write_depthwise_convolution(
    i: HloInstruction, plan: DepthwisePlan, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDraft:
    """The kernel."""
    kernel = _Kernel(fresh_context(i, slots), plan)
    kernel.write()
    return OperationDraft((KernelDraft(kernel.context, plan.launch),), "depthwise-convolution", 0, plan.estimated_us)
