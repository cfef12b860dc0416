"""The one error of the parser: place, problem and next step."""

from __future__ import annotations

from typing import Any

from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.visible_text import cleaned_text


class HloParseError(XlaExplorerError, SyntaxError):
    """HLO text that cannot be read. `str()` is one diagnostic with one caret.

    Attributes
    ----------
    span
        The place of the error.
    hint
        The next step.
    filename, lineno, offset, end_lineno, end_offset, text
        As on Python's own SyntaxError, so that tracebacks and notebooks point at the place.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> try:
    ...     xe.parse_hlo("ENTRY main { x = f99[4] parameter(0) }")
    ... except xe.errors.HloParseError as problem:
    ...     print(problem.lineno, problem.offset, problem.message)
    1 18 unknown element type f99
    """

    def __init__(self, message: str, span: SourceSpan, hint: str) -> None:
        super().__init__(message, hint)
        self.span = span
        self.msg = cleaned_text(message)  # Python's own tracebacks show these, not str()
        self.filename = cleaned_text(span.filename)
        self.lineno = span.line
        self.offset = span.column
        self.end_lineno = span.line
        self.end_offset = span.end_column
        self.text = cleaned_text(span.line_text, same_width=True)

    def __str__(self) -> str:
        return f"{self.span.caret()}\n{cleaned_text(f'HloParseError: {self.message}')}\n  hint: {cleaned_text(self.hint)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return HloParseError, (self.message, self.span, self.hint)


class TextError(ValueError):
    """A problem in a piece of text whose file is still unknown.

    at: character offset in the text given to the reader that raised it. length: the number of
    characters to underline.
    """

    def __init__(self, message: str, at: int, hint: str = "", length: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint
        self.length = length
