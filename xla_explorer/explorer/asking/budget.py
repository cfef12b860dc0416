"""Budgets of answers: the most characters, rows or tokens."""

from __future__ import annotations

from typing import NamedTuple

CHARACTERS_PER_TOKEN = 3
"""A lower bound for JSON with names, numbers and shapes, measured with byte-pair encodings."""


class Budget(NamedTuple):
    """The most that an answer may have.

    characters: of its JSON or text. rows: of a table, or lines of a text. tokens: of a language
    model, at CHARACTERS_PER_TOKEN characters each. None: no limit.
    """

    characters: int | None = None
    rows: int | None = None
    tokens: int | None = None

    @property
    def room(self) -> int | None:
        """The most characters, by characters and tokens; None without a limit."""
        limits = [
            self.characters,
            None if self.tokens is None else self.tokens * CHARACTERS_PER_TOKEN,
        ]
        return min([one for one in limits if one is not None], default=None)


NO_LIMIT = Budget()
