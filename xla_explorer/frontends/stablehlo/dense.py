"""`dense<...>` literals as arrays: nested lists, splats, bit patterns in hexadecimal, whole buffers in hexadecimal.

Source: https://mlir.llvm.org/docs/Dialects/Builtin, DenseIntOrFPElementsAttr (numbers in hexadecimal are bits of a float; a quoted
string holds the elements little-endian, truth values one bit each).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from xla_explorer.frontends.stablehlo.reader import STRING, Reader
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.shape import Shape

LARGEST = 1 << 32  # bytes of one constant
_BRACKETS = str.maketrans({"[": " ", "]": " ", "(": " ", ")": " "})
_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|nan|true|false)")
_BODY = re.compile(r"[^<>\"]*")


def read_dense(reader: Reader) -> tuple[int, str]:
    """(offset, text) of what stands between the angle brackets behind `dense`; its type is read by the caller, who then decodes."""
    reader.expect("<", "a dense literal")
    start = reader.skip()
    if reader.take(STRING) is None:
        reader.take(_BODY)
    text = reader.text[start : reader.at]
    reader.expect(">", "a dense literal")
    return start, text.strip()


def decode_dense(reader: Reader, shape: Shape, text: str, at: int) -> Literal:
    """The literal of a text that `read_dense` found at an offset."""
    if any(shape.dynamic):
        reader.fail("a constant of dynamic shape", "write the sizes of the constant", at)
    if not shape.is_array:
        reader.fail(f"a literal of {shape.text_without_layout}", "constants are tensors", at)
    if shape.byte_size > LARGEST:
        reader.refuse(
            "too-large", f"a constant of {shape.byte_size:,} bytes", "broadcast a smaller constant, or pass it as an argument", at
        )
    kind = shape.element_type
    if text.startswith('"'):
        array = _from_bytes(reader, shape, _hexadecimal(reader, text, at), at)
    elif not text:
        array = np.empty(0, kind.dtype)
    else:
        pieces = text.translate(_BRACKETS).replace(",", " ").split()
        if not all(_NUMBER.fullmatch(piece) for piece in pieces):
            bad = next(piece for piece in pieces if not _NUMBER.fullmatch(piece))
            reader.fail(
                f"expected a number, got {bad[:40]!r}",
                "write numbers, true, false, or bits such as 0x7F800000", at + text.index(bad), len(bad)
            )
        try:
            array = _complex(shape, pieces) if kind.is_complex else _numbers(shape, pieces)
        except (ValueError, OverflowError) as problem:
            reader.fail(
                f"the literal does not fit {shape.text_without_layout}: {problem}", "correct the numbers or the type", at, len(text)
            )
    splat = array.size == 1 and not text.startswith("[")
    if array.size != shape.element_count and not splat:
        reader.fail(
            f"the literal has {array.size} elements, {shape.text_without_layout} has {shape.element_count}",
            "give every element, or one without brackets for all of them",
            at,
            max(len(text), 1),
        )
    if text.startswith("["):
        _check_nesting(reader, shape, text, at)
    return literal_of(shape, np.full(shape.dimensions, array.reshape(())) if splat else array.reshape(shape.dimensions))


def literal_of(shape: Shape, array: np.ndarray[Any, Any]) -> Literal:
    """A literal of the array, which must not be changed any more."""
    array = np.ascontiguousarray(array).reshape(shape.dimensions)
    array.setflags(write=False)
    return Literal(shape, array)


def decode_bytes(reader: Reader, shape: Shape, raw: bytes, at: int) -> Literal:
    """The literal of a buffer from the file's resource section."""
    array = _from_bytes(reader, shape, raw, at)
    if array.size != shape.element_count:
        reader.fail(
            f"the resource has {array.size} elements, {shape.text_without_layout} has {shape.element_count}", "was the file cut?", at
        )
    return literal_of(shape, array)


def _hexadecimal(reader: Reader, text: str, at: int) -> bytes:
    body = text[1:-1]
    try:
        if not body.startswith("0x"):
            raise ValueError
        return bytes.fromhex(body[2:])
    except ValueError:
        reader.fail("a buffer must be an even number of hexadecimal digits behind 0x", "print the constant anew", at, 3)


def _from_bytes(reader: Reader, shape: Shape, raw: bytes, at: int) -> np.ndarray[Any, Any]:
    kind = shape.element_type
    if kind.is_pred:
        if len(raw) == 1 and shape.element_count > 8:  # a splat
            return np.array([bool(raw[0])])
        return np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[: shape.element_count].astype(np.bool_)
    if len(raw) % kind.dtype.itemsize:
        reader.fail(f"{len(raw)} bytes are not a multiple of the size of {kind.name}", "print the constant anew", at)
    return np.frombuffer(raw, kind.dtype)


_TRUTH = {"true": 1, "false": 0}


def _numbers(shape: Shape, pieces: list[str]) -> np.ndarray[Any, Any]:
    kind = shape.element_type
    if kind.is_float:
        if any("0x" in piece for piece in pieces):
            return np.array([_float_from(kind, piece) for piece in pieces], kind.dtype)
        return np.array(list(map(float, pieces)), np.float64).astype(kind.dtype)
    values = [_TRUTH[piece] if piece in _TRUTH else int(piece, 0 if "0x" in piece else 10) for piece in pieces]
    if kind.is_pred:
        return np.array(values, np.bool_)
    low, high = (-(1 << (kind.bits - 1)) if kind.is_signed else 0), (1 << kind.bits) - 1
    outside = next((v for v in values if not low <= v <= high), None)
    if outside is not None:
        raise OverflowError(f"{outside} is outside [{low}, {high}]")
    if kind.is_signed:  # the bits of a signless integer may be written without its sign
        values = [v - (1 << kind.bits) if v >= 1 << (kind.bits - 1) else v for v in values]
    wide = np.array(values, np.int64 if kind.is_signed else np.uint64)
    return wide.astype(np.int8 if kind.is_signed else np.uint8).astype(kind.dtype) if kind.bits < 8 else wide.astype(kind.dtype)


def _float_from(kind: Any, piece: str) -> Any:
    if "0x" not in piece:
        return float(piece)
    size = kind.dtype.itemsize
    return np.frombuffer(int(piece, 16).to_bytes(size, "little"), kind.dtype)[0]


def _complex(shape: Shape, pieces: list[str]) -> np.ndarray[Any, Any]:
    if len(pieces) % 2:
        raise ValueError("a complex number is a pair (real, imaginary)")
    part = shape.element_type.component
    parts: np.ndarray[Any, Any] = np.array([_float_from(part, piece) for piece in pieces], part.dtype)
    pairs: np.ndarray[Any, Any] = parts.view(shape.element_type.dtype)
    return pairs


def _check_nesting(reader: Reader, shape: Shape, text: str, at: int) -> None:
    """Lists must nest as the dimensions say: the commas and brackets of a literal follow from its shape."""
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
