"""Errors with place, cause and next step: spans, carets, and the base class of all errors."""

from __future__ import annotations

import pickle
from typing import Any

from xla_explorer.foundation.visible_text import cleaned_text


class XlaExplorerError(Exception):
    """Base of every error that this package raises on purpose.

    `str()` shows control characters of a quoted file as escapes.

    Parameters
    ----------
    message
        What happened, in one sentence.
    hint
        The next step, in one sentence.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> try:
    ...     xe.example("resnet")
    ... except xe.XlaExplorerError as problem:
    ...     print(problem.hint)
    choose from: attention, mlp_train
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return cleaned_text(f"{self.message}\n  hint: {self.hint}" if self.hint else self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts for pickle, without a subclass's constructor or unsupported values."""
        kept = {name: value for name, value in self.__dict__.items() if _is_supported(value)}
        return _error_again, (type(self), self.args, kept)


def _is_supported(value: object) -> bool:
    try:
        pickle.dumps(value)
    except Exception:  # sessions, traces and modules of a process: whatever their parts raise
        return False
    return True


def _error_again(
    kind: type[XlaExplorerError], given: tuple[Any, ...], fields: dict[str, Any]
) -> XlaExplorerError:
    builtin: type = kind
    while builtin.__module__ != "builtins":
        builtin = builtin.__base__  # type: ignore[assignment]  # the one that decides the layout
    made: XlaExplorerError = builtin.__new__(kind, *given)
    made.args = given
    made.__dict__.update(fields)
    return made


class SourceSpan:
    """A place in a source text. Lines and columns count from 1."""

    __slots__ = ("column", "end_column", "filename", "line", "line_text")

    def __init__(
        self, filename: str, line: int, column: int, end_column: int, line_text: str
    ) -> None:
        self.filename = filename
        self.line = line
        self.column = column
        self.end_column = end_column
        self.line_text = line_text

    @classmethod
    def from_offset(
        cls, text: str, offset: int, length: int = 1, filename: str | None = None
    ) -> SourceSpan:
        """Return the span of `length` characters at a character offset, clipped to its line."""
        offset = max(0, min(offset, len(text)))
        start = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        line_text = text[start : end if end >= 0 else len(text)]
        column = offset - start + 1
        return cls(
            filename or "<hlo>",
            text.count("\n", 0, offset) + 1,
            column,
            min(column + max(length, 1), max(len(line_text) + 1, column + 1)),
            line_text,
        )

    def caret(self) -> str:
        """Return three lines: `file:line:column`, the source line, the caret.

        The source line is cut to about 160 characters around the place.
        """
        text, column = self.line_text.replace("\t", " "), self.column
        prefix = ""
        if len(text) > 160:
            cut = max(0, column - 80)
            text, column = text[cut : cut + 160], column - cut
            prefix = "..." if cut else ""
        width = max(1, min(self.end_column - self.column, len(text) - column + 2))
        printable = cleaned_text(text, same_width=True)
        pad = " " * (len(prefix) + column - 1)
        return f"{cleaned_text(self.filename)}:{self.line}:{self.column}\n    {prefix}{printable}\n    {pad}{'^' * width}"

    def __repr__(self) -> str:
        return f"{cleaned_text(self.filename)}:{self.line}:{self.column}"
