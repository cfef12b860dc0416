"""Cut replies of the agent tools to a budget of tokens; the rest is stored for `more(handle)`.

A tool returns a `Reply`. A new kind of content becomes a function that returns a `Part`, beside
`cells` and `text_part`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pandas

from xla_explorer.explorer.display.display import cell_text
from xla_explorer.foundation.visible_text import cleaned_text

MOST_TOKENS: Final = 2000
"""Upper limit of a reply. `tokens` overestimates, so a model's tokenizer counts fewer."""
LEAST_TOKENS: Final = 200
_NOTICE_TOKENS: Final = 60  # reserved for the last line, which says how much was cut
_LONGEST_LINE: Final = 600  # characters
_LONGEST_CELL: Final = 220  # characters
_FOLDERS: Final = re.compile(r"(?<![\w.])/(?:[^\s/:|()]+/)+(?=[^\s/:|()]+/[^\s/:|()]+\.py:\d)")
"""The folders in front of `package/file.py:12`."""
_TOKEN_RUNS: Final = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]|\n")


def tokens(text: str) -> int:
    """Return an upper estimate of the number of tokens of a text.

    A word counts as one token per four letters, and a number as one per three digits. Any other
    character counts as one token, or two if it is not ASCII.
    """
    count = 0
    for piece in _TOKEN_RUNS.findall(text):
        if piece[0].isascii() and piece[0].isalpha():
            count += -(-len(piece) // 4)
        elif piece[0].isdigit():
            count += -(-len(piece) // 3)
        else:
            count += 1 if piece.isascii() else 2
    return count


@dataclasses.dataclass
class Part:
    """Lines of a reply, the most important first.

    head: the line above them, such as column names; `more(handle)` repeats it.
    """

    lines: list[str]
    head: str = ""


@dataclasses.dataclass
class Reply:
    """A reply: a headline, parts, and hints for the next call."""

    headline: str
    parts: list[Part] = dataclasses.field(default_factory=list)
    hints: Sequence[str] = ()

    def fitted(self, budget: int, keep: Callable[[list[Part]], str]) -> str:
        """Return the text, cut to a budget of tokens.

        keep: a function that stores the parts that were cut, and returns their handle.
        """
        hints = [f"next: {hint}" for hint in self.hints]
        left = budget - _NOTICE_TOKENS - tokens("\n".join(hints))
        found: list[str] = []
        cut: list[Part] = []
        for line, part in _lines(self.headline, self.parts):
            size = tokens(line) + 1
            if not cut and size <= left:
                found.append(line)
                left -= size
            elif part is not None:
                if not cut or cut[-1].head != part.head:
                    cut.append(Part([], part.head))
                cut[-1].lines.append(line)
        if cut:
            count = sum([len(part.lines) for part in cut])
            found.append(f'[{count} more lines: more(handle="{keep(cut)}")]')
        return cleaned_text("\n".join([*found, *hints]))


def _lines(headline: str, parts: Sequence[Part]) -> Iterator[tuple[str, Part | None]]:
    """Yield (line, its part) in order; the part is None for lines that are never cut."""
    if headline:
        yield _short(headline), None
    for part in parts:
        if part.head:
            yield _short(part.head), None
        for line in part.lines:
            yield _short(line), part


def _short(line: str) -> str:
    """Return a line with the last two parts of paths of source lines, at most `_LONGEST_LINE`."""
    line = _FOLDERS.sub("", line.replace("\n", " "))
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE]}… ({len(line) - _LONGEST_LINE} more characters)"


def rows_part(frame: pandas.DataFrame, columns: Sequence[str], title: str = "") -> Part:
    """Return columns of a table as lines, with `|` between cells."""
    present = [name for name in columns if name in frame.columns]
    return cells(present, frame[present].astype(object).values.tolist(), title)


def cells(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> Part:
    """Return rows as lines, with `|` between cells and without empty columns."""
    texts = [[_cell(value) for value in row] for row in rows]
    shown = [k for k in range(len(columns)) if any(row[k] for row in texts)]
    lines = [" | ".join([row[k] for k in shown]) for row in texts]
    head = " | ".join([columns[k] for k in shown]) if lines else "none"
    return Part(lines, f"{title}: {head}" if title else head)


def _cell(value: Any) -> str:
    if isinstance(value, tuple | list):
        text = " ".join(map(str, value))
    elif value is None or value != value:
        text = ""
    elif isinstance(value, float):
        text = f"{value:.4g}"
    else:
        text = str(value) if isinstance(value, int) else cell_text(value)
    text = text.replace("\n", " ")
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def text_part(text: str, head: str = "") -> Part:
    """Return the non-empty lines of a text."""
    return Part([line.rstrip() for line in text.splitlines() if line.strip()], head)
