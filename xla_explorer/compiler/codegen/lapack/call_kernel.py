"""The kernel of a LAPACK custom call: matrix by matrix, in column-major scratch memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import I8, I32, I64, PTR
from xla_explorer.compiler.codegen.ir.values import Complex, Pointer, Scalar, Value
from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext
from xla_explorer.compiler.codegen.lapack.routines import (
    Argument,
    Eigenvectors,
    LapackCall,
    Letter,
    MatrixArgument,
    Nothing,
    Number,
    RowOrder,
    Status,
    Unused,
    Work,
    lapack_call,
)
from xla_explorer.compiler.codegen.llvm_types import constant, value_type
from xla_explorer.compiler.codegen.llvm_types import real as real_part
from xla_explorer.compiler.target import Target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.shape import Shape, array_shape

Index = tuple[Word, ...]
_NOT_FINITE = -4  # results of LAPACK's own checks for a NaN argument, and of jaxlib


def write_lapack_call(i: HloInstruction, target: Target, slots: tuple[int, ...]) -> Kernel:
    """Emit copies of the operands, the call, and copies of the results."""
    call = lapack_call(i)
    assert isinstance(call, LapackCall)
    context = KernelContext(target, i, slots)
    context.writer.origin = i.id
    if 0 not in call.batch:
        _LapackKernel(context, call).write()
    return context.finish(slots)


class _LapackKernel:
    """The arguments of one call: addresses, and column-major views of arrays."""

    def __init__(self, context: KernelContext, call: LapackCall) -> None:
        self.context, self.call, self.w = context, call, context.writer
        self.operands = [context.arrays[o] for o in context.instruction.operands]
        self.views: dict[int, ArrayInMemory] = {}
        self.pointers = [self._pointer(k, a) for k, a in enumerate(call.arguments)]

    def _pointer(self, number: int, argument: Argument) -> Value[Pointer]:
        w = self.w
        if isinstance(argument, Nothing):
            return w.named("null", PTR)
        if isinstance(argument, Letter | Number | Status):
            slot = w.variable(I8 if isinstance(argument, Letter) else I32)
            slot.set(
                ord(argument.text)
                if isinstance(argument, Letter)
                else argument.value
                if isinstance(argument, Number)
                else 0
            )
            return slot.address
        if isinstance(argument, Work | Unused):
            return self.context.scratch(
                argument.element_type.bytes
                * (argument.elements if isinstance(argument, Work) else 1)
            )
        own = argument.shape.dimensions[len(self.call.batch) :]
        shape = array_shape(argument.shape.element_type, own, layout(tuple(range(len(own)))))
        pointer = self.context.scratch(max(shape.element_count, 1) * shape.element_type.bytes)
        self.views[number] = ArrayInMemory(pointer, shape)
        skips = argument.skips if isinstance(argument, MatrixArgument) else 0
        return w.address(pointer, I8, skips * shape.element_type.bytes) if skips else pointer

    def write(self) -> None:
        """Emit the loop over all matrices of the batch."""
        call = self.call
        with self.context.iterate(list(call.batch)) as batch:
            for number, argument in enumerate(call.arguments):
                if isinstance(argument, MatrixArgument) and argument.operand is not None:
                    self._copy(
                        self.views[number], self.operands[argument.operand], batch, into=True
                    )
            if call.needs_finite:
                self._if_finite(batch)
            else:
                self._call(batch)

    def _call(self, batch: Index) -> None:
        w, outputs = self.w, self.context.outputs
        # Fortran passes the lengths of strings after the arguments.
        letters = sum([isinstance(argument, Letter) for argument in self.call.arguments])
        w.call_routine(self.call.symbol, *self.pointers, *[w.number(1, I64)] * letters)
        for number, argument in enumerate(self.call.arguments):
            if isinstance(argument, MatrixArgument) and argument.result is not None:
                self._copy(self.views[number], outputs[argument.result], batch, into=False)
            elif isinstance(argument, Status) and argument.result is not None:
                status = w.load(self.pointers[number], I32)
                w.store(status, self._element(outputs[argument.result], batch))
            elif isinstance(argument, Unused):
                self._fill(argument.result, batch, constant(w, 0, argument.element_type))
            elif isinstance(argument, Eigenvectors):
                self._unpack(number, argument, batch)
        if self.call.row_order is not None:
            self._order_rows(self.call.row_order, batch)

    def _order_rows(self, order: RowOrder, batch: Index) -> None:
        """Emit row exchanges counted from 0, and the resulting order of rows."""
        w, rows, exchanges = self.w, self.context.outputs[order.result], self.views[order.exchanges]
        argument = self.call.arguments[order.exchanges]
        assert isinstance(argument, MatrixArgument) and argument.result is not None
        counted = self.context.outputs[argument.result]
        if not rows.shape.dimensions[-1]:
            return
        with w.loop(rows.shape.dimensions[-1], stem="row") as row:
            rows.store(w, (*batch, row), w.index_as(row, I32))
        if not exchanges.shape.dimensions[0]:
            return
        with w.loop(exchanges.shape.dimensions[0], stem="exchange") as step:
            other = real_part(exchanges.load(w, (step,))) - 1
            counted.store(w, (*batch, step), other)
            place = w.convert("sext", other, "i64")
            mine, its = rows.load(w, (*batch, step)), rows.load(w, (*batch, place))
            rows.store(w, (*batch, step), its)
            rows.store(w, (*batch, place), mine)

    def _element(self, array: ArrayInMemory, index: Index) -> Value[Pointer]:
        offset = self.w.linear(index, array.shape.strides)
        return self.w.address(array.pointer, I8, self.w.mul(offset, array.shape.element_type.bytes))

    @contextmanager
    def _each(self, shape: Shape) -> Iterator[Index]:
        """Open loops over the elements of a matrix, columns outermost; no size may be zero."""
        if shape.rank == 1:
            with self.w.loop(shape.dimensions[0], stem="element") as at:
                yield (at,)
        else:
            with (
                self.w.loop(shape.dimensions[1], stem="column") as column,
                self.w.loop(shape.dimensions[0], stem="row") as row,
            ):
                yield row, column

    def _copy(self, view: ArrayInMemory, array: ArrayInMemory, batch: Index, *, into: bool) -> None:
        if view.shape.element_count:
            with self._each(view.shape) as index:
                if into:
                    view.store(self.w, index, array.load(self.w, (*batch, *index)))
                else:
                    array.store(self.w, (*batch, *index), view.load(self.w, index))

    def _fill(self, result: int, batch: Index, value: Scalar) -> None:
        output = self.context.outputs[result]
        own = output.shape.dimensions[len(batch) :]
        if 0 not in own:
            with self._each(array_shape(output.shape.element_type, own)) as index:
                output.store(self.w, (*batch, *index), value)

    def _if_finite(self, batch: Index) -> None:
        """Emit the call if the first operand is finite.

        Else the results are NaN, with a non-zero `info`.
        """
        w = self.w
        view = next(
            view
            for number, view in self.views.items()
            if self.call.arguments[number].operand == 0  # type: ignore[union-attr]
        )
        t, parts = (
            value_type(view.shape.element_type),
            2 if view.shape.element_type.is_complex else 1,
        )
        total = w.variable(t)
        total.set(0.0)
        if view.shape.element_count:
            with w.loop(view.shape.element_count * parts, stem="finite") as at:
                element = w.load(w.address(view.pointer, t, at), t)
                # Zero for finite elements, NaN for others; a NaN sum stays NaN.
                nothing = element * 0.0
                total.set(total.get() + nothing)
        finite = w.compare("ord", total.get(), 0.0)
        with w.where(finite):
            self._call(batch)
        with w.where(w.negated(finite)):
            for argument in self.call.arguments:
                if isinstance(argument, Status) and argument.result is not None:
                    status = _NOT_FINITE if argument.is_info else 0
                    info = self._element(self.context.outputs[argument.result], batch)
                    w.store(w.number(status, I32), info)
                elif (
                    isinstance(argument, MatrixArgument | Unused | Eigenvectors)
                    and argument.result is not None
                ):
                    element_type = self.context.outputs[argument.result].shape.element_type
                    value = float("nan") if element_type.is_float or element_type.is_complex else 0
                    self._fill(argument.result, batch, constant(w, value, element_type))

    def _unpack(self, number: int, argument: Eigenvectors, batch: Index) -> None:
        """Emit the eigenvectors: column j for a real eigenvalue.

        A complex pair is j + i (j + 1) and its conjugate.
        """
        w, vectors, imaginary = self.w, self.views[number], self.views[argument.imaginary]
        if not vectors.shape.element_count:
            return
        output = self.context.outputs[argument.result]
        with w.loop(vectors.shape.dimensions[1], stem="column") as column:
            part = real_part(imaginary.load(w, (column,)))
            first, second = part > 0.0, part < 0.0
            real = w.sub(column, w.convert("zext", second, "i64"))
            other = w.add(column, w.convert("zext", first, "i64"))
            with w.loop(vectors.shape.dimensions[0], stem="row") as row:
                above = real_part(vectors.load(w, (row, other)))
                signed = w.select(first, above, w.select(second, -above, 0.0))
                whole = Complex(real_part(vectors.load(w, (row, real))), signed)
                output.store(w, (*batch, row, column), whole)
