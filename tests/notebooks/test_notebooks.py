"""The tour runs from top to bottom, and what it saves can be read without a kernel.

(The course has `test_course.py`.)
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.notebooks.course_notebooks import read, run
from xla_explorer.compiler.codegen.nest.schedule_text import DIRECTIVES

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("00*.ipynb"))


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    pytest.importorskip("nbclient", reason="nbclient is not installed: the notebooks are NOT run")
    notebook = read(path)
    assert all(not cell.get("outputs") for cell in notebook.cells), (
        "the tour is kept without outputs"
    )
    run(notebook, tmp_path, 120)
    widgets = static = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"
            data = output.get("data", {})
            assert len(data.get("text/html", "")) <= xe.options.embed + 100_000, (
                "one output is too large to be saved"
            )
            if "application/vnd.jupyter.widget-view+json" in data:
                widgets += 1
                static += "text/html" in data and "text/plain" in data
    if path.stem == "00_tour":
        assert widgets == static == 1, "the widget must leave a static form in the saved notebook"
        notebook.metadata.pop("widgets", None)  # as published: without widget state
        nbconvert = pytest.importorskip(
            "nbconvert", reason="nbconvert is not installed: the published form is NOT checked"
        )
        html, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
        assert "xla-explorer-static" in html and "reduce-is-root-only" in html


def run_page(name: str) -> tuple[int, dict[str, object], str]:
    """Run the Python cells of a page; return their number, the names they define, and the text."""
    text = (ROOT / "notebooks" / name).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    cells = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for number, cell in enumerate(cells):
        exec(compile(cell, f"{name}, cell {number}", "exec"), names)
    return len(cells), names, text


def test_the_page_about_schedules_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cells, _, text = run_page("write_a_schedule.md")
    shown = capsys.readouterr().out
    assert (
        cells == 10
        and "a vector must have a power of two lanes" in shown
        and "every 512th element" in shown
    )
    described = set(re.findall(r"`([\w-]+)\{", text.partition("## The directives")[2]))
    assert described == DIRECTIVES.keys(), "each directive has a row, and each row is a directive"


def test_the_page_about_exercises_runs(capsys: pytest.CaptureFixture[str]) -> None:
    cells, names, _ = run_page("write_an_exercise.md")
    assert cells == 4 and "The longest chain has another length." in capsys.readouterr().out
    assert xe.course.check("mine.depth", names["longest"])
