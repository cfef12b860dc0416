"""Errors of StableHLO texts, each with the place, the cause and a next step."""

from __future__ import annotations

from typing import Any

from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.visible_text import cleaned_text


class StablehloError(XlaExplorerError, SyntaxError):
    """Invalid StableHLO text, or a program that breaks a rule of the dialect.

    `span` is the place, `hint` the next step; filename, lineno, offset and text are set as on
    Python's own SyntaxError.
    """

    def __init__(self, message: str, span: SourceSpan, hint: str) -> None:
        super().__init__(message, hint)
        self.span = span
        self.msg = cleaned_text(message)  # Python's own tracebacks show these, not str()
        self.filename, self.text = (
            cleaned_text(span.filename),
            cleaned_text(span.line_text, same_width=True),
        )
        self.lineno = self.end_lineno = span.line
        self.offset, self.end_offset = span.column, span.end_column

    def __str__(self) -> str:
        return f"{self.span.caret()}\n{cleaned_text(f'{type(self).__name__}: {self.message}')}\n  hint: {cleaned_text(self.hint)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.span, self.hint)


NEEDS_JAX = (
    '; with the extra jax (pip install "xla-explorer[jax]") jaxlib reads the other dialects that '
    "it supports"
)
"""The end of a hint that another reader may help."""


def scalar_constant(written: str) -> tuple[str, str]:
    """Return message and hint for a scalar constant of another dialect, such as `0 : index`."""
    return (
        f"the constant {written} is a scalar, and StableHLO computes with tensors alone",
        (
            "lower the dialects arith and tensor to StableHLO, or export with static "
            f"shapes{NEEDS_JAX}"
        ),
    )


class StablehloUnsupportedError(StablehloError):
    """A valid program that this package cannot convert to HLO; `reason` has the cause."""

    def __init__(self, reason: Reason, span: SourceSpan, hint: str) -> None:
        super().__init__(reason.message, span, hint)
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.span, self.hint)
