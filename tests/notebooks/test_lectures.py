"""The lectures: their cells run, their sentences are short, and each names XLA's source files.

The cells of two further pages about the lowering run as well.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks" / "explanation"
LECTURES = (
    "rewriting",
    "proofs",
    "fusion",
    "layout",
    "buffers",
    "loop_nests",
    "code_generation",
    "profiles",
)


def _prose(text: str) -> str:
    """Return a page without front matter, code, tables and formulas."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```$|^\$\$.*?\$\$$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^(?:\||#|:::).*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", LECTURES)
def test_a_lecture_is_long_enough_and_its_sentences_are_short(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    prose = _prose(text)
    assert 1300 < len(prose.split()) < 2600
    assert re.search(r"`xla/[\w/]+\.(?:cc|h)`", text), "no source file of XLA is named"
    paragraphs = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", prose)
    sentences = [s for p in paragraphs for s in re.split(r"(?<=[.!?:])\s+", " ".join(p.split()))]
    assert [s for s in sentences if len(s.split()) > 25] == []


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [*LECTURES, "from_a_loop_to_machine_code", "../how_to/add_a_lowering_step"]
)
def test_the_cells_of_a_page_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```\{code-cell\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(cells) >= 4
    names: dict[str, object] = {}
    for number, cell in enumerate(cells):
        tree = ast.parse(cell, f"{name}, cell {number}")
        last = tree.body[-1]
        if isinstance(last, ast.Expr):  # shown by a notebook
            tree.body[-1] = ast.copy_location(
                ast.Assign([ast.Name("shown", ast.Store())], last.value), last
            )
            ast.fix_missing_locations(tree)
        exec(compile(tree, f"{name}, cell {number}", "exec"), names)
        shown = names.pop("shown", None)
        assert str(shown) and (not hasattr(shown, "_repr_html_") or shown._repr_html_())
