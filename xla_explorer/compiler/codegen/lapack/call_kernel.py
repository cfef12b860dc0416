"""The kernel of a LAPACK custom call: matrix by matrix, in column-major scratch memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.values import Complex, ScalarLike
from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext
from xla_explorer.compiler.codegen.lapack.routines import (
    Argument,
    Array,
    Eigenvectors,
    LapackCall,
    Letter,
    Nothing,
    Number,
    RowOrder,
    Status,
    Unused,
    Work,
    lapack_call,
)
from xla_explorer.compiler.codegen.llvm_types import (
    float_constant,
    register_type,
    scalar_constant,
    value_type,
)
from xla_explorer.compiler.codegen.llvm_types import real as real_part
from xla_explorer.compiler.target import Target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.shape import Shape, array_shape

Index = tuple[str | int, ...]
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

    def _pointer(self, number: int, argument: Argument) -> str:
        w = self.w
        if isinstance(argument, Nothing):
            return "null"
        if isinstance(argument, Letter | Number | Status):
            t = "i8" if isinstance(argument, Letter) else "i32"
            slot = w.stack_slot(t)
            value = (
                ord(argument.text)
                if isinstance(argument, Letter)
                else argument.value
                if isinstance(argument, Number)
                else 0
            )
            w.do(f"store {t} {value}, ptr {slot}")
            return slot
        if isinstance(argument, Work | Unused):
            return self.context.scratch(
                argument.element_type.bytes
                * (argument.elements if isinstance(argument, Work) else 1)
            )
        own = argument.shape.dimensions[len(self.call.batch) :]
        shape = array_shape(argument.shape.element_type, own, layout(tuple(range(len(own)))))
        pointer = self.context.scratch(max(shape.element_count, 1) * shape.element_type.bytes)
        self.views[number] = ArrayInMemory(pointer, shape)
        skips = argument.skips if isinstance(argument, Array) else 0
        return (
            w.value(
                f"getelementptr inbounds i8, ptr {pointer}, i64 {skips * shape.element_type.bytes}"
            )
            if skips
            else pointer
        )

    def write(self) -> None:
        """Emit the loop over all matrices of the batch."""
        call, w = self.call, self.w
        parameters = ["ptr"] * len(self.pointers) + ["i64"] * self._letters
        w.declare_routine(call.symbol, ", ".join(parameters))
        with self.context.iterate(list(call.batch)) as batch:
            for number, argument in enumerate(call.arguments):
                if isinstance(argument, Array) and argument.operand is not None:
                    self._copy(
                        self.views[number], self.operands[argument.operand], batch, into=True
                    )
            if call.needs_finite:
                self._if_finite(batch)
            else:
                self._call(batch)

    @property
    def _letters(self) -> int:
        return sum([isinstance(argument, Letter) for argument in self.call.arguments])

    def _call(self, batch: Index) -> None:
        w, outputs = self.w, self.context.outputs
        lengths = (
            ", i64 1" * self._letters
        )  # Fortran passes the lengths of strings after the arguments
        w.do(
            f"call void @{self.call.symbol}({', '.join([f'ptr {pointer}' for pointer in self.pointers])}{lengths})"
        )
        for number, argument in enumerate(self.call.arguments):
            if isinstance(argument, Array) and argument.result is not None:
                self._copy(self.views[number], outputs[argument.result], batch, into=False)
            elif isinstance(argument, Status) and argument.result is not None:
                status = w.value(f"load i32, ptr {self.pointers[number]}")
                w.do(f"store i32 {status}, ptr {self._element(outputs[argument.result], batch)}")
            elif isinstance(argument, Unused):
                self._fill(argument.result, batch, scalar_constant(0, argument.element_type))
            elif isinstance(argument, Eigenvectors):
                self._unpack(number, argument, batch)
        if self.call.row_order is not None:
            self._order_rows(self.call.row_order, batch)

    def _order_rows(self, order: RowOrder, batch: Index) -> None:
        """Emit row exchanges counted from 0, and the resulting order of rows."""
        w, rows, exchanges = self.w, self.context.outputs[order.result], self.views[order.exchanges]
        argument = self.call.arguments[order.exchanges]
        assert isinstance(argument, Array) and argument.result is not None
        counted = self.context.outputs[argument.result]
        if not rows.shape.dimensions[-1]:
            return
        with w.loop(rows.shape.dimensions[-1], stem="row") as row:
            rows.store(
                w,
                (*batch, row),
                w.value(f"trunc i64 {row} to i32") if isinstance(row, str) else str(row),
            )
        if not exchanges.shape.dimensions[0]:
            return
        with w.loop(exchanges.shape.dimensions[0], stem="exchange") as step:
            other = w.value(f"sub i32 {exchanges.load(w, (step,))}, 1")
            counted.store(w, (*batch, step), other)
            place = w.value(f"sext i32 {other} to i64")
            mine, its = rows.load(w, (*batch, step)), rows.load(w, (*batch, place))
            rows.store(w, (*batch, step), its)
            rows.store(w, (*batch, place), mine)

    def _element(self, array: ArrayInMemory, index: Index) -> str:
        offset = self.w.mul(
            self.w.linear(index, array.shape.strides), array.shape.element_type.bytes
        )
        return self.w.value(f"getelementptr inbounds i8, ptr {array.pointer}, i64 {offset}")

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

    def _fill(self, result: int, batch: Index, value: ScalarLike) -> None:
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
            register_type(view.shape.element_type),
            2 if view.shape.element_type.is_complex else 1,
        )
        total = w.stack_slot(t)
        w.do(f"store {t} {float_constant(0.0, t)}, ptr {total}")
        if view.shape.element_count:
            with w.loop(view.shape.element_count * parts, stem="finite") as at:
                element = w.value(
                    f"load {t}, ptr {w.value(f'getelementptr inbounds {t}, ptr {view.pointer}, i64 {at}')}"
                )
                # Zero for finite elements, NaN for others; a NaN sum stays NaN.
                nothing = w.value(f"fmul {t} {element}, {float_constant(0.0, t)}")
                sum_ = w.value(f"fadd {t} {w.value(f'load {t}, ptr {total}')}, {nothing}")
                w.do(f"store {t} {sum_}, ptr {total}")
        finite = w.value(
            f"fcmp ord {t} {w.value(f'load {t}, ptr {total}')}, {float_constant(0.0, t)}"
        )
        with w.where(finite):
            self._call(batch)
        with w.where(w.value(f"xor i1 {finite}, true")):
            for argument in self.call.arguments:
                if isinstance(argument, Status) and argument.result is not None:
                    status = _NOT_FINITE if argument.is_info else 0
                    w.do(
                        f"store i32 {status}, ptr {self._element(self.context.outputs[argument.result], batch)}"
                    )
                elif (
                    isinstance(argument, Array | Unused | Eigenvectors)
                    and argument.result is not None
                ):
                    element_type = self.context.outputs[argument.result].shape.element_type
                    value = float("nan") if element_type.is_float or element_type.is_complex else 0
                    self._fill(argument.result, batch, scalar_constant(value, element_type))

    def _unpack(self, number: int, argument: Eigenvectors, batch: Index) -> None:
        """Emit the eigenvectors: column j for a real eigenvalue.

        A complex pair is j + i (j + 1) and its conjugate.
        """
        w, vectors, imaginary = self.w, self.views[number], self.views[argument.imaginary]
        if not vectors.shape.element_count:
            return
        t = register_type(vectors.shape.element_type)
        output, zero = self.context.outputs[argument.result], float_constant(0.0, t)
        with w.loop(vectors.shape.dimensions[1], stem="column") as column:
            part = imaginary.load(w, (column,))
            first, second = (
                w.value(f"fcmp ogt {t} {part}, {zero}"),
                w.value(f"fcmp olt {t} {part}, {zero}"),
            )
            real = w.sub(str(column), w.value(f"zext i1 {second} to i64"))
            other = w.add(str(column), w.value(f"zext i1 {first} to i64"))
            with w.loop(vectors.shape.dimensions[0], stem="row") as row:
                above = vectors.load(w, (row, other))
                negated = w.value(f"fneg {t} {above}")
                below = w.value(f"select i1 {second}, {t} {negated}, {t} {zero}")
                signed = w.value(f"select i1 {first}, {t} {above}, {t} {below}")
                whole = Complex(
                    real_part(vectors.load(w, (row, real))),
                    w.named(signed, value_type(vectors.shape.element_type)),
                )
                output.store(w, (*batch, row, column), whole)
