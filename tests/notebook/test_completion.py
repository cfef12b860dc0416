"""Completion of `%%hlo` and `%%jax` cells by IPython's own completer, called as by a front end."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

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
