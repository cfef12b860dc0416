"""Text as it stands in HTML, SVG, XML and Markdown."""

from __future__ import annotations

import re

from xla_explorer.foundation.visible_text import cleaned_text

_ILLEGAL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff\\ud800-\\udfff]")
_MARKUP = re.compile(r"[\\`*|\[\]]|(?<!\w)_|_(?!\w)")


def escape(text: object) -> str:
    """Text for HTML and XML content and attributes.

    Control and bidirectional characters become escapes that are seen, what else no XML document may
    hold U+FFFD.
    """
    clean = _ILLEGAL.sub("\ufffd", cleaned_text(str(text)))
    return (
        clean.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )


def markdown_text(value: object) -> str:
    """Text for a line or a cell of Markdown: nothing in it is markup."""
    return _MARKUP.sub(
        r"\\\g<0>", escape(value).replace("&#39;", "'").replace("&quot;", '"')
    ).replace("\n", "<br>")


def fenced(text: str, language: str = "") -> str:
    """A Markdown code block that its text cannot end."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
