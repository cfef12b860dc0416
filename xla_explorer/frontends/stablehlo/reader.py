"""The lexer of MLIR text: a cursor that consumes tokens, and errors with a source location.

It consumes white space, comments, keywords, numbers, strings and balanced brackets. Syntax of
operations, types and attributes belongs into the parsers that use it. Source: the lexical structure
of https://mlir.llvm.org/docs/LangRef.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from xla_explorer.foundation.diagnostic import SourceSpan
from xla_explorer.foundation.reason import refuse
from xla_explorer.frontends.stablehlo.errors import StablehloError, StablehloUnsupportedError

_BLANK = re.compile(r"(?:\s++|//[^\n]*+)*+")
WORD = re.compile(r"[A-Za-z_][\w$.\-]*")
IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*")
VALUE = re.compile(r"(%[\w$.\-]+)(?:#(\d+))?")
SYMBOL = re.compile(r'@(?:([A-Za-z_][\w$.\-]*)|"((?:[^"\\]++|\\.)*+)")')
# Possessive quantifiers: otherwise `re` stores a backtracking point of some hundred bytes for each
# character of a string, and strings can hold large constants.
STRING = re.compile(r'"((?:[^"\\\n]++|\\.)*+)"')
INTEGER = re.compile(r"-?\d+")
_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][A-Za-z_][\w$\-]*)[ \t]*=[ \t]*", re.MULTILINE)
_ESCAPE = re.compile(rb'\\(?:([0-9A-Fa-f]{2})|(["\\nt]))')
_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"|->|[<>]=|[<>(){}\[\]]')
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_RESOURCES = re.compile(r"\{-#.*?#-\}\s*\Z", re.DOTALL)
_RESOURCE = re.compile(r'([\w$.\-]++|"[^"]*+")\s*:\s*"0x([0-9A-Fa-f]*+)"')


def unescaped(text: str) -> str:
    r"""Return the content of an MLIR string literal; `\22` is a byte in hexadecimal."""
    if "\\" not in text:
        return text
    simple = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}
    raw = _ESCAPE.sub(
        lambda m: bytes([int(m.group(1), 16)]) if m.group(1) else simple[m.group(2)], text.encode()
    )
    return raw.decode("utf-8", "replace")


class Reader:
    """A cursor in a text.

    at: the offset of the cursor. aliases: `#name` or `!name` -> the offset of its definition.
    """

    def __init__(self, text: str, filename: str | None = None) -> None:
        self.text = text
        self.filename = filename
        self.at = 0
        self.aliases = {m.group(1): m.end() for m in _ALIAS_DEFINITION.finditer(text)}
        self.known_aliases: dict[str, Any] = {}
        self._resources: dict[str, tuple[int, int]] | None = None

    # -- errors ------------------------------------------------------------------------------------
    def span(self, at: int | None = None, length: int = 1) -> SourceSpan:
        """Return the source span at an offset; by default at the cursor."""
        return SourceSpan.from_offset(
            self.text, self.at if at is None else at, length, self.filename or "<stablehlo>"
        )

    def fail(self, message: str, hint: str, at: int | None = None, length: int = 1) -> NoReturn:
        """Raise StablehloError at an offset."""
        raise StablehloError(message, self.span(at, length), hint)

    def refuse(
        self,
        code: str,
        message: str,
        hint: str,
        at: int | None = None,
        length: int = 1,
        **facts: Any,
    ) -> NoReturn:
        """Raise StablehloUnsupportedError with its Reason at an offset."""
        raise StablehloUnsupportedError(refuse(code, message, **facts), self.span(at, length), hint)

    # -- tokens ------------------------------------------------------------------------------------
    def skip(self) -> int:
        """Skip white space and comments, and return the offset."""
        self.at = _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]
        return self.at

    def peek(self, token: str) -> bool:
        """Return True if the token is next; consume nothing but white space."""
        return self.text.startswith(token, self.skip())

    def accept(self, token: str) -> bool:
        """Consume the token if it is next; return True if it was."""
        if not self.text.startswith(token, self.skip()):
            return False
        self.at += len(token)
        return True

    def expect(self, token: str, where: str) -> None:
        """Consume the token, or fail. where: the construct that the message names."""
        if not self.accept(token):
            self.fail(
                f"expected {token!r} in {where}, found {self.found()}",
                f"compare with how MLIR prints {where}",
            )

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Consume and return a match of the pattern if it is next, else return None."""
        m = pattern.match(self.text, self.skip())
        if m is not None:
            self.at = m.end()
        return m

    def need(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Consume and return a match of the pattern, or fail. what: its name in the message."""
        m = self.take(pattern)
        if m is None:
            self.fail(f"expected {what}, found {self.found()}", f"write {what}")
        return m

    def keyword(self, word: str) -> bool:
        """Consume a whole keyword if it is next; return True if it was."""
        m = WORD.match(self.text, self.skip())
        if m is None or m.group() != word:
            return False
        self.at = m.end()
        return True

    def string(self) -> str:
        """Consume a string literal and return its content."""
        return unescaped(self.need(STRING, "a string in double quotes").group(1))

    def symbol(self) -> str:
        """Consume `@name` and return the name."""
        m = self.need(SYMBOL, "a symbol such as @main")
        return m.group(1) if m.group(1) is not None else unescaped(m.group(2))

    def found(self) -> str:
        """Return the next token for an error message."""
        self.skip()
        m = re.compile(r'[%@#!^]?[\w.$\-]+|"[^"\n]*"|\S').match(self.text, self.at)
        return repr(m.group()[:40]) if m else "the end of the text"

    def balanced(self) -> str:
        """Consume and return the text from the next bracket to the matching one, both included."""
        start, stack = self.skip(), []
        for m in _BRACKET.finditer(self.text, start):
            piece = m.group()
            if piece in _CLOSING:
                stack.append(_CLOSING[piece])
            elif piece in _CLOSING.values():
                if not stack or stack.pop() != piece:
                    self.fail(
                        f"{piece!r} has no opening bracket", "balance the brackets", m.start()
                    )
                if not stack:
                    self.at = m.end()
                    return self.text[start : self.at]
        self.fail("this bracket is never closed", "the text ends too early; was it cut?", start)

    def resource(self, name: str) -> bytes | None:
        """Return the bytes of a name in the file's resource section; None if it is not there.

        MLIR writes the alignment in the first four bytes, which are left out.
        """
        if self._resources is None:
            section = _RESOURCES.search(self.text)
            found = _RESOURCE.finditer(self.text, section.start()) if section else ()
            self._resources = {m.group(1).strip('"'): m.span(2) for m in found}
        place = self._resources.get(name)
        return None if place is None else bytes.fromhex(self.text[place[0] + 8 : place[1]])
