"""`cvt`: every pair of integer and float types, rounding modes, saturation, packed halves.

Source: PTX ISA, "cvt".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_explorer.backends.gpu.emulator.instructions.arithmetic import DIRECTED
from xla_explorer.backends.gpu.emulator.instructions.bit_operations import BitOperation
from xla_explorer.backends.gpu.emulator.scalar_types import (
    DTYPES,
    FLOAT_TYPES,
    Array,
    DType,
    bf16_to_f32,
    f32_to_bf16,
    f64_to_bf16,
    flushed,
    rounded_f32,
)

_TO_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_MODES = frozenset({"rn", "rna", *DIRECTED, *_TO_INTEGRAL})


def conversion_of(parts: Sequence[str]) -> BitOperation | None:
    """Return the operation of a `cvt` split at its dots; None for an unsupported form."""
    result, origin = parts[-2], parts[-1]
    mode = next((p for p in parts if p in _MODES), None)
    if result in ("f16x2", "bf16x2") and origin == "f32":
        return _packing(result.removesuffix("x2"), mode, "relu" in parts)
    if result == "tf32" and origin == "f32":
        return _to_tf32(mode)
    if (
        result not in DTYPES
        or origin not in DTYPES
        or result.endswith("x2")
        or origin.endswith("x2")
        or "tf32" in (result, origin)
    ):
        return None
    flush = "ftz" in parts
    saturate, relu = "sat" in parts, "relu" in parts

    def convert(given: Array) -> Array:
        value = bf16_to_f32(given) if origin == "bf16" else given
        if origin not in FLOAT_TYPES:
            return _from_integer(value, result, mode, saturate)
        if flush and origin == "f32":
            value = flushed(value)
        if mode in _TO_INTEGRAL:
            value = _TO_INTEGRAL[mode](value)
        if result not in FLOAT_TYPES:
            return _to_integer(value, DTYPES[result])
        if saturate:
            value = np.where(np.isnan(value), 0, np.clip(value, 0, 1)).astype(value.dtype)
        if relu:
            value = np.fmax(value, value.dtype.type(0))
        value = _narrowed(value, result, mode)
        return flushed(value) if flush and result == "f32" else value

    return BitOperation(convert, (origin,), result)


def _to_integer(value: Array, dtype: DType) -> Array:
    """Convert to an integer, clamped to the range; NaN becomes 0."""
    limits = np.iinfo(dtype)
    wide = np.where(np.isnan(value), 0.0, value.astype(np.float64))
    if dtype.itemsize < 8:
        return np.clip(wide, limits.min, limits.max).astype(dtype)
    inside = (wide >= float(limits.min)) & (wide < float(limits.max))
    ends = np.where(wide < 0, dtype.type(limits.min), dtype.type(limits.max))
    return np.where(inside, np.where(inside, wide, 0).astype(dtype), ends)


def _from_integer(value: Array, result: str, mode: str | None, saturate: bool) -> Array:
    dtype = DTYPES[result]
    if result == "bf16":
        return f64_to_bf16(value.astype(np.float64))
    if result in FLOAT_TYPES:
        if result == "f32" and mode in DIRECTED:
            assert mode is not None
            return rounded_f32(value.astype(np.float64), 0.0, mode)
        return value.astype(np.float64).astype(dtype) if result == "f16" else value.astype(dtype)
    if saturate:
        limits, own = np.iinfo(dtype), np.iinfo(value.dtype)
        value = np.clip(
            value, max(int(limits.min), int(own.min)), min(int(limits.max), int(own.max))
        )
    return value.astype(dtype)


def _narrowed(value: Array, result: str, mode: str | None) -> Array:
    """Convert a float to another type, always as a fresh array."""
    if result == "bf16":
        if value.dtype == np.float64:
            return f64_to_bf16(value)
        return f32_to_bf16(value.astype(np.float32), "rz" if mode == "rz" else "rn")
    if result == "f16" and mode == "rz":
        near = value.astype(np.float16)
        return np.where(
            np.abs(near.astype(np.float64)) > np.abs(value), np.nextafter(near, np.float16(0)), near
        )
    if result == "f32" and value.dtype == np.float64 and mode in DIRECTED:
        assert mode is not None
        return rounded_f32(value, 0.0, mode)
    return value.astype(DTYPES[result])


def _packing(scalar: str, mode: str | None, relu: bool) -> BitOperation:
    def pack(high: Array, low: Array) -> Array:
        halves = []
        for value in (high, low):
            kept = np.fmax(value, np.float32(0)) if relu else value
            halves.append(_narrowed(kept, scalar, mode).view(np.uint16).astype(np.uint32))
        packed: Array = (halves[0] << np.uint32(16)) | halves[1]
        return packed

    return BitOperation(pack, ("f32", "f32"), "b32")


def _to_tf32(mode: str | None) -> BitOperation:
    """Return the conversion to TF32: ten fraction bits.

    Ties go away from zero for `rna`, to even for `rn`; `rz` truncates.
    """

    def convert(value: Array) -> Array:
        raw = value.view(np.uint32)
        up = raw + np.uint32(0xFFF) + ((raw >> np.uint32(13)) & np.uint32(1))
        if mode == "rz":
            up = raw
        elif mode == "rna":
            up = raw + np.uint32(0x1000)
        cut = up & np.uint32(0xFFFFE000)
        return np.where(np.isfinite(value), cut, raw)

    return BitOperation(convert, ("f32",), "b32")
