"""The tokens of HLO text, and a cursor over them for the careful readers.

An identifier directly followed by `=` or `:` is a token of its own (the name of an attribute, a
name). Blanks and comments may separate any two tokens. Source: xla/hlo/parser/hlo_lexer.cc.
"""

from __future__ import annotations

import re

from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import BLANK, KEYWORDS
from xla_explorer.hlo.text.lexical import STRING as STRING_PATTERN
from xla_explorer.hlo.text.strings import string_value

# Kinds of tokens with a value. Punctuation and keywords are kinds of their own, named by their
# text.
IDENT, NAME, ATTRIBUTE, TYPE, STRING = (
    "identifier",
    "name",
    "attribute name",
    "element type",
    "string",
)
INT, DECIMAL, DXD, PAD, DIM_LABELS = "integer", "decimal", "sizes", "padding", "dimension labels"
END, ERROR = "end of the text", "error"

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*+")
_PUNCTUATION = re.compile(r"->|<=|\.\.\.|[=,:*#+~\[\]{}()]")
_DIM_LABELS = re.compile(r"[0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}")
_DECIMAL = re.compile(
    r"-?(?:(?:[0-9]+\.[0-9]*|[0-9]*\.[0-9]+|[0-9]+)[eE][+-]?[0-9]+|[0-9]+\.[0-9]*|[0-9]*\.[0-9]+)"
)
_DXD = re.compile(r"[0-9]+(?:x[0-9]+)+")
_PAD = re.compile(r"-?[0-9]+_-?[0-9]+(?:_[0-9]+)?(?:x-?[0-9]+_-?[0-9]+(?:_[0-9]+)?)*")
_INT = re.compile(r"-?[0-9]+")
_NAN = re.compile(r"-?nan(?:\(0x([0-9a-fA-F]+)\))?")
_JSON_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+"|[^"]')
_MOST_PAYLOAD = (1 << 52) - 1
_SPOKEN = {
    END: "the end of the text",
    NAME: "a name",
    IDENT: "a word",
    ATTRIBUTE: "the name of an attribute",
    TYPE: "an element type",
}


class Tokens:
    """A cursor over tokens: `kind` and `value` of the token from `start` to `end`.

    previous_end: the end of the token before. value: a name without its percent sign, colon or
    equals sign; numbers, patterns and strings as written.
    """

    __slots__ = ("end", "kind", "previous_end", "start", "text", "value")

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.end = self.previous_end = at
        self.kind = self.value = ""
        self.start = at
        self.advance()
        self.previous_end = at

    def advance(self) -> None:
        """Advance to the next token."""
        text = self.text
        self.previous_end = self.end
        blank = BLANK.match(text, self.end)
        start = self.start = blank.end() if blank is not None else self.end
        if start >= len(text):
            self.kind, self.value, self.end = END, "", start
            return
        found = _PUNCTUATION.match(text, start)
        if found is not None:
            self.kind = self.value = found.group()
            self.end = found.end()
            return
        found = _IDENTIFIER.match(text, start)
        if found is not None:
            self._identifier(found)
            return
        self._other(start)

    def _set(self, kind: str, end: int) -> None:
        self.kind, self.value, self.end = kind, self.text[self.start : end], end

    def _identifier(self, found: re.Match[str]) -> None:
        text, word, end = self.text, found.group(), found.end()
        following = text[end : end + 1]
        if following in (":", "="):  # an empty text is in no pair
            self.kind, self.value, self.end = NAME if following == ":" else ATTRIBUTE, word, end + 1
            return
        if word in PRIMITIVE_TYPES:
            self._set(TYPE, end)
        elif word == "nan":
            self._nan()
        elif word in KEYWORDS:
            self._set(word, end)
        else:
            labels = _DIM_LABELS.match(text, self.start) if word[0] in "bf" else None
            self._set(*((DIM_LABELS, labels.end()) if labels else (IDENT, end)))

    def _nan(self) -> None:
        found = _NAN.match(self.text, self.start)
        assert found is not None
        payload = int(found.group(1), 16) if found.group(1) else 1
        bare = found.group(1) is None and self.text.startswith("(", found.end())
        self._set(ERROR if bare or not 0 < payload <= _MOST_PAYLOAD else DECIMAL, found.end())

    def _other(self, start: int) -> None:
        text, first = self.text, self.text[start]
        if first in "0123456789-?":
            for pattern, kind in (
                (_DECIMAL, DECIMAL),
                (_DIM_LABELS, DIM_LABELS),
                (_DXD, DXD),
                (_PAD, PAD),
                (_INT, INT),
            ):
                found = pattern.match(text, start)
                if found is not None:
                    self._set(kind, found.end())
                    if kind == INT and self.end - start > 18:
                        self._long_integer()
                    return
            if text.startswith("-inf", start):
                self._set("-inf", start + 4)
            elif text.startswith("-nan", start):
                self._nan()
            else:
                self._set("?" if first == "?" else ERROR, start + 1)
            return
        if first == "%":
            found = _IDENTIFIER.match(text, start + 1)
            if found is not None:
                self.kind, self.value, self.end = NAME, found.group(), found.end()
                return
        elif first in "\"'":
            found = STRING_PATTERN.match(text, start)
            if found is not None:
                self._set(STRING, found.end())
                if "\\" in self.value and string_value(self.value) is None:
                    self.kind = ERROR
                return
        self._set(ERROR, start + 1)

    def _long_integer(self) -> None:
        """Remove leading zeros, because Python reads at most 4,300 digits.

        An error beyond 64 bits.
        """
        sign = "-" if self.value[0] == "-" else ""
        digits = self.value.lstrip("-").lstrip("0") or "0"
        if len(digits) > 20 or not -(1 << 63) <= int(sign + digits) < 1 << 64:
            self.kind = ERROR
        else:
            self.value = sign + digits

    # -- questions ---------------------------------------------------------------------------------
    def look_ahead(self) -> str:
        """Return the kind of the next token."""
        return Tokens(self.text, self.end).kind

    def problem(self, expected: str, hint: str = "") -> TextError:
        """Return the problem `expects ...` at this token, with the text found instead."""
        if self.kind == ERROR and self.text.startswith("/*", self.start):
            return TextError("unterminated comment", self.start, "close the comment with */", 2)
        if self.kind == ERROR and self.value and self.value[0] in "\"'":
            closed = len(self.value) > 1
            message = (
                "a string with an escape that there is not" if closed else "unterminated string"
            )
            return TextError(
                message, self.start, f"close the string with {self.value[0]}", len(self.value)
            )
        seen = (
            _SPOKEN.get(self.kind)
            if not self.value
            else self.text[self.start : min(self.end, self.start + 40)]
        )
        return TextError(
            f"expects {expected}, but sees {seen}",
            self.start,
            hint or f"write {expected} here",
            max(self.end - self.start, 1),
        )

    # -- steps -------------------------------------------------------------------------------------
    def eat(self, kind: str) -> bool:
        """Parse this token if it has the kind; return True if so."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str, expected: str = "", hint: str = "") -> str:
        """Parse a token of the kind; its value. TextError for any other token."""
        if self.kind != kind:
            raise self.problem(
                expected or _SPOKEN.get(kind, f"'{kind}'" if len(kind) < 4 else f"a {kind}"), hint
            )
        value = self.value
        self.advance()
        return value

    def name(self, what: str = "a name", hint: str = "") -> str:
        """Parse a name, with or without a percent sign or a colon."""
        if self.kind not in (IDENT, NAME):
            raise self.problem(what, hint)
        value = self.value
        self.advance()
        return value

    def integer(self) -> int:
        """Parse an integer of 64 bits; one beyond them is read as its bits."""
        number = int(self.expect(INT, "an integer"))
        return number - (1 << 64) if number >= 1 << 63 else number

    def number(self) -> str:
        """Parse a number that a double holds; as written."""
        if self.kind not in (DECIMAL, INT, "inf", "-inf"):
            raise self.problem("a number")
        value = self.value
        if (
            self.kind == DECIMAL
            and "nan" not in value
            and float(value) in (float("inf"), float("-inf"))
        ):
            raise TextError(
                f"{value} is out of the range of a double",
                self.start,
                "write inf, or a smaller number",
                len(value),
            )
        self.advance()
        return value

    def dictionary(self) -> str:
        """Parse a JSON dictionary whose opening brace is this token, and return it unchanged.

        Comment marks inside it are plain text.
        """
        if self.kind != "{":
            raise self.problem("a string or a dictionary in braces")
        depth, at = 0, self.start
        while True:
            piece = _JSON_PIECE.match(self.text, at)
            if piece is None or piece.group() == '"':
                raise TextError(
                    "the dictionary is never closed", self.start, "close its braces and its strings"
                )
            depth += {"{": 1, "}": -1}.get(piece.group(), 0)
            at = piece.end()
            if not depth:
                break
        value = self.text[self.start : at]
        self.end = at
        self.advance()
        return value
