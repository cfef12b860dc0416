"""Reads shapes: `f32[2,3]{1,0:T(8,128)}`, `(f32[], s32[<=4])`, `b(f32[4])`.

Source: hlo_parser.cc ParseShape, ParseLayout; layout.cc Print.
"""

from __future__ import annotations

import re

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.layout import Layout, layout
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import (
    _BY_TEXT,
    UNBOUNDED,
    Shape,
    ShapeError,
    array_shape,
    buffer_shape,
    tuple_shape,
)
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.tokens import END, IDENT, INT, TYPE, Tokens

_ORDINARY = re.compile(r"[a-z][a-z0-9]*+\[[\d,]*+\](?:\{[\d,]*+\})?+(?![ \t\n\r]*+[{/])", re.ASCII)
_LARGEST = (1 << 63) - 1
_ALL_OF_NEXT = -(1 << 63)  # what `*` in a tile is to XLA
_DEEPEST = 64  # nesting of tuples


class ShapeTextError(TextError, ShapeError):
    """A shape that cannot be read; `at` is the offset of the place in the text."""


def can_be_shape(tokens: Tokens) -> bool:
    """Return True if a shape can begin at this token."""
    return tokens.kind in (TYPE, "(") or _is_buffer(tokens)


def _is_buffer(tokens: Tokens) -> bool:
    return tokens.kind == IDENT and tokens.value == "b" and tokens.look_ahead() == "("


def read_shape(text: str, at: int) -> tuple[Shape, int]:
    """Return the shape that starts at `at` (after blanks), and the offset after it.

    ShapeError if there is none.
    """
    tokens = Tokens(text, at)
    return shape_of(tokens), tokens.previous_end


def shape_of(tokens: Tokens, depth: int = 0) -> Shape:
    """Parse a shape. ShapeTextError if there is none."""
    ordinary = _ORDINARY.match(tokens.text, tokens.start)
    if ordinary is not None:
        known = _BY_TEXT.get(ordinary.group())
        if known is not None:
            tokens.end = ordinary.end()
            tokens.advance()
            return known
    try:
        if tokens.kind == "(":
            if depth >= _DEEPEST:
                raise TextError(
                    f"tuples nest deeper than {_DEEPEST} levels", tokens.start, "flatten the tuple"
                )
            return _tuple(tokens, depth)
        if _is_buffer(tokens):
            return _buffer(tokens, depth)
        return _array(tokens)
    except ShapeTextError:
        raise
    except TextError as problem:
        raise ShapeTextError(problem.message, problem.at, problem.hint, problem.length) from None


def _buffer(tokens: Tokens, depth: int) -> Shape:
    tokens.advance()
    tokens.advance()
    at = tokens.start
    part = shape_of(tokens, depth + 1)
    if not part.is_array:
        raise TextError(
            f"a buffer holds an array, not {part.text_without_layout}", at, "write b(f32[4])"
        )
    tokens.expect(")", "')' after the shape of a buffer", "close the buffer shape: b(f32[4])")
    return buffer_shape(part)


def _tuple(tokens: Tokens, depth: int) -> Shape:
    opening = tokens.start
    tokens.advance()
    parts: list[Shape] = []
    if tokens.kind != ")":
        parts.append(shape_of(tokens, depth + 1))
        while tokens.eat(","):
            parts.append(shape_of(tokens, depth + 1))
    if tokens.kind == END:
        raise TextError("the tuple shape is never closed", opening, "add the missing ')'")
    tokens.expect(
        ")",
        "',' or ')' in a tuple shape",
        "separate the shapes of a tuple by commas: (f32[2], s32[])",
    )
    for part in parts:
        if "SC(" in part.text and not part.is_tuple:
            check_splits(part, opening)
    return tuple_shape(parts)


def check_splits(part: Shape, at: int) -> None:
    """Check that split indices (`SC`) ascend and lie within their dimension.

    XLA checks them only inside tuples and for constants.
    """
    for dimension, places in re.findall(
        r"(?<=[C)])\((-?\d+):([-\d,]*)\)",
        part.layout.properties[part.layout.properties.find("SC(") :],
    ):
        indices = [int(place) for place in places.split(",") if place]
        size = part.dimensions[int(dimension)] if 0 <= int(dimension) < part.rank else -1
        if indices != sorted(set(indices)) or not all(0 < index < size for index in indices):
            raise TextError(
                f"{part} is split outside of its elements",
                at,
                "split a dimension at ascending indices within it",
            )


def _element_type(tokens: Tokens) -> PrimitiveType:
    if tokens.kind == TYPE:
        return PRIMITIVE_TYPES[tokens.value]
    if tokens.kind == IDENT and tokens.look_ahead() == "[":
        name = tokens.value
        near = nearest(name.lower(), PRIMITIVE_TYPES, 3, 0.5)
        hint = (
            f"did you mean {' or '.join(near)}?"
            if near
            else "element types are pred, s32, u8, f32, bf16, c64 ..."
        )
        raise TextError(f"unknown element type {name}", tokens.start, hint, len(name))
    hint = "write a shape such as f32[2,3]{1,0}, (f32[], s32[2]) or token[]"
    raise TextError("expects a shape", tokens.start, hint, max(tokens.end - tokens.start, 1))


def _sizes(tokens: Tokens, name: str) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Parse `[2,<=3,?]`; the sizes, and which of them are dynamic."""
    opening = tokens.start
    if not tokens.eat("["):
        raise TextError(
            f"expects '[' after the element type {name}",
            tokens.previous_end,
            f"write {name}[] for a scalar",
        )
    sizes: list[int] = []
    dynamic: list[bool] = []
    while tokens.kind != "]" or sizes:
        if tokens.eat("?"):
            sizes.append(UNBOUNDED)
            dynamic.append(True)
        else:
            dynamic.append(tokens.eat("<="))
            size = int(tokens.value) if tokens.kind == INT else -1
            if not 0 <= size <= _LARGEST:
                if tokens.kind == END:
                    raise TextError(
                        "the dimensions are never closed",
                        opening,
                        f"write {name}[...] with a closing ]",
                    )
                seen = (
                    tokens.text[tokens.start : tokens.end]
                    if tokens.kind not in ("]", ",")
                    else "nothing"
                )
                hint = "a dimension is a number, <= and a number, or ?"
                raise TextError(
                    f"expected the size of a dimension, got {seen}",
                    tokens.start,
                    hint,
                    max(tokens.end - tokens.start, 1),
                )
            sizes.append(size)
            tokens.advance()
        if not tokens.eat(","):
            break
    if tokens.kind != "]":
        raise TextError(
            "the dimensions are never closed", opening, f"write {name}[...] with a closing ]"
        )
    tokens.advance()
    return tuple(sizes), tuple(dynamic) if any(dynamic) else ()


def _array(tokens: Tokens) -> Shape:
    start = tokens.start
    element_type = _element_type(tokens)
    tokens.advance()
    inside = tokens.end
    sizes, dynamic = _sizes(tokens, element_type.name)
    if sizes and not element_type.is_array_type:
        raise TextError(
            f"a {element_type.name} has no dimensions", inside, f"write {element_type.name}[]"
        )
    count = 1
    for size in sizes:
        count *= max(size, 1)
    if count * max(element_type.bytes, 1) > _LARGEST:
        length = tokens.previous_end - start
        raise TextError(
            "the array has more bytes than 64 bits can count",
            start,
            "make the dimensions smaller",
            length,
        )
    order: Layout | None = None
    # The brace may begin the body of a computation instead, as in `-> f32[2] {`.
    if tokens.kind == "{" and tokens.look_ahead() in (INT, ":"):
        if not element_type.is_array_type:
            raise TextError(
                f"a {element_type.name} has no layout", tokens.start, f"write {element_type.name}[]"
            )
        order = _layout(tokens, len(sizes))
    return array_shape(element_type, sizes, order, dynamic)


def _layout(tokens: Tokens, rank: int) -> Layout:
    start = tokens.start
    tokens.advance()
    numbers: list[int] = []
    if tokens.kind == INT:
        numbers.append(tokens.integer())
        while tokens.eat(","):
            numbers.append(tokens.integer())
    properties = _Properties(tokens).read() if tokens.eat(":") else ""
    if tokens.kind == END:
        raise TextError("the layout is never closed", start, "add the missing '}'")
    hint = "properties are, in this order: T(), L(), #(), *(), E(), S(), SC(), M()"
    tokens.expect(
        "}",
        "',' or '}' in a layout" if not properties else "'}' after the properties of a layout",
        hint,
    )
    length = tokens.previous_end - start
    if len(numbers) != rank:
        raise TextError(
            f"Dimensions size is {rank}, but minor to major size is {len(numbers)}.",
            start,
            f"list each of the {rank} dimensions once, the fastest varying first"
            if rank
            else "a scalar has no layout",
            length,
        )
    if sorted(numbers) != list(range(rank)):
        raise TextError(
            f"the layout {{{','.join(map(str, numbers))}}} must be a permutation of the "
            f"dimensions 0 to {rank - 1}",
            start,
            "list each dimension once, the fastest varying first",
            length,
        )
    return layout(tuple(numbers), properties)


class _Properties:
    """Reader of the properties after the colon of a layout.

    XLA's parser continues after an invalid property, and only requires a closing brace at the end.
    So does this reader.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens

    def _word(self, word: str) -> bool:
        return self.tokens.kind == IDENT and self.tokens.value == word and self.tokens.eat(IDENT)

    def read(self) -> str:
        """Return the properties in XLA's spelling, without default values."""
        found = ""
        if self._word("D"):
            self._levels()  # XLA forgets them
        if self._word("T"):
            found += "T" + self._tiles()
        found += self._number("L", 1)
        for mark in ("#", "*"):
            if self.tokens.eat(mark):
                found += self._integer_type(mark)
        found += self._number("E", 0) + self._number("S", 0)
        if self._word("SC"):
            found += self._splits()
        if self.tokens.kind == IDENT and self.tokens.value == "P":
            raise TextError(
                "the layout has a physical shape, but is not for a sparse array",
                self.tokens.start,
                "remove P(...)",
            )
        return found + self._number("M", 0)

    def _levels(self) -> None:
        tokens = self.tokens
        if not tokens.eat("(") or tokens.eat(")"):
            return
        while tokens.kind == IDENT and tokens.value in ("D", "C", "S", "H"):
            tokens.advance()
            tokens.eat("+")
            tokens.eat("~")
            if not tokens.eat(","):
                tokens.eat(")")
                return

    def _tiles(self) -> str:
        tokens, found = self.tokens, ""
        while True:
            sizes: list[str] = []
            ended = not tokens.eat("(")
            if not ended and tokens.kind != ")":
                while True:
                    if tokens.kind == INT:
                        at, size = tokens.start, tokens.integer()
                        if size < 0 and size != _ALL_OF_NEXT:
                            raise TextError(
                                f"a tile of {size} elements", at, "write a number from 0 on, or *"
                            )
                        sizes.append("*" if size == _ALL_OF_NEXT else str(size))
                    elif tokens.eat("*"):
                        sizes.append("*")
                    else:
                        ended = True
                        break
                    if not tokens.eat(","):
                        break
            found += f"({','.join(sizes)})"
            if ended or not tokens.eat(")") or tokens.kind != "(":
                return found

    def _number(self, word: str, default: int) -> str:
        tokens = self.tokens
        if not self._word(word) or not tokens.eat("(") or tokens.kind != INT:
            return ""
        at, number = tokens.start, tokens.integer()
        if number < 0:
            raise TextError(
                f"{word}({number}) of a layout is negative", at, "write a number from 0 on"
            )
        if not number and word == "L":
            raise TextError(
                "L(0) of a layout: an alignment counts from 1", at, "write a number from 1 on"
            )
        tokens.eat(")")
        return f"{word}({number})" if number != default else ""

    def _integer_type(self, mark: str) -> str:
        tokens, name = self.tokens, ""
        tokens.eat("(")
        if tokens.kind == TYPE:
            name = tokens.value
            if not PRIMITIVE_TYPES[name].is_integer:
                raise TextError(
                    f"{mark}({name}) must name a type of indices",
                    tokens.start,
                    "write an unsigned integer type such as u32",
                    len(name),
                )
            tokens.advance()
        tokens.eat(")")
        return f"{mark}({name})" if name else ""

    def _splits(self) -> str:
        """Return the splits read before the first invalid token, as XLA's parser does.

        The next character must then continue the layout.
        """
        tokens, found = self.tokens, ""
        while tokens.eat("(") and tokens.kind == INT:
            dimension, places = tokens.integer(), []
            listed = tokens.eat(":")
            more = listed and tokens.kind != ")"
            while more and tokens.kind == INT:
                places.append(tokens.integer())
                more = tokens.eat(",")
            found += f"({dimension}:{','.join(map(str, places))})"
            if more or not listed or not tokens.eat(")") or tokens.kind != "(":
                break
        return f"SC{found}" if found else ""


def same_dimensions(a: Shape, b: Shape) -> bool:
    """Return True if types and sizes agree, as XLA's parser compares; layouts are ignored."""
    if a.base is b.base:
        return True
    if a.tuple_shapes or b.tuple_shapes:
        return (
            a.is_tuple == b.is_tuple
            and len(a.tuple_shapes) == len(b.tuple_shapes)
            and all(map(same_dimensions, a.tuple_shapes, b.tuple_shapes))
        )
    if a.element_type is not b.element_type or len(a.dimensions) != len(b.dimensions):
        return False
    return all(
        x == y or UNBOUNDED in (x, y) for x, y in zip(a.dimensions, b.dimensions, strict=True)
    )


def same_sizes(a: Shape, b: Shape) -> bool:
    """Return True if structure and sizes agree, with any element types.

    Headers of real texts may have element types of an earlier pass.
    """
    if a.tuple_shapes or b.tuple_shapes:
        return len(a.tuple_shapes) == len(b.tuple_shapes) and all(
            map(same_sizes, a.tuple_shapes, b.tuple_shapes)
        )
    return a.dimensions == b.dimensions
