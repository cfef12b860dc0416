"""The error of shardings that do not fit, and its form for arguments of Python."""

from __future__ import annotations

import re

from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError


class ShardingError(XlaExplorerError, ValueError):
    """A program that cannot be partitioned: the message has the place, the hint the next step."""


def argument_error(
    argument: str, text: str, part: str, problem: str, hint: str, *, last: bool = False
) -> ShardingError:
    """Return the error about a Python argument, with a caret at a part of its text.

    last: the part's last occurrence.

    Examples
    --------
    >>> print(argument_error("mesh", "data=2,model", "model", "no size", "write model=4"))
    mesh:1:8
        data=2,model
               ^^^^^
    no size
      hint: write model=4
    """
    found = list(re.finditer(rf"(?<![\w.]){re.escape(part)}(?![\w.])", text)) if part else []
    at = found[-1 if last else 0].start() if found else 0
    span = SourceSpan.from_offset(text, at, len(part) if found else len(text), argument)
    return ShardingError(f"{span.caret()}\n{problem}", hint)
