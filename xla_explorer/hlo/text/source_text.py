"""Decoding of the parser's input to one string with one convention of line ends."""

from __future__ import annotations

from xla_explorer.foundation.diagnostic import SourceSpan
from xla_explorer.hlo.text.errors import HloParseError


def decode_source(text: str | bytes, filename: str | None) -> str:
    """Return bytes as UTF-8 with one convention of line ends.

    HloParseError at the first bad byte.
    """
    if isinstance(text, (bytes, bytearray, memoryview)):
        raw = bytes(text)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as problem:
            before = raw[: problem.start].decode("utf-8")
            shown = before + raw[problem.start :].decode("utf-8", "replace")
            span = SourceSpan.from_offset(shown, len(before), 1, filename)
            raise HloParseError(
                f"byte 0x{raw[problem.start]:02x} at offset {problem.start} is not valid UTF-8",
                span,
                "save the file as UTF-8; is it a serialized proto rather than text?",
            ) from None
    elif not isinstance(text, str):
        raise TypeError(f"HLO text is str or bytes, not {type(text).__name__}")
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
