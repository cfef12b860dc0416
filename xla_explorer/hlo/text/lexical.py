"""Lexical facts shared by parser and readers: names, reserved words, comments, brackets.

Source: xla/hlo/parser/hlo_lexer.cc.
"""

from __future__ import annotations

import re

from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.text.errors import TextError

NAME_PATTERN = r"[A-Za-z_][\w.\-]*+"
NAME = re.compile(rf"%?({NAME_PATTERN})", re.ASCII)
# The repetitions of groups may go back: early versions of Python 3.11 take a possessive group that
# could for one that does not match.
BLANK = re.compile(r"(?:[ \t\n\r]++|//[^\n\r\0]*+|/\*[^*\0]*+(?:\*(?!/)[^*\0]*+)*\*/)*")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\]|\\.)*+"|' r"'(?:[^'\\]|\\.)*+'")

_COMMENT_OR_STRING = re.compile(rf"{STRING.pattern}|{COMMENT.pattern}", re.DOTALL)

# Names of types are never names of instructions; keywords are only with a percent sign.
RESERVED_TYPES = frozenset(PRIMITIVE_TYPES)
KEYWORDS = frozenset(
    [
        "nan",
        "inf",
        "true",
        "false",
        "HloModule",
        "ENTRY",
        "ROOT",
        "FileNames",
        "FunctionNames",
        "FileLocations",
        "StackFrames",
        "maximal",
        "replicated",
        "manual",
        "last_tile_dim_replicate",
        "shard_as",
        "shard_like",
        "unknown",
        "unreduced",
    ]
)
RESERVED = RESERVED_TYPES | KEYWORDS
# XLA keeps names with two leading underscores for itself. Source: name_uniquer.cc GetSanitizedName.
PRIVATE_NAME = re.compile(r"__(?!xla_)\w")

_INSIDE = re.compile(r"""["'(){}\[\]]|/[*/]""")
_OUTSIDE = re.compile(r"""["'(){}\[\],]|/[*/]|[ \t\n\r]""")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# Metadata in XLA's order, without default values; other spellings are left to the careful reader.
_STRING = r'"[^"\\\x00-\x1f\x7f]++"'
PLAIN_METADATA = re.compile(
    r"\{"
    + "".join([rf"(?:{name}={_STRING} ?+)?+" for name in ("op_type", "op_name", "source_file")])
    + "".join(
        [
            rf"(?:source_{name}=[1-9]\d{{0,8}}+ ?+)?+"
            for name in ("line", "end_line", "column", "end_column")
        ]
    )
    + r"(?:profile_type=\{[0-3]\} ?+)?+"
    + "".join([rf"(?:{name}={_STRING} ?+)?+" for name in ("deduplicated_name", "scheduling_name")])
    + r"(?:stack_frame_id=[1-9]\d{0,8}+)?+(?<! )\}",
    re.ASCII,
)


def skip_blank(text: str, at: int) -> int:
    """Return the offset of the next character outside white space and comments."""
    found = BLANK.match(text, at)
    return found.end() if found else at


def without_comments(text: str) -> str:
    """Return the text with comments removed; strings must not contain comment marks."""
    return COMMENT.sub("", text) if "/" in text else text


def without_comments_outside_strings(text: str) -> str:
    """Return the text with comments removed; comment marks inside strings stay."""
    if "//" not in text and "/*" not in text:
        return text
    return _COMMENT_OR_STRING.sub(lambda m: m.group() if m.group()[0] in "\"'" else "", text)


def _opaque_end(text: str, at: int) -> int:
    """Return the end of the string or comment at an offset."""
    if text[at] == "/":
        end = skip_blank(text, at)
        if end == at:
            raise TextError("unterminated comment", at, "close the comment with */", 2)
        return end
    string = STRING.match(text, at)
    if string is None:
        raise TextError("unterminated string", at, f"close the string with {text[at]}")
    return string.end()


def _check_closing(text: str, opened: int, closed: int) -> None:
    wanted = _CLOSING[text[opened]]
    if text[closed] != wanted:
        raise TextError(
            f"'{text[opened]}' is closed by '{text[closed]}'", closed, f"write '{wanted}' here"
        )


def balanced_end(text: str, at: int, *, one_bracket: bool = False) -> int:
    """Return the end of the value that starts at `at`.

    The value ends before a comma, a closing bracket or white space at depth 0. Brackets of all
    kinds nest, strings are opaque. one_bracket: stop after the bracket that closes the one at `at`.
    TextError for an unclosed bracket or string.
    """
    size = len(text)
    opened: list[int] = []
    while at < size:
        found = (_INSIDE if opened else _OUTSIDE).search(text, at)
        if found is None:
            at = size
            break
        at = found.start()
        character = text[at]
        if character in "\"'/":
            end = _opaque_end(text, at)
            if character == "/" and not opened:
                return at  # a comment ends a value as a blank does
            at = end
        elif character in "({[":
            opened.append(at)
            at += 1
        elif not opened:
            return at
        else:
            at += 1
            if character in ")}]":
                _check_closing(text, opened.pop(), at - 1)
                if one_bracket and not opened:
                    return at
    if opened:
        raise TextError(
            f"'{text[opened[0]]}' is never closed",
            opened[0],
            f"add the missing '{_CLOSING[text[opened[0]]]}'",
        )
    return at
