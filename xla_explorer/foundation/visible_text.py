"""Untrusted text made safe to show: control and reordering characters become visible escapes.

Names, strings and whole lines of a user's file reach terminals and pages through errors, tables and
listings. A terminal obeys escape sequences, and bidirectional overrides show another order than the
text has ("Trojan Source", CVE-2021-42574).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

_Shown = TypeVar("_Shown", bound=Callable[..., Any])

# C0 without tab and newline, DEL and C1; soft hyphen, Arabic letter mark, zero-width characters and
# directional marks, line and paragraph separators, embeddings, overrides and isolates, invisible
# operators, byte order mark, interlinear annotation, tags, lone surrogates.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def cleaned_text(text: str, *, same_width: bool = False, in_json: bool = False) -> str:
    r"""Return the text with control, bidirectional and invisible characters as escapes.

    Tabs and newlines stay.

    Parameters
    ----------
    text
        Any text that may contain parts of a user's file.
    same_width
        Write one `?` for each such character, so that a caret under the line keeps its column.
    in_json
        `text` is JSON: its decoded strings show the escapes.

    Examples
    --------
    >>> cleaned_text("\x1b[31mred")
    '\\x1b[31mred'
    >>> cleaned_text("a\u202eb", same_width=True)
    'a?b'
    """
    if text.isprintable():
        return text
    if in_json:
        return _HIDDEN.sub(lambda found: "\\" + _escape(found), text)
    return _HIDDEN.sub("?" if same_width else _escape, text)


# Parts that a page shows verbatim, or a tag; else a dollar of a text.
_DOLLAR = re.compile(r"<(pre|code|style|script|textarea|svg)\b.*?</\1>|<[^>]*>|\$", re.DOTALL)


def without_formulas(html: str) -> str:
    """Wrap each `$` of HTML text in an element of its own.

    JupyterLab would render the text between two of them as a formula.

    Examples
    --------
    >>> without_formulas("<td>__cublas$lt$matmul</td>")
    '<td>__cublas<span>$</span>lt<span>$</span>matmul</td>'
    """
    if "$" not in html:
        return html
    return _DOLLAR.sub(lambda found: "<span>$</span>" if found[0] == "$" else found[0], html)


_CHANGES: dict[str, Callable[[str], str]] = {
    "text/plain": cleaned_text,
    "text/html": without_formulas,
}


def cleaned(method: _Shown) -> _Shown:
    """Clean the result of `__repr__`, `__str__` or `_repr_mimebundle_`.

    Text for terminals (of a bundle its `text/plain`) is escaped, and the bundle's HTML is without
    formulas.
    """

    @functools.wraps(method)
    def show(*arguments: Any, **options: Any) -> Any:
        made = method(*arguments, **options)
        if isinstance(made, str):
            return cleaned_text(made)
        if isinstance(made, tuple) and made:  # a bundle and its metadata
            return (bundle(made[0]), *made[1:])
        return bundle(made)

    def bundle(made: Any) -> Any:
        changes = _CHANGES if isinstance(made, dict) else {}
        changed = {
            kind: change(made[kind])
            for kind, change in changes.items()
            if isinstance(made.get(kind), str)
        }
        return {**made, **changed} if changed else made

    return show  # type: ignore[return-value]
