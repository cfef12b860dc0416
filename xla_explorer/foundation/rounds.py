"""Work in parts that somebody may be watching: how far it has come, for whoever shows progress."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Present:
    """done, total: of the parts of what runs now; total 0: not known. noun: what a part is. owner: the thread that counts, 0 for none."""

    __slots__ = ("done", "noun", "owner", "total")

    def __init__(self) -> None:
        self.done, self.total, self.noun, self.owner = 0, 0, "runs", 0


present = Present()


@contextmanager
def counting(total: int, noun: str) -> Iterator[Present]:
    """A block of so many parts; it sets `done` itself. What ran around it goes on after it. While a thread counts, nobody sees what
    others count."""
    me = threading.get_ident()
    if present.owner not in (0, me):
        yield Present()
        return
    before = present.done, present.total, present.noun, present.owner
    present.done, present.total, present.noun, present.owner = 0, total, noun, me
    try:
        yield present
    finally:
        present.done, present.total, present.noun, present.owner = before


def rounds(total: int) -> Iterator[int]:
    """`range(total)`, watched."""
    with counting(total, "runs") as counted:
        for number in range(total):
            counted.done = number
            yield number
