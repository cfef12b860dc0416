"""Unique names in XLA's manner: `add`, `add.1`, `add.2`; a numeric suffix of the request is replaced, not stacked.

What counts is the pair of stem and number, whatever its spelling: `add` and `add.0` are both number 0 of `add`, and `add.01` is
number 1. So a second `add.1` becomes `add.0` while number 0 is free. Source: xla/service/name_uniquer.cc."""

from __future__ import annotations

import re
from collections.abc import Collection

_LONGEST_NUMBER = 18  # digits that surely fit 64 bits; a longer suffix is part of the stem


_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.\-]")


def legal_name(name: str) -> str:
    """The name with an underscore for each character that HLO text does not know in names. Source: name_uniquer.cc GetSanitizedName.

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
    """Whether a name ends in a number of its stem."""
    stem, _, suffix = name.rpartition(".")
    return bool(stem) and suffix.isdecimal() and suffix.isascii() and len(suffix) <= _LONGEST_NUMBER


class UniqueNames:
    """Hands out names that were not handed out (or reserved) before."""

    __slots__ = ("_next", "_taken", "_zeros")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        self._zeros: set[str] = set()  # stems whose number 0 is taken in the spelling `stem.0`

    def _take(self, name: str) -> None:
        self._taken.add(name)
        if name.endswith(".0"):
            self._zeros.add(name[:-2])

    def _used(self, stem: str, number: int) -> bool:
        # A taken `one.0` is number 0 of `one`, not of `one.0`.
        return f"{stem}.{number}" in self._taken or (
            number == 0 and stem in self._taken and not _numbered(stem)
        )

    def reserve(self, name: str) -> bool:
        """Mark a name as taken, as it is spelled. False if it was taken already."""
        if name in self._taken:
            return False
        self._take(name)
        return True

    def reserve_all(self, names: Collection[str]) -> bool:
        """Mark all these names as taken, unless `unique` would change one of them: then mark none and say False."""
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
        """`wanted` itself when its number is free (without leading zeros), else its stem with the first free number."""
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
