"""The Pygments lexer of HLO, and coloured code in HTML."""

from __future__ import annotations

import html
import re

import pytest

pytest.importorskip("pygments")

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, String

import xla_explorer as xe
from xla_explorer.explorer.display.display import CodeText
from xla_explorer.explorer.display.highlighting import highlighted
from xla_explorer.explorer.display.pygments_lexers import HloLexer
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

TEXT = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

// a remark
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %sum.1 = f32[] add(%a, /*index=1*/ %b)
}
ENTRY e {
  x = f32[4,<=8]{1,0:T(8,128)} parameter(0)
  t = (s32[], f32[4]{0}) custom-call(x), custom_call_target="a \\" b", metadata={op_name="x"}
  ROOT c = bf16[2]{0} constant({-1.5e3, nan}), dimensions={0}, is_stable=true
}"""


def _kinds(word: str) -> set[object]:
    return {token for token, piece in HloLexer().get_tokens(TEXT) if piece == word}


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("HloModule", Keyword),
        ("ROOT", Keyword),
        ("f32[]", Keyword.Type),
        ("f32[4,<=8]{1,0:T(8,128)}", Keyword.Type),
        ("custom-call", Name.Builtin),
        ("constant", Name.Builtin),
        ("%sum.1", Name.Variable),
        ("dimensions", Name.Attribute),
        ("-1.5e3", Number),
        ("// a remark", Comment.Single),
        ('"a \\" b"', String.Double),
    ],
)
def test_tokens(word: str, kind: object) -> None:
    assert _kinds(word) == {kind}


def test_nothing_is_lost_and_nothing_is_an_error() -> None:
    tokens = list(HloLexer(stripnl=False, ensurenl=False).get_tokens(TEXT))
    assert "".join(piece for _, piece in tokens) == TEXT and Error not in {
        token for token, _ in tokens
    }
    strange = "\x01\u202e</script>% \U0001f600 \\"
    assert "".join(piece for _, piece in HloLexer(ensurenl=False).get_tokens(strange)) == strange


@pytest.mark.parametrize(
    "name", [name for name in PRIMITIVE_TYPES if name not in ("token", "opaque")]
)
def test_every_element_type(name: str) -> None:
    tokens = list(HloLexer().get_tokens(f"  a = {name}[2,3] add(b, c)"))
    assert (Keyword.Type, f"{name}[2,3]") in tokens and (Name.Builtin, "add") in tokens


def test_pygments_finds_it_by_name() -> None:
    assert get_lexer_by_name("hlo").__class__.__name__ == "HloLexer"


@pytest.mark.parametrize("language", ["hlo", "llvm", "ptx", "asm", "nothing"])
def test_coloured_text_is_the_text(language: str) -> None:
    found = highlighted(TEXT, language)
    assert html.unescape(re.sub("<[^>]*>", "", found)) == TEXT
    assert ("<span" in found) == (language != "nothing")


def test_code_shows_itself_coloured_and_long_code_plain() -> None:
    assert "<span" in CodeText(TEXT, "hlo")._repr_mimebundle_()["text/html"]
    assert highlighted("x" * 50_000, "hlo") == "x" * 50_000
    evil = 'HloModule m // </pre><script>alert("x")</script>'
    assert "<script" not in highlighted(evil, "hlo")
    assert xe.__version__
