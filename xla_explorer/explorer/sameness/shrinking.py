"""The simplest arguments on which two programs still differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xla_explorer.explorer.sessions.arguments import Array

_MOST_TRIES = 400
_MOST_SECONDS = 10.0
_SHOWN = 4


def shrunk(leaves: list[Array], fails: Callable[[list[Array]], bool], place: int) -> list[Array]:
    """Return simpler arguments that fail too; the given ones if none do.

    place: the number of an element of the result that differs.
    """
    search = _Search([leaf.copy() for leaf in leaves], fails)
    if not search.accepts(search.leaves):
        return leaves
    search.one_value(place)
    for number in range(len(leaves)):
        search.whole(number)
    for number in range(len(leaves)):
        search.parts(number)
    for number in range(len(leaves)):
        search.numbers(number)
    return search.leaves


class _Search:
    """Arguments that fail, and the tries that are left."""

    def __init__(self, leaves: list[Array], fails: Callable[[list[Array]], bool]) -> None:
        self.leaves, self.fails, self.tries = leaves, fails, _MOST_TRIES
        self.until = time.monotonic() + _MOST_SECONDS

    @property
    def is_over(self) -> bool:
        """True if no tries or no time is left."""
        return self.tries <= 0 or time.monotonic() > self.until

    def accepts(self, leaves: list[Array]) -> bool:
        if self.is_over:
            return False
        self.tries -= 1
        return self.fails(leaves)

    def _try(self, number: int, new: Array) -> bool:
        if new.tobytes() == self.leaves[number].tobytes():
            return True
        changed = [*self.leaves[:number], new, *self.leaves[number + 1 :]]
        if not self.accepts(changed):
            return False
        self.leaves = changed
        return True

    def one_value(self, place: int) -> None:
        """Fill every argument with its value at the place that differs."""
        filled = [
            np.full(leaf.shape, leaf.reshape(-1)[place], leaf.dtype) if place < leaf.size else leaf
            for leaf in self.leaves
        ]
        if self.accepts(filled):
            self.leaves = filled

    def whole(self, number: int) -> None:
        """Replace a whole argument by zeros or ones."""
        leaf = self.leaves[number]
        for value in (0, 1):
            if self._try(number, np.full(leaf.shape, value, leaf.dtype)):
                return

    def parts(self, number: int) -> None:
        """Replace halves, quarters and so on by zeros."""
        size = self.leaves[number].size
        if len(set(_keys(self.leaves[number]))) == 1:
            return
        width = size // 2
        while width and not self.is_over:
            for start in range(0, size, width):
                if self.is_over:
                    return
                new = self.leaves[number].copy()
                new.reshape(-1)[start : start + width] = 0
                self._try(number, new)
            width //= 2

    def numbers(self, number: int) -> None:
        """Replace the remaining values by shorter ones."""
        flat = self.leaves[number].reshape(-1)
        if flat.size and len(set(_keys(flat))) == 1:
            for value in _shorter(flat[0]):
                if self._try(number, np.full(self.leaves[number].shape, value, flat.dtype)):
                    return
            return
        places = [k for k in range(flat.size) if flat[k] != 0][:16]
        for place in places:
            for value in _shorter(self.leaves[number].reshape(-1)[place]):
                new = self.leaves[number].copy()
                new.reshape(-1)[place] = value
                if self._try(number, new):
                    break


def _shorter(value: Any) -> Iterator[Any]:
    yield 1
    try:
        wide = float(value)
    except (TypeError, ValueError):
        return
    if np.isfinite(wide):
        for digits in (0, 1, 2, 4):
            yield round(wide, digits)


def described(leaves: list[Array], buffer: int | None = None) -> str:
    """Return arguments in words: their value everywhere, or the values at some places."""
    parts = [_described(number, leaf) for number, leaf in enumerate(leaves) if number != buffer]
    shown = "; ".join(parts[:_SHOWN])
    return shown + (f"; and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else "")


def _described(number: int, leaf: Array) -> str:
    flat = leaf.reshape(-1)
    if not flat.size:
        return f"argument {number}: empty"
    if len(set(_keys(flat))) == 1:
        everywhere = " everywhere" if flat.size > 1 else ""
        return f"argument {number}: {number_text(flat[0])}{everywhere}"
    zero = np.zeros((), leaf.dtype)
    other = [k for k in range(flat.size) if flat[k].tobytes() != zero.tobytes()]
    if len(other) <= _SHOWN:
        places = [f"[{_place(leaf, k)}] = {number_text(flat[k])}" for k in other]
        return f"argument {number}: 0 except {', '.join(places)}"
    values = ", ".join([number_text(one) for one in flat[:_SHOWN]])
    return f"argument {number}: {values}, ... ({flat.size} elements)"


def _keys(leaf: Array) -> list[bytes]:
    raw, size = leaf.tobytes(), leaf.dtype.itemsize
    return [raw[k : k + size] for k in range(0, len(raw), size)]


def _place(leaf: Array, flat: int) -> str:
    return ",".join([str(int(k)) for k in np.unravel_index(flat, leaf.shape)])


def number_text(value: Any) -> str:
    """Return a number of any element type as text."""
    return str(value.item() if value.dtype.kind in "biufc" else value)
