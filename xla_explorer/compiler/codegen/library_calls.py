"""The opcodes dot and convolution by BLAS: supported operations, and kernels with the calls.

The routine is an external symbol (`cblas_sgemm` ...) whose address the backend supplies at load
time. A dot becomes batched GEMMs through strides, without copies, under two conditions. Its free
dimensions have one stride, and so have its contracted ones. One of the two is contiguous. A
convolution becomes a GEMM per output row and window column.
"""

from __future__ import annotations

from contextlib import ExitStack
from math import prod
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import F32, F64, I32
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.guards import base_position
from xla_explorer.compiler.codegen.kernels.kernel import Kernel, KernelContext
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import (
    StridedOperand,
    dot_sizes,
    product_batch,
    strided_operands,
)
from xla_explorer.compiler.codegen.kernels.products.dot_plan import (
    DotPlan,
    plan_dot,
)
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.convolutions import convolution_of
from xla_explorer.compiler.codegen.nest.tuning import tuning_of
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

_ROUTINES = {"f32": ("cblas_sgemm", F32), "f64": ("cblas_dgemm", F64)}
# Tasks of a product start at multiples of this number of rows. OpenBLAS's kernels compute 12 rows
# at a time (AVX2), or 2, 4 or 8; remainder kernels round differently. So every row uses the same
# kernel as in the whole product, and the bits are equal.
LIBRARY_ROWS = 24
SMALL_DOT = 4096  # multiply-adds below which a call costs more than loops


def dot_by_library(dot: HloInstruction, target: Target | None = None) -> Reason | None:
    """Return a refusal unless BLAS is a good choice for the dot; impossibility is checked first.

    With a target, our own kernel is preferred if it has a plan.
    """
    element_type = dot.shape.element_type
    if element_type.name not in _ROUTINES or any(
        o.shape.element_type is not element_type for o in dot.operands
    ):
        types = ", ".join([o.shape.element_type.name for o in dot.operands])
        return refuse(
            "no-blas-routine",
            f"BLAS has no routine for {types} -> {element_type}",
            element_type=element_type.name,
        )
    rows, columns, depth, _ = dot_sizes(dot)
    if rows == 1 or columns == 1:
        return refuse(
            "matrix-vector",
            f"%{dot.name} is a matrix-vector product; a vectorised loop reads the matrix once",
            rows=rows,
            columns=columns,
        )
    if dot_operands(dot) is None:
        return refuse(
            "irregular-strides",
            f"the dimensions of %{dot.name} do not form matrices without a copy",
        )
    plan = plan_dot(dot, target) if target is not None else None
    if isinstance(plan, DotPlan):
        tile = plan.tile
        text = (
            f"our tile of {tile.rows}x{tile.columns} accumulators computes %{dot.name} without a "
            f"call, in about {plan.cycles:.0f} cycles"
        )
        return refuse("register-tile-faster", text, **plan.facts())
    if rows * columns * depth < SMALL_DOT:
        return refuse(
            "dot-too-small",
            f"{rows}x{depth} by {depth}x{columns} is cheaper as a loop than as a library call",
            multiply_adds=rows * columns * depth,
        )
    return None


def why_by_library(i: HloInstruction, target: Target) -> Reason:
    """Return the reason for BLAS to record."""
    if i.opcode.name == "convolution":
        why = convolution_in_tiles(i, target)
        return Reason(
            "no-register-tile",
            f"BLAS computes %{i.name}, register tiles cannot" + (f": {why.message}" if why else ""),
            {},
        )
    plan = plan_dot(i, target)
    if isinstance(plan, DotPlan):
        text = (
            f"the user prefers BLAS for %{i.name} to our tile of "
            f"{plan.tile.rows}x{plan.tile.columns} accumulators"
        )
        return Reason("library-faster", text, plan.facts())
    text = f"BLAS computes %{i.name}, register tiles cannot: {plan.message}"
    return Reason("no-register-tile", text, {})


def convolution_in_tiles(i: HloInstruction, target: Target) -> Reason | None:
    """Return a refusal unless register tiles support a convolution."""
    nest = nest_of(i)
    found = nest if isinstance(nest, Reason) else convolution_of(nest, tuning_of(target))
    return found if isinstance(found, Reason) else None


def why_fft_without_library(i: HloInstruction, target: Target) -> Reason:
    """Return the reason for our own FFT, with its estimate.

    By convention a transform of N elements counts 5 N log2 N operations.
    """
    element_type = (
        i.shape if i.shape.element_type.is_complex else i.operands[0].shape
    ).element_type
    cycles = round(
        instruction_cost(i).flops
        / max(2 * (target.vector.bits or 128) // (4 * element_type.bytes), 1)
    )
    return refuse(
        "no-fft-library",
        f"no library that %{i.name} could call has an FFT; our own stages are estimated at "
        f"{cycles} cycles",
        cycles=cycles,
    )


def dot_operands(dot: HloInstruction) -> tuple[StridedOperand, StridedOperand] | None:
    """Return the operands as matrices that BLAS accepts, or None."""
    found = strided_operands(dot)
    rows, columns, depth, _ = dot_sizes(dot)
    if found is None:
        return None
    for operand, (rows_count, columns_count) in zip(
        found, ((rows, depth), (depth, columns)), strict=True
    ):
        if operand.row != 1 and operand.column != 1:
            return None
        leading = operand.row if operand.column == 1 else operand.column
        if leading < (columns_count if operand.column == 1 else rows_count):
            return None  # a leading dimension of 1 with several rows is invalid in BLAS
    return found


def _gemm(
    w: FunctionWriter,
    element_type: str,
    transposed: tuple[bool, bool],
    sizes: tuple[Word, int, int],
    a: tuple[Value[Pointer], int],
    b: tuple[Value[Pointer], int],
    c: tuple[Value[Pointer], int],
    accumulate: bool,
) -> None:
    """Emit C = A B (+ C) by GEMM; C is rows x columns; pointers with leading dimensions."""
    routine, t = _ROUTINES[element_type]
    one, beta = w.number(1.0, t), w.number(1.0 if accumulate else 0.0, t)
    flags = [112 if flag else 111 for flag in transposed]
    numbers = [w.index_as(n, I32) for n in (101, *flags, *sizes)]
    left, right, result = [(p, w.number(leading, I32)) for p, leading in (a, b, c)]
    w.call_routine(routine, *numbers, one, *left, *right, beta, *result)


def _at(w: FunctionWriter, array: ArrayInMemory, element_type: str, offset: Word) -> Value[Pointer]:
    return w.address(array.pointer, _ROUTINES[element_type][1], offset)


def write_library_dot(
    dot: HloInstruction, target: Target, slots: tuple[int, ...], tasks: int = 1
) -> Kernel:
    """Return a kernel that loops over the batch and calls GEMM.

    Each task calls GEMM for some batches or some rows.
    """
    context = KernelContext(target, dot, slots, tasks)
    w = context.writer
    w.origin = dot.id
    rows, columns, depth, _ = dot_sizes(dot)
    operands = dot_operands(dot)
    assert operands is not None
    left, right = operands
    name = dot.shape.element_type.name
    a, b, c = context.arrays[dot.operands[0]], context.arrays[dot.operands[1]], context.outputs[0]
    batch = product_batch(dot)
    part = (
        context.partition.partition_loop(rows, LIBRARY_ROWS)
        if context.partition.loop_to_partition(batch) is None
        else None
    )
    with context.iterate(batch, partitioned=part is None) as index:
        offsets = [
            w.linear(index, strides)
            for strides in (left.batch, right.batch, dot.shape.strides[: len(batch)])
        ]
        task: Word = rows
        if part is not None:
            task = w.sub(part.end, part.begin)
            offsets[0] = w.add(offsets[0], w.mul(part.begin, left.row))
            offsets[2] = w.add(offsets[2], w.mul(part.begin, columns))
        pointers = [
            _at(w, array, name, offset) for array, offset in zip((a, b, c), offsets, strict=True)
        ]
        transposed = (left.column != 1 and depth != 1, right.column != 1 and columns != 1)
        leading = (
            left.column if transposed[0] else max(left.row, depth),
            right.column if transposed[1] else max(right.row, columns),
        )
        a_matrix, b_matrix, c_matrix = zip(pointers, (*leading, columns), strict=True)
        _gemm(w, name, transposed, (task, columns, depth), a_matrix, b_matrix, c_matrix, False)
    return (
        context.finish(slots)
        if context.partition.is_partitioned or tasks == 1
        else write_library_dot(dot, target, slots)
    )


def convolution_by_library(i: HloInstruction, target: Target | None = None) -> Reason | None:
    """Return a refusal unless the convolution becomes GEMMs per output row.

    With a target, register tiles are preferred if they support it: they keep accumulators in
    registers for the whole window, whereas BLAS is called for each window column.
    """
    element_type = i.shape.element_type
    if element_type.name not in _ROUTINES or any(
        o.shape.element_type is not element_type for o in i.operands
    ):
        return refuse(
            "no-blas-routine",
            f"BLAS has no routine for {element_type}",
            element_type=element_type.name,
        )
    if i.attribute("feature_group_count") != 1 or i.attribute("batch_group_count") != 1:
        return refuse(
            "grouped-convolution",
            f"%{i.name} works in groups",
            feature_groups=i.attribute("feature_group_count"),
        )
    labels, rules = i.attribute("dim_labels"), i.attribute("window").dimensions
    if not rules or any(r.base_dilation != 1 for r in rules) or rules[-1].window_reversal:
        return refuse("dilated-or-reversed", f"%{i.name} dilates its input or reverses its window")
    lhs, rhs = i.operands
    depth, features = (
        rhs.shape.dimensions[labels.kernel_input_feature],
        rhs.shape.dimensions[labels.kernel_output_feature],
    )
    if not all(s.layout.is_default or s.rank <= 1 for s in (lhs.shape, rhs.shape, i.shape)):
        return refuse("layout-differs", f"the operands of %{i.name} must be row-major")
    if lhs.shape.strides[labels.input_feature] != 1 or i.shape.strides[labels.output_feature] != 1:
        return refuse("features-not-contiguous", f"the features of %{i.name} must be contiguous")
    if 1 not in (
        rhs.shape.strides[labels.kernel_input_feature],
        rhs.shape.strides[labels.kernel_output_feature],
    ):
        return refuse(
            "features-not-contiguous", f"the kernel features of %{i.name} must be contiguous"
        )
    x = labels.input_spatial[-1]
    if lhs.shape.strides[x] * rules[-1].stride < depth:
        return refuse("irregular-strides", f"the rows of %{i.name} overlap")
    if target is not None and convolution_in_tiles(i, target) is None:
        calls = (
            i.shape.element_count
            // (features * i.shape.dimensions[labels.output_spatial[-1]])
            * prod([r.size for r in rules])
        )
        text = (
            f"our tiles keep the sums of %{i.name} in registers, BLAS would be called {calls} times"
        )
        return refuse("register-tile-faster", text, calls=calls)
    if depth < 8 or features < 8:
        text = f"{depth} input and {features} output features are too few for a matrix product"
        return refuse("too-few-features", text, depth=depth, features=features)
    return None


class _Weights(NamedTuple):
    """Weights of a convolution as a matrix: depth x features, maybe transposed, with its stride."""

    depth: int
    features: int
    transposed: bool
    leading: int


def _weights_of(i: HloInstruction) -> _Weights:
    labels, shape = i.attribute("dim_labels"), i.operands[1].shape
    depth = shape.dimensions[labels.kernel_input_feature]
    features = shape.dimensions[labels.kernel_output_feature]
    transposed = shape.strides[labels.kernel_output_feature] != 1
    leading = shape.strides[
        labels.kernel_output_feature if transposed else labels.kernel_input_feature
    ]
    return _Weights(depth, features, transposed, max(leading, depth if transposed else features))


def write_library_convolution(
    i: HloInstruction, target: Target, slots: tuple[int, ...], tasks: int = 1
) -> Kernel:
    """Return a kernel that accumulates one GEMM per window column.

    It loops over batch elements and output rows. A 1x1 convolution is a single GEMM.
    """
    context = KernelContext(target, i, slots, tasks)
    context.writer.origin = i.id
    if _is_single_gemm(i):
        _write_single_gemm(context, i)
    else:
        _write_window_gemms(context, i)
    return (
        context.finish(slots)
        if context.partition.is_partitioned or tasks == 1
        else write_library_convolution(i, target, slots)
    )


def _is_single_gemm(i: HloInstruction) -> bool:
    """Return True for a 1x1 convolution with the features as minor dimensions."""
    labels, rules = i.attribute("dim_labels"), i.attribute("window").dimensions
    plain = all(
        r.size == 1 and r.stride == 1 and not r.padding_low and not r.padding_high for r in rules
    )
    return bool(
        plain
        and labels.input_feature == i.operands[0].shape.rank - 1
        and labels.output_feature == i.shape.rank - 1
        and (labels.input_batch, *labels.input_spatial)
        == (labels.output_batch, *labels.output_spatial)
    )


def _write_single_gemm(context: KernelContext, i: HloInstruction) -> None:
    """Emit one GEMM; each task computes some of its rows."""
    w, name, weights = context.writer, i.shape.element_type.name, _weights_of(i)
    a, b = [context.arrays[operand] for operand in i.operands]
    c, rows = context.outputs[0], i.shape.element_count // weights.features
    part = context.partition.partition_loop(rows, LIBRARY_ROWS)
    first, count = (part.begin, w.sub(part.end, part.begin)) if part is not None else (0, rows)
    _gemm(
        w,
        name,
        (False, weights.transposed),
        (count, weights.features, weights.depth),
        (_at(w, a, name, w.mul(first, weights.depth)), weights.depth),
        (b.pointer, weights.leading),
        (_at(w, c, name, w.mul(first, weights.features)), weights.features),
        False,
    )


def _write_window_gemms(context: KernelContext, i: HloInstruction) -> None:
    """Emit the loops over batch, output rows and window rows around the GEMMs."""
    w, (lhs, rhs) = context.writer, i.operands
    labels, rules = i.attribute("dim_labels"), i.attribute("window").dimensions
    name, c, out_dims = i.shape.element_type.name, context.outputs[0], i.shape.dimensions
    t, x_out = _ROUTINES[name][1], labels.output_spatial[-1]
    zero = w.number(0.0, t)
    with context.iterate(
        [out_dims[d] for d in (labels.output_batch, *labels.output_spatial[:-1])]
    ) as (batch, *where):
        row: Word = w.mul(batch, i.shape.strides[labels.output_batch])
        for d, x in zip(labels.output_spatial[:-1], where, strict=True):
            row = w.add(row, w.mul(x, i.shape.strides[d]))
        features = _weights_of(i).features
        with w.loop(out_dims[x_out], stem="clear") as x, w.loop(features, stem="clear") as j:
            at = w.add(w.add(row, w.mul(x, i.shape.strides[x_out])), j)
            w.store(zero, _at(w, c, name, at))
        with ExitStack() as loops:
            window = [loops.enter_context(w.loop(r.size, stem="window")) for r in rules[:-1]]
            conditions: list[Value[Integer]] = []
            base = [
                base_position(w, r, x, k, lhs.shape.dimensions[d], conditions)
                for r, x, k, d in zip(
                    rules[:-1], where, window, labels.input_spatial[:-1], strict=True
                )
            ]
            loops.enter_context(w.where(*conditions))
            source: Word = w.mul(batch, lhs.shape.strides[labels.input_batch])
            for d, x in zip(labels.input_spatial[:-1], base, strict=True):
                source = w.add(source, w.mul(x, lhs.shape.strides[d]))
            kernel: Word = 0
            for d, k in zip(labels.kernel_spatial[:-1], window, strict=True):
                kernel = w.add(kernel, w.mul(k, rhs.shape.strides[d]))
            _write_row_gemms(context, i, source, kernel, row)


def _write_row_gemms(
    context: KernelContext,
    i: HloInstruction,
    source: Word,
    kernel: Word,
    row: Word,
) -> None:
    """Emit the GEMMs of an output row, one per window column that reads the image.

    source, kernel, row: offsets of the row in the image, the weights and the result.
    """
    w, (lhs, rhs), weights = context.writer, i.operands, _weights_of(i)
    labels, last = i.attribute("dim_labels"), i.attribute("window").dimensions[-1]
    name = i.shape.element_type.name
    a, b, c = context.arrays[lhs], context.arrays[rhs], context.outputs[0]
    x_in, x_out = labels.input_spatial[-1], labels.output_spatial[-1]
    for k in range(last.size):
        shift = k * last.window_dilation - last.padding_low
        first = max(0, -(shift // last.stride))
        limit = (lhs.shape.dimensions[x_in] - 1 - shift) // last.stride + 1
        end = min(i.shape.dimensions[x_out], limit)
        if end <= first:
            continue
        from_a = w.add(source, (first * last.stride + shift) * lhs.shape.strides[x_in])
        from_b = w.add(kernel, k * rhs.shape.strides[labels.kernel_spatial[-1]])
        to_c = w.add(row, first * i.shape.strides[x_out])
        _gemm(
            w,
            name,
            (False, weights.transposed),
            (end - first, weights.features, weights.depth),
            (_at(w, a, name, from_a), last.stride * lhs.shape.strides[x_in]),
            (_at(w, b, name, from_b), weights.leading),
            (_at(w, c, name, to_c), i.shape.strides[x_out]),
            True,
        )
