"""Literals as text, both ways: `{ { 1, 2 }, { 3, 4 } }`, `(1, -2)`, `nan(0x7fc)`, `{...}`.

Reading is vectorised: the punctuation is compared with that of the shape, then all numbers are
converted at once. Source: hlo_parser.cc ParseLiteral, literal.cc PrintWithoutShapeOneline, util.cc
RoundTripFpToString.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import COMMENT
from xla_explorer.hlo.text.literal_tokens import literal_text
from xla_explorer.hlo.text.number_text import (
    IEEE_TYPES,
    Array,
    read_floats,
    read_integers,
    read_preds,
)
from xla_explorer.hlo.text.shape_text import check_splits
from xla_explorer.hlo.text.tokens import END, Tokens

LARGEST_ELIDED = 1 << 32  # most bytes of an elided literal `{...}`
_ELEMENT_SIZE = re.compile(r"E\(\d+\)")
_MOST_DIMENSIONS = 64  # of a numpy array
_NOT_PUNCTUATION = bytes(set(range(256)) - set(b"{},"))
_PLACES = bytes([byte if byte in b"{}," else ord("x") for byte in range(256)])
_COMPLEX = re.compile(
    r"\(\s*([^(),\s]+(?:\(0x[0-9a-fA-F]+\))?)\s*,\s*([^()\s]*(?:\(0x[0-9a-fA-F]+\))?)\s*\)"
)


def _skeleton(dimensions: tuple[int, ...]) -> str:
    """Return the punctuation of an array literal with these dimensions."""
    text = ""
    if 0 in dimensions:  # the contents of an empty dimension are not printed
        dimensions = dimensions[: dimensions.index(0) + 1]
    for level, size in enumerate(reversed(dimensions)):
        text = "{" + ("," * (size - 1) if level == 0 else ",".join([text] * size)) + "}"
    return text


def _skeleton_length(dimensions: tuple[int, ...]) -> int:
    length = 0
    if 0 in dimensions:
        dimensions = dimensions[: dimensions.index(0) + 1]
    for level, size in enumerate(reversed(dimensions)):
        length = 2 + max(size - 1, 0) + (length * size if level else 0)
    return length


def _numbers(shape: Shape, text: str, base: int) -> list[str]:
    """Return the element texts of an array literal, checked against the shape.

    Memory is allocated only after the lengths agree.
    """
    if shape.dimensions:
        raw = text.encode("ascii", "replace")
        punctuation = raw.translate(None, _NOT_PUNCTUATION)
        wanted = _skeleton_length(shape.dimensions)
        if len(punctuation) != wanted or punctuation != _skeleton(shape.dimensions).encode():
            raise _misshapen(shape, text, base)
        places = raw.translate(_PLACES, b" \t\n\r")
        if b"x{" in places or b"}x" in places:  # a number next to a list of numbers
            raise _misshapen(shape, text, base)
        if not shape.element_count:
            if text.strip("{}, \n\t"):
                raise TextError(
                    f"a literal of shape {shape.text_without_layout} has no elements",
                    base,
                    "write empty braces",
                    len(text),
                )
            return []
        text = raw.translate(None, b"{}").decode()
    elif "{" in text:
        raise TextError(
            "expects nested array in rank 0, but sees larger",
            base,
            "write the number of a scalar without braces",
            len(text),
        )
    return text.split(",")


def _misshapen(shape: Shape, text: str, base: int) -> TextError:
    """Return the problem at the first place where the text leaves the shape."""
    dimensions, rank = shape.dimensions, len(shape.dimensions)
    counts: list[int] = []
    sizes = " x ".join(map(str, dimensions))
    hint = f"a literal of shape {shape.text_without_layout} nests {rank} deep with {sizes} elements"
    for m in re.finditer(r"[{}]|[^{},\s]+", text):
        token, at = m.group(), base + m.start()
        if token == "{":
            if counts:
                counts[-1] += 1
            if len(counts) >= rank:
                return TextError(f"expects nested array in rank {rank}, but sees larger", at, hint)
            counts.append(0)
        elif token == "}":
            if not counts:
                return TextError("unexpected '}'", at, hint)
            if counts[-1] != dimensions[len(counts) - 1]:
                return TextError(
                    f"expects {dimensions[len(counts) - 1]} elements in the {counts[:-1]}th "
                    f"element, but sees {counts[-1]}",
                    at,
                    hint,
                )
            counts.pop()
        else:
            if len(counts) != rank:
                return TextError(
                    f"expects nested array in rank {rank}, but sees {len(counts)}",
                    at,
                    hint,
                    len(token),
                )
            counts[-1] += 1
            if counts[-1] > dimensions[-1]:
                return TextError(
                    f"expects {dimensions[-1]} elements on the minor-most dimension, but sees more",
                    at,
                    hint,
                    len(token),
                )
    return TextError(
        f"the literal does not have the shape {shape.text_without_layout}", base, hint, len(text)
    )


def _read_complex(shape: Shape, text: str, base: int) -> Array:
    flat = _COMPLEX.sub("0", text)
    parts = _numbers(shape, flat, base)
    pairs = _COMPLEX.findall(text)
    if len(pairs) != len(parts) or any(part.strip() != "0" for part in parts):
        raise TextError(
            "expects pairs (real, imaginary) for primitive type: "
            f"{shape.element_type.name.upper()}",
            base,
            "write a complex number as (1, -2)",
            min(len(text), 60),
        )
    component = shape.element_type.component
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    array = np.empty(len(pairs), shape.element_type.dtype)
    if pairs:
        array.real = read_floats(component, sides[0], ",".join(sides[0]), base)
        array.imag = read_floats(component, sides[1], ",".join(sides[1]), base)
    return array


def _elided(shape: Shape) -> Array:
    """Return the array for `{...}`: the bits of a counter from zero, similar to XLA's."""
    if shape.byte_size > LARGEST_ELIDED:
        raise TextError(
            f"{{...}} replaces {shape.byte_size} bytes of shape {shape.text_without_layout}",
            0,
            "make it a parameter, or a broadcast of a scalar",
            5,
        )
    if shape.element_type.is_pred:
        return (np.arange(shape.element_count) % 2).astype(np.bool_).reshape(shape.dimensions)
    if shape.element_type.bits < 8:
        mask = (1 << shape.element_type.bits) - 1
        raw = (np.arange(shape.element_count) & mask).astype(np.uint8)
        if shape.element_type.is_signed:
            raw = np.where(raw > mask // 2, raw.astype(np.int16) - mask - 1, raw).astype(np.int8)
        return (
            raw.astype(shape.element_type.dtype)
            if shape.element_type.is_integer
            else raw.view(shape.element_type.dtype)
        ).reshape(shape.dimensions)
    words = np.arange((shape.byte_size + 3) // 4, dtype=np.uint32)
    return (
        np.frombuffer(words.tobytes()[: shape.byte_size], shape.element_type.dtype)
        .reshape(shape.dimensions)
        .copy()
    )


def is_elided(text: str) -> bool:
    """Return True if the text is the placeholder `{...}`."""
    return "..." in text and "".join(text.split()) == "{...}"


def read_array(shape: Shape, text: str, base: int = 0) -> Array:
    """Return the value of an array literal in row-major order.

    TextError (a ValueError; offsets from `base`) for other text.
    """
    try:
        return _read_array(shape, text, base)
    except TextError as problem:
        respelled = _respelled(shape, text)
        if respelled is None:
            raise problem from None
        return _read_array(shape, respelled, base)


def _respelled(shape: Shape, text: str) -> str | None:
    """Return the literal as XLA prints it, or None if it is invalid or unchanged."""
    tokens = Tokens(text)
    try:
        found = literal_text(shape, tokens)
        tokens.expect(END, "the end of the literal")
    except TextError:
        return None
    return found if found != text else None


def _read_array(shape: Shape, text: str, base: int) -> Array:
    if not shape.is_array:
        raise TextError(
            f"a {shape.text_without_layout} has no literals",
            base,
            "constants are arrays, scalars or tuples of them",
            max(len(text), 1),
        )
    if "/" in text:
        text = COMMENT.sub(lambda m: " " * len(m.group()), text)
    if is_elided(text):
        if not shape.dimensions:
            raise TextError(
                "expects nested array in rank 0, but sees larger",
                base,
                "write the number of a scalar without braces",
                len(text),
            )
        return _elided(shape)
    element_type = shape.element_type
    if _is_first_element_only(shape, text):
        array = np.zeros(shape.dimensions, element_type.dtype)
        array.flat[0] = read_array(array_shape(element_type, ()), text, base)[()]
        return array
    if element_type.is_complex:
        return _read_complex(shape, text, base).reshape(shape.dimensions)
    parts = _numbers(shape, text, base)
    if not parts:
        return np.empty(shape.dimensions, element_type.dtype)
    if element_type.is_float:
        array = read_floats(element_type, parts, text, base)
    elif element_type.is_pred:
        array = read_preds(parts, text, base)
    else:
        array = read_integers(shape, parts, text, base)
    if array.size != shape.element_count:
        raise TextError(
            f"expects {shape.element_count} elements, but sees {array.size}",
            base,
            f"write a literal of shape {shape.text_without_layout}",
            max(len(text), 1),
        )
    return array.reshape(shape.dimensions)


def _is_first_element_only(shape: Shape, text: str) -> bool:
    """Return True for a bare number in place of an array.

    XLA's parser then sets the first element and leaves zeros in the others.
    """
    return bool(
        shape.dimensions
        and shape.element_count
        and "{" not in text
        and not shape.element_type.is_complex
        and text.strip()
    )


def _first_element_only(shape: Shape, text: str, base: int) -> Literal:
    """Return the literal of a bare number; its array is made on first use.

    The array may be large. The literal is printed as the bare number.
    """
    if shape.byte_size > LARGEST_ELIDED:
        raise TextError(
            f"one number represents {shape.byte_size} bytes of shape {shape.text_without_layout}",
            base,
            "write a scalar constant and a broadcast",
            len(text),
        )
    scalar = array_shape(shape.element_type, ())
    return Literal(shape, text=write_literal(Literal(scalar, read_array(scalar, text, base))))


def _without_element_size(shape: Shape) -> Shape:
    if "E(" not in shape.text:
        return shape
    if shape.is_tuple:
        return tuple_shape(tuple([_without_element_size(part) for part in shape.tuple_shapes]))
    known = shape.layout
    return shape.with_layout(layout(known.minor_to_major, _ELEMENT_SIZE.sub("", known.properties)))


def read_literal(shape: Shape, text: str, base: int = 0) -> Literal:
    """Return a literal of a given shape, tuples included.

    As in XLA, the element size of its layout (`E(4)`) is ignored. TextError (a ValueError;
    offsets from `base`) has the problem and its place.
    """
    shape = _without_element_size(shape)
    if "SC(" in shape.text and shape.is_array:
        check_splits(shape, base)
    if "..." in text and not is_elided(text):
        text = _respelled(shape, text) or text
    if not shape.is_tuple:
        if is_elided(text) and shape.is_array and shape.dimensions:
            if shape.byte_size > LARGEST_ELIDED:
                _elided(shape)
            return Literal(shape, text="{...}")
        if shape.is_array and shape.rank > _MOST_DIMENSIONS:
            raise TextError(
                f"a literal has at most {_MOST_DIMENSIONS} dimensions, this one has {shape.rank}",
                base,
                "reshape a literal of fewer dimensions",
            )
        if shape.is_array and _is_first_element_only(shape, COMMENT.sub("", text)):
            return _first_element_only(shape, text, base)
        return Literal(shape, read_array(shape, text, base).copy())
    if is_elided(text):
        return Literal(
            shape,
            parts=tuple(
                [
                    read_literal(
                        part,
                        "{...}"
                        if part.is_tuple or part.rank
                        else "0"
                        if not part.element_type.is_complex
                        else "(0, 0)",
                        base,
                    )
                    for part in shape.tuple_shapes
                ]
            ),
        )
    try:
        return Literal(shape, parts=tuple(_parts(shape, text)))
    except TextError as problem:
        raise TextError(problem.message, base + problem.at, problem.hint, problem.length) from None


def _parts(shape: Shape, text: str) -> Iterator[Literal]:
    """Yield the elements of a tuple literal."""
    tokens = Tokens(text)
    tokens.expect("(", "'(' in front of tuple elements", "write a tuple literal as (1, {2, 3})")
    for number, part in enumerate(shape.tuple_shapes):
        if number:
            tokens.eat(",")  # XLA does not insist on it
        if tokens.kind == ")":
            raise tokens.problem(
                f"{len(shape.tuple_shapes)} tuple elements",
                f"the shape is {shape.text_without_layout}",
            )
        yield read_literal(part, literal_text(part, tokens))
    tokens.expect(
        ")",
        f"')' after {len(shape.tuple_shapes)} tuple elements",
        f"the shape is {shape.text_without_layout}",
    )
    tokens.expect(END, "nothing after the tuple literal", "remove it")


# -- writing ---------------------------------------------------------------------------------------
_DIGITS = {
    "f16": 5,
    "bf16": 4,
    "f8e5m2": 2,
    "f8e4m3": 3,
    "f8e4m3fn": 3,
    "f8e4m3b11fnuz": 3,
    "f8e5m2fnuz": 2,
    "f8e4m3fnuz": 3,
    "f8e3m4": 3,
    "f8e8m0fnu": 2,
    "f4e2m1fn": 2,
    "f6e2m3fn": 3,
    "f6e3m2fn": 2,
}


def _write_floats(element_type: PrimitiveType, flat: Array) -> list[str]:
    """Return each element in the shorter of XLA's precisions that reads back as the same bits."""
    name = element_type.name
    with np.errstate(invalid="ignore"):
        values = flat.astype(np.float64)
    listed = tuple(values.tolist())
    short, full = (_DIGITS[name], 17) if name in _DIGITS else (6, 9) if name == "f32" else (15, 17)
    texts = (f"%.{short}g," * len(listed) % listed).split(",")[:-1]
    back = np.array(list(map(float, texts)))
    with np.errstate(over="ignore", invalid="ignore"):
        differs = back.astype(element_type.dtype).astype(np.float64) != values
    for index in np.flatnonzero(differs & ~np.isnan(values)).tolist():
        texts[index] = f"%.{full}g" % listed[index]
    for index in np.flatnonzero(np.isnan(values)).tolist():
        texts[index] = _write_nan(element_type, flat[index : index + 1])
    return texts


def _write_nan(element_type: PrimitiveType, one: Array) -> str:
    if element_type.name not in IEEE_TYPES:
        return (
            "-nan"
            if element_type.has_sign and bool(np.signbit(one.astype(np.float32))[0])
            else "nan"
        )
    mantissa, bits = IEEE_TYPES[element_type.name]
    raw = int(one.view(np.dtype(f"uint{bits}"))[0])
    payload, sign = raw & ((1 << mantissa) - 1), "-" if raw >> (bits - 1) else ""
    return f"{sign}nan" if payload == 1 << (mantissa - 1) else f"{sign}nan(0x{payload:x})"


def _element_texts(element_type: PrimitiveType, flat: Array, scalar: bool) -> list[str]:
    if not flat.size:
        return []
    if element_type.is_float:
        return _write_floats(element_type, flat)
    if element_type.is_complex:
        component = element_type.component
        return [
            f"({re_part}, {im_part})"
            for re_part, im_part in zip(
                _write_floats(component, np.ascontiguousarray(flat.real)),
                _write_floats(component, np.ascontiguousarray(flat.imag)),
                strict=True,
            )
        ]
    if element_type.is_pred:
        return [
            ("true" if v else "false") if scalar else ("1" if v else "0") for v in flat.tolist()
        ]
    return list(map(str, map(int, flat.tolist())))


def write_literal(literal: Literal) -> str:
    """Return the full literal as XLA's one-line form, with the shortest exact digits."""
    shape = literal.shape
    if shape.is_tuple:
        return "(" + ", ".join([write_literal(part) for part in literal.parts]) + ")"
    array = literal.array
    texts = _element_texts(
        shape.element_type, np.ascontiguousarray(array).reshape(-1), shape.rank == 0
    )
    if not shape.dimensions:
        return texts[0]
    return _nest(texts, shape.dimensions)


def _nest(texts: list[str], dimensions: tuple[int, ...]) -> str:
    if len(dimensions) == 1:
        return "{" + ", ".join(texts) + "}"
    if not texts:
        return _nest_empty(dimensions)
    rank = len(dimensions)
    for depth in range(rank - 1, -1, -1):
        size = dimensions[depth]
        rows = [", ".join(texts[at : at + size]) for at in range(0, len(texts), size)]
        if depth == rank - 1 and size == 1:
            texts = [f"{{{row}}}" for row in rows]
        elif rank > 3 and 0 < depth < rank - 1:  # XLA counts the rows of deep arrays
            texts = [
                f"{{ /*i{depth - 1}={number % dimensions[depth - 1]}*/ {row} }}"
                for number, row in enumerate(rows)
            ]
        else:
            texts = [f"{{ {row} }}" for row in rows]
    return texts[0]


def _nest_empty(dimensions: tuple[int, ...]) -> str:
    if dimensions[0] == 0 or len(dimensions) == 1:
        return "{}"
    return "{ " + ", ".join([_nest_empty(dimensions[1:])] * dimensions[0]) + " }"
