"""Text of a user's file in errors: control sequences must not reach the terminal."""

from __future__ import annotations

import traceback

import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.visible_text import cleaned, cleaned_text
from xla_explorer.frontends.stablehlo import parse_stablehlo

# An escape sequence that clears the screen, one byte of C1 that begins one, a bidirectional
# override, an isolate, a zero-width space.
HOSTILE = "\x1b[2J\x9b31m\u202etxt\u2066\u200b\x07\r"


def is_harmless(text: str) -> bool:
    return all(c.isprintable() or c in "\n\t" for c in text)


@pytest.mark.parametrize(
    "code",
    [
        *range(0x00, 0x20),
        *range(0x7F, 0xA0),
        0x202A,
        0x202E,
        0x2066,
        0x2069,
        0x200F,
        0xFEFF,
        0x61C,
        0xD800,
        0xE0041,
    ],
)
def test_each_control_is_shown(code: int) -> None:
    text = f"a{chr(code)}b"
    if chr(code) in "\n\t":
        assert cleaned_text(text) == text
    else:
        assert chr(code) not in cleaned_text(text)
        assert f"{code:x}" in cleaned_text(text).lower()
        assert cleaned_text(text, same_width=True) == "a?b"


def test_words_of_any_language_stay() -> None:
    for text in ("größe", "日本語", "عدد", "ℝ³ → ℝ", "🙂", "two\nlines\tand a tab"):
        assert cleaned_text(text) == text


def test_errors_show_no_control_characters() -> None:
    span = SourceSpan.from_offset(f"x {HOSTILE} y", 2, 3, f"{HOSTILE}.hlo")
    for shown in (
        str(XlaExplorerError(HOSTILE, HOSTILE)),
        span.caret(),
        str(Reason("code", HOSTILE)),
        repr(Reason("code", HOSTILE)),
    ):
        assert is_harmless(shown)


@pytest.mark.parametrize(
    "text",
    [
        f"ENTRY e {{ p = f32[] parameter(0)\n ROOT r = pred[] compare(p, p), direction={HOSTILE} }}",
        f'ENTRY e {{ p = f32[] parameter(0)\n ROOT r = pred[] compare(p, p), direction="{HOSTILE}" }}',
        f"ENTRY e {{ ROOT p = f32[{HOSTILE}] parameter(0) }}",
        f"ENTRY e {{ ROOT {HOSTILE} = f32[] parameter(0) }}",
    ],
)
def test_parse_errors_show_no_control_characters(text: str) -> None:
    with pytest.raises(xe.errors.HloParseError) as caught:
        xe.parse_hlo(text)
    assert is_harmless(str(caught.value))
    assert is_harmless("".join(traceback.format_exception_only(caught.value)))


def test_a_stablehlo_error_shows_no_control_characters() -> None:
    with pytest.raises(XlaExplorerError) as caught:
        parse_stablehlo(
            f'func.func @main(%a: tensor<f32>) -> tensor<f32> {{ %0 = "stablehlo.{HOSTILE}"(%a) : (tensor<f32>) -> tensor<f32> }}'
        )
    assert is_harmless(str(caught.value))
    assert is_harmless("".join(traceback.format_exception_only(caught.value)))


def test_a_violation_shows_no_control_characters_and_the_right_line() -> None:
    text = f'ENTRY e {{\n p = f32[2] parameter(0), metadata={{op_name="{HOSTILE}\x0c\x85"}}\n ROOT wrong = f32[3] negate(p)\n}}'
    with pytest.raises(xe.errors.HloVerifyError) as caught:
        xe.verify(xe.parse_hlo(text))
    assert is_harmless(str(caught.value))
    assert "ROOT wrong" in str(caught.value)


def test_labels_of_ptx_are_no_formulas_to_a_notebook() -> None:
    class Shown:
        @cleaned
        def _repr_mimebundle_(self) -> dict[str, str]:
            code = "@%p1 bra $L__BB0_2;\n$L__BB0_2:"
            return {
                "text/html": f'<td title="$a$">{code}</td><pre>{code}</pre><svg><text>{code}</text></svg>',
                "text/plain": code,
            }

    bundle = Shown()._repr_mimebundle_()
    cell, rest = bundle["text/html"].split("</td>")
    assert cell == '<td title="$a$">@%p1 bra <span>$</span>L__BB0_2;\n<span>$</span>L__BB0_2:'
    assert "<span>" not in rest + bundle["text/plain"]
