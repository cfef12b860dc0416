"""Repetitions that somebody may be watching: how far they have come, for whoever shows progress."""

from __future__ import annotations

from collections.abc import Iterator


class Present:
    """done, total: of the repetitions that run now; total 0: none."""

    __slots__ = ("done", "total")

    def __init__(self) -> None:
        self.done = self.total = 0


present = Present()


def rounds(total: int) -> Iterator[int]:
    """`range(total)`, watched."""
    try:
        for number in range(total):
            present.done, present.total = number, total
            yield number
    finally:
        present.done = present.total = 0
