"""The opcodes cholesky by LAPACK and triangular-solve by BLAS: estimates and kernels.

The estimates are cycles of one core, fitted to times of sizes from 4 to 256 in f32 and f64. The
library's has three parts: the call, a part in proportion to the matrices (copies, unblocked edges),
and multiply-adds at the vector units' rate. The alternative is the loops of `cholesky-expander` and
`triangular-solve-expander`, which traverse the whole matrices for each column or row.

LAPACK is column-major: a row-major matrix is its transpose there. So a lower factor is computed as
an upper one, and its transpose is the result. The same is true of complex matrices,
since the conjugations cancel.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, IndexTuple
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I8, I32, I64
from xla_explorer.compiler.codegen.ir.values import Pointer, Value
from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext
from xla_explorer.compiler.codegen.llvm_types import constant, value_type
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

_LETTERS = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}
_ROW_MAJOR, _NO_TRANSPOSE, _TRANSPOSE, _ADJOINT, _UPPER, _LOWER = 101, 111, 112, 113, 121, 122
_NON_UNIT, _UNIT, _LEFT, _RIGHT = 131, 132, 141, 142
_CALL_CYCLES, _STEP_CYCLES = 250, 200  # a call of a library; a step of a loop over columns
_UPPER_CHARACTER, _LOWER_CHARACTER = ord("U"), ord("L")


def linear_algebra_by_library(i: HloInstruction) -> Reason | None:
    """Return a refusal unless LAPACK or BLAS supports a cholesky or triangular-solve."""
    element_type = i.shape.element_type
    if element_type.name not in _LETTERS or any(
        o.shape.element_type is not element_type for o in i.operands
    ):
        return refuse(
            "no-blas-routine",
            f"LAPACK has no routine for {element_type}",
            element_type=element_type.name,
        )
    if not all(s.layout.is_default for s in (i.shape, *[o.shape for o in i.operands])):
        return refuse("layout-differs", f"operands and results of %{i.name} must be row-major")
    return None


def why_linear_algebra_by_library(i: HloInstruction, target: Target) -> Reason:
    """Return the reason for LAPACK or BLAS to record, with the estimates of both strategies."""
    element_type = i.shape.element_type
    parts = 2 if element_type.is_complex else 1  # a complex multiply-add is four of reals
    lanes = max((target.vector.bits or 128) * parts // (8 * element_type.bytes), 1)
    order, batches = i.operands[0].shape.dimensions[-1], math.prod(i.shape.dimensions[:-2])
    if i.opcode.name == "cholesky":
        arithmetic, edges, sweep, routine = order**3 / 3, 7 * order**2, 3.5 * order**2, "LAPACK"
    else:
        right = math.prod(i.shape.dimensions[-2:])
        arithmetic, edges, sweep, routine = (
            order * right / 2,
            4 * right,
            order**2 + 2 * right,
            "BLAS",
        )
    library = batches * (_CALL_CYCLES + edges + parts**2 * arithmetic / lanes)
    loops = batches * order * (_STEP_CYCLES + parts**2 * sweep / lanes)
    return Reason(
        "library-faster" if library <= loops else "library-only",
        f"{routine} is estimated at {library:.0f} cycles, a loop that sweeps the matrices "
        f"{order} times at {loops:.0f}",
        {"library_cycles": round(library), "cycles": round(loops)},
    )


def write_cholesky(i: HloInstruction, target: Target, slots: tuple[int, ...]) -> Kernel:
    """Return a kernel that factors matrix by matrix.

    It copies the triangle that is read, clears the other, and factors in place. A matrix that is
    not positive definite becomes NaN.
    """
    context = KernelContext(target, i, slots)
    w = context.writer
    w.origin = i.id
    source, output = context.arrays[i.operands[0]], context.outputs[0]
    size, lower, element_type = i.shape.dimensions[-1], i.attribute("lower"), i.shape.element_type
    routine = f"{_LETTERS[element_type.name]}potrf_"
    which, order, status = w.variable(I8), w.variable(I32), w.variable(I32)
    zero = constant(w, 0, element_type)
    failure = constant(w, float("nan"), element_type)
    with context.iterate(list(i.shape.dimensions[:-2])) as batch:
        with w.loop(size, stem="row") as row:
            end, start = (
                (w.add(row, 1), 0) if lower else (size, row)
            )  # the diagonal belongs to the triangle that is read
            with w.loop(end, start, stem="copy") as column:
                output.store(w, (*batch, row, column), source.load(w, (*batch, row, column)))
        if size > 1:
            with w.loop(size, 1, stem="row") as below, w.loop(below, stem="clear") as left:
                output.store(w, (*batch, left, below) if lower else (*batch, below, left), zero)
        which.set(_UPPER_CHARACTER if lower else _LOWER_CHARACTER)
        order.set(size)
        status.set(0)
        pointers = [v.address for v in (which, order)]
        pointers += [_matrix(w, output, batch), order.address, status.address]
        w.call_routine(routine, *pointers, w.number(1, I64))
        with (
            w.where(status.get().differs(0)),
            w.loop(size, stem="row") as row,
            w.loop(size, stem="fill") as column,
        ):
            output.store(w, (*batch, row, column), failure)
    return context.finish(slots)


def write_triangular_solve(i: HloInstruction, target: Target, slots: tuple[int, ...]) -> Kernel:
    """Return a kernel that copies the right side and solves in place, matrix by matrix."""
    context = KernelContext(target, i, slots)
    w = context.writer
    w.origin = i.id
    a, b = i.operands
    output, element_type = context.outputs[0], i.shape.element_type
    t = value_type(element_type)
    routine = f"cblas_{_LETTERS[element_type.name]}trsm"
    alpha = w.number(1.0, t)
    if element_type.is_complex:
        slot = w.stack_slot(t, 2)
        w.store(alpha, slot)
        w.store(w.number(0.0, t), w.address(slot, t, 1))
        alpha = slot
    if context.arrays[b].pointer.name != output.pointer.name:
        with context.iterate([i.shape.element_count]) as (at,):
            output.store_linear(w, at, context.arrays[b].load_linear(w, at))
    transposed = {"NO_TRANSPOSE": _NO_TRANSPOSE, "TRANSPOSE": _TRANSPOSE, "ADJOINT": _ADJOINT}[
        i.attribute("transpose_a")
    ]
    side, triangle = (
        _LEFT if i.attribute("left_side") else _RIGHT,
        _LOWER if i.attribute("lower") else _UPPER,
    )
    diagonal = _UNIT if i.attribute("unit_diagonal") else _NON_UNIT
    rows, columns = i.shape.dimensions[-2:]
    with context.iterate(list(i.shape.dimensions[:-2])) as batch:
        flags = [w.number(n, I32) for n in (_ROW_MAJOR, side, triangle, transposed, diagonal)]
        sizes = [w.number(n, I32) for n in (rows, columns)]
        left = (_matrix(w, context.arrays[a], batch), w.number(a.shape.dimensions[-1], I32))
        right = (_matrix(w, output, batch), sizes[1])
        w.call_routine(routine, *flags, *sizes, alpha, *left, *right)
    return context.finish(slots)


def _matrix(w: FunctionWriter, array: ArrayInMemory, batch: IndexTuple) -> Value[Pointer]:
    """Return the address of a matrix of the batch."""
    offset = w.linear((*batch, 0, 0), array.shape.strides)
    return w.address(array.pointer, I8, w.mul(offset, array.shape.element_type.bytes))
