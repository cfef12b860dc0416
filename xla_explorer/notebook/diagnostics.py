"""Errors in a notebook: one diagnostic, no internal frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from xla_explorer.foundation.diagnostic import XlaExplorerError

_Function = TypeVar("_Function", bound=Callable[..., Any])


class NotebookDiagnostic(Exception):
    """What a magic raises: the message of our error, or of a file that cannot be had, shown alone. `problem` is the error itself."""

    def __init__(self, problem: BaseException) -> None:
        super().__init__(diagnostic_text(problem))
        self.problem = problem

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


class NotebookInterrupt(KeyboardInterrupt):
    """Ctrl-C in a magic: one line instead of the frames of whatever was at work."""

    def _render_traceback_(self) -> list[str]:
        return ["Interrupted. Nothing was bound; the session and everything before it are as they were."]


def diagnostic_text(problem: BaseException) -> str:
    """The error as people should read it: with its name unless it says it itself."""
    text = str(problem)
    name = type(problem).__name__
    return text if name in text else f"{name}: {text}"


def one_diagnostic(function: _Function) -> _Function:
    """Decorate a magic: errors that we raise on purpose become one diagnostic."""

    @wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except XlaExplorerError as problem:
            raise NotebookDiagnostic(problem) from None
        except OSError as problem:
            if problem.filename is None:
                raise
            raise NotebookDiagnostic(problem) from None  # a file that the line names
        except KeyboardInterrupt:
            raise NotebookInterrupt from None

    return run  # type: ignore[return-value]  # the same signature


def show_without_frames(
    shell: Any, kind: type[BaseException], problem: BaseException, _traceback: Any, tb_offset: int | None = None
) -> None:
    """IPython's handler for our errors raised by plain calls in a cell."""
    shell._showtraceback(kind, problem, diagnostic_text(problem).split("\n"))
