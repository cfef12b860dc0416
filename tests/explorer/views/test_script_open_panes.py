"""Code strip texts as panes and tabs: opened in order, closed, dropped, written and read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.explorer.views.asset_script import AssetScript

ORDER = ["edit", "source", "hlo-before", "hlo-after", "llvm-ir", "assembly", "ptx"]


@pytest.fixture(scope="module")
def js() -> AssetScript:
    return AssetScript("const asWords = open => open.map(writtenPane);")


def _after(js: AssetScript, words: list[str], act: str) -> Any:
    return js.call(
        f"(words, order) => {{ const open = readPanes(words, order); return asWords({act}); }}",
        words,
        ORDER,
    )


@pytest.mark.parametrize(
    "words",
    [[], ["llvm-ir"], ["llvm-ir*.ptx", "edit"], ["hlo-after", "llvm-ir.assembly.ptx*"]],
)  # fmt: skip
def test_what_is_written_is_read_back(js: AssetScript, words: list[str]) -> None:
    assert _after(js, words, "open") == words


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["nothing", "ptx"], ["ptx"]),  # a session has no such text
        (["ptx", "ptx"], ["ptx"]),
        (["ptx.llvm-ir", "llvm-ir*.edit"], ["ptx*.llvm-ir", "edit"]),
        (["nothing*.ptx.edit"], ["ptx*.edit"]),
        (["", "."], []),
    ],
)
def test_an_address_of_another_session_is_read_as_far_as_it_goes(
    js: AssetScript, words: list[str], read: list[str]
) -> None:
    assert _after(js, words, "open") == read


@pytest.mark.parametrize(
    ("words", "act", "left"),
    [
        (["hlo-after", "ptx"], 'openPane(open, "llvm-ir", order)', ["hlo-after", "llvm-ir", "ptx"]),
        (
            ["ptx", "hlo-after"],
            'openPane(open, "llvm-ir", order)',
            ["llvm-ir", "ptx", "hlo-after"],
        ),  # the user chose that order: it stays
        (["hlo-after", "ptx"], 'closePane(open, "ptx")', ["hlo-after"]),
        (["llvm-ir.assembly*.ptx"], 'closePane(open, "assembly")', ["llvm-ir.ptx*"]),
        (["llvm-ir.ptx*"], 'closePane(open, "ptx")', ["llvm-ir"]),
        (["llvm-ir*.ptx"], 'closePane(open, "ptx")', ["llvm-ir"]),
        (["llvm-ir*.ptx"], 'showTab(open, "ptx")', ["llvm-ir.ptx*"]),
        (["hlo-after", "ptx"], 'movePane(open, "ptx", "hlo-after", "tab")', ["hlo-after.ptx*"]),
        (
            ["hlo-after"],
            'movePane(open, "ptx", "hlo-after", "tab")',
            ["hlo-after.ptx*"],
        ),  # a text that was not open
        (
            ["hlo-after", "ptx"],
            'movePane(open, "ptx", "hlo-after", "before")',
            ["ptx", "hlo-after"],
        ),
        (
            ["hlo-after", "edit", "ptx"],
            'movePane(open, "hlo-after", "ptx", "after")',
            ["edit", "ptx", "hlo-after"],
        ),
        (
            ["llvm-ir.ptx*", "edit"],
            'movePane(open, "ptx", "ptx", "after")',
            ["llvm-ir", "ptx", "edit"],
        ),
        (
            ["llvm-ir.ptx*", "edit"],
            'movePane(open, "ptx", "edit", "tab")',
            ["llvm-ir", "edit.ptx*"],
        ),
        (["llvm-ir.ptx*"], 'movePane(open, "llvm-ir", "ptx", "tab")', ["llvm-ir*.ptx"]),
        (["ptx"], 'movePane(open, "ptx", "ptx", "after")', ["ptx"]),
        (["ptx"], 'movePane(open, "llvm-ir", "gone", "tab")', ["ptx"]),
    ],
)
def test_a_text_goes_where_it_is_put(
    js: AssetScript, words: list[str], act: str, left: list[str]
) -> None:
    assert _after(js, words, act) == left
