"""HLO text as tokens, written again with other blanks between them, or with one token changed.

Works on any text, ours or XLA's.

Source: xla/hlo/parser/hlo_lexer.cc. Where JSON may stand (backend configurations, values of
frontend attributes), a dictionary is one token, for what looks like a comment inside it is none.
"""

from __future__ import annotations

import random
import re

_BLANK = re.compile(r"(?:\s+|//[^\n\r]*|/\*.*?\*/)+", re.DOTALL)
_TOKEN = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|%[A-Za-z_][\w.\-]*|[0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}
    |-?\d+_-?\d+(?:_\d+)?(?:x-?\d+_-?\d+(?:_\d+)?)*|\d+(?:x\d+)+|-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|-inf|-?nan\(0x[0-9a-fA-F]+\)|-nan
    |[A-Za-z_][\w.\-]*[=:]?|->|<=|\.\.\.|.""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_JSON_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]|[^"{}]+', re.DOTALL)
_COMMENTS = (
    "/* c */",
    "/*index=5*/",
    '// to the end, with { " and */\n',
    "/**/",
    "/* two\nlines */",
)


def _json_end(text: str, at: int) -> int:
    depth = 0
    for piece in _JSON_PIECE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(piece.group(), 0)
        if not depth:
            return piece.end()
    return len(text)


def tokens_of(text: str) -> list[tuple[str, str]]:
    """Return (blanks before the token, the token); the last pair has an empty token."""
    found: list[tuple[str, str]] = []
    at, frontend = 0, 0  # frontend: depth of braces inside frontend_attributes={...}
    before = ""
    while at < len(text):
        blank = _BLANK.match(text, at)
        if blank is not None:
            before, at = blank.group(), blank.end()
            continue
        previous = found[-1][1] if found else ""
        if text[at] == "{" and (
            previous == "backend_config=" or (frontend and previous.endswith("="))
        ):
            end = _json_end(text, at)
        else:
            match = _TOKEN.match(text, at)
            assert match is not None
            end = match.end()
            if previous == "frontend_attributes=" and text[at] == "{":
                frontend = 1
            elif frontend and text[at] == "}":
                frontend = 0
        found.append((before, text[at:end]))
        before, at = "", end
    found.append((before, ""))
    return found


def _needs_blank(left: str, right: str) -> bool:
    """Return True if two tokens would be read differently without a blank between them."""
    if not left or not right:
        return False
    word = re.compile(r"[\w.\-?]", re.ASCII)
    if right in ("=", ":") and re.fullmatch(r"[A-Za-z_][\w.\-]*", left, re.ASCII):
        return True
    if left[-1] in "=:" and len(left) > 1:
        return False
    if word.fullmatch(left[-1]) and (word.fullmatch(right[0]) or right[0] == "("):
        return right[0] != "(" or left.endswith("nan")
    return (
        left + right[0] in ("->", "<=")
        or left == "."
        or (left[-1] == "/" and right[0] in "/*")
        or (left, right[0]) == ("-", ">")
    )


def respaced(text: str, generator: random.Random) -> str:
    """Return the same tokens with other blanks, comments and line ends where they may stand."""
    parts = []
    previous = ""
    often = generator.choice((0.05, 0.3, 0.9))
    for before, token in tokens_of(text):
        drawn = generator.random()
        if drawn < often * 0.35 or (drawn < often and not before):
            parts.append(
                "".join(
                    generator.choice((" ", "  ", "\n", "\t", "\r\n", " \n ", *_COMMENTS))
                    for _ in range(generator.randint(1, 2))
                )
            )
        elif drawn < often and not _needs_blank(previous, token):
            pass
        else:
            parts.append(before)
        if not parts[-1:] or (_needs_blank(previous, token) and not parts[-1]):
            parts.append(" " if _needs_blank(previous, token) else "")
        parts.append(token)
        previous = token
    return "".join(parts)


def joined(pairs: list[tuple[str, str]]) -> str:
    """Return the text of tokens and the blanks before each."""
    return "".join([before + token for before, token in pairs])


# Tokens for replacement and insertion: each kind of token, keywords, numbers at and beyond limits.
_POOL = (
    "{", "}", "(", ")", "[", "]", ",", ":", "=", "->", "<=", "?", "*", "#", "+", "~", "...", "-", "/", "@", "é", "$", "0", "1", "2", "3", "7", "-1",
    "-0", "00", "01", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
    "-9223372036854775809", "1.5", "1e3", "1.", ".5", "1e400", "-inf", "inf", "nan", "-nan", "nan(0x1)", "nan(0x0)", "1_0", "1_1_1", "0_0x1_1",
    "2x3", "b01f_01io->b01f", "bf_io->bf", "?bf_io?->bf?", "true", "false", "HloModule", "ENTRY", "ROOT", "maximal", "replicated", "manual", "unknown",
    "unreduced", "last_tile_dim_replicate", "shard_as", "f32", "s32", "pred", "u8", "bf16", "c64", "token", "opaque", "tuple", "f99", "x", "%x", "%p",
    "dimensions=", "to_apply=", "metadata=", "sharding=", "foo=", "p:", '"s"', "'s'", '""', '"\\x"', '"\\""', '"', "f32[]", "f32[2]", "f32[2,3]", "()",
    "{}", "{0}", "{1,0}", "{0,1}", "{{0,1}}", "add", "negate", "tuple", "add-start", "parameter", "constant", "e", "EQ", "kLoop",
)  # fmt: skip


def with_one_edit(text: str, generator: random.Random) -> tuple[str, str]:
    """Return the text with one token dropped, doubled, swapped, replaced or inserted; the edit."""
    pairs = tokens_of(text)
    number = generator.randrange(max(len(pairs) - 1, 1))
    edit = generator.choice(
        ("drop", "double", "swap", "replace", "replace", "insert", "same kind", "same kind")
    )
    before, token = pairs[number]
    after = number + 1
    if edit == "drop":
        pairs[number : after + 1] = (
            [(before or pairs[after][0], pairs[after][1])] if after < len(pairs) else []
        )
    elif edit == "double":
        pairs.insert(after, (before or (" " if _needs_blank(token, token) else ""), token))
    elif edit == "swap" and after < len(pairs) - 1:
        pairs[number], pairs[after] = (before, pairs[after][1]), (pairs[after][0], token)
    elif edit == "insert":
        pairs.insert(number, (before or " ", generator.choice(_POOL)))
    elif edit == "same kind":
        # Another token of this text that begins alike: names for names, numbers for numbers.
        alike = [
            t
            for _, t in pairs
            if t
            and t != token
            and (t[0].isalpha(), t[0].isdigit(), t[-1:])
            == (token[:1].isalpha(), token[:1].isdigit(), token[-1:])
        ]
        pairs[number] = (before, generator.choice(alike or _POOL))
    else:
        pairs[number] = (before, generator.choice(_POOL))
    glued = [pairs[0]]
    for pair in pairs[1:]:
        if not pair[0] and _needs_blank(glued[-1][1], pair[1]) and generator.random() < 0.8:
            pair = (" ", pair[1])
        glued.append(pair)
    return joined(glued), edit
