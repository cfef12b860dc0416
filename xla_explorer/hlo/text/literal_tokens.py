"""Literals in any legal spelling, read token by token.

`literal_text` uses this reader if its vectorised reader fails. XLA ignores extra and missing
commas, and accepts the first number alone for a whole array. Source: hlo_parser.cc
ParseDenseLiteral.
"""

from __future__ import annotations

from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.tokens import DECIMAL, INT, Tokens

_MOST_DIMENSIONS = 64
_VALUES = frozenset({INT, DECIMAL, "true", "false", "inf", "-inf", "("})


def literal_text(shape: Shape, tokens: Tokens) -> str:
    """Parse the literal of a shape and return it as XLA prints it; TextError for other text."""
    if not shape.is_tuple:
        return _array(shape, tokens)
    tokens.expect("(", "'(' in front of tuple elements", "write a tuple literal as (1, {2, 3})")
    parts = []
    for number, part in enumerate(shape.tuple_shapes):
        if number:
            tokens.eat(",")  # XLA does not insist on it
        parts.append(literal_text(part, tokens))
    tokens.expect(")", f"')' after {len(parts)} tuple elements", "close the tuple literal")
    return "(" + ", ".join(parts) + ")"


def _value(shape: Shape, tokens: Tokens) -> str:
    """Parse one number, truth value or complex pair."""
    element_type = shape.element_type
    if element_type.is_complex:
        tokens.expect("(", "a complex number such as (1, -2)")
        real = tokens.number()
        tokens.expect(",", "',' and the imaginary part")
        imaginary = tokens.number()
        tokens.expect(")", "')' after the complex number")
        return f"({real}, {imaginary})"
    if element_type.is_pred and tokens.kind in ("true", "false"):
        value = tokens.kind
        tokens.advance()
        return value
    if element_type.is_float:
        return tokens.number()
    if element_type.is_pred:
        return "1" if tokens.integer() else "0"
    return tokens.expect(INT, f"an integer for primitive type: {element_type.name.upper()}")


def _array(shape: Shape, tokens: Tokens) -> str:
    if not shape.is_array or shape.rank > _MOST_DIMENSIONS:
        raise TextError(
            f"a {shape.text_without_layout} has no literals",
            tokens.start,
            "constants are arrays, scalars or tuples of them",
        )
    return _ArrayReader(shape, tokens).read()


class _ArrayReader:
    """Reader of one array literal; `seen` counts the elements at each open level."""

    def __init__(self, shape: Shape, tokens: Tokens) -> None:
        self.shape, self.tokens = shape, tokens
        self.seen = [0] * shape.rank
        self.depth = 0
        self.parts: list[str] = []
        self.elided = False

    def read(self) -> str:
        """Parse the literal and return it in XLA's spelling."""
        readers = {"{": self._open, "}": self._close, "...": self._elide, ",": self.tokens.advance}
        while True:
            kind = self.tokens.kind
            if kind in readers:
                readers[kind]()
            elif kind in _VALUES:
                self._element()
            else:
                raise self.tokens.problem("a number or a brace in a literal")
            if not self.depth:
                return self._text()

    def _open(self) -> None:
        self.depth += 1
        if self.depth > self.shape.rank:
            raise self._wrong(f"expects nested array in rank {self.shape.rank}, but sees larger")
        if self.depth > 1:
            self.seen[self.depth - 2] += 1
        self.parts.append("{")
        self.tokens.advance()

    def _close(self) -> None:
        self.depth -= 1
        if self.depth < 0:
            raise self._wrong("unexpected '}'")
        wanted, seen = self.shape.dimensions[self.depth], self.seen[self.depth]
        if seen != wanted:
            raise self._wrong(f"expects {wanted} elements, but sees {seen}")
        self.seen[self.depth] = 0
        self.parts.append("}")
        self.tokens.advance()

    def _elide(self) -> None:
        if self.depth != 1:
            raise self._wrong(
                f"expects `...` at nest level 1, but sees it at nest level {self.depth}"
            )
        self.seen[0], self.elided = self.shape.dimensions[0], True
        self.tokens.advance()

    def _element(self) -> None:
        depth, rank = self.depth, self.shape.rank
        if depth != rank and (depth or self.tokens.kind == "("):
            raise self._wrong(f"expects nested array in rank {rank}, but sees {depth}")
        if depth:
            most = self.shape.dimensions[depth - 1]
            self.seen[depth - 1] += 1
            if self.seen[depth - 1] > most:
                raise self._wrong(
                    f"expects {most} elements on the minor-most dimension, but sees more"
                )
        elif not self.shape.element_count:
            raise self._wrong("the array has no elements")
        self.parts.append(_value(self.shape, self.tokens))

    def _wrong(self, message: str) -> TextError:
        shape, tokens = self.shape, self.tokens
        hint = f"a literal of shape {shape.text_without_layout} nests {shape.rank} deep"
        return TextError(message, tokens.start, hint, max(tokens.end - tokens.start, 1))

    def _text(self) -> str:
        shape, parts = self.shape, self.parts
        if self.elided:
            return "{...}"
        if not parts:  # nothing but a comma: XLA leaves zeros
            if not shape.element_count:
                return "".join(["{" * shape.rank, "}" * shape.rank])
            parts.append("0" if not shape.element_type.is_complex else "(0, 0)")
        return "".join(
            [
                ("," if number and part != "}" and parts[number - 1] != "{" else "") + part
                for number, part in enumerate(parts)
            ]
        )
