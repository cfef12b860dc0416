r"""Backend configurations and frontend attributes: strings that XLA prints as dictionaries.

`backend_config="{\"a\":1}"` and `backend_config={"a":1}` are equivalent. Both become the second
spelling, so that equal values have equal texts. Source: hlo_lexer.cc LexesAsJsonDict,
hlo_instruction.cc FrontendAttributesToString.
"""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PIECES = re.compile(
    r'"(?:[^"\\]|\\.)*"|[{}"]|[^"{}]+'
)  # as XLA: a string may contain a line break, but not after a backslash
_ENTRY = re.compile(r"""\s*([A-Za-z_][\w.\-]*)=\s*("(?:[^"\\\n]|\\.)*"|\{)""", re.ASCII)
_COMMA = re.compile(r"\s*,")
_SIMPLE_ESCAPES = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t"}


def dictionary_end(text: str, at: int) -> int:
    """Return the offset after the brace that closes the one at `at`, or -1. Quotes hide braces."""
    depth = 0
    for piece in _PIECES.finditer(text, at):
        if piece.group() == '"':  # never closed
            return -1
        if piece.group() == "{":
            depth += 1
        elif piece.group() == "}":
            depth -= 1
            if depth == 0:
                return piece.end()
    return -1


def _plain(text: str) -> str | None:
    """Return the content of a string in double quotes; None if it has unusual escapes."""
    if any(escape not in _SIMPLE_ESCAPES for escape in _ESCAPED.findall(text)):
        return None
    return _ESCAPED.sub(lambda found: _SIMPLE_ESCAPES[found.group(1)], text[1:-1])


def _string_as_dictionary(text: str) -> str:
    """Return a string whose content is one dictionary without its quotes; other text unchanged."""
    content = _plain(text)
    # Single quotes and comments inside would be read in other ways once the outer quotes are gone,
    # and open brackets not at all.
    if (
        content is None
        or not content.startswith("{")
        or "'" in content
        or re.search(r"/[/*]", content)
    ):
        return text
    # White space around it would be lost.
    if dictionary_end(content, 0) != len(content) or not _brackets_close(content):
        return text
    return content


def _brackets_close(text: str) -> bool:
    stack = []
    for bracket in re.findall(
        r"[()\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL)
    ):
        if bracket in "([{":
            stack.append(bracket)
        elif not stack or stack.pop() + bracket not in ("()", "[]", "{}"):
            return False
    return not stack


def read_backend_config(text: str) -> str:
    """Return the text of a backend configuration in XLA's spelling."""
    return (
        _string_as_dictionary(text)
        if text.startswith('"') and text.endswith('"') and len(text) > 1
        else text
    )


def _entries(text: str) -> dict[str, str] | None:
    """Return the values of `{a="x",b={"k":1}}` as they are spelled; None for malformed text."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    at, entries = 1, {}
    while (found := _ENTRY.match(text, at)) is not None:
        name, value, at = found.group(1), found.group(2), found.end()
        if value == "{":
            start, at = found.end() - 1, dictionary_end(text, found.end() - 1)
            if at < 0:
                return None
            value = text[start:at]
        entries[name] = value
        separator = _COMMA.match(text, at)
        if separator is None:
            break
        at = separator.end()
    return entries if text[at:].strip() == "}" else None


def read_frontend_attributes(text: str) -> str:
    """Return `{a="x",b={"k":1}}` in XLA's spelling: sorted by name, dictionaries unquoted.

    Malformed text is returned unchanged.
    """
    entries = _entries(text)
    if entries is None:
        return text
    spelled = {
        name: _string_as_dictionary(value) if value.startswith('"') else value
        for name, value in entries.items()
    }
    return "{" + ",".join([f"{name}={spelled[name]}" for name in sorted(spelled)]) + "}"


def frontend_attribute_values(text: str) -> dict[str, str]:
    """Return the values of frontend attributes by name, without quotes and escapes."""
    found = _entries(text) or {}
    plain = {
        name: _plain(value) if value.startswith('"') else value for name, value in found.items()
    }
    return {name: found[name] if value is None else value for name, value in plain.items()}
