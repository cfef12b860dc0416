"""Matrix products without tensor cores, in any real type: tiles of both operands in shared memory, a small square of the result in the
registers of each thread, the next tiles on their way from memory while these are multiplied.

The tiles are kept with the reduced dimension major, so that a step of the product reads neighbouring words; the pitch keeps the threads
that put a tile there in different banks. Source: V. Volkov, J. Demmel, "Benchmarking GPUs to tune dense linear algebra", 2008.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block, SharedArray, both, unravel
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Operand
from xla_explorer.backends.gpu.emitters.dots.result_store import ResultStore, product_in
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.backends.gpu.product_rates import LIBRARY_SHARE, product_us
from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.registry import Value
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import scalar_constant
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, PrimitiveType

DEPTH = 16  # elements of the reduced dimension in a tile
SIDE = 16  # threads of a block beside and above one another
_TYPES = frozenset({"f32", "f64", "bf16", "f16", "s32", "u32"})
_OWN_SHARE = 0.4  # of the peak at large sizes; assumed, not measured


class TiledDotPlan(NamedTuple):
    """each: rows and columns of the result a thread computes. m, n, k: of one product. estimated_us, library_us: device time."""

    each: int
    m: int
    n: int
    k: int
    batch: tuple[int, ...]
    left: Operand
    right: Operand
    wide: PrimitiveType
    launch: LaunchDimensions
    estimated_us: float
    library_us: float


def plan_tiled_dot(i: HloInstruction, architecture: GpuArchitecture) -> TiledDotPlan | Reason:
    """The plan for a dot, or one in a fusion with what follows it; or why one thread computes each element alone."""
    product = product_in(i)
    if isinstance(product, Reason):
        return product
    i = product.dot
    a, b = i.operands
    kind = a.shape.element_type
    if kind.name not in _TYPES or b.shape.element_type is not kind:
        return refuse("type-not-tiled", f"%{i.name}: no tiles of {kind} x {b.shape.element_type}", type=kind.name)
    if i.shape.element_type is not kind and not (kind.is_float and i.shape.element_type is F32):
        return refuse("type-not-tiled", f"%{i.name}: no tiles of {kind} to {i.shape.element_type}", type=kind.name)
    left_batch, right_batch = i.attribute("lhs_batch_dims"), i.attribute("rhs_batch_dims")
    left_kept = [d for d in range(a.shape.rank) if d not in left_batch and d not in i.attribute("lhs_contracting_dims")]
    right_kept = [d for d in range(b.shape.rank) if d not in right_batch and d not in i.attribute("rhs_contracting_dims")]
    if (len(left_kept), len(right_kept), len(i.attribute("lhs_contracting_dims"))) != (1, 1, 1):
        return refuse("dot-is-no-matrix-product", f"%{i.name} has other than one kept and one reduced dimension on each side")
    (reduced_left,), (reduced_right,) = i.attribute("lhs_contracting_dims"), i.attribute("rhs_contracting_dims")
    m, n = a.shape.dimensions[left_kept[0]], b.shape.dimensions[right_kept[0]]
    k = a.shape.dimensions[reduced_left]
    batch = tuple([a.shape.dimensions[d] for d in left_batch])
    if min(m, n) < SIDE or k < 8 or 0 in batch:
        return refuse("matrix-is-small", f"%{i.name}: {m} x {n} x {k} does not fill a tile of {SIDE} x {SIDE}", m=m, n=n, k=k)
    products = math.prod(batch)
    wide = F32 if kind.is_float and kind.bits < 32 else kind
    largest = 8 if wide.bytes <= 4 else 4
    blocks, each = 0, 2
    for each in (8, 4, 2):
        blocks = products * -(-m // (SIDE * each)) * -(-n // (SIDE * each))
        if each <= largest and (blocks >= architecture.multiprocessors or each == 2):
            break
    left = Operand(a.shape.strides[left_kept[0]], a.shape.strides[reduced_left], tuple([a.shape.strides[d] for d in left_batch]))
    right = Operand(b.shape.strides[right_kept[0]], b.shape.strides[reduced_right], tuple([b.shape.strides[d] for d in right_batch]))
    rate = architecture.lanes * (architecture.double_rate if wide.bytes == 8 else 1)
    waves = -(-blocks // architecture.multiprocessors)
    own = product_us(waves * (SIDE * each) ** 2 * k, rate, _OWN_SHARE, architecture, 1)
    library = product_us(products * m * n * k, rate, LIBRARY_SHARE, architecture)
    why = (f"{m} x {n} x {k}: {blocks} tiles of {SIDE * each} x {SIDE * each}, {each} x {each} a thread, reduced {DEPTH} at a time; "
           f"{blocks} blocks on {architecture.multiprocessors} multiprocessors")  # fmt: skip
    launch = LaunchDimensions(blocks, SIDE * SIDE, blocks * SIDE * SIDE, why)
    return TiledDotPlan(each, m, n, k, batch, left, right, wide, launch, own, library)


class _Tile:
    """An operand's tile: fetched into registers, put into shared memory, read from there."""

    def __init__(self, kernel: _Kernel, instruction: HloInstruction, operand: Operand, size: int, first: str | int) -> None:
        self.kernel, self.operand, self.size, self.first = kernel, operand, size, first
        self.length = SIDE * kernel.plan.each
        self.pitch = self.length + (1 if kernel.plan.wide.bytes == 8 else 2)
        self.array = kernel.context.arrays[instruction]
        self.kind = instruction.shape.element_type
        self.batch = kernel.w.linear(kernel.batch, operand.batch) if operand.batch else 0
        self.shared: SharedArray = kernel.block.shared(kernel.plan.wide, DEPTH * self.pitch)
        self.waiting = [Accumulators(kernel.context, [kernel.plan.wide]) for _ in range(self.length * DEPTH // (SIDE * SIDE))]

    def _place(self, number: int) -> tuple[str | int, str | int]:
        """(kept, reduced) within the tile of the thread's element: neighbouring threads take neighbours in memory."""
        w = self.kernel.w
        at = w.add(self.kernel.block.thread, number * SIDE * SIDE)
        if self.operand.reduced_is_minor:
            return w.div(at, DEPTH), w.mod(at, DEPTH)
        return w.mod(at, self.length), w.div(at, self.length)

    def fetch(self, step: str | int) -> None:
        """Load the tile of a step; zero where the reduced dimension has ended."""
        w, plan = self.kernel.w, self.kernel.plan
        for number, slot in enumerate(self.waiting):
            kept, reduced = self._place(number)
            kept, reduced = w.add(self.first, kept), w.add(w.mul(step, DEPTH), reduced)
            if self.size % self.length:
                inside = w.value(f"icmp ult i64 {kept}, {self.size}")
                kept = w.value(f"select i1 {inside}, i64 {kept}, i64 0")
            within = w.value(f"icmp ult i64 {reduced}, {plan.k}")
            reduced = w.value(f"select i1 {within}, i64 {reduced}, i64 0")
            offset = w.add(self.batch, w.add(w.mul(kept, self.operand.kept), w.mul(reduced, self.operand.reduced)))
            value = convert_value(w, self.array.load_linear(w, offset), self.kind, plan.wide)
            kind = self.shared.kind
            slot.store([w.value(f"select i1 {within}, {kind} {value}, {kind} {scalar_constant(0, plan.wide)}")])

    def put(self) -> None:
        """What was fetched, into shared memory."""
        w = self.kernel.w
        for number, slot in enumerate(self.waiting):
            kept, reduced = self._place(number)
            self.shared.store(w.add(w.mul(reduced, self.pitch), kept), slot.load()[0])

    def read(self, depth: int, thread: str | int) -> list[Value]:
        """The elements of this thread's rows or columns."""
        w = self.kernel.w
        return [self.shared.load(w.add(thread, depth * self.pitch + SIDE * number)) for number in range(self.kernel.plan.each)]


class _Kernel:
    """The kernel being written."""

    def __init__(self, context: KernelContext, plan: TiledDotPlan) -> None:
        self.context, self.plan, self.w = context, plan, context.writer
        w, side = self.w, SIDE * plan.each
        self.block = Block(context, plan.launch.threads_per_block)
        across, down = -(-plan.n // side), -(-plan.m // side)
        number = self.block.number
        self.column, self.row = w.mul(w.mod(number, across), side), w.mul(w.mod(w.div(number, across), down), side)
        self.batch = unravel(w, w.div(number, across * down), plan.batch)
        found = product_in(context.instruction)
        assert not isinstance(found, Reason)
        self.result = ResultStore(context, self.block, found, plan.m, plan.n)
        a, b = found.dot.operands
        self.left = _Tile(self, a, plan.left, plan.m, self.row)
        self.right = _Tile(self, b, plan.right, plan.n, self.column)
        self.x, self.y = w.mod(self.block.thread, SIDE), w.div(self.block.thread, SIDE)

    def write(self) -> None:
        """Fetch, put, multiply, store."""
        w, plan = self.w, self.plan
        sums = [[Accumulators(self.context, [plan.wide]) for _ in range(plan.each)] for _ in range(plan.each)]
        for row in sums:
            for slot in row:
                slot.store([scalar_constant(0, plan.wide)])
        steps = -(-plan.k // DEPTH)
        self.left.fetch(0)
        self.right.fetch(0)
        with w.loop(steps, stem="depth") as step:
            self.left.put()
            self.right.put()
            self.block.barrier()
            self.left.fetch(w.add(step, 1))  # after the last step: zeros, which nobody uses
            self.right.fetch(w.add(step, 1))
            for depth in range(DEPTH):
                left, right = self.left.read(depth, self.y), self.right.read(depth, self.x)
                for a, row in zip(left, sums, strict=True):
                    for b, slot in zip(right, row, strict=True):
                        product = binary_value(w, "multiply", plan.wide, a, b)
                        slot.store([binary_value(w, "add", plan.wide, slot.load()[0], product)])
            self.block.barrier()
        self.store(sums)
        self.block.finish()

    def store(self, sums: list[list[Accumulators]]) -> None:
        """Neighbouring threads store neighbouring columns."""
        w, plan = self.w, self.plan
        side = SIDE * plan.each
        self.result.at(self.batch)
        for r, row in enumerate(sums):
            at_row = w.add(w.add(self.row, self.y), SIDE * r)
            in_rows = w.value(f"icmp ult i64 {at_row}, {plan.m}") if plan.m % side else None
            for c, slot in enumerate(row):
                at_column = w.add(w.add(self.column, self.x), SIDE * c)
                in_columns = w.value(f"icmp ult i64 {at_column}, {plan.n}") if plan.n % side else None
                with self.block.only_if(both(w, in_rows, in_columns)):
                    self.result.element(slot.load()[0], plan.wide, at_row, at_column)


def write_tiled_dot(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel, or why one thread computes each element alone."""
    plan = plan_tiled_dot(i, architecture)
    if isinstance(plan, Reason):
        return plan
    kernel = _Kernel(fresh_context(i, slots), plan)
    kernel.write()
    draft = KernelDraft(kernel.context, plan.launch, kernel.block.shared_bytes)
    return OperationDraft((draft,), "tiled-dot", 0, plan.estimated_us, plan.library_us)
