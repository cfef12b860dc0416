"""`dense<...>` literals as arrays: nested lists, splats, hexadecimal numbers and buffers.

Source: https://mlir.llvm.org/docs/Dialects/Builtin, DenseIntOrFPElementsAttr (numbers in
hexadecimal are bits of a float); MLIR's BuiltinAttributes.cpp,
`DenseElementsAttr::isValidRawBuffer`: a quoted string holds the elements little-endian, each in
whole bytes.
"""

from __future__ import annotations

import binascii
import re
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.frontends.stablehlo.reader import STRING, Reader
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape, array_shape
from xla_explorer.hlo.text.number_text import round_to

LARGEST = 1 << 32  # bytes of one constant whose values the text leaves out
_DIGITS = 1 << 22  # hexadecimal digits decoded at once: memory in addition to the constant itself
_BRACKETS = str.maketrans({"[": " ", "]": " ", "(": " ", ")": " "})
_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|nan|true|false)")
_BODY = re.compile(r"[^<>\"]*")


class Written(NamedTuple):
    """Offsets of the text between the angle brackets of a literal, which is not copied."""

    start: int
    end: int


def read_dense(reader: Reader) -> Written:
    """Pass the angle brackets after `dense` and return their offsets.

    The caller reads the type, then decodes.
    """
    reader.expect("<", "a dense literal")
    start = reader.skip()
    if reader.take(STRING) is None:
        reader.take(_BODY)
    end = reader.at
    reader.expect(">", "a dense literal")
    return Written(start, end)


def decode_dense(reader: Reader, shape: Shape, written: Written) -> Literal:
    """Return the literal at the offsets that `read_dense` returned.

    A splat takes the memory of one element, whatever its shape.
    """
    at = written.start
    if any(shape.dynamic):
        reader.fail("a constant of dynamic shape", "write the sizes of the constant", at)
    if not shape.is_array:
        reader.fail(f"a literal of {shape.text_without_layout}", "constants are tensors", at)
    quoted = reader.text.startswith('"', at)
    text = "" if quoted else reader.text[at : written.end].strip()
    if quoted and reader.text.startswith('"0x', at):
        raw = _hexadecimal(reader, at + 3, written.end - 1)
        array = _from_bytes(reader, shape, raw, at)
    elif is_elision(reader.text[at : min(written.end, at + 40)]):
        return elided_literal(reader, shape, at)
    elif quoted:
        reader.fail("a buffer must begin with 0x", "print the constant again", at, 3)
    elif not text:
        array = np.empty(0, shape.element_type.dtype)
    else:
        array = _from_numbers(reader, shape, text, at)
    splat = array.size == 1 and not text.startswith("[")
    if array.size != shape.element_count and not splat:
        reader.fail(
            f"the literal has {array.size} elements, {shape.text_without_layout} has "
            f"{shape.element_count}",
            "give every element, or one without brackets for all of them",
            at,
            max(written.end - at, 1),
        )
    if text.startswith("["):
        _check_nesting(reader, shape, text, at)
    if splat and shape.element_count > 1:
        return Literal(shape, np.broadcast_to(array.reshape(()), shape.dimensions))
    return literal_of(shape, array.reshape(-1)[: shape.element_count])


def is_elision(text: str) -> bool:
    """Return True if a text represents elided values: MLIR's `__elided__`, or dots."""
    return text.strip('" ') in ("__elided__", "...")


def elided_literal(reader: Reader, shape: Shape, at: int) -> Literal:
    """Return a literal with elided values, and warn; a counter fills it, as HLO's `{...}`."""
    if not shape.is_array or not shape.rank or any(shape.dynamic):
        reader.fail(
            f"the value of this {shape.text_without_layout} was left out",
            "write it; only arrays may omit their values",
            at,
            3,
        )
    if shape.byte_size > LARGEST:
        reader.refuse(
            "too-large",
            f"{shape.byte_size:,} bytes of a constant were left out",
            "pass the constant as an argument",
            at,
            3,
        )
    return Literal(shape, text="{...}")


def repeated_element(literal: Literal) -> Literal | None:
    """Return the element of a splat as a scalar; None for other literals."""
    if literal.is_elided or literal.shape.element_count < 2 or any(literal.array.strides):
        return None
    return literal_of(
        array_shape(literal.shape.element_type, ()), literal.array[(0,) * literal.shape.rank]
    )


def _from_numbers(reader: Reader, shape: Shape, text: str, at: int) -> np.ndarray[Any, Any]:
    """Return the elements of nested lists, or of one number."""
    kind = shape.element_type
    pieces = text.translate(_BRACKETS).replace(",", " ").split()
    if not all(_NUMBER.fullmatch(piece) for piece in pieces):
        bad = next(piece for piece in pieces if not _NUMBER.fullmatch(piece))
        reader.fail(
            f"expected a number, got {bad[:40]!r}",
            "write numbers, true, false, or bits such as 0x7F800000",
            at + text.index(bad),
            len(bad),
        )
    if shape.element_count == 0 and not text.startswith("["):
        return np.empty(0, kind.dtype)
    try:
        with np.errstate(over="ignore"):  # a number beyond the range is infinite, as MLIR reads it
            return _complex(shape, pieces) if kind.is_complex else _numbers(shape, pieces)
    except (ValueError, OverflowError) as problem:
        reader.fail(
            f"the literal does not fit {shape.text_without_layout}: {problem}",
            "correct the numbers or the type",
            at,
            len(text),
        )


def literal_of(shape: Shape, array: np.ndarray[Any, Any]) -> Literal:
    """Return a literal of the array, which must not be changed afterwards."""
    array = np.ascontiguousarray(array).reshape(shape.dimensions)
    array.setflags(write=False)
    return Literal(shape, array)


def decode_bytes(reader: Reader, shape: Shape, raw: bytes, at: int) -> Literal:
    """Return the literal of a buffer from the file's resource section."""
    array = _from_bytes(reader, shape, raw, at)
    if array.size != shape.element_count:
        reader.fail(
            f"the resource has {array.size} elements, {shape.text_without_layout} has "
            f"{shape.element_count}",
            "was the file cut?",
            at,
        )
    return literal_of(shape, array)


def _hexadecimal(reader: Reader, start: int, end: int) -> bytearray:
    """Return the bytes of hexadecimal digits, decoded in pieces to avoid a copy of the digits."""
    raw = bytearray((end - start) // 2)
    try:
        if (end - start) % 2:
            raise ValueError
        for at in range(start, end, _DIGITS):
            piece = binascii.unhexlify(reader.text[at : min(at + _DIGITS, end)])
            raw[(at - start) // 2 : (at - start) // 2 + len(piece)] = piece
    except ValueError:
        reader.fail(
            "a buffer must be an even number of hexadecimal digits after 0x",
            "print the constant again",
            start - 3,
            3,
        )
    return raw


def _from_bytes(
    reader: Reader, shape: Shape, raw: bytes | bytearray, at: int
) -> np.ndarray[Any, Any]:
    """Return the elements of a buffer, or the one of a splat."""
    kind, count = shape.element_type, shape.element_count
    if len(raw) % kind.dtype.itemsize:
        reader.fail(
            f"{len(raw)} bytes are not a multiple of the size of {kind.name}",
            "print the constant again",
            at,
        )
    if kind.is_pred:
        flags = np.frombuffer(raw, np.uint8)
        if (
            len(raw) not in (1, count) and len(raw) == (count + 7) // 8
        ):  # MLIR before 2025 packed truth values
            flags = np.unpackbits(flags, bitorder="little")[:count]
        return np.asarray(flags != 0)
    if kind.bits < 8:  # the upper bits are undefined
        return low_bits(np.frombuffer(raw, np.uint8), kind)
    return np.frombuffer(raw, kind.dtype)


def low_bits(raw: np.ndarray[Any, Any], kind: PrimitiveType) -> np.ndarray[Any, Any]:
    """Return elements of fewer than eight bits, one in the low bits of each byte."""
    clean: np.ndarray[Any, Any] = (raw & ((1 << kind.bits) - 1)).astype(np.uint8)
    return clean.view(kind.dtype)


_TRUTH = {"true": 1, "false": 0}


def _numbers(shape: Shape, pieces: list[str]) -> np.ndarray[Any, Any]:
    kind = shape.element_type
    if kind.is_float:
        if any("0x" in piece for piece in pieces):
            return np.array([_float_from(kind, piece) for piece in pieces], kind.dtype)
        return round_to(kind, np.array(list(map(float, pieces)), np.float64))
    values = [
        _TRUTH[piece] if piece in _TRUTH else int(piece, 0 if "0x" in piece else 10)
        for piece in pieces
    ]
    if kind.is_pred:  # the one bit of i1, with or without its sign
        if not all(v in (-1, 0, 1) for v in values):
            raise OverflowError("a truth value is true, false, 0 or 1")
        return np.array(values, np.bool_)
    low, high = (-(1 << (kind.bits - 1)) if kind.is_signed else 0), (1 << kind.bits) - 1
    outside = next((v for v in values if not low <= v <= high), None)
    if outside is not None:
        raise OverflowError(f"{outside} is outside [{low}, {high}]")
    if kind.is_signed:  # the bits of a signless integer may be written without its sign
        values = [v - (1 << kind.bits) if v >= 1 << (kind.bits - 1) else v for v in values]
    wide = np.array(values, np.int64 if kind.is_signed else np.uint64)
    return (
        wide.astype(np.int8 if kind.is_signed else np.uint8).astype(kind.dtype)
        if kind.bits < 8
        else wide.astype(kind.dtype)
    )


def _float_from(kind: Any, piece: str) -> Any:
    if "0x" not in piece:
        return float(piece)
    size = kind.dtype.itemsize
    return np.frombuffer(int(piece, 16).to_bytes(size, "little"), kind.dtype)[0]


def _complex(shape: Shape, pieces: list[str]) -> np.ndarray[Any, Any]:
    if len(pieces) % 2:
        raise ValueError("a complex number is a pair (real, imaginary)")
    part = shape.element_type.component
    parts: np.ndarray[Any, Any] = np.array(
        [_float_from(part, piece) for piece in pieces], part.dtype
    )
    pairs: np.ndarray[Any, Any] = parts.view(shape.element_type.dtype)
    return pairs


def _check_nesting(reader: Reader, shape: Shape, text: str, at: int) -> None:
    """Check that lists nest as the dimensions require.

    The commas and brackets of a literal follow from its shape.
    """
    skeleton = re.sub(r"\([^)]*\)", "", text) if shape.element_type.is_complex else text
    wanted = ""
    for size in reversed(shape.dimensions):
        wanted = "[" + ",".join([wanted] * size) + "]"
    if "".join(re.findall(r"[\[\],]", skeleton)) != wanted:
        reader.fail(
            f"the lists of this literal do not nest as {shape.text_without_layout} does",
            f"write {' lists of '.join(map(str, shape.dimensions)) or 'one number'}",
            at,
            max(len(text), 1),
        )
