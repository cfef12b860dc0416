"""Blocked cholesky and triangular-solve, without a library.

Both work on panels of a few columns. The contributions of finished panels are accumulated in
registers, one row (of a solution: one column) a thread, while square tiles of the other factor pass
through shared memory. Then the panel is solved in registers against its diagonal tile. cholesky
uses one block per matrix, which factors the diagonal tile first; a solve uses a block for each
group of right sides. An upper triangle is a lower one with rows and columns exchanged or reversed.
Source: Golub, Van Loan, "Matrix Computations", 4.2 and 3.1; LAPACK's dpotrf has the same structure.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block, both
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    KernelDescriptor,
    OperationDescriptor,
    fresh_context,
)
from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value, select_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Complex, Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.types import I32
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import (
    constant,
    pair,
    real,
    type_is_emitted,
)
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, S32, PrimitiveType

# Columns of a panel: each thread keeps an element of each in registers; fewer for wide numbers and
# larger indices.
PANEL, WIDE_PANEL = 16, 8
ROWS_AT_ONCE = 256  # threads of a block of cholesky
SIDES_AT_ONCE = 64  # right sides of a block of triangular-solve
Element = Callable[[Word, Word], Scalar]


def why_no_factorisation(i: HloInstruction) -> Reason | None:
    """Return None for floats and complex numbers, else a refusal."""
    element_type = i.shape.element_type
    if not (element_type.is_float or element_type.is_complex) or (
        element_type.is_float and element_type.bits < 16
    ):
        text = f"%{i.name}: {i.opcode.name} of {element_type} has no kernel"
        return refuse("element-type-not-emitted", text, element_type=element_type.name)
    return type_is_emitted(i.shape)


class _Panels:
    """Shared parts of both kernels. size: rows of the triangle. panel: columns of a panel."""

    def __init__(
        self,
        context: KernelContext,
        element_type: PrimitiveType,
        size: int,
        threads: int,
        widest: int,
    ) -> None:
        self.context, self.w, self.size = context, context.writer, size
        self.stored = element_type
        self.kind = F32 if element_type.is_float and element_type.bits < 32 else element_type
        self.panel = min(
            widest if self.kind.bytes == 4 else WIDE_PANEL, 1 << max(size - 1, 0).bit_length()
        )
        self.block = Block(context, threads)
        self.tile = self.block.shared(self.kind, self.panel * self.panel)
        self.diagonal = self.block.shared(self.kind, self.panel * self.panel)
        self.panels = -(-size // self.panel)
        self.sums = [Accumulators(context, [self.kind]) for _ in range(self.panel)]

    def op(self, name: str, a: Scalar, b: Scalar) -> Scalar:
        """Apply an operation to two numbers."""
        return binary_value(self.w, name, self.kind, a, b)

    def conjugate(self, a: Scalar) -> Scalar:
        """Return the complex conjugate."""
        return Complex(a.real, -a.imaginary) if isinstance(a, Complex) else a

    def over_real(self, a: Scalar, b: Scalar) -> Scalar:
        """Divide by a number whose imaginary part, if any, is zero."""
        if not isinstance(a, Complex):
            return self.op("divide", a, b)
        divisor = pair(b).real
        return Complex(a.real / divisor, a.imaginary / divisor)

    def zero(self) -> Scalar:
        """Return 0."""
        return constant(self.w, 0, self.kind)

    def select(self, condition: Value[Integer], a: Scalar, b: Scalar) -> Scalar:
        """Return `condition ? a : b`."""
        return select_value(self.w, condition, a, b)

    def load(self, array: ArrayInMemory, index: tuple[Word, ...]) -> Scalar:
        """Load an element in the type of the computation."""
        return convert_value(self.w, array.load(self.w, index), self.stored, self.kind)

    def store(self, array: ArrayInMemory, index: tuple[Word, ...], value: Scalar) -> None:
        """Store an element."""
        array.store(self.w, index, convert_value(self.w, value, self.kind, self.stored))

    def bounded(self, at: Word) -> tuple[Word, Condition]:
        """Return a clamped row or column, and its bounds check."""
        if self.size % self.panel == 0:
            return at, None
        inside = self.w.test("ult", at, self.size)
        return self.w.choose(inside, at, self.size - 1), inside

    def fill(
        self, target: str, element: Element, row: Word, column: Word, unit: bool = False
    ) -> None:
        """Fill `tile` or `diagonal` with the square at (row, column), padded with the unit matrix.

        unit: its own diagonal is one as well.
        """
        w, panel = self.w, self.panel
        array = self.tile if target == "tile" else self.diagonal
        for start in range(0, panel * panel, self.block.threads):
            q = w.add(self.block.thread, start)
            inside = (
                None
                if start + self.block.threads <= panel * panel
                else w.test("ult", q, panel * panel)
            )
            with self.block.only_if(inside):
                r, c = w.div(q, panel), w.mod(q, panel)
                (i, row_exists), (k, column_exists) = (
                    self.bounded(w.add(row, r)),
                    self.bounded(w.add(column, c)),
                )
                value = element(i, k)
                one, on_diagonal = constant(w, 1, self.kind), w.test("eq", r, c)
                exists = both(w, row_exists, column_exists)
                if exists is not None:
                    value = self.select(exists, value, self.select(on_diagonal, one, self.zero()))
                if unit:
                    value = self.select(on_diagonal, one, value)
                array.store(q, value)

    def subtract_finished(
        self,
        number: Word,
        factor: Element,
        finished: Callable[[Word], Scalar],
        column: Word,
    ) -> None:
        """Subtract the contributions of earlier panels from each thread's sums.

        They are factor[column + c, k] finished[k] for all k.
        """
        w, panel = self.w, self.panel
        if self.panels == 1:
            return
        with self.block.only_if(w.test("ne", number, 0)), w.loop(number, stem="finished") as other:
            first = w.mul(other, panel)
            self.block.barrier()
            self.fill("tile", factor, column, first)
            self.block.barrier()
            values = [
                finished(w.add(first, k)) for k in range(panel)
            ]  # all loads are issued before the first use
            for c, slot in enumerate(self.sums):
                total = slot.load()[0]
                for k, value in enumerate(values):
                    total = self.op(
                        "subtract", total, self.op("multiply", self.tile.load(c * panel + k), value)
                    )
                slot.store([total])

    def solve_panel(self, conjugated: bool, unit: bool) -> None:
        """Solve the sums against the diagonal tile.

        conjugated: against its conjugate, whose diagonal is real (cholesky). unit: the diagonal is
        all ones.
        """
        panel = self.panel
        found: list[Scalar] = []
        for c, slot in enumerate(self.sums):
            value = slot.load()[0]
            for k in range(c):
                factor = self.diagonal.load(c * panel + k)
                value = self.op(
                    "subtract",
                    value,
                    self.op("multiply", self.conjugate(factor) if conjugated else factor, found[k]),
                )
            if not unit:
                pivot = self.diagonal.load(c * panel + c)
                value = (
                    self.over_real(value, pivot) if conjugated else self.op("divide", value, pivot)
                )
            found.append(value)
            slot.store([value])


def write_cholesky(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return one kernel, with a block per matrix."""
    batches, size = math.prod(i.shape.dimensions[:-2]), i.shape.dimensions[-1]
    context = fresh_context(i, slots)
    # A thread for every element of a diagonal tile.
    threads = (
        ROWS_AT_ONCE if size > PANEL // 2 else max(4 ** max(size - 1, 0).bit_length(), WARP_SIZE)
    )
    panels = _Panels(context, i.shape.element_type, size, threads, PANEL)
    _Cholesky(panels, i).write()
    panels.block.finish()
    why = (
        f"{batches} matrices of {size} rows: a block each, {panels.panels} panels of "
        f"{panels.panel} columns, a row a thread"
    )
    launch = LaunchDimensions(batches, threads, batches * threads, why)
    return OperationDescriptor(
        (KernelDescriptor(context, launch, panels.block.shared_bytes),), "cholesky"
    )


class _Cholesky:
    """The kernel being written."""

    def __init__(self, panels: _Panels, i: HloInstruction) -> None:
        self.panels, self.w, self.block = panels, panels.w, panels.block
        self.source, self.output = panels.context.arrays[i.operands[0]], panels.context.outputs[0]
        self.lower, self.size = bool(i.attribute("lower")), panels.size
        self.batch = tuple(panels.w.unravel(self.block.number, i.shape.dimensions[:-2]))
        self.failed = self.block.shared(S32, 1)

    def _place(self, row: Word, column: Word) -> tuple[Word, ...]:
        return (*self.batch, row, column) if self.lower else (*self.batch, column, row)

    def _read(self, array: ArrayInMemory, row: Word, column: Word) -> Scalar:
        value = self.panels.load(array, self._place(row, column))
        return value if self.lower else self.panels.conjugate(value)

    def _write(self, row: Word, column: Word, value: Scalar) -> None:
        self.panels.store(
            self.output,
            self._place(row, column),
            value if self.lower else self.panels.conjugate(value),
        )

    def _clear(self, value: Scalar, whole: bool) -> None:
        """Set the triangle outside of the factor (or the whole matrix)."""
        w, size, threads = self.w, self.size, self.block.threads
        with w.loop(-(-size * size // threads), stem="clear") as step:
            q = w.add(w.mul(step, threads), self.block.thread)
            inside = None if size * size % threads == 0 else w.test("ult", q, size * size)
            row, column = w.div(q, size), w.mod(q, size)
            if not whole:
                inside = both(w, inside, w.test(f"u{'gt' if self.lower else 'lt'}", column, row))
            with self.block.only_if(inside):
                self.panels.store(self.output, (*self.batch, row, column), value)

    def write(self) -> None:
        """Write the kernel panel by panel."""
        w, panels, block, size = self.w, self.panels, self.block, self.size
        first = w.test("eq", block.thread, 0)
        with block.only_if(first):
            self.failed.store(0, w.number(0, I32))
        self._clear(panels.zero(), False)
        with w.loop(panels.panels, stem="panel") as number:
            start = w.mul(number, panels.panel)
            left = w.sub(size, start)
            batches: Word = (
                1
                if size <= block.threads
                else w.index_operation("udiv", w.add(left, block.threads - 1), block.threads)
            )
            with w.loop(batches, stem="rows") as batch:
                offset = w.add(w.mul(batch, block.threads), block.thread)
                exists = w.test("ult", offset, left)
                row = w.choose(exists, w.add(start, offset), size - 1)
                for c, slot in enumerate(panels.sums):
                    column, _ = panels.bounded(w.add(start, c))
                    slot.store([self._read(self.source, row, column)])
                panels.subtract_finished(
                    number,
                    lambda r, k: panels.conjugate(self._read(self.output, r, k)),
                    lambda k, row=row: self._read(self.output, row, k),  # type: ignore[misc]
                    start,
                )
                with block.only_if(w.test("eq", batch, 0)):
                    self._factor(start, offset)
                panels.solve_panel(True, False)
                below = w.test("uge", offset, panels.panel)
                for c, slot in enumerate(panels.sums):
                    _, there = panels.bounded(w.add(start, c))
                    with block.only_if(both(w, both(w, exists, below), there)):
                        self._write(row, w.add(start, c), slot.load()[0])
            block.barrier()
        bad = real(self.failed.load(0)).differs(0)
        with block.only_if(bad):
            self._clear(constant(w, math.nan, panels.kind), True)

    def _factor(self, start: Word, offset: Word) -> None:
        """Factor the diagonal tile, whose rows are the sums of the first threads.

        The factor goes to shared memory and to the result.
        """
        w, panels, block, n = self.w, self.panels, self.block, self.panels.panel
        block.barrier()
        with block.only_if(w.test("ult", offset, n)):
            _, row_exists = panels.bounded(w.add(start, offset))
            for c, slot in enumerate(panels.sums):
                _, column_exists = panels.bounded(w.add(start, c))
                exists = both(w, row_exists, column_exists)
                value = slot.load()[0]
                if exists is not None:
                    unit = panels.select(
                        w.test("eq", offset, c), constant(w, 1, panels.kind), panels.zero()
                    )
                    value = panels.select(exists, value, unit)
                panels.diagonal.store(w.add(w.mul(offset, n), c), value)
        q = block.thread
        row, column = w.div(q, n), w.mod(q, n)
        inside = None if block.threads <= n * n else w.test("ult", q, n * n)

        def real_number(value: Value) -> Scalar:
            return Complex(value, w.number(0.0, value.type)) if panels.kind.is_complex else value

        with w.loop(n, stem="column") as done:
            block.barrier()
            loaded = panels.diagonal.load(w.mul(done, n + 1))
            pivot = loaded.real if isinstance(loaded, Complex) else loaded
            positive = pivot > 0.0
            with block.only_if(w.both(w.test("eq", q, 0), w.negated(positive))):
                self.failed.store(0, w.number(1, I32))
            below = w.both(w.test("eq", column, done), w.test("ugt", row, done))
            with block.only_if(both(w, inside, below)):
                panels.diagonal.store(
                    q, panels.over_real(panels.diagonal.load(q), real_number(w.square_root(pivot)))
                )
            block.barrier()
            rest = w.both(w.test("ugt", column, done), w.test("uge", row, column))
            with block.only_if(both(w, inside, rest)):
                a = panels.diagonal.load(w.add(w.mul(row, n), done))
                b = panels.conjugate(panels.diagonal.load(w.add(w.mul(column, n), done)))
                panels.diagonal.store(
                    q, panels.op("subtract", panels.diagonal.load(q), panels.op("multiply", a, b))
                )
        block.barrier()
        with block.only_if(both(w, inside, w.test("eq", row, column))):
            loaded = panels.diagonal.load(q)
            panels.diagonal.store(
                q,
                real_number(w.square_root(loaded.real if isinstance(loaded, Complex) else loaded)),
            )
        block.barrier()
        (_, row_exists), (_, column_exists) = (
            panels.bounded(w.add(start, row)),
            panels.bounded(w.add(start, column)),
        )
        stored = both(w, both(w, row_exists, column_exists), w.test("uge", row, column))
        with block.only_if(both(w, inside, stored)):
            self._write(w.add(start, row), w.add(start, column), panels.diagonal.load(q))


def write_triangular_solve(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
) -> OperationDescriptor | Reason:
    """Return one kernel, with a thread per right side; blocks of a matrix share nothing."""
    a, b = i.operands
    context = fresh_context(i, slots)
    left = bool(i.attribute("left_side"))
    transposed, adjoint = (
        i.attribute("transpose_a") != "NO_TRANSPOSE",
        i.attribute("transpose_a") == "ADJOINT",
    )
    size = a.shape.dimensions[-1]
    sides = b.shape.dimensions[-1] if left else b.shape.dimensions[-2]
    batches = math.prod(b.shape.dimensions[:-2])
    # x m = b is m^T x^T = b^T; an upper triangle is a reversed lower one.
    transposed = transposed if left else not transposed
    forward = bool(i.attribute("lower")) != transposed
    threads = min(SIDES_AT_ONCE, -(-sides // WARP_SIZE) * WARP_SIZE)
    if batches * -(-sides // threads) < architecture.multiprocessors:
        threads = WARP_SIZE  # more blocks, although each reads the triangle again
    panels = _Panels(context, i.shape.element_type, size, threads, WIDE_PANEL)
    w, block, n = panels.w, panels.block, panels.panel
    groups = -(-sides // threads)
    batch = tuple(w.unravel(w.div(block.number, groups), b.shape.dimensions[:-2]))
    side = w.add(w.mul(w.mod(block.number, groups), threads), block.thread)
    exists = None if sides % threads == 0 else w.test("ult", side, sides)
    if exists is not None:
        side = w.choose(exists, side, sides - 1)
    matrix, given, output = context.arrays[a], context.arrays[b], context.outputs[0]

    def counted(at: Word) -> Word:
        return at if forward else w.sub(size - 1, at)

    def factor(row: Word, column: Word) -> Scalar:
        r, c = counted(row), counted(column)
        value = panels.load(matrix, (*batch, c, r) if transposed else (*batch, r, c))
        return panels.conjugate(value) if adjoint else value

    def place(row: Word) -> tuple[Word, ...]:
        return (*batch, counted(row), side) if left else (*batch, side, counted(row))

    with w.loop(panels.panels, stem="panel") as number:
        start = w.mul(number, n)
        for c, slot in enumerate(panels.sums):
            at, inside = panels.bounded(w.add(start, c))
            value = panels.load(given, place(at))
            slot.store([value if inside is None else panels.select(inside, value, panels.zero())])
        panels.subtract_finished(number, factor, lambda k: panels.load(output, place(k)), start)
        block.barrier()
        panels.fill("diagonal", factor, start, start)
        block.barrier()
        panels.solve_panel(False, bool(i.attribute("unit_diagonal")))
        for c, slot in enumerate(panels.sums):
            at, inside = panels.bounded(w.add(start, c))
            with block.only_if(both(w, exists, inside)):
                panels.store(output, place(at), slot.load()[0])
    block.finish()
    why = (
        f"{batches} triangles of {size} rows, {sides} right sides each: a thread a side, panels "
        f"of {n} rows"
    )
    launch = LaunchDimensions(batches * groups, threads, batches * groups * threads, why)
    return OperationDescriptor(
        (KernelDescriptor(context, launch, block.shared_bytes),), "triangular-solve"
    )
