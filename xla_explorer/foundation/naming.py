"""Unique names as in XLA: `add`, `add.1`, `add.2`; a numeric suffix is replaced, not stacked.

Names are equal if stem and number are, in any spelling: `add` and `add.0` are both number 0 of
`add`, and `add.01` is number 1. So a second `add.1` becomes `add.0` while number 0 is free. Source:
xla/service/name_uniquer.cc.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_LONGEST_NUMBER = 18  # digits that surely fit 64 bits; a longer suffix is part of the stem


_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.\-]")


def legal_name(name: str) -> str:
    """Replace characters that are illegal in HLO names by underscores.

    Source: name_uniquer.cc GetSanitizedName.

    Examples
    --------
    >>> legal_name("a b/é"), legal_name("1st"), legal_name("add.1")
    ('a_b__', '_1st', 'add.1')
    """
    if _LEGAL.fullmatch(name):
        return name
    name = _ILLEGAL.sub("_", name)
    return name if _LEGAL.fullmatch(name) else f"_{name}"


def _numbered(name: str) -> bool:
    """Return True if a name ends in a number of its stem."""
    stem, _, suffix = name.rpartition(".")
    return bool(stem) and suffix.isdecimal() and suffix.isascii() and len(suffix) <= _LONGEST_NUMBER


class UniqueNames:
    """Source of names that are neither used nor reserved."""

    __slots__ = ("_next", "_taken", "_zeros")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        self._zeros: set[str] = set()  # stems whose number 0 is used in the spelling `stem.0`

    def _take(self, name: str) -> None:
        self._taken.add(name)
        if name.endswith(".0"):
            self._zeros.add(name[:-2])

    def _used(self, stem: str, number: int) -> bool:
        # A used `one.0` is number 0 of `one`, not of `one.0`.
        return f"{stem}.{number}" in self._taken or (
            number == 0 and stem in self._taken and not _numbered(stem)
        )

    def reserve(self, name: str) -> bool:
        """Mark a name as used, in its spelling; return False if it already was."""
        if name in self._taken:
            return False
        self._take(name)
        return True

    def reserve_all(self, names: Collection[str]) -> bool:
        """Mark all names as used and return True, unless `unique` would change one.

        Otherwise mark none and return False.
        """
        if not self._taken.isdisjoint(names) or not self._zeros.isdisjoint(names):
            return False
        zeros = set()
        for name in [name for name in names if ".0" in name]:
            stem, _, suffix = name.rpartition(".")
            if not _numbered(name) or suffix[0] != "0":
                continue
            if suffix != "0" or stem in names or stem in self._taken:
                return False
            zeros.add(stem)
        self._taken.update(names)
        self._zeros |= zeros
        return True

    def unique(self, wanted: str) -> str:
        """Return `wanted` if its number is free, else its stem with the first free number.

        Leading zeros of the number are dropped.
        """
        wanted = legal_name(wanted)
        stem, dot, suffix = wanted.rpartition(".")
        if not _numbered(wanted):
            stem, dot, suffix = wanted, "", "0"
        number = int(suffix)
        if self._used(stem, number):
            number = self._next.get(stem, 0)
            while self._used(stem, number):
                number += 1
            self._next[stem] = number + 1
        name = f"{stem}.{number}" if dot or number else stem
        self._take(name)
        return name
