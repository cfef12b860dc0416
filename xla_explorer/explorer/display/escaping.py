"""Escaping of text for HTML, SVG, XML and Markdown."""

from __future__ import annotations

import re

from xla_explorer.foundation.visible_text import cleaned_text

_ILLEGAL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff\\ud800-\\udfff]")
_MARKUP = re.compile(r"[\\`*|\[\]]|(?<!\w)_|_(?!\w)")


def escape(text: object) -> str:
    """Return text for HTML and XML content and attributes.

    Control and bidirectional characters become visible escapes; other characters that XML forbids
    become U+FFFD.
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
    """Return text for a line or a cell of Markdown, without markup."""
    return _MARKUP.sub(
        r"\\\g<0>", escape(value).replace("&#39;", "'").replace("&quot;", '"')
    ).replace("\n", "<br>")


def fenced(text: str, language: str = "") -> str:
    """Return a Markdown code block whose fence is longer than any in the text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
