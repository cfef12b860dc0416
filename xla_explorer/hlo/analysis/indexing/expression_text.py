"""Index expressions from text: `parse_index(str(x), axes)` is `x`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.indexing.expression import (
    Axis,
    IndexExpression,
    Place,
    RuntimeValue,
    index,
)

_TOKEN = re.compile(r"\s*(//|\d+|%?[A-Za-z_][\w.\-]*|%\d+|[-+*%()\[\],])")


class IndexSyntaxError(XlaExplorerError, ValueError):
    """The text is not an index expression."""


def parse_index(text: str, axes: Iterable[Axis]) -> IndexExpression:
    """Parse an index expression over the given axes."""
    place = parse_place(text, axes)
    if len(place) != 1:
        raise IndexSyntaxError(f"expected one index, got {len(place)}: {text!r}")
    return place[0]


def parse_place(text: str, axes: Iterable[Axis]) -> Place:
    """Parse indices separated by commas."""
    return _Reader(text, {a.name: a for a in axes}).place()


class _Reader:
    """A recursive descent parser with Python's precedence and associativity."""

    def __init__(self, text: str, axes: dict[str, Axis]) -> None:
        self.text, self.axes = text, axes
        self.tokens: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise IndexSyntaxError(f"cannot read {text[at:]!r} in the index {text!r}")
            self.tokens.append(found[1])
            at = found.end()
        self.at = 0

    def place(self) -> Place:
        return self.indices("")

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if wanted is not None and token != wanted:
            raise IndexSyntaxError(
                f"expected {wanted or 'the end'!r} before {token or 'the end'!r} in the index "
                f"{self.text!r}"
            )
        self.at += 1
        return token

    def indices(self, end: str) -> Place:
        found: list[IndexExpression] = []
        while self.peek() != end:
            if found:
                self.take(",")
            found.append(self.sum())
        return tuple(found)

    def sum(self) -> IndexExpression:
        total = self.product()
        while self.peek() in ("+", "-"):
            total = total + self.product() if self.take() == "+" else total - self.product()
        return total

    def product(self) -> IndexExpression:
        total = self.factor()
        while self.peek() in ("*", "//", "%"):
            operator, right = self.take(), self.factor()
            if operator == "*" and not total.terms:
                total = right * total.constant
            elif right.terms:
                raise IndexSyntaxError(
                    f"the right side of {operator} must be a number, got {right} in the index "
                    f"{self.text!r}"
                )
            elif operator == "*":
                total = total * right.constant
            else:
                total = total // right.constant if operator == "//" else total % right.constant
        return total

    def number(self) -> int:
        sign = -1 if self.peek() == "-" else 1
        self.at += sign < 0
        if not self.peek().isdigit():
            raise IndexSyntaxError(
                f"expected a number, got {self.peek()!r} in the index {self.text!r}"
            )
        return sign * int(self.take())

    def factor(self) -> IndexExpression:
        token = self.take()
        if token == "-":
            return -self.product()
        if token == "(":
            found = self.sum()
            self.take(")")
            return found
        if token.isdigit():
            return index(int(token))
        if token == "clamp" and self.peek() == "(":
            self.take("(")
            source = self.take()
            self.take("[")
            place = self.indices("]")
            self.take("]")
            self.take(",")
            low = self.number()
            self.take(",")
            high = self.number()
            self.take(")")
            return index(RuntimeValue(source, place, low, high))
        if token not in self.axes:
            raise IndexSyntaxError(
                f"unknown axis {token!r} in the index {self.text!r}; the axes are: "
                f"{', '.join(self.axes) or 'none'}"
            )
        return index(self.axes[token])
