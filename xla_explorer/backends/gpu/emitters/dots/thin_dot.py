"""Products of a matrix with a vector, or with a matrix of a few rows or columns: the large matrix is read once, at memory speed.

Where its reduced dimension is the minor one, the lanes of a group walk along a row together and add up by shuffles. Where the kept one
is, the lanes take neighbouring columns, the warps of a block different parts of the reduced dimension, and shared memory adds them up;
too few columns to fill the device are cut along the reduced dimension, and a second kernel adds the parts in a fixed order.
Source: xla/service/gpu/transforms/gemv_rewriter.cc names the shapes; the kernels are ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import WARP, Block, both, chosen, unravel
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, ScratchArrays, fresh_context
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions, launch_dimensions
from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import scalar_constant, type_is_emitted
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.product_types import accumulation_type
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

THINNEST = 16  # rows or columns of what is not read at memory speed
SHORTEST = 32  # reduced elements
WARPS, IN_FLIGHT = 8, 4
BLOCK = WARP * WARPS


class Side(NamedTuple):
    """An operand. number: which. kept: its extent, 1 for none. kept_stride, reduced_stride: in elements; batch: strides likewise."""

    number: int
    kept: int
    kept_stride: int
    reduced_stride: int
    batch: tuple[int, ...]


class ThinDotPlan(NamedTuple):
    """wide: the operand that is read at memory speed. by_rows: its reduced dimension is the minor one. group: threads of a row; width:
    neighbours that a lane takes. splits: parts of the reduced dimension."""

    wide: Side
    thin: Side
    batch: tuple[int, ...]
    reduced: int
    by_rows: bool
    group: int
    width: int
    splits: int
    kind: PrimitiveType


def _side(i: HloInstruction, number: int) -> Side | None:
    shape, prefix = i.operands[number].shape, "lr"[number]
    batch, reduced = i.attribute(f"{prefix}hs_batch_dims"), i.attribute(f"{prefix}hs_contracting_dims")
    kept = [d for d in range(shape.rank) if d not in batch and d not in reduced]
    if len(reduced) != 1 or len(kept) > 1:
        return None
    extent, stride = (shape.dimensions[kept[0]], shape.strides[kept[0]]) if kept else (1, 0)
    return Side(number, extent, stride, shape.strides[reduced[0]], tuple([shape.strides[d] for d in batch]))


def plan_thin_dot(i: HloInstruction, architecture: GpuArchitecture) -> ThinDotPlan | Reason:
    """The plan, or why this is another kind of product."""
    if i.opcode.name != "dot":
        return refuse("no-dot", f"%{i.name} is not a dot")
    sides = [_side(i, number) for number in (0, 1)]
    if sides[0] is None or sides[1] is None:
        return refuse("dot-is-no-matrix-product", f"%{i.name} has other than one kept and one reduced dimension on each side")
    thin, wide = sorted([sides[0], sides[1]], key=lambda side: side.kept)
    shape = i.operands[wide.number].shape
    reduced = shape.dimensions[i.attribute(f"{'lr'[wide.number]}hs_contracting_dims")[0]]
    batch = tuple([shape.dimensions[d] for d in i.attribute(f"{'lr'[wide.number]}hs_batch_dims")])
    if thin.kept > THINNEST or 0 in (wide.kept, thin.kept, *batch):
        text = f"%{i.name}: its narrower side has {thin.kept} rows or columns, where 1 to {THINNEST} are thin"
        return refuse("neither-side-is-thin", text, kept=thin.kept, reduced=reduced)
    if reduced < SHORTEST:
        text = f"%{i.name} adds {reduced} products for an element, a warp wants at least {SHORTEST}"
        return refuse("short-sums", text, kept=thin.kept, reduced=reduced)
    if wide.reduced_stride != 1 and wide.kept_stride != 1:
        return refuse("no-minor-dimension", f"%{i.name}: neither dimension of the larger matrix is its minor one")
    if (reason := type_is_emitted(i.shape)) is not None:
        return reason
    kind = accumulation_type(i)
    count = math.prod(batch) * wide.kept
    if wide.reduced_stride == 1:
        width = max(1, min(16 // shape.element_type.bytes, 8))
        while reduced % width or any(stride % width for stride in (wide.kept_stride, *wide.batch)):
            width //= 2
        chunks = reduced // width
        group = min(1 << (chunks.bit_length() - 1), WARP)
        while group < BLOCK and count * group < architecture.resident_threads // 4 and chunks >= 2 * IN_FLIGHT * group:
            group *= 2
        return ThinDotPlan(wide, thin, batch, reduced, True, group, width, 1, kind)
    blocks = math.prod(batch) * -(-wide.kept // WARP)
    splits = max(1, min(-(-2 * architecture.multiprocessors // blocks), reduced // (WARPS * IN_FLIGHT * 2)))
    return ThinDotPlan(wide, thin, batch, reduced, False, 1, 1, splits, kind)


class _ThinDot:
    """The kernel being written."""

    def __init__(self, context: KernelContext, plan: ThinDotPlan, threads: int) -> None:
        self.context, self.plan, self.w = context, plan, context.writer
        self.block = Block(context, threads)
        i = context.instruction
        self.arrays = [context.arrays[o] for o in i.operands]
        self.types = [o.shape.element_type for o in i.operands]
        self.sums = [Accumulators(context, [plan.kind]) for _ in range(plan.thin.kept)]
        for slot in self.sums:
            slot.store([scalar_constant(0, plan.kind)])

    def batch(self, number: str | int) -> list[str | int]:
        """Index of a batch element."""
        return unravel(self.w, number, self.plan.batch)

    def load(self, side: Side, batch: list[str | int], kept: str | int, reduced: str | int) -> Scalar:
        """An element of an operand, in the type of the sums."""
        w = self.w
        offset = w.add(w.linear(batch, side.batch), w.add(w.mul(kept, side.kept_stride), w.mul(reduced, side.reduced_stride)))
        return convert_value(w, self.arrays[side.number].load_linear(w, offset), self.types[side.number], self.plan.kind)

    def take(self, batch: list[str | int], kept: str | int, positions: list[str | int], active: str | None) -> None:
        """Add products at some positions of the reduced dimension to the sums; the loads come first."""
        kind = self.plan.kind
        wide = [self.load(self.plan.wide, batch, kept, at) for at in positions]
        for number, slot in enumerate(self.sums):
            total = slot.load()[0]
            for value, at in zip(wide, positions, strict=True):
                other = self.load(self.plan.thin, batch, number, at)
                total = binary_value(self.w, "add", kind, total, binary_value(self.w, "multiply", kind, value, other))
            if active is not None:
                slot.store(chosen(self.w, active, [kind], [total], slot.load()))
            else:
                slot.store([total])

    def add(self, a: list[Scalar], b: list[Scalar]) -> list[Scalar]:
        """Two partial sums."""
        return [binary_value(self.w, "add", self.plan.kind, a[0], b[0])]

    def store(self, batch: list[str | int], kept: str | int, number: str | int, value: Scalar) -> None:
        """A result."""
        plan, output, w = self.plan, self.context.outputs[0], self.w
        ends = (kept, number) if plan.wide.number == 0 else (number, kept)
        sides = (plan.wide, plan.thin) if plan.wide.number == 0 else (plan.thin, plan.wide)
        index = [*batch, *[at for at, side in zip(ends, sides, strict=True) if side.kept_stride or side.kept > 1]]
        output.store(w, tuple(index[: output.shape.rank]), convert_value(w, value, plan.kind, output.shape.element_type))

    def by_rows(self) -> None:
        """A group of lanes walks along a row."""
        w, plan, block = self.w, self.plan, self.block
        rows = math.prod(plan.batch) * plan.wide.kept
        together = block.threads // plan.group
        number = w.add(w.mul(block.number, together), w.div(block.thread, plan.group))
        exists = None if rows % together == 0 else w.test("ult", number, rows)
        if exists is not None:
            number = w.choose(exists, number, rows - 1)
        batch, kept, lane = self.batch(w.div(number, plan.wide.kept)), w.mod(number, plan.wide.kept), w.mod(block.thread, plan.group)
        chunks = plan.reduced // plan.width

        def positions(step: str | int) -> list[str | int]:
            first = w.mul(w.add(lane, w.mul(step, plan.group)), plan.width)
            return [w.add(first, j) for j in range(plan.width)]

        full = chunks // plan.group
        flight = max(1, min(IN_FLIGHT * 2 // plan.width, full))
        rounds = full // flight
        with w.loop(rounds, stem="round") as step:
            self.take(batch, kept, [at for k in range(flight) for at in positions(w.add(w.mul(step, flight), k))], None)
        for step in range(rounds * flight, full):
            self.take(batch, kept, positions(step), None)
        if chunks % plan.group:
            active = w.test("ult", lane, chunks % plan.group)
            first = w.mul(w.choose(active, w.add(lane, full * plan.group), 0), plan.width)
            self.take(batch, kept, [w.add(first, j) for j in range(plan.width)], active)
        totals = [block.combine_threads(slot.load(), [plan.kind], plan.group, self.add)[0] for slot in self.sums]
        with block.only_if(both(w, exists, w.test("eq", lane, 0) if plan.group > 1 else None)):
            for number, total in enumerate(totals):
                self.store(batch, kept, number, total)

    def by_columns(self, scratch: ScratchArrays | None, slots: tuple[int, ...]) -> None:
        """Lanes side by side, warps one below the other."""
        w, plan, block = self.w, self.plan, self.block
        across = -(-plan.wide.kept // WARP)
        column = w.add(w.mul(w.mod(block.number, across), WARP), block.lane)
        exists = None if plan.wide.kept % WARP == 0 else w.test("ult", column, plan.wide.kept)
        if exists is not None:
            column = w.choose(exists, column, plan.wide.kept - 1)
        rest = w.div(block.number, across)
        split, number = w.mod(rest, plan.splits), w.div(rest, plan.splits)
        batch = self.batch(number)
        part = self.part()
        begin = w.add(w.mul(split, part), block.warp)
        step = WARPS * IN_FLIGHT
        exact = plan.reduced % part == 0
        with w.loop(part // step, stem="down") as at:
            first = w.add(begin, w.mul(at, step))
            if exact:
                self.take(batch, column, [w.add(first, k * WARPS) for k in range(IN_FLIGHT)], None)
            else:
                for k in range(IN_FLIGHT):
                    here = w.add(first, k * WARPS)
                    inside = w.test("ult", here, plan.reduced)
                    self.take(batch, column, [w.choose(inside, here, 0)], inside)
        parts = [block.shared(plan.kind, BLOCK) for _ in self.sums]
        for slot, shared in zip(self.sums, parts, strict=True):
            shared.store(block.thread, slot.load()[0])
        block.barrier()
        with block.only_if(both(w, exists, w.test("eq", block.warp, 0))):
            for thin, shared in enumerate(parts):
                total: list[Scalar] = [shared.load(block.lane)]
                for warp in range(1, WARPS):
                    total = self.add(total, [shared.load(w.add(block.lane, warp * WARP))])
                if scratch is None:
                    self.store(batch, column, thin, total[0])
                else:
                    (array,) = scratch.arrays(self.context, slots)
                    place = w.add(w.mul(w.add(w.mul(number, plan.splits), split), plan.thin.kept), thin)
                    array.store_linear(w, w.add(w.mul(place, plan.wide.kept), column), total[0])

    def part(self) -> int:
        """Reduced elements of a split: whole rounds of a block."""
        step = WARPS * IN_FLIGHT
        return -(-self.plan.reduced // (self.plan.splits * step)) * step

    def add_parts(self, scratch: ScratchArrays, slots: tuple[int, ...]) -> int:
        """A thread per result adds the parts. How many there are."""
        w, plan = self.w, self.plan
        (array,) = scratch.arrays(self.context, slots)
        count = math.prod(plan.batch) * plan.thin.kept * plan.wide.kept
        number = w.add(w.mul(self.block.number, self.block.threads), self.block.thread)
        with self.block.only_if(w.test("ult", number, count)):
            column, rest = w.mod(number, plan.wide.kept), w.div(number, plan.wide.kept)
            thin, batch = w.mod(rest, plan.thin.kept), w.div(rest, plan.thin.kept)
            slot = self.sums[0]
            with w.loop(plan.splits, stem="part") as split:
                place = w.add(w.mul(w.add(w.mul(batch, plan.splits), split), plan.thin.kept), thin)
                slot.store(self.add(slot.load(), [array.load_linear(w, w.add(w.mul(place, plan.wide.kept), column))]))
            self.store(self.batch(batch), column, thin, slot.load()[0])
        return count


def write_thin_dot(i: HloInstruction, plan: ThinDotPlan, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft:
    """One kernel, or two where the reduced dimension is cut."""
    what = f"{plan.wide.kept} x {plan.thin.kept} x {plan.reduced}"
    products = math.prod(plan.batch)
    if plan.by_rows:
        threads = max(plan.group, WARP * 4)
        kernel = _ThinDot(fresh_context(i, slots), plan, threads)
        kernel.by_rows()
        kernel.block.finish()
        blocks = -(-products * plan.wide.kept * plan.group // threads)
        why = f"{what}: {plan.group} threads a row of the larger matrix, {plan.width} neighbours at once"
        launch = LaunchDimensions(blocks, threads, products * plan.wide.kept * plan.group, why)
        return OperationDraft((KernelDraft(kernel.context, launch, kernel.block.shared_bytes),), "thin-dot")
    scratch = None
    if plan.splits > 1:
        scratch = ScratchArrays([plan.kind], products * plan.splits * plan.thin.kept * plan.wide.kept)
    kernel = _ThinDot(fresh_context(i, slots), plan, BLOCK)
    kernel.by_columns(scratch, slots)
    kernel.block.finish()
    blocks = products * -(-plan.wide.kept // WARP) * plan.splits
    why = f"{what}: blocks of {WARP} neighbouring columns and {WARPS} warps along the reduced dimension, {plan.splits} parts of it"
    kernels = [KernelDraft(kernel.context, LaunchDimensions(blocks, BLOCK, blocks * BLOCK, why), kernel.block.shared_bytes)]
    if scratch is not None:
        launch = launch_dimensions(products * plan.thin.kept * plan.wide.kept, architecture)
        last = _ThinDot(fresh_context(i, slots), plan, launch.threads_per_block)
        last.add_parts(scratch, slots)
        kernels.append(KernelDraft(last.context, launch._replace(reasoning=f"{plan.splits} parts of each result added up"), 0, "_combine"))
    return OperationDraft(tuple(kernels), "thin-dot", scratch.end if scratch is not None else 0)
