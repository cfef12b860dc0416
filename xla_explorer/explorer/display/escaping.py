"""Text as it stands in HTML, SVG and XML."""

from __future__ import annotations

import re

from xla_explorer.foundation.visible_text import cleaned_text

_ILLEGAL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff\\ud800-\\udfff]")


def escape(text: object) -> str:
    """Text for HTML and XML content and attributes. Control and bidirectional characters become escapes that are seen, what else no XML
    document may hold U+FFFD."""
    clean = _ILLEGAL.sub("\ufffd", cleaned_text(str(text)))
    return (
        clean.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )
