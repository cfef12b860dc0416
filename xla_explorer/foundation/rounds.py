"""Progress of work in parts, for progress displays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Present:
    """Progress of the running work.

    done, total: parts; total 0: unknown. noun: of a part. owner: the counting thread, 0 for none.
    """

    __slots__ = ("done", "noun", "owner", "total")

    def __init__(self) -> None:
        self.done, self.total, self.noun, self.owner = 0, 0, "runs", 0


present = Present()


@contextmanager
def counting(total: int, noun: str) -> Iterator[Present]:
    """Count a block of parts, which sets `done` itself; the outer count continues afterwards.

    Only one thread's count is displayed.
    """
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
    """Iterate over `range(total)` with displayed progress."""
    with counting(total, "runs") as counted:
        for number in range(total):
            counted.done = number
            yield number
