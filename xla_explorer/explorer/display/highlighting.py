"""Code as coloured HTML if Pygments is installed (it comes with Jupyter), else as escaped text.

The colours are in the spans, without a style sheet, and can be read on light and dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from xla_explorer.explorer.display.escaping import escape

LONGEST = 40_000
"""Characters; longer text stays plain, since spans multiply its size."""
_LEXERS = {"hlo": "hlo", "llvm": "llvm", "ptx": "ptx", "asm": "gas"}
_KEYWORD, _TYPE, _NAME, _NUMBER, _NOTE = "#a33ea1", "#00815e", "#2f7fc1", "#b3630a", "#858585"


def highlighted(text: str, language: str) -> str:
    """Return `text` as HTML for the inside of a <pre>.

    Text of an unknown language, or longer than `LONGEST`, is escaped only.
    """
    formatter = _formatter()
    if formatter is None or language not in _LEXERS or len(text) > LONGEST:
        return escape(text)
    lexer = _lexer(language)
    out: list[str] = []
    for token, piece in (
        _whole_words(lexer.get_tokens(text)) if language == "ptx" else lexer.get_tokens(text)
    ):
        colour = formatter(token)
        # Our own escape also makes control characters visible.
        out.append(
            f'<span style="color:{colour}">{escape(piece)}</span>' if colour else escape(piece)
        )
    made = "".join(out)
    return made if text.endswith("\n") else made.removesuffix("\n")


def _whole_words(tokens: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    """Join names that Pygments' PTX lexer splits after an opcode (`red` + `uce_fusion`)."""
    before: tuple[Any, str] | None = None
    for token, piece in tokens:
        if before is not None and before[1].isalpha() and (piece[0].isalnum() or piece[0] == "_"):
            before = token, before[1] + piece
            continue
        if before is not None:
            yield before
        before = token, piece
    if before is not None:
        yield before


@cache
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    options = {"stripnl": False, "ensurenl": False}
    if language == "hlo":  # also if the entry points are not installed
        from xla_explorer.explorer.display.pygments_lexers import HloLexer

        return HloLexer(**options)
    return get_lexer_by_name(_LEXERS[language], **options)


@cache
def _formatter() -> Any:
    """Return a function from tokens to colours or ""; None without Pygments."""
    try:
        from pygments.token import Comment, Keyword, Name, Number, String
    except ImportError:
        return None
    table = (
        (Keyword.Type, _TYPE),
        (Keyword, _KEYWORD),
        (Name.Builtin, _KEYWORD),
        (Name.Attribute, _NAME),
        (Name.Label, _NAME),
        (Name.Function, _NAME),
        (Number, _NUMBER),
        (String, _NUMBER),
        (Comment, _NOTE),
    )

    @cache
    def colour(token: Any) -> str:
        return next((value for kind, value in table if token in kind), "")

    return colour
