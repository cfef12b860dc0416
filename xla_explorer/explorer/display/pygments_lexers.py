"""A Pygments lexer for HLO text, for nbconvert, Sphinx, IPython and our own HTML.

It is registered under the entry points `pygments.lexers`. Pygments itself has lexers for PTX, LLVM
IR and assembly.
"""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

_LAYOUT = r"(?:\{[\d,]*(?::[^{}]*)?\})?"
SHAPE = r"[a-z][a-z0-9]*\[(?:<=|[\d,?\s])*\]" + _LAYOUT


class HloLexer(RegexLexer):  # type: ignore[misc]
    """HLO text as XLA prints and reads it; also the cells of `%%hlo`."""

    name = "HLO"
    url = "https://openxla.org/xla/operation_semantics"
    aliases: ClassVar[list[str]] = ["hlo"]
    filenames: ClassVar[list[str]] = ["*.hlo"]
    mimetypes: ClassVar[list[str]] = ["text/x-hlo"]

    tokens: ClassVar[dict[str, list[tuple[object, ...]]]] = {
        "root": [
            (r"^%%\w+.*$", Comment.Preproc),
            (r"\s+", Whitespace),
            (r"//.*$", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (r'"(?:[^"\\\n]|\\.)*"?', String.Double),
            (r"(?:HloModule|ENTRY|ROOT)\b", Keyword),
            # An opcode follows its result's shape; the shape of a tuple ends with a parenthesis.
            (
                rf"({SHAPE})(\s+)([A-Za-z][\w\-]*)(?=\()",
                bygroups(Keyword.Type, Whitespace, Name.Builtin),
            ),
            (r"(\))(\s+)([a-z][\w\-]*)(?=\()", bygroups(Punctuation, Whitespace, Name.Builtin)),
            (SHAPE, Keyword.Type),
            (r"->", Operator),
            (r"-?(?:inf|nan)\b|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.\-])", Number),
            (r"(%?[A-Za-z_][\w.\-]*)(\s+)(=)", bygroups(Name.Variable, Whitespace, Operator)),
            (r"([A-Za-z_]\w*)(=)(\w[\w.\-]*)", bygroups(Name.Attribute, Operator, Name.Constant)),
            (r"([A-Za-z_]\w*)(=)", bygroups(Name.Attribute, Operator)),
            (r"(?:true|false)\b", Keyword.Constant),
            (r"%[\w.\-]+|[A-Za-z_][\w.\-]*", Name),
            (r"[()\[\]{},:=<>?+*/|-]", Punctuation),
            (r".", Text),
        ],
        "comment": [
            (r"[^*]+", Comment.Multiline),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"\*", Comment.Multiline),
        ],
    }
