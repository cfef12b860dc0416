"""Grades of notebooks, whose cells run and are judged in a child process with limits.

The limits are on time and memory. A grade is as honest as the notebook's Python: code of the answer
runs in the process that judges it, and could change the judge. It cannot read the hidden checks
before its last cell has ended. It reaches neither the grader's process nor, on Linux kernels that
allow it, the network.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xla_explorer.course.checking.registry import hidden_title
from xla_explorer.explorer.display import Blocks, Report, Sentence, Table
from xla_explorer.foundation.child_process import ChildEndedError, MessagingChild
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import read_file

SECONDS = 60.0
"""Limit for one cell, and limit for the judging of all answers."""
MEMORY = 4 << 30
_STARTS = 120.0  # seconds until the child has imported everything, on a busy machine
_MOST_STARTS = (
    4  # a cell that kills the process is left out, and the others run again; so often at most
)
_NOT_SOLVED = "not solved yet"
_COLUMNS = ("cases", "tries", "code", "message", "hint")
_NAME = re.compile(r"""\bcheck\(\s*["']([\w.]+)["']""")


class NotebookUnreadableError(XlaExplorerError, ValueError):
    """The file is not a notebook."""


class Cell(NamedTuple):
    """A code cell.

    number: its place among the code cells, from 1. exercises: which answers it is for, or checks.
    """

    number: int
    source: str
    exercises: tuple[str, ...]


class Grade(Report):
    """Result of `xe.course.grade`: one notebook's exercises.

    file: the notebook's name. passed, of: the numbers of solved and of all exercises and hidden
    checks. exercises: a dictionary for each, with exercise, status, cases, tries, code, message,
    hint. remarks: cells that raised, did not end, or ended the process.
    """

    def __init__(self, file: str, judged: list[dict[str, Any]], remarks: list[str]) -> None:
        self.file = file
        self.passed, self.of = sum(one["status"] == "passed" for one in judged), len(judged)
        self.exercises, self.remarks = judged, remarks

    def headline(self) -> str:
        """Return the file and its score."""
        return f"{self.file}: {self.passed} of {self.of}"

    def blocks(self) -> Blocks:
        """Yield the exercises, then remarks about cells."""
        columns = ["exercise", "status", "cases", "tries", "code", "message"]
        yield Table(columns, [[one[column] for column in columns] for one in self.exercises])
        for remark in self.remarks:
            yield Sentence(remark)


def grade(
    notebook: str | Path,
    *,
    hidden: str | Path | None = None,
    variant: int = 0,
    seconds: float = SECONDS,
    memory: int | None = MEMORY,
) -> Grade:
    r"""Run a student's notebook in a process of its own, and judge its answers.

    All code cells run from top to bottom; an exception is recorded and does not stop the others. A
    cell that does not end, or ends the process, is left out, and the notebook is run again without
    it. Each exercise counts by its last answer that a cell checked.

    Parameters
    ----------
    notebook
        The file.
    hidden
        A Python file with further checks, declared by `xe.course.hidden`; it is read in the child
        after the last cell.
    variant
        Judge on the random programs of this number instead of the notebook's: one number for each
        group of students.
    seconds
        The limit for a cell, and the limit for judging.
    memory
        Bytes that the notebook may use; None: no limit. Isolated and other child processes have
        their own limits.

    Returns
    -------
    Grade
        The exercises with their states, `passed` of `of`; `to_json()` for scripts.

    Raises
    ------
    NotebookUnreadableError
        The file is not a notebook of format 4.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> import xla_explorer as xe
    >>> answer = "lambda o, b, p, w: max(o / p, b / w)"
    >>> source = f'import xla_explorer as xe\nxe.course.check("nb11.bound", {answer})'
    >>> cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    >>> notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "ada.ipynb")
    ...     _ = file.write_text(json.dumps(notebook))
    ...     grade = xe.course.grade(file)
    >>> grade.passed, grade.exercises[0]["status"]
    (0, 'failed')
    """
    path = Path(notebook)
    cells = read_cells(path)
    checks = "" if hidden is None else read_file(hidden).decode()
    left_out: dict[int, str] = {}
    for _ in range(_MOST_STARTS):
        judged, remarks, ended = _run(cells, left_out, checks, variant, seconds, memory)
        if ended is None:
            break
        left_out[ended[0]] = ended[1]
        judged = []
    remarks = [
        f"cell {number} {how}; it was left out" for number, how in left_out.items() if number
    ] + remarks
    remarks += [how for number, how in left_out.items() if not number]
    judged_names = {one["exercise"] for one in judged}
    wanted = dict.fromkeys(name for cell in cells for name in cell.exercises)
    judged += [_missing(name, left_out, cells) for name in wanted if name not in judged_names]
    tried = {one["exercise"] for one in judged if one["status"] != _NOT_SOLVED}
    judged += [
        _did_not_run(title)
        for name, title in _hidden_titles(checks)
        if name in tried and title not in judged_names
    ]
    return Grade(path.name, judged, remarks)


def _run(
    cells: Sequence[Cell],
    left_out: dict[int, str],
    hidden: str,
    variant: int,
    seconds: float,
    memory: int | None,
) -> tuple[list[dict[str, Any]], list[str], tuple[int, str] | None]:
    """Return the judgements, remarks, and (cell, cause) if the process was lost.

    Cell 0 is the judging.
    """
    remarks: list[str] = []
    child = MessagingChild(
        child_command("xla_explorer.course.grades.graded_notebook"), child_environment()
    )
    at = 0
    try:
        child.ask(_STARTS, "begin", memory)
        for cell in cells:
            if cell.number not in left_out:
                at = cell.number
                _, error = _answer(child.ask(seconds, "run", cell.source), str)
                remarks += [f"cell {at} raised {error}"] * bool(error)
        at = 0
        kind, judged = _answer(child.ask(seconds, "judge", variant, hidden), list)
        if kind == "error":
            return [], [*remarks, f"the hidden checks cannot be run: {judged}"], None
        return judged, remarks, None
    except _StrangeAnswerError:
        how = "wrote to the grader's own channel"
        return [], remarks, (at, how if at else f"judging {how}")
    except TimeoutError:
        return (
            [],
            remarks,
            (
                at,
                f"did not end within {seconds:g} s"
                if at
                else f"judging did not end within {seconds:g} s",
            ),
        )
    except ChildEndedError as ended:
        return [], remarks, (at, ended.how if at else f"judging {ended.how}")
    finally:
        child.close()


class _StrangeAnswerError(Exception):
    """The child's answer has not the form of one: the notebook's code wrote it."""


def _answer(given: Any, kind: type) -> tuple[str, Any]:
    """Check the child's answer: ("ok", a value of that type) or ("error", a sentence)."""
    match given:
        case ("error", str(sentence)):
            return "error", sentence
        case ("ok", value) if isinstance(value, kind) and (
            not isinstance(value, list) or all(map(_is_judgement, value))
        ):
            return "ok", value
    raise _StrangeAnswerError


def _is_judgement(one: Any) -> bool:
    return isinstance(one, dict) and all(
        column in one for column in ("exercise", "status", *_COLUMNS)
    )


def _hidden_titles(checks: str) -> list[tuple[str, str]]:
    """Return the (exercise, title) of the hidden checks that a file declares, from its text.

    The notebook's code could keep the child from running them; it cannot change the file.
    """
    try:
        tree = ast.parse(checks)
    except (SyntaxError, ValueError):  # the child reports the problem
        return []
    return [
        (decorator.args[0].value, hidden_title(decorator.args[0].value, function.name))
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and _last_name(decorator.func) == "hidden"
        if decorator.args
        and isinstance(decorator.args[0], ast.Constant)
        and isinstance(decorator.args[0].value, str)
    ]


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _did_not_run(title: str) -> dict[str, Any]:
    return _untried(title, "failed", "did-not-run", "the hidden check did not run")


def _untried(exercise: str, status: str, code: str, message: str) -> dict[str, Any]:
    """Return the row of a check without an answer from the child."""
    return {
        "exercise": exercise,
        "status": status,
        "cases": 0,
        "tries": 0,
        "code": code,
        "message": message,
        "hint": "",
    }


def _missing(name: str, left_out: dict[int, str], cells: Sequence[Cell]) -> dict[str, Any]:
    lost = next(
        (
            left_out[cell.number]
            for cell in cells
            if name in cell.exercises and cell.number in left_out
        ),
        "",
    )
    message = f"its cell {lost}" if lost else "no cell checked an answer"
    status = "failed" if lost else _NOT_SOLVED
    return _untried(name, status, "lost" * bool(lost), message)


def read_cells(path: Path) -> list[Cell]:
    """Return the code cells of a notebook file."""
    try:
        data = json.loads(read_file(path))
        found = [cell for cell in data["cells"] if cell["cell_type"] == "code"]
        return [
            Cell(number, source, _exercises_of(cell.get("metadata", {}), source))
            for number, cell in enumerate(found, 1)
            for source in ["".join(cell["source"])]
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise NotebookUnreadableError(
            f"{path.name} is not a notebook: {problem}", "give an .ipynb file of format 4"
        ) from None


def _exercises_of(metadata: Any, source: str) -> tuple[str, ...]:
    own = metadata.get("exercise")
    # A cell that shows a mistake names its exercise as well; the exercise is the notebook's all the
    # same.
    return (str(own),) if own else tuple(_NAME.findall(source))
