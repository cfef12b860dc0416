"""Errors in a notebook: one diagnostic and the user's own lines, no internal frames."""

from __future__ import annotations

import linecache
import os
import sysconfig
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, Final, TypeVar

from xla_explorer.foundation.diagnostic import XlaExplorerError

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MOST_LINES: Final = 6
_NOT_THE_USERS: Final = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    "<frozen ",
)


class MagicError(Exception):
    """The error of a magic: the message of our error, or of an unreadable file, shown alone.

    `problem` is the error itself.
    """

    def __init__(self, problem: BaseException) -> None:
        super().__init__("\n".join([diagnostic_text(problem), *user_lines(problem.__traceback__)]))
        self.problem = problem

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


class NotebookInterrupt(KeyboardInterrupt):
    """Ctrl-C in a magic: one line instead of the frames of the running code."""

    def _render_traceback_(self) -> list[str]:
        return [
            "Interrupted. Nothing was bound; the session and everything before it are as they were."
        ]


def diagnostic_text(problem: BaseException) -> str:
    """Return the message of an error, with its name unless the message contains it."""
    text = str(problem)
    name = type(problem).__name__
    return text if name in text else f"{name}: {text}"


def user_lines(
    traceback: TracebackType | None, named: Callable[[str], str | None] = lambda _: None
) -> list[str]:
    """Return the user's lines on the way to an error, the innermost first: in cells and functions.

    named: returns the name of a file for the user, if it is not its path. A cell of one line, which
    is visible anyway, is left out.
    """
    found: list[tuple[str, str]] = []
    while traceback is not None:
        code, line = traceback.tb_frame.f_code, traceback.tb_lineno
        traceback = traceback.tb_next
        if code.co_filename.startswith(_NOT_THE_USERS):
            continue
        function = f", in {code.co_name}" if not code.co_name.startswith("<") else ""
        place = named(code.co_filename) or os.path.basename(code.co_filename)
        found.append(
            (
                code.co_filename,
                (
                    f"  {place}, line {line}{function}: "
                    f"{linecache.getline(code.co_filename, line).strip()}"
                ),
            )
        )
    if len(found) == 1 and len("".join(linecache.getlines(found[0][0])).strip().splitlines()) < 2:
        return []
    return [text for _, text in found[: -_MOST_LINES - 1 : -1]]


def one_diagnostic(function: _Function) -> _Function:
    """Wrap a magic: its intended errors become one diagnostic."""

    @wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except XlaExplorerError as problem:
            raise MagicError(problem) from None
        except OSError as problem:
            if problem.filename is None:
                raise
            raise MagicError(problem) from None  # a file that the line names
        except KeyboardInterrupt:
            raise NotebookInterrupt from None

    return run  # type: ignore[return-value]  # the same signature


def show_without_frames(
    shell: Any,
    kind: type[BaseException],
    problem: BaseException,
    traceback: Any,
    tb_offset: int | None = None,
) -> None:
    """Handle our errors of plain calls in a cell, for IPython."""

    def named(filename: str) -> str | None:
        found = shell.compile.format_code_name(filename)  # ("Cell", "In[3]")
        return " ".join(found) if found else None

    shell._showtraceback(
        kind, problem, [*diagnostic_text(problem).split("\n"), *user_lines(traceback, named)]
    )
