"""Reads shapes: `f32[2,3]{1,0:T(8,128)}`, `(f32[], s32[<=4])`, `b(f32[4])`.

Source: hlo_parser.cc ParseShape, ParseLayout.
"""

from __future__ import annotations

import difflib
import re

from xla_explorer.hlo.layout import Layout, layout
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.shape import _BY_TEXT, UNBOUNDED, Shape, ShapeError, array_shape, buffer_shape, tuple_shape
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.lexical import skip_blank, without_comments

_ARRAY = re.compile(r"([A-Za-z][A-Za-z0-9]*)\s*\[([^\[\](){}\n]*)(\]?)")
_ORDINARY = re.compile(r"[a-z][a-z0-9]*+\[[\d,]*+\](?:\{[\d,]*+\})?+(?!\s*\{)", re.ASCII)
_LAYOUT_START = re.compile(r"\{\s*(?=[\d:}])")
_DEFAULT_SPACE = re.compile(r"(?<![A-Z])S\(0\)")
_PROPERTIES = re.compile(
    r"(?:D\([DCS+~,]*\))?(?:T(?:\([\d,*]*\))+)?(?:L\(\d+\))?(?:#\(\w+\))?(?:\*\(\w+\))?(?:E\(\d+\))?(?:S\(\d+\))?"
    r"(?:SC(?:\([\d:,]*\))+)?(?:P\((?:[^()]|\([^()]*\))*\))?(?:M\(\d+\))?"
)
_LARGEST = (1 << 63) - 1
_DEEPEST = 64  # nesting of tuples


class ShapeTextError(TextProblem, ShapeError):
    """A shape that cannot be read; `at` is the offset of the place in the text."""


def read_shape(text: str, at: int) -> tuple[Shape, int]:
    """The shape that starts at `at` (after blanks), and the offset behind it. ShapeError where there is none."""
    return _read(text, at, 0)


def _read(text: str, at: int, depth: int) -> tuple[Shape, int]:
    at = skip_blank(text, at)
    if text.startswith("(", at):
        if depth >= _DEEPEST:
            raise ShapeTextError(f"tuples nest deeper than {_DEEPEST} levels", at, "flatten the tuple")
        return _read_tuple(text, at, depth)
    if text.startswith("b(", at):
        part, end = _read(text, at + 2, depth + 1)
        end = skip_blank(text, end)
        if not text.startswith(")", end):
            raise ShapeTextError("expects ')' after the shape of a buffer", end, "close the buffer shape: b(f32[4])")
        return buffer_shape(part), end + 1
    return _read_array(text, at)


def _read_tuple(text: str, start: int, depth: int) -> tuple[Shape, int]:
    at = skip_blank(text, start + 1)
    parts: list[Shape] = []
    while not text.startswith(")", at):
        part, at = _read(text, at, depth + 1)
        parts.append(part)
        at = skip_blank(text, at)
        if text.startswith(",", at):
            at = skip_blank(text, at + 1)
        elif at >= len(text):
            raise ShapeTextError("the tuple shape is never closed", start, "add the missing ')'")
        elif not text.startswith(")", at):
            raise ShapeTextError("expects ',' or ')' in a tuple shape", at, "separate the shapes of a tuple by commas: (f32[2], s32[])")
    return tuple_shape(parts), at + 1


def _read_array(text: str, at: int) -> tuple[Shape, int]:
    ordinary = _ORDINARY.match(text, at)
    if ordinary is not None:
        known = _BY_TEXT.get(ordinary.group())
        if known is not None:
            return known, ordinary.end()
    found = _ARRAY.match(text, at)
    if found is None:
        raise ShapeTextError("expects a shape", at, "write a shape such as f32[2,3]{1,0}, (f32[], s32[2]) or token[]")
    name, sizes, closed = found.groups()
    element_type = PRIMITIVE_TYPES.get(name)
    if element_type is None:
        near = difflib.get_close_matches(name.lower(), PRIMITIVE_TYPES, 3, 0.5)
        raise ShapeTextError(
            f"unknown element type {name}",
            at,
            f"did you mean {' or '.join(near)}?" if near else "element types are pred, s32, u8, f32, bf16, c64 ...",
            len(name),
        )
    if not closed:
        raise ShapeTextError("the dimensions are never closed", found.end(1), f"write {name}[...] with a closing ]")
    dimensions: list[int] = []
    dynamic: list[bool] = []
    if sizes.strip():
        place = found.start(2)
        for piece in sizes.split(","):
            size = piece.strip()
            bounded = size.startswith("<=")
            digits = size[2:].strip() if bounded else size
            if size == "?":
                dimensions.append(UNBOUNDED)
            elif digits.isdecimal() and digits.isascii() and len(digits) < 20 and int(digits) <= _LARGEST:
                dimensions.append(int(digits))
            else:
                raise ShapeTextError(
                    f"{size or 'nothing'} is no size of a dimension",
                    place + len(piece) - len(piece.lstrip()),
                    "a dimension is a number, <= and a number, or ?",
                    max(len(size), 1),
                )
            dynamic.append(bounded or size == "?")
            place += len(piece) + 1
    if dimensions and not element_type.is_array_type:
        raise ShapeTextError(f"a {name} has no dimensions", found.start(2), f"write {name}[]", len(sizes))
    count = 1
    for number in dimensions:
        count *= max(number, 1)
    if count * max(element_type.bytes, 1) > _LARGEST:
        raise ShapeTextError("the array has more bytes than 64 bits can count", at, "make the dimensions smaller", found.end() - at)
    end = found.end()
    order: Layout | None = None
    opening = _LAYOUT_START.match(text, end)
    if opening is not None:
        order, end = _read_layout(text, end, len(dimensions))
    return array_shape(element_type, tuple(dimensions), order, tuple(dynamic) if any(dynamic) else ()), end


def _read_layout(text: str, start: int, rank: int) -> tuple[Layout, int]:
    depth, end = 0, start
    while True:  # P(...) holds a shape with braces of its own
        end = min([place for place in (text.find("{", end), text.find("}", end)) if place >= 0], default=-1)
        if end < 0:
            raise ShapeTextError("the layout is never closed", start, "add the missing '}'")
        depth += 1 if text[end] == "{" else -1
        end += 1
        if not depth:
            break
    order_text, _, properties = without_comments(text[start + 1 : end - 1]).partition(":")
    numbers = [piece.strip() for piece in order_text.split(",")] if order_text.strip() else []
    length = end - start
    if not all(number.isdecimal() and number.isascii() and len(number) < 10 for number in numbers):
        raise ShapeTextError(f"a layout lists dimensions, but sees {order_text}", start, "write a layout such as {1,0}", length)
    minor_to_major = tuple(map(int, numbers))
    properties = _DEFAULT_SPACE.sub("", re.sub(r"\s+", "", properties))
    if len(minor_to_major) != rank:
        raise ShapeTextError(
            f"Dimensions size is {rank}, but minor to major size is {len(minor_to_major)}.",
            start,
            f"list each of the {rank} dimensions once, the fastest varying first" if rank else "a scalar has no layout",
            length,
        )
    if sorted(minor_to_major) != list(range(rank)):
        raise ShapeTextError(
            f"the layout {{{order_text}}} is no permutation of the dimensions 0 to {rank - 1}",
            start,
            "list each dimension once, the fastest varying first",
            length,
        )
    if _PROPERTIES.fullmatch(properties) is None:
        raise ShapeTextError(
            f"unknown layout properties {properties}",
            start,
            "properties are, in this order: D(), T(), L(), #(), *(), E(), S(), SC(), P(), M()",
            length,
        )
    if "P(" in properties and not properties.startswith("D("):
        raise ShapeTextError("the layout has a physical shape, but is not for a sparse array", start, "remove P(...)", length)
    return layout(minor_to_major, properties), end


def same_dimensions(a: Shape, b: Shape) -> bool:
    """Compatible as the parser sees it: types and sizes agree; layouts and dynamic marks do not matter."""
    if a.base is b.base:
        return True
    if a.tuple_shapes or b.tuple_shapes:
        return (
            a.is_tuple == b.is_tuple
            and len(a.tuple_shapes) == len(b.tuple_shapes)
            and all(map(same_dimensions, a.tuple_shapes, b.tuple_shapes))
        )
    return a.element_type is b.element_type and a.dimensions == b.dimensions


def same_sizes(a: Shape, b: Shape) -> bool:
    """Same structure and sizes, whatever the element types: real texts hold headers of earlier types."""
    if a.tuple_shapes or b.tuple_shapes:
        return len(a.tuple_shapes) == len(b.tuple_shapes) and all(map(same_sizes, a.tuple_shapes, b.tuple_shapes))
    return a.dimensions == b.dimensions
