"""Course notebooks run with stubs and with solutions; stored outputs fit both."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.notebooks.course_notebooks import (
    COURSE,
    ROOT,
    exercise_cells,
    read,
    run,
    solution_cells,
    with_solutions,
    write_parts,
)

pytestmark = pytest.mark.skipif(
    find_spec("nbclient") is None, reason="nbclient is not installed: the course is NOT run"
)

# By default one notebook is solved in a kernel; all of them, and all as they are handed out, with
# `-m slow`.
FAST = ("03",)


needs_solutions = pytest.mark.skipif(
    not solution_cells(),
    reason="the reference solutions are not in this copy: the course is NOT solved",
)


def parameters() -> list[object]:
    return [
        pytest.param(path, id=path.stem, marks=() if path.stem[:2] in FAST else pytest.mark.slow)
        for path in COURSE
    ]


def answers(notebook: object) -> list[str]:
    """First lines of what the checks said."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error", output
            if "check" in cell.metadata.get("tags", ()):
                found.append(output["data"]["text/plain"].split("\n")[0])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", COURSE, ids=[path.stem for path in COURSE])
def test_with_the_stubs(path: Path, tmp_path: Path) -> None:
    said = answers(run(read(path), tmp_path))
    assert said and all(line.endswith(": not solved yet") for line in said), said


@pytest.mark.long
@needs_solutions
@pytest.mark.parametrize("path", parameters())
def test_with_the_reference_solutions(path: Path, tmp_path: Path) -> None:
    write_parts(tmp_path)
    said = answers(run(with_solutions(read(path)), tmp_path))
    assert said and all(": passed" in line for line in said), said


@pytest.mark.parametrize("path", COURSE, ids=[path.stem for path in COURSE])
def test_what_is_stored(path: Path) -> None:
    assert path.stat().st_size < 500_000
    text = path.read_text(encoding="utf-8")
    assert "widget-view" not in text and '"widgets"' not in text
    assert not re.search(r"/(tmp|home|root|work|usr)/", text), "a path of the machine that ran it"
    import nbformat

    notebook = read(path)
    nbformat.validate(notebook)
    assert all(line.endswith(": not solved yet") for line in answers(notebook))
    assert len(answers(notebook)) == len(exercise_cells(notebook))
    for cell in notebook.cells:
        assert (
            cell.cell_type != "code"
            or "raise NotImplementedError" not in cell.source
            or cell in exercise_cells(notebook)
        )


TOOLS = ("%%hlo ", "%hlo_step", "Sliders(", "xe.explore(")
NOT_USED = {
    "03": {"Sliders("},  # dead or not: no number to be felt
    "14": {"Sliders("},
    "15": {"%hlo_step"},  # a schedule changes no HLO
    "17": {"xe.explore("},  # about the blocks of LLVM IR, drawn by control_flow
    "18": {"%%hlo ", "Sliders("},  # programs come from JAX
    "19": {"%hlo_step", "xe.explore("},  # one kernel, by schedule, PTX and counters
    "20": {"%%hlo ", "%hlo_step"},  # the text goes through the student's own compiler
    "21": {"%%hlo "},  # programs are made by functions
    "22": {"Sliders("},
}


@pytest.mark.parametrize("path", COURSE, ids=[path.stem for path in COURSE])
def test_a_notebook_uses_what_it_teaches_with(path: Path) -> None:
    lines = [
        line
        for cell in read(path).cells
        if cell.cell_type == "code"
        for line in cell.source.split("\n")
    ]
    assert {
        tool for tool in TOOLS if not any(line.startswith(tool) for line in lines)
    } == NOT_USED.get(path.stem[:2], set())


@needs_solutions
def test_every_exercise_has_a_cell_and_a_solution() -> None:
    in_notebooks = [
        cell.metadata["exercise"] for path in COURSE for cell in exercise_cells(read(path))
    ]
    ours = [
        name for name in xe.course.exercises() if name.startswith("nb")
    ]  # pages and examples declare others
    assert in_notebooks == ours, "the modules declare exercises in another order than the notebooks"
    assert sorted(ours) == sorted(solution_cells())


def test_no_solution_stands_in_a_notebook_or_in_the_package() -> None:
    texts = [
        path.read_text(encoding="utf-8")
        for path in (*COURSE, *(ROOT / "xla_explorer" / "course").glob("*.py"))
    ]
    for name, solution in solution_cells().items():
        assert not any(solution in text for text in texts), name
