"""Constraints on result shapes that operands and attributes do not determine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.opcodes.shape_rules.agreement import bare, same_sizes
from xla_explorer.hlo.primitive_type import TOKEN, U32, U64
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.instruction import HloInstruction


def _arrays(i: HloInstruction) -> Reason | None:
    for shape in (i.operands[0].shape, i.shape):
        if not shape.is_array:
            return refuse(
                "not-an-array", f"operand and result must be arrays, one is {bare(shape)}"
            )
    return None


def result_keeps_dimensions(i: HloInstruction) -> Reason | None:
    """Require the result to have the dimensions of operand 0 (convert)."""
    operand = i.operands[0].shape
    if not operand.is_array or not i.shape.is_array or not same_sizes(operand, i.shape):
        return refuse(
            "dimensions-differ",
            f"the result must have the operand's dimensions: {bare(i.shape)} vs {bare(operand)}",
        )
    return None


def precision_bits(i: HloInstruction) -> Reason | None:
    """Require exponent_bits >= 1 and mantissa_bits >= 0 (reduce-precision)."""
    exponent, mantissa = i.attribute("exponent_bits"), i.attribute("mantissa_bits")
    if exponent < 1 or mantissa < 0:
        return refuse(
            "precision-bits",
            f"needs exponent_bits >= 1 and mantissa_bits >= 0, got {exponent} and {mantissa}",
        )
    return None


def random_bits_match(i: HloInstruction) -> Reason | None:
    """Require unsigned integers as wide as float operand 0 (stochastic-convert)."""
    value, bits = i.operands[0].shape, i.operands[1].shape
    if not value.is_array or not value.element_type.is_float:
        return refuse("not-float", f"operand 0 must be float, it is {bare(value)}")
    if (
        not bits.is_array
        or not bits.element_type.is_unsigned
        or bits.element_type.bits != value.element_type.bits
    ):
        return refuse(
            "random-bits",
            f"operand 1 must be unsigned integers of {value.element_type.bits} bits, it is "
            f"{bare(bits)}",
        )
    if not same_sizes(value, bits):
        return refuse(
            "dimensions-differ", f"operands differ in dimensions: {bare(value)} vs {bare(bits)}"
        )
    return None


def iota_dimension_in_range(i: HloInstruction) -> Reason | None:
    """Require a numeric array with the dimension `iota_dimension` (iota)."""
    if not i.shape.is_array or i.shape.element_type.is_pred:
        return refuse(
            "iota-type", f"the result must be integer, float or complex, it is {bare(i.shape)}"
        )
    dimension = i.attribute("iota_dimension")
    if not 0 <= dimension < i.shape.rank:
        return refuse(
            "dimension-out-of-range",
            f"iota_dimension {dimension} is out of range for {bare(i.shape)}",
        )
    return None


def broadcast_dimensions(i: HloInstruction) -> Reason | None:
    """Require distinct result dimensions of the same size for operand dimensions (broadcast)."""
    operand, result, dimensions = i.operands[0].shape, i.shape, i.attribute("dimensions")
    if (reason := _arrays(i)) is not None:
        return reason
    if len(dimensions) != operand.rank:
        return refuse(
            "dimension-count",
            f"dimensions={list(dimensions)} must map each of the {operand.rank} dimensions of "
            f"{bare(operand)}",
        )
    for number, target in enumerate(dimensions):
        if not 0 <= target < result.rank:
            return refuse(
                "dimension-out-of-range",
                f"dimension {target} is out of range for the result {bare(result)}",
            )
        if (
            operand.dimensions[number] != result.dimensions[target]
            and operand.dimensions[number] >= 0 <= result.dimensions[target]
        ):
            return refuse(
                "dimensions-differ",
                f"dimension {number} of {bare(operand)} and {target} of the result "
                f"{bare(result)} differ "
                f"in size: {operand.dimensions[number]} vs {result.dimensions[target]}",
            )
    if len(set(dimensions)) != len(dimensions):
        return refuse(
            "dimension-repeated",
            f"dimensions={list(dimensions)} maps two dimensions to the same one",
        )
    return _same_element_type(operand, result)


def same_element_count(i: HloInstruction) -> Reason | None:
    """Require equal counts and types of elements (reshape, dynamic-reshape)."""
    operand, result = i.operands[0].shape, i.shape
    if (reason := _arrays(i)) is not None:
        return reason
    if (
        -1 not in operand.dimensions
        and -1 not in result.dimensions
        and operand.element_count != result.element_count
    ):
        return refuse(
            "element-count",
            f"element counts differ: {bare(operand)} has {operand.element_count}, the result "
            f"{bare(result)} has {result.element_count}",
            operand=operand.element_count,
            result=result.element_count,
        )
    return _same_element_type(operand, result)


def _same_element_type(operand: Shape, result: Shape) -> Reason | None:
    """Return a refusal for different element types.

    Callers check it last: a verifier option allows different float precisions.
    """
    if operand.element_type is result.element_type:
        return None
    return refuse(
        "element-type",
        f"operand and result differ in element type: {bare(operand)} vs {bare(result)}",
    )


def sizes_are_integers(i: HloInstruction) -> Reason | None:
    """Require one integer scalar for each result dimension (dynamic-reshape)."""
    if len(i.operands) != i.shape.rank + 1:
        return refuse(
            "operand-count",
            f"takes the value and {i.shape.rank} sizes for {bare(i.shape)}, got "
            f"{len(i.operands)} operands",
        )
    for number, operand in enumerate(i.operands[1:], 1):
        if not operand.shape.is_scalar or not operand.shape.element_type.is_integer:
            return refuse(
                "not-an-integer",
                f"operand {number} must be an integer scalar, it is {bare(operand.shape)}",
            )
    return None


def same_bit_count(i: HloInstruction) -> Reason | None:
    """Require operand and result to have one size in memory (bitcast).

    Tiled layouts are not checked.
    """
    operand, result = i.operands[0].shape, i.shape
    if operand.is_tuple or result.is_tuple:
        if operand.base is not result.base:
            return refuse(
                "tuple-bitcast",
                f"a tuple cannot be another shape: {bare(operand)} vs {bare(result)}",
            )
        return None
    if (reason := _arrays(i)) is not None:
        return reason
    if operand.layout.properties or result.layout.properties:
        return None
    a, b = (
        operand.element_count * operand.element_type.bits,
        result.element_count * result.element_type.bits,
    )
    if a != b:
        return refuse(
            "bit-count",
            f"sizes differ: {bare(operand)} has {a} bits, the result {bare(result)} has {b}",
        )
    return None


def bitcast_convert_dimensions(i: HloInstruction) -> Reason | None:
    """Require equal dimensions up to the ratio of the widths (bitcast-convert).

    The narrower side has one more minor dimension, whose size is the ratio.
    """
    operand, result = i.operands[0].shape, i.shape
    if (reason := _arrays(i)) is not None:
        return reason
    a, b = operand.element_type, result.element_type
    if a.is_complex != b.is_complex:
        return refuse(
            "element-type",
            f"complex and real types do not convert into each other: {bare(operand)} vs "
            f"{bare(result)}",
        )
    if a.bits == b.bits:
        fits = same_sizes(operand, result)
    else:
        narrow, wide = (operand, result) if a.bits < b.bits else (result, operand)
        ratio = wide.element_type.bits // narrow.element_type.bits
        fits = narrow.dimensions == (*wide.dimensions, ratio)
    if not fits:
        return refuse(
            "dimensions-differ",
            f"the result {bare(result)} does not hold the bits of {bare(operand)}: elements of "
            f"{a.bits} bits become elements of {b.bits}",
        )
    return None


def result_is_array(i: HloInstruction) -> Reason | None:
    """Require an array as the result (scaled-dot)."""
    return (
        None
        if i.shape.is_array
        else refuse("not-an-array", f"the result must be an array, it is {bare(i.shape)}")
    )


def scales_divide(i: HloInstruction) -> Reason | None:
    """Require each scale to cover whole blocks along the contracting dimensions (scaled-dot)."""
    for side, value, scale in (
        ("lhs", i.operands[0].shape, i.operands[2].shape),
        ("rhs", i.operands[1].shape, i.operands[3].shape),
    ):
        if scale.is_scalar or scale.rank != value.rank:
            continue
        for d in i.attribute(f"{side}_contracting_dims"):
            if not 0 <= d < value.rank or (
                scale.dimensions[d] > 0 and value.dimensions[d] % scale.dimensions[d]
            ):
                return refuse(
                    "scale-size",
                    f"dimension {d} of {bare(value)} must be a multiple of dimension {d} of its "
                    f"scale {bare(scale)}",
                )
    return None


def rng_bounds(i: HloInstruction) -> Reason | None:
    """Require a known distribution with two scalar parameters of the result's type (rng)."""
    if len(i.operands) != 2:
        return refuse(
            "operand-count",
            f"takes the two parameters of the distribution, got {len(i.operands)} operands",
        )
    for number, operand in enumerate(i.operands):
        if not operand.shape.is_scalar or operand.shape.element_type is not i.shape.element_type:
            return refuse(
                "rng-parameters",
                f"operand {number} must be a scalar of the result's type: {bare(operand.shape)} "
                f"vs {bare(i.shape)}",
            )
    kind = i.shape.element_type
    if kind.is_complex or (i.attribute("distribution") == "rng_normal" and not kind.is_float):
        return refuse("rng-type", f"{i.attribute('distribution')} cannot generate {kind}")
    if i.attribute("distribution") not in ("rng_uniform", "rng_normal"):
        return refuse(
            "rng-distribution",
            f"distribution must be rng_uniform or rng_normal, it is {i.attribute('distribution')}",
        )
    return None


def rng_state_and_bits(i: HloInstruction) -> Reason | None:
    """Require (state, bits) or bits as the result; the state has the operand's shape.

    For rng-bit-generator.
    """
    state, parts = i.operands[0].shape, i.shape.tuple_shapes
    if not i.shape.is_tuple:
        return (
            None
            if i.shape.is_array
            else refuse("rng-result", f"the result must be (state, bits), it is {bare(i.shape)}")
        )
    if len(parts) != 2 or not parts[1].is_array:
        return refuse("rng-result", f"the result must be (state, bits), it is {bare(i.shape)}")
    if parts[0].base is not state.base:
        return refuse(
            "rng-state", f"operand and new state differ: {bare(state)} vs {bare(parts[0])}"
        )
    return None


def rng_state(i: HloInstruction) -> Reason | None:
    """Require u64[2] as the state (rng-get-and-update-state)."""
    if i.shape.element_type is not U64 or i.shape.dimensions != (2,):
        return refuse("rng-state", f"the result must be u64[2], it is {bare(i.shape)}")
    return None


def _is_token(shape: Shape) -> bool:
    return shape.element_type is TOKEN


def infeed_result(i: HloInstruction) -> Reason | None:
    """Require (data, token[]) from a token (infeed)."""
    parts = i.shape.tuple_shapes
    if len(parts) != 2 or not _is_token(parts[1]) or not _is_token(i.operands[0].shape):
        return refuse(
            "infeed-result",
            f"takes a token and gives (data, token[]); the result is {bare(i.shape)}",
        )
    return None


def outfeed_operands(i: HloInstruction) -> Reason | None:
    """Require a token as operand 1 (outfeed)."""
    if not _is_token(i.operands[1].shape):
        return refuse(
            "not-a-token", f"operand 1 must be a token, it is {bare(i.operands[1].shape)}"
        )
    return None


def recv_result(i: HloInstruction) -> Reason | None:
    """Require (data, u32[], token[]) from a token (recv)."""
    parts = i.shape.tuple_shapes
    if (
        len(parts) != 3
        or parts[1].element_type is not U32
        or not parts[1].is_scalar
        or not _is_token(parts[2])
    ):
        return refuse(
            "recv-result", f"the result must be (data, u32[], token[]), it is {bare(i.shape)}"
        )
    if not _is_token(i.operands[0].shape):
        return refuse(
            "not-a-token", f"the operand must be a token, it is {bare(i.operands[0].shape)}"
        )
    return None
