"""Matching of a dot with one call of a matrix product over strided matrices.

Source: cuBLAS documentation, "cublasLtMatmul()"; xla/service/gpu/transforms/gemm_rewriter.cc,
xla/service/gpu/matmul_utils.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.compiler.transforms.library_calls.library_call import MatmulCall, MatrixOperand
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

# Operand type -> result types of cuBLASLt.
_RESULTS = {
    "f16": ("f16", "f32"), "bf16": ("bf16", "f32"), "f32": ("f32",), "f64": ("f64",), "c64": ("c64",), "c128": ("c128",),
}  # fmt: skip
_LARGEST = 2**31 - 1


class _Axis(NamedTuple):
    size: int
    stride: int


def matmul_of(dot: HloInstruction) -> MatmulCall | Reason:
    """Return the call for a dot alone, computed in the type of its operands, or a Reason."""
    if dot.opcode.name != "dot":
        return refuse("no-dot", f"%{dot.name} is not a dot")
    a, b = dot.operands
    kind, result = a.shape.element_type.name, dot.shape.element_type.name
    if b.shape.element_type.name != kind or result not in _RESULTS.get(kind, ()):
        return refuse(
            "type-not-served",
            f"%{dot.name}: the library has no {kind} x {b.shape.element_type} to {result}",
            type=kind,
        )
    if 0 in (a.shape.element_count, b.shape.element_count):
        return refuse("no-elements", f"%{dot.name} has an empty operand")
    batch_a, batch_b = dot.attribute("lhs_batch_dims"), dot.attribute("rhs_batch_dims")
    reduced_a, reduced_b = (
        dot.attribute("lhs_contracting_dims"),
        dot.attribute("rhs_contracting_dims"),
    )
    kept_a = [d for d in range(a.shape.rank) if d not in batch_a and d not in reduced_a]
    kept_b = [d for d in range(b.shape.rank) if d not in batch_b and d not in reduced_b]
    count = len(batch_a)
    places = (
        range(count),
        range(count, count + len(kept_a)),
        range(count + len(kept_a), dot.shape.rank),
    )
    axes = [
        _joined(a, batch_a),
        _joined(a, kept_a),
        _joined(a, reduced_a),
        _joined(b, batch_b),
        _joined(b, kept_b),
        _joined(b, reduced_b),
    ]
    axes += [_joined(dot, place) for place in places]
    found = [axis for axis in axes if axis is not None]
    if len(found) < len(axes):
        return refuse(
            "dimensions-not-joined",
            f"%{dot.name}: its batch, kept or reduced dimensions are not adjacent in memory",
        )
    a_batch, a_kept, a_reduced, b_batch, b_kept, b_reduced, batch, rows, columns = found
    # HLO's rows are BLAS's columns: the product is written as columns x rows = b' x a'.
    left = _operand(b_kept, b_reduced, b_batch.stride)
    right = _operand(a_reduced, a_kept, a_batch.stride)
    target = _operand(columns, rows, batch.stride)
    if left is None or right is None:
        return refuse(
            "minor-dimension-is-batch",
            f"%{dot.name}: of an operand neither the kept nor the reduced dimension is minor",
        )
    if target is None or target.transposed:
        return refuse("result-layout", f"%{dot.name}: the result is not row-major")
    if max(columns.size, rows.size, a_reduced.size, batch.size) > _LARGEST:
        return refuse(
            "too-large-for-the-library",
            f"%{dot.name}: a dimension has more than {_LARGEST} elements",
        )
    return MatmulCall(
        columns.size, rows.size, a_reduced.size, batch.size, left, right, target, kind, result,
        "f64" if kind in ("f64", "c128") else "f32", "none", (1, 0),
    )  # fmt: skip


def may_use_tf32(dot: HloInstruction) -> bool:
    """Return True if f32 operands may lose mantissa bits: operand_precision is not `highest`.

    XLA has the same default on GPUs.
    """
    if dot.operands[0].shape.element_type.name not in ("f32", "c64"):
        return False
    precision = dot.attributes.get("operand_precision")
    return "highest" not in str(precision).lower() if precision is not None else True


def _joined(i: HloInstruction, dimensions: Sequence[int]) -> _Axis | None:
    """Return several dimensions, major first, as one; None if not contiguous in memory."""
    shape = i.shape
    strides = shape.strides
    size, stride = 1, 0
    for d in reversed(dimensions):
        here = shape.dimensions[d]
        if here == 1:
            continue
        if size == 1:
            size, stride = here, strides[d]
        elif strides[d] == stride * size:
            size *= here
        else:
            return None
    return _Axis(size, stride)


def _operand(first: _Axis, second: _Axis, batch: int) -> MatrixOperand | None:
    """Return a matrix whose mathematical form is first x second, column-major, or None.

    The stride of a dimension of one element is free.
    """
    if first.stride == 1 or first.size == 1:
        if second.size == 1 or second.stride >= first.size:
            return MatrixOperand(
                first.size, second.size, max(second.stride, first.size), False, batch
            )
    if second.stride == 1 or second.size == 1:
        if first.size == 1 or first.stride >= second.size:
            return MatrixOperand(
                second.size, first.size, max(first.stride, second.size), True, batch
            )
    return None
