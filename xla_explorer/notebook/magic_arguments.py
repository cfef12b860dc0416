"""The arguments of magics as values, with errors that name the argument."""

from __future__ import annotations

import ast
import shlex
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import parse_argstring

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.notebook.completion import SHOWN


def shown_words(text: str) -> list[str]:
    """Return the words of --show, checked."""
    wanted = [word for word in text.split(",") if word]
    for word in wanted:
        if word not in SHOWN:
            known = ", ".join(SHOWN)
            raise UsageError(f"argument --show: invalid choice: {word!r} (choose from {known})")
    return wanted


def parsed_line(magic: Any, line: str) -> Any:
    """Return the arguments of a cell magic; None for `--help`, which is printed."""
    words = line.split()
    if "-h" in words or "--help" in words:
        print(magic.__doc__.strip())
        return None
    try:
        return parse_argstring(magic, line)
    except UsageError as problem:
        known = [
            action for action in magic.parser._option_string_actions if action.startswith("--")
        ]
        unknown = [
            word for word in words if word.startswith("--") and word.partition("=")[0] not in known
        ]
        near = nearest(unknown[0].partition("=")[0], known, 1) if unknown else []
        meant = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"{problem}{meant}; --help lists the arguments") from None


def words_of(line: str) -> list[str]:
    """Return the words of a line magic."""
    try:
        return shlex.split(line)
    except ValueError as problem:
        raise UsageError(f"{line.strip()}: {str(problem).lower()}") from None


def shapes_of(text: str | None) -> list[Any] | None:
    """Return the list that the argument `--shapes` spells."""
    if text is None:
        return None
    try:
        return list(ast.literal_eval(text))
    except (SyntaxError, TypeError, ValueError):
        wanted = "write a list such as [(2,3),()]"
        raise UsageError(f"argument --shapes: {wanted}, got {text}") from None
