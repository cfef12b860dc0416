"""Register-to-register instructions, as functions on arrays.

Approximate functions (`ex2.approx`, `sin.approx` ...) are computed in f64 and rounded. They are
more accurate than hardware, so comparisons need a tolerance. Source: PTX ISA, "Instruction Set".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.emulator.instructions import bit_operations as bits
from xla_explorer.backends.gpu.emulator.instructions.bit_operations import BitOperation
from xla_explorer.backends.gpu.emulator.scalar_types import (
    DTYPES,
    FLOAT_TYPES,
    Array,
    bf16_to_f32,
    f32_to_bf16,
    f64_to_bf16,
    flushed,
    fma_f32,
    fma_f64,
    rounded_f32,
    sum_with_error,
)

DIRECTED = ("rz", "rm", "rp")


def _min_or_max(
    choose: Callable[[Any, Any], Any], combine: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Array]:
    """Return minimum or maximum with -0 < +0: equal numbers differ at most in the sign bit."""

    def function(a: Array, b: Array) -> Array:
        bits = f"u{a.dtype.itemsize}"
        zero_of_both: Array = combine(a.view(bits), b.view(bits)).view(a.dtype)
        return np.asarray(np.where(a == b, zero_of_both, choose(a, b)))

    return function


_FLOAT_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": _min_or_max(np.fmin, np.bitwise_or),
    "max": _min_or_max(np.fmax, np.bitwise_and),
    "min.NaN": _min_or_max(np.minimum, np.bitwise_or),
    "max.NaN": _min_or_max(np.maximum, np.bitwise_and),
    "copysign": lambda a, b: np.copysign(b, a),
}
_FLOAT_UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "rcp": np.reciprocal,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}
_IN_F64 = frozenset({"rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos", "tanh"})
_INTEGER_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "div": bits.divide,
    "rem": bits.remainder,
}
_INTEGER_UNARY: dict[str, Callable[[Any], Any]] = {
    "not": np.invert,
    "neg": np.negative,
    "abs": np.abs,
    "brev": bits.reversed_bits,
    "cnot": lambda a: (a == 0).astype(a.dtype),
}


def _chosen(a: Array, b: Array, first: Array) -> Array:
    return np.where(first, a, b)


def _ordered_not_equal(a: Array, b: Array) -> Array:
    return (a < b) | (a > b)


def _neither_is_nan(a: Array, b: Array) -> Array:
    return ~(np.isnan(a) | np.isnan(b))


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
    "num": _neither_is_nan,
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
    # Unordered: true if the opposite ordered comparison is false.
    "equ": lambda a, b: ~_ordered_not_equal(a, b),
    "neu": lambda a, b: ~np.equal(a, b),
    "ltu": lambda a, b: ~np.greater_equal(a, b),
    "leu": lambda a, b: ~np.greater(a, b),
    "gtu": lambda a, b: ~np.less_equal(a, b),
    "geu": lambda a, b: ~np.less(a, b),
}


def operation_of(parts: Sequence[str]) -> BitOperation | None:
    """Return the operation of an opcode split at its dots, or None if it is not arithmetic."""
    name, kind = parts[0], parts[-1]
    scalar = kind.removesuffix("x2")
    if scalar in FLOAT_TYPES and (
        name in _FLOAT_UNARY or name in _FLOAT_BINARY or name in ("fma", "mad")
    ):
        return _float_operation(parts)
    if name in ("mul", "mad", "mul24", "mad24"):
        return _product(parts)
    if name == "shl":
        return BitOperation(bits.shift_left, (kind, "u32"), kind)
    if name == "shr":
        return BitOperation(bits.shift_right, (kind, "u32"), kind)
    if kind == "pred" and name in ("and", "or", "xor", "not"):
        function = np.logical_not if name == "not" else _INTEGER_BINARY[name]
        return BitOperation(function, ("pred",) * (1 if name == "not" else 2), "pred")
    if name in _INTEGER_BINARY:
        plain = _INTEGER_BINARY[name]
        if "sat" not in parts:
            return BitOperation(plain, (kind, kind), kind)
        low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
        return BitOperation(
            lambda a, b: np.clip(plain(a.astype(np.int64), b.astype(np.int64)), low, high).astype(
                np.int32
            ),
            (kind, kind),
            kind,
        )
    if name in _INTEGER_UNARY:
        return BitOperation(_INTEGER_UNARY[name], (kind,), kind)
    if name == "selp":
        return BitOperation(_chosen, (kind, kind, "pred"), kind)
    if name == "slct":
        return BitOperation(
            lambda a, b, c: _chosen(a, b, c >= 0), (parts[-2], parts[-2], kind), parts[-2]
        )
    return bits.bit_operation(parts)


def comparison_of(parts: Sequence[str]) -> tuple[Callable[[Array, Array], Array], str]:
    """Return the comparison of `setp` or `set`, and the type of its operands."""
    operator, kind = parts[1], parts[-1]
    function = (
        _ordered_not_equal if operator == "ne" and kind in FLOAT_TYPES else _COMPARISONS[operator]
    )
    if kind == "bf16":
        return lambda a, b: function(bf16_to_f32(a), bf16_to_f32(b)), kind
    if kind == "f32" and "ftz" in parts:
        return lambda a, b: function(flushed(a), flushed(b)), kind
    return function, kind


def _product(parts: Sequence[str]) -> BitOperation:
    name, kind = parts[0], parts[-1]
    half = next((p for p in parts if p in ("lo", "hi", "wide")), "lo")
    function: Callable[[Any, Any], Any]
    result = kind
    if half == "wide":
        result = f"{kind[0]}{2 * int(kind[1:])}"
        dtype = DTYPES[result]

        def function(a: Array, b: Array) -> Array:
            product: Array = a.astype(dtype) * b.astype(dtype)
            return product

    else:
        function = bits.multiply_high if half == "hi" else np.multiply
    if name.startswith("mad"):
        return BitOperation(lambda a, b, c: function(a, b) + c, (kind, kind, result), result)
    return BitOperation(function, (kind, kind), result)


def _float_operation(parts: Sequence[str]) -> BitOperation | None:
    name, kind = parts[0], parts[-1]
    scalar = kind.removesuffix("x2")
    mode = next((p for p in parts if p in DIRECTED), None)
    if mode is not None and scalar != "f32":
        return None
    full = f"{name}.NaN" if "NaN" in parts else name
    core: Callable[..., Array]
    if name in ("fma", "mad"):
        core, count = _fused(scalar, mode), 3
    elif mode is not None:
        core, count = _directed(name, mode), 2 if name in _FLOAT_BINARY else 1
    elif full in _FLOAT_BINARY:
        core, count = _FLOAT_BINARY[full], 2
    else:
        core, count = _FLOAT_UNARY[name], 1
        if name in _IN_F64 and scalar != "f64":
            core = _through_f64(core)
    if scalar == "bf16":
        core = _on_bf16(core, name in ("fma", "mad"))
    function = _with_modifiers(core, parts)
    return BitOperation(function, (kind,) * count, kind)


def _fused(scalar: str, mode: str | None) -> Callable[..., Array]:
    if mode is not None:
        return lambda a, b, c: rounded_f32(
            *sum_with_error(a.astype(np.float64) * b, c.astype(np.float64)), mode
        )
    if scalar == "f16":
        # The product is exact in f64. So is its sum with an f16, except for the smallest
        # magnitudes.
        return lambda a, b, c: (a.astype(np.float64) * b + c).astype(np.float16)
    if scalar == "bf16":
        return lambda a, b, c: a.astype(np.float64) * b + c
    return fma_f64 if scalar == "f64" else fma_f32


def _directed(name: str, mode: str) -> Callable[..., Array]:
    def core(*operands: Array) -> Array:
        wide = [x.astype(np.float64) for x in operands]
        if name in ("add", "sub"):
            return rounded_f32(
                *sum_with_error(wide[0], wide[1] if name == "add" else -wide[1]), mode
            )
        inner: Callable[..., Array] = (_FLOAT_BINARY if len(wide) == 2 else _FLOAT_UNARY)[name]
        return rounded_f32(inner(*wide), 0.0, mode)

    return core


def _through_f64(inner: Callable[[Any], Any]) -> Callable[..., Array]:
    def core(a: Array) -> Array:
        result: Array = inner(a.astype(np.float64)).astype(a.dtype)
        return result

    return core


def _on_bf16(inner: Callable[..., Array], in_f64: bool) -> Callable[..., Array]:
    narrow = f64_to_bf16 if in_f64 else f32_to_bf16
    return lambda *operands: narrow(inner(*[bf16_to_f32(x) for x in operands]))


def _with_modifiers(core: Callable[..., Array], parts: Sequence[str]) -> Callable[..., Array]:
    kind = parts[-1]
    flush = "ftz" in parts and kind == "f32"
    saturate, relu, packed = "sat" in parts, "relu" in parts, kind.endswith("x2")
    if not (flush or saturate or relu or packed):
        return core
    half = DTYPES[kind.removesuffix("x2")]

    def function(*operands: Array) -> Array:
        values: list[Array] = list(operands)
        if packed:
            values = [np.ascontiguousarray(x).view(half).reshape(-1, 2) for x in values]
        if flush:
            values = [flushed(x) for x in values]
        result = core(*values)
        if flush:
            result = flushed(result)
        if saturate:
            zero, one = result.dtype.type(0), result.dtype.type(1)
            result = np.where(np.isnan(result), zero, np.clip(result, zero, one))
        if relu:
            result = np.fmax(result, result.dtype.type(0))
        return np.ascontiguousarray(result).view(np.uint32).reshape(-1) if packed else result

    return function
