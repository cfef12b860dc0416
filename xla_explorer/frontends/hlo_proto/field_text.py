"""One field of a message as HLO text: a number, a word, a string, an enumeration."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from xla_explorer.frontends.hlo_proto.shapes import joined
from xla_explorer.frontends.protobuf import Message, MessageType, ProtoError
from xla_explorer.hlo.text.strings import quoted_string

AttributeText = Callable[[Message], str | None]
WORD: Final = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)


def enum_word(what: str, number: int, *words: str) -> str:
    """Return the word for a number of an enumeration. ProtoError for a number without a word."""
    if not 0 <= number < len(words):
        raise ProtoError(
            f"{what} {number} is unknown", "read the file with a newer version of xla_explorer"
        )
    return words[number]


def word_field(field: str) -> AttributeText:
    """Return a reader of a string that is printed without quotes."""

    def text(i: Message) -> str | None:
        word = i.text(field)
        if word and WORD.fullmatch(word) is None:
            raise ProtoError(
                f"{i.kind.name}.{field} must be a word, got {word[:40]!r}",
                "check that the file holds an HLO module",
            )
        return word or None

    return text


def string_field(field: str) -> AttributeText:
    """Return a reader of a string in quotes, or of None if the field is absent."""
    return lambda i: quoted_string(i.text(field)) if i.has(field) else None


def number_field(field: str) -> AttributeText:
    """Return a reader of a number, 0 if it is absent."""
    return lambda i: str(i.number(field))


def flag_field(field: str) -> AttributeText:
    """Return a reader of `true` or `false`."""
    return lambda i: "true" if i.flag(field) else "false"


def numbers_field(field: str) -> AttributeText:
    """Return a reader of numbers as a list: `{0,1}`."""
    return lambda i: f"{{{joined(i.numbers(field))}}}"


def in_message(field: str, kind: MessageType, read: AttributeText) -> AttributeText:
    """Return a reader that applies `read` to the message of a field."""

    def text(i: Message) -> str | None:
        found = i.message(field, kind)
        return None if found is None else read(found)

    return text


def count_field(field: str) -> AttributeText:
    """Return a reader of a count of at least 1; older protos omit it."""
    return lambda i: str(max(i.number(field), 1))


def enum_field(field: str, *words: str, from_one: bool = False) -> AttributeText:
    """Return a reader of an enumeration's word; from_one: number 0 means absent."""
    return lambda i: (
        enum_word(field, i.number(field), *words) if i.number(field) or not from_one else None
    )
