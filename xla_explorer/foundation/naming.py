"""Unique names in XLA's manner: `add`, `add.1`, `add.2`; a numeric suffix of the request is replaced, not stacked.

Source: xla/service/name_uniquer.cc. A bare stem counts as number 0, so a second `add.1` becomes `add.0` while `add` is free."""

from __future__ import annotations

from collections.abc import Collection


class UniqueNames:
    """Hands out names that were not handed out (or reserved) before."""

    __slots__ = ("_next", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def reserve(self, name: str) -> bool:
        """Mark a name as taken. False if it was taken already."""
        if name in self._taken:
            return False
        self._taken.add(name)
        return True

    def reserve_all(self, names: Collection[str]) -> bool:
        """Mark all these names as taken, unless one of them is taken already: then mark none and say False."""
        if not self._taken.isdisjoint(names):
            return False
        self._taken.update(names)
        return True

    def unique(self, wanted: str) -> str:
        """`wanted` itself when free, else its stem with the first free numeric suffix."""
        if wanted not in self._taken:
            self._taken.add(wanted)
            return wanted
        stem, dot, suffix = wanted.rpartition(".")
        if not dot or not suffix.isdigit():
            stem = wanted
        number = self._next.get(stem, 1 if stem in self._taken else 0)
        while (name := f"{stem}.{number}") in self._taken:
            number += 1
        self._next[stem] = number + 1
        self._taken.add(name)
        return name
