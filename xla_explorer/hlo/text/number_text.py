"""Reader of the numbers of a literal: integers, truth values, floats with NaN payloads.

All elements of an array are read at once. Source: hlo_parser.cc SetValueInLiteralHelper,
CheckParsedValueIsInRange.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.errors import TextError

Array = np.ndarray[Any, Any]

_NUMBER = re.compile(
    r"-?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|(?<=-)\.\d+(?:[eE][+-]?\d+)?|inf|nan(?:\(0x[0-9a-fA-F]+\))?)",
    re.ASCII,
)
_PAYLOAD = re.compile(r"\(0x([0-9a-fA-F]+)\)")
_LEADING_PLUS = re.compile(r"(?<![eE])\+")
_INTEGER = re.compile(r"-?\d+", re.ASCII)
# (mantissa bits, bits) of the types whose NaNs carry a payload.
IEEE_TYPES = {
    "f16": (10, 16),
    "bf16": (7, 16),
    "f32": (23, 32),
    "f64": (52, 64),
    "f8e5m2": (2, 8),
    "f8e4m3": (3, 8),
    "f8e3m4": (4, 8),
}


def _first_bad(parts: list[str], text: str, base: int, bad: Any) -> tuple[str, int]:
    """Return (element text, offset) of the first element for which `bad(text)` holds."""
    for index, part in enumerate(parts):
        piece = part.strip()
        if bad(piece):
            place = re.compile(r"[^{},\s]+|(?<=[{,])(?=\s*[},])").finditer(text)
            for number, m in enumerate(place):
                if number == index:
                    return piece, base + m.start()
            return piece, base
    return text.strip(), base


def _out_of_range(
    element_type: PrimitiveType, value: str, at: int, low: str, high: str
) -> TextError:
    return TextError(
        f"value {value} is out of range for literal's primitive type {element_type.name.upper()} "
        f"namely [{low}, {high}].",
        at,
        f"use a value in the range, or an element type that holds {value}",
        len(value),
    )


def read_integers(shape: Shape, parts: list[str], text: str, base: int) -> Array:
    """Return the values of an array of integers; TextError for other text."""
    element_type = shape.element_type
    try:
        values = list(map(int, parts))
    except ValueError:
        values = None
    if (
        values is None
        or "_" in text
        or "+" in text
        or "\f" in text
        or "\v" in text
        or not text.isascii()
    ):
        piece, at = _first_bad(parts, text, base, lambda p: _INTEGER.fullmatch(p) is None)
        raise TextError(
            f"expects integer for primitive type: {element_type.name.upper()}",
            at,
            f"write a whole number instead of {piece or 'nothing'}",
            max(len(piece), 1),
        )
    bits = element_type.bits
    if (
        bits == 64 and not element_type.is_signed
    ):  # XLA reads negative numbers as the bits of an s64
        values = [value + (1 << 64) if -(1 << 63) <= value < 0 else value for value in values]
    low, high = (
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        if element_type.is_signed
        else (0, (1 << bits) - 1)
    )
    if min(values) < low or max(values) > high:
        piece, at = _first_bad(parts, text, base, lambda p: not low <= int(p) <= high)
        raise _out_of_range(element_type, piece, at, str(low), str(high))
    if element_type.bits < 8:
        return np.array(values, dtype=np.int8 if element_type.is_signed else np.uint8).astype(
            element_type.dtype
        )
    return np.array(values, dtype=element_type.dtype)


def _refuse_beyond_64_bits(parts: list[str], text: str, base: int) -> None:
    """Raise TextError for an integer of more than 64 bits, also if it is a float's value.

    A larger number must have a point or an exponent.
    """
    if max(map(len, parts), default=0) < 19:
        return

    def is_beyond(part: str) -> bool:
        digits = part.strip().lstrip("-").lstrip("0")
        if len(digits) < 19 or _INTEGER.fullmatch(part.strip()) is None:
            return False
        return (
            len(digits) > 20
            or not -(1 << 63) <= int("-" * part.strip().startswith("-") + digits) < 1 << 64
        )

    if any(map(is_beyond, parts)):
        piece, at = _first_bad(parts, text, base, is_beyond)
        raise TextError(
            f"{piece} has more than 64 bits",
            at,
            f"write {piece}.0 for a number of floating point",
            len(piece),
        )


_PRED = {"true": True, "false": False, "1": True, "0": False}


def read_preds(parts: list[str], text: str, base: int) -> Array:
    """Return the truth values of an array; TextError for other text."""
    values = [_PRED.get(part.strip()) for part in parts]
    if None in values:
        piece, at = _first_bad(
            parts, text, base, lambda p: p not in _PRED and _INTEGER.fullmatch(p) is None
        )
        if piece not in _PRED and _INTEGER.fullmatch(piece) is None:
            raise TextError(
                "expects true, false or an integer for primitive type: PRED",
                at,
                f"write true or false instead of {piece or 'nothing'}",
                max(len(piece), 1),
            )
        _refuse_beyond_64_bits(parts, text, base)
        values = [
            bool(int(part)) if value is None else value
            for part, value in zip(parts, values, strict=True)
        ]
    return np.array(values, dtype=np.bool_)


def read_floats(element_type: PrimitiveType, parts: list[str], text: str, base: int) -> Array:
    """Return all numbers in double precision, as XLA reads them, rounded to the type."""
    payloads: list[tuple[int, int]] = []
    plain = parts
    if "(" in text:
        plain = []
        for index, part in enumerate(parts):
            found = _PAYLOAD.search(part)
            if found:
                payloads.append((index, int(found.group(1), 16)))
                part = part[: found.start()] + part[found.end() :]
            plain.append(part)
    joined = ",".join(plain)
    try:
        values = np.array(list(map(float, plain)), dtype=np.float64)
        wrong = bool(
            joined.encode("ascii", "replace").translate(None, b"0123456789.,eE+- \n\tinfa")
        )
    except ValueError:
        wrong = True
    if (
        wrong
        or ("+" in joined and _LEADING_PLUS.search(joined))
        or (",." in joined or " ." in joined or joined[:1] == ".")
    ):
        piece, at = _first_bad(parts, text, base, lambda p: _NUMBER.fullmatch(p) is None)
        raise TextError(
            f"expects a number for primitive type: {element_type.name.upper()}",
            at,
            f"write a number, inf or nan instead of {piece or 'nothing'}",
            max(len(piece), 1),
        )
    _refuse_beyond_64_bits(plain, text, base)
    dtype = element_type.dtype
    if dtype == np.float64:
        array = values
        overflow = np.isinf(values)
        if overflow.any():
            overflow &= np.array(["inf" not in part for part in parts])
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            array = round_to(element_type, values)
        overflow = _beyond(element_type, values, array)
        if np.isinf(values).any():  # beyond a double, too, unless it is written as infinite
            overflow = overflow | (
                np.isinf(values) & np.array(["inf" not in part for part in parts])
            )
    if overflow.any():
        index = int(np.argmax(overflow))
        wanted = parts[index].strip()
        piece, at = _first_bad(parts, text, base, lambda p: p == wanted)
        limit = f"{_largest(element_type):g}"
        raise _out_of_range(
            element_type, piece, at, f"-{limit}" if element_type.has_sign else "0", limit
        )
    if payloads:
        array = _set_payloads(element_type, array, payloads, values, parts, text, base)
    return array


def round_to(element_type: PrimitiveType, values: Array) -> Array:
    """Round doubles to a type of floating point."""
    array = values.astype(element_type.dtype)
    if (
        not element_type.has_sign
    ):  # an exponent alone; ml_dtypes rounds everything between its two smallest numbers up
        array = np.where(
            (values > 0) & (values <= 1.5 * 2.0**-127), np.uint8(0).view(element_type.dtype), array
        )
    return array


def _largest(element_type: PrimitiveType) -> float:
    import ml_dtypes

    information: Any = ml_dtypes.finfo
    return float(information(element_type.dtype).max)


def _beyond(element_type: PrimitiveType, values: Array, array: Array) -> Array:
    """Return a mask of the finite values outside the type's range after rounding.

    Some types clamp such values, others give inf or nan.
    """
    finite = np.isfinite(values)
    largest = _largest(element_type)
    outside = finite & (np.abs(values) > largest)
    if outside.any():
        with np.errstate(over="ignore", invalid="ignore"):
            back = array.astype(np.float64)
        # A value just above the largest still rounds to it; half a step is at most largest / 2 **
        # (mantissa bits + 1).
        outside &= ~np.isfinite(back) | (np.abs(values) > largest * 1.07)
    return outside


def _set_payloads(
    element_type: PrimitiveType,
    array: Array,
    payloads: list[tuple[int, int]],
    values: Array,
    parts: list[str],
    text: str,
    base: int,
) -> Array:
    if element_type.name not in IEEE_TYPES:
        raise TextError(
            f"{element_type.name} does not support NaN payloads",
            base,
            "write nan",
            max(len(text), 1),
        )
    mantissa, bits = IEEE_TYPES[element_type.name]
    raw = array.view(np.dtype(f"uint{bits}"))
    for index, payload in payloads:
        if not 0 < payload < 1 << mantissa:
            wanted = parts[index].strip()
            piece, at = _first_bad(parts, text, base, wanted.__eq__)
            raise TextError(
                f"tries to set NaN payload 0x{payload:x}, which does not fit a {element_type.name}",
                at,
                f"use a payload from 0x1 to 0x{(1 << mantissa) - 1:x}",
                len(piece),
            )
        sign = int(math.copysign(1.0, float(values[index])) < 0)
        raw[index] = (
            (sign << (bits - 1)) | (((1 << (bits - 1 - mantissa)) - 1) << mantissa) | payload
        )
    return array
