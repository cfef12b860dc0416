"""Completion of `%%hlo` and `%%jax` cells by IPython's own completer, called as by a front end."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import xla_explorer as xe
import xla_explorer.notebook.extension as extension

CELL = "%%hlo a\nENTRY main {\n  x = f32[4] parameter(0)\n  ROOT y = "


@pytest.fixture(scope="module")
def completer() -> Any:
    shell = InteractiveShell()
    extension.load(shell)
    extension.load(shell)
    return shell.Completer


def completed(completer: Any, text: str) -> list[str]:
    """Return the text after each completion, in order."""
    with provisionalcompleter():
        return [
            text[: one.start] + one.text + text[one.end :]
            for one in completer.completions(text, len(text))
        ]


@pytest.mark.parametrize("place", ["f32[4] ", "f32[4]{0} ", "(f32[4], s32[]) "])
@pytest.mark.parametrize(
    ("typed", "opcode"),
    [("exp", "exponential"), ("custom-c", "custom-call"), ("all-", "all-reduce")],
)
def test_opcodes_in_the_text_of_a_module(
    completer: Any, place: str, typed: str, opcode: str
) -> None:
    found = completed(completer, CELL + place + typed)
    assert CELL + place + opcode in found and all(
        one.startswith(CELL + place + typed) for one in found
    )


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ("%%hlo x --", "%%hlo x --passes"), ("%%hlo --pa", "%%hlo --passes"), ("%%hlo --backend int", "%%hlo --backend interpreter"),
        ("%%hlo --passes default,algs", "%%hlo --passes default,algsimp"), ("%%hlo --show ir,p", "%%hlo --show ir,ptx"),
        ("%%jax f --ex", "%%jax f --explore"),
    ],
)  # fmt: skip
def test_options_come_alone(completer: Any, typed: str, becomes: str) -> None:
    found = completed(completer, typed)
    assert becomes in found and all(one.startswith(typed) for one in found)


@pytest.mark.parametrize("text", ["x = 1\ny = f32[4] exp", "import o", "%%time\nx = 3\nprin"])
def test_other_cells_are_left_to_ipython(completer: Any, text: str) -> None:
    assert not any(one.endswith("exponential") for one in completed(completer, text))


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ('s.explain("', 's.explain("%r'),
        ('s.explain("%n', 's.explain("%n'),
        ('s.explain("r', 's.explain("%r'),
        ("s.why_not('fu", "s.why_not('fusion"),
        ('s.why_not("fusion", "%', 's.why_not("fusion", "%n'),
        ('s.why_not("fusion", "%n", "', 's.why_not("fusion", "%n", "%r'),
        ('s.passes.named("algs', 's.passes.named("algsimp'),
        ('s.passes.value("%n', 's.passes.value("%n'),
        ('s.llvm.passes(kernel="', 's.llvm.passes(kernel="%tanh_negate_fusion'),
    ],
)
def test_names_in_the_texts_of_calls(completer: Any, typed: str, becomes: str) -> None:
    text = """HloModule m
ENTRY e { x = f32[4] parameter(0)
 n = f32[4] negate(x)
 ROOT r = f32[4] tanh(n) }"""
    completer.shell.user_ns["s"] = xe.compile(text)
    assert becomes in completed(completer, typed)


def test_texts_of_other_objects_are_left_to_ipython(completer: Any) -> None:
    completer.shell.user_ns["s"] = "a text"
    assert not any("%" in one and "tanh" in one for one in completed(completer, 's.split("%'))
