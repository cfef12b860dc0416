"""Strings in HLO text: their escapes, and one spelling for equal strings.

XLA reads C escapes and prints every byte beyond ASCII as octal; the canonical spelling here keeps
letters of all languages readable, and XLA reads it as the same string. Source:
absl/strings/escaping.cc CUnescape, CEscape.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abfnrtv\\?'\"])|)",
    re.DOTALL,
)
_SIMPLE = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}
_PLAIN = re.compile(r'"[^"\\\x00-\x1f\x7f]*+"')
_HIDDEN = re.compile('[\x00-\x1f\x7f"\\\\\udc80-\udcff]')
_WRITTEN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


class _EscapeError(Exception):
    """A backslash that begins no escape."""


def _unescaped(found: re.Match[bytes]) -> bytes:
    octal, digits, short, long, simple = found.groups()
    if simple is not None:
        return _SIMPLE.get(simple, simple)
    if octal is not None or digits is not None:
        byte = int(octal, 8) if octal is not None else int(digits, 16)
        if byte > 255:
            raise _EscapeError
        return bytes([byte])
    if short is None and long is None:
        raise _EscapeError
    point = int(short or long, 16)
    if point > 0x10FFFF or 0xD800 <= point < 0xE000:
        raise _EscapeError
    return chr(point).encode()


def string_value(quoted: str) -> str | None:
    r"""Return the content of a string in quotes of either kind; None if it has an unknown escape.

    Bytes outside UTF-8 become lone surrogates.

    Examples
    --------
    >>> string_value('"a\\303\\251"')
    'aé'
    """
    content = quoted[1:-1]
    if "\\" not in content:
        return content
    try:
        raw = _ESCAPE.sub(_unescaped, content.encode("utf-8", "surrogateescape"))
    except (_EscapeError, UnicodeEncodeError):
        return None
    return raw.decode("utf-8", "surrogateescape")


def quoted_string(value: str) -> str:
    """Return the canonical spelling of a string, in double quotes."""
    return (
        '"'
        + _HIDDEN.sub(lambda m: _WRITTEN.get(m.group()) or f"\\{ord(m.group()) & 0xFF:03o}", value)
        + '"'
    )


def canonical_string(quoted: str) -> str:
    """Return the canonical spelling of a quoted string with quotes and escapes of any kind."""
    if _PLAIN.fullmatch(quoted):
        return quoted
    value = string_value(quoted)
    return quoted if value is None else quoted_string(value)
