"""Kernels of custom calls, by target."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.data_movement import as_index, clamped
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.perturbed_tridiagonal import write_perturbed_solve
from xla_explorer.compiler.codegen.llvm_types import constant, real
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.call_signatures import signature_mismatch
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import C128, F32, F64, S64


class _Row(NamedTuple):
    """The kernel of a custom call target.

    serves: returns True if the kernel supports the shapes and layouts of a call.
    """

    write: Callable[[KernelContext], None]
    serves: Callable[[HloInstruction], bool]


def custom_call_is_emitted(i: HloInstruction) -> Reason | None:
    """Return a refusal unless the target has a kernel for the operands."""
    target = custom_call_target(i)
    row = _ROWS.get(target)
    if row is None:
        return refuse(
            "custom-call-target",
            f"%{i.name}: the custom call target {target} has no native code",
            target=target,
        )
    if (mismatch := signature_mismatch(i)) is not None:
        return refuse("custom-call-target", f"%{i.name}: {mismatch.message}", target=target)
    if not row.serves(i):
        shapes = ", ".join([o.shape.text_without_layout for o in i.operands])
        return refuse(
            "custom-call-target",
            f"%{i.name}: {target} has no native code for {shapes}",
            target=target,
        )
    return None


def write_custom_call_kernel(context: KernelContext) -> None:
    """Emit the kernel of the target."""
    _ROWS[custom_call_target(context.roots[0])].write(context)


def _is_row_major(i: HloInstruction) -> bool:
    """Return True if all arrays have the default layout."""
    return all(
        s.is_array and s.layout.is_default for s in (*[o.shape for o in i.operands], i.shape)
    )


def _is_real_solve(i: HloInstruction) -> bool:
    return _is_row_major(i) and i.shape.element_type in (F32, F64)


def _write_sparse_product(context: KernelContext) -> None:
    """Emit a sparse product row by row, with f32 accumulated in f64 as in the evaluator.

    Indices outside the arrays are padding.
    """
    w, (elements, starts, columns, dense) = (
        context.writer,
        [context.arrays[o] for o in context.roots[0].operands],
    )
    output = context.outputs[0]
    element_type = output.shape.element_type
    wide = {"f32": F64, "c64": C128}.get(element_type.name, element_type)
    place, sums = w.variable(I64), Accumulators(context, [wide])

    def widened(array: ArrayInMemory, index: IndexTuple) -> Scalar:
        return convert_value(w, array.load(w, index), element_type, wide)

    def loaded(array: ArrayInMemory, at: Word) -> Value[Integer]:
        return as_index(w, real(array.load(w, (at,))), array.shape.element_type)

    with context.iterate(list(output.shape.dimensions)) as index, w.fast_math(""):
        rows = [loaded(starts, w.add(index[0], k)) for k in (0, 1)]
        begin, end = [
            clamped(w, row, S64, 0, elements.shape.element_count) for row in rows
        ]  # positions of elements, or after the last one
        place.set(begin)
        sums.store([constant(w, 0, wide)])
        with w.repeat_while(lambda: place.get() < end):
            at = place.get()
            column = loaded(columns, at)
            with w.where(w.test("ult", column, dense.shape.dimensions[0])):
                term = binary_value(
                    w,
                    "multiply",
                    wide,
                    widened(elements, (at,)),
                    widened(dense, (column, *index[1:])),
                )
                sums.store([binary_value(w, "add", wide, sums.load()[0], term)])
            place.set(at + 1)
        output.store(w, index, convert_value(w, sums.load()[0], wide, element_type))


_ROWS = {
    "cpu_csr_sparse_dense_ffi": _Row(_write_sparse_product, _is_row_major),
    "tridiagonal_solve_perturbed_ffi": _Row(write_perturbed_solve, _is_real_solve),
}
