"""Work in parts that somebody may be watching: how far it has come, for whoever shows progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Present:
    """done, total: of the parts of what runs now; total 0: not known. noun: what a part is."""

    __slots__ = ("done", "noun", "total")

    def __init__(self) -> None:
        self.done, self.total, self.noun = 0, 0, "runs"


present = Present()


@contextmanager
def counting(total: int, noun: str) -> Iterator[Present]:
    """A block of so many parts; it sets `done` itself. What ran around it goes on after it."""
    before = present.done, present.total, present.noun
    present.done, present.total, present.noun = 0, total, noun
    try:
        yield present
    finally:
        present.done, present.total, present.noun = before


def rounds(total: int) -> Iterator[int]:
    """`range(total)`, watched."""
    with counting(total, "runs"):
        for number in range(total):
            present.done = number
            yield number
