"""Printed text: it quotes a user's file, and a terminal obeys control characters."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from xla_explorer.foundation.visible_text import cleaned_text


class CleanedStream:
    """A text stream that escapes control, bidirectional and invisible characters.

    `raw` is the stream behind it.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write the cleaned text."""
        self.raw.write(cleaned_text(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def cleaned_output() -> Iterator[None]:
    """Escape printed text while the block runs.

    JSON has no such characters: it is printed in ASCII.
    """
    with redirect_stdout(CleanedStream(sys.stdout)):
        yield


def say(text: str) -> None:
    """Print to standard error, cleaned.

    Progress is written there by others, with returns of its own.
    """
    print(cleaned_text(text), file=sys.stderr)


def print_exactly(text: str) -> None:
    """Print a module, escaped on a terminal and unchanged into a file or a pipe."""
    stream = sys.stdout
    if isinstance(stream, CleanedStream) and not stream.isatty():
        stream = stream.raw
    print(text, file=stream)
