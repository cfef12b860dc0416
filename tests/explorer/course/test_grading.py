"""`xe.course.grade` runs notebooks in a child process and judges their answers again.

Manipulations of the child are remarks.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main

START = "import xla_explorer as xe"
RIGHT = """
def live(computation):
    found, stack = set(), [computation.root]
    while stack:
        i = stack.pop()
        if i not in found:
            found.add(i)
            stack += i.operands
    return found
xe.course.check("nb03.live", live)"""
NAMED = "def remembers(m):\n    raise NotImplementedError\nxe.course.check('nb03.dce', remembers)"


def notebook(folder: Path, *sources: str, name: str = "ada.ipynb") -> Path:
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": source,
        }
        for source in sources
    ]
    path = folder / name
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    )
    return path


def states(grade: xe.course.Grade) -> dict[str, str]:
    return {one["exercise"]: one["status"] for one in grade.exercises}


def test_answers_are_judged_and_cells_that_raise_are_noted(tmp_path: Path) -> None:
    grade = xe.course.grade(
        notebook(
            tmp_path, START, "1 / 0", "%load_ext xla_explorer", RIGHT, NAMED, "print('x' * 100_000)"
        )
    )
    assert states(grade) == {"nb03.live": "passed", "nb03.dce": "not solved yet"}
    assert (grade.passed, grade.of) == (1, 2)
    assert grade.remarks == ["cell 2 raised ZeroDivisionError: division by zero"]
    assert "ada.ipynb: 1 of 2" in repr(grade)


@pytest.mark.long
def test_hidden_checks_judge_the_same_answer(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.py"
    hidden.write_text("""import xla_explorer as xe


@xe.course.hidden("nb03.live")
def of_an_empty_program(live):
    module = xe.parse_hlo("HloModule m\\nENTRY e { ROOT p = f32[2] parameter(0) }")
    got = live(module.entry)
    yield None if len(got) == 1 else xe.course.Failure("other-set", "The parameter is needed.", "1", str(len(got)))
""")
    wrong = RIGHT.replace(
        "set(), [computation.root]",
        "set(), [computation.root] if computation.root.operands else []",
    )
    grade = xe.course.grade(notebook(tmp_path, START, wrong), hidden=hidden)
    assert states(grade) == {"nb03.live": "failed", "nb03.live: of an empty program": "failed"}
    assert states(xe.course.grade(notebook(tmp_path, START, RIGHT), hidden=hidden, variant=7)) == {
        "nb03.live": "passed",
        "nb03.live: of an empty program": "passed",
    }


@pytest.mark.long
def test_a_cell_that_ends_its_process_is_left_out_and_the_rest_counts(tmp_path: Path) -> None:
    path = notebook(
        tmp_path,
        START,
        "import os; os._exit(3)",
        "while True: pass",
        "x = bytearray(3 << 30)",
        RIGHT,
    )
    grade = xe.course.grade(path, seconds=4, memory=1 << 30)
    assert states(grade) == {"nb03.live": "passed"}
    assert grade.remarks == [
        "cell 2 ended its process with exit code 3; it was left out",
        "cell 3 did not end within 4 s; it was left out",
        "cell 4 raised MemoryError: ",
    ]


def processes_that_hold(word: str) -> list[str]:
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if word.encode() in environment.read_bytes():
                found.append(environment.parent.name)
    return found


@pytest.mark.long
@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(),
    reason="processes are looked for in /proc: copies that stay are NOT found",
)
def test_a_notebook_that_forks_is_graded_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = f"forked-by-{tmp_path.name}"
    monkeypatch.setenv("XLA_EXPLORER_TEST_WORD", word)
    once = "import os, time\nif not os.fork(): time.sleep(600)"
    forks = "import os\nfor _ in range(4): os.fork()"
    in_the_answer = RIGHT.replace(
        "    found, stack", "    import os\n    os.fork()\n    found, stack"
    )
    for sources in ([once, forks, RIGHT], [in_the_answer]):
        grade = xe.course.grade(notebook(tmp_path, START, *sources))
        assert (states(grade), grade.remarks) == ({"nb03.live": "passed"}, [])
        until = time.monotonic() + 20
        while (
            processes_that_hold(word) and time.monotonic() < until
        ):  # the kernel takes its time to end them
            time.sleep(0.05)
        assert not processes_that_hold(word)


@pytest.mark.long
@pytest.mark.parametrize(
    "forged", ["b'nonsense of another length'", "packed_ok(3)", "packed_ok(('ok', [1]))"]
)
def test_what_a_notebook_writes_to_the_grader_is_a_remark(tmp_path: Path, forged: str) -> None:
    source = f"""
import os
from xla_explorer.foundation import messages
from xla_explorer.foundation.plain_data import packed
packed_ok = lambda value: b"".join(bytes(piece) for piece in packed(value))
for number in range(3, 12):
    try:
        os.write(number, {forged})
    except OSError:
        pass
"""
    grade = xe.course.grade(notebook(tmp_path, START, source, RIGHT), seconds=20)
    assert states(grade) == {"nb03.live": "passed"}
    assert len(grade.remarks) == 1 and grade.remarks[0].startswith("cell 2 ")


@pytest.mark.long
def test_no_cell_replaces_an_exercise_or_takes_away_a_hidden_check(tmp_path: Path) -> None:
    redeclared = """
@xe.course.exercise("nb03.live", "Anything.", "Nothing.")
def live(answer):
    yield None
xe.course.check("nb03.live", lambda c: set())"""
    grade = xe.course.grade(notebook(tmp_path, START, redeclared))
    assert (
        states(grade) == {"nb03.live": "not solved yet"}
        and "ExerciseExistsError" in grade.remarks[0]
    )

    hidden = tmp_path / "hidden.py"
    hidden.write_text(
        'import xla_explorer as xe\n\n@xe.course.hidden("nb03.live")\ndef one_more(live):\n    yield None\n'
    )
    without = "xe.course.hidden = lambda name: lambda checker: checker"
    grade = xe.course.grade(notebook(tmp_path, START, without, RIGHT), hidden=hidden)
    assert states(grade) == {"nb03.live": "passed", "nb03.live: one more": "failed"}
    assert grade.exercises[1]["message"] == "the hidden check did not run"


def test_an_answer_that_leaves_python_is_a_wrong_answer() -> None:
    def leaves(computation: object) -> set[object]:
        raise SystemExit(0)

    result = xe.course.check("nb03.live", leaves)
    assert result.status == "failed" and result.failure.code == "raised-SystemExit"


def test_the_command_prints_json_and_refuses_what_is_no_notebook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bob.ipynb").write_text('{"cells": 3}')
    assert (
        main(
            ["grade", str(notebook(tmp_path, START, NAMED)), str(tmp_path / "bob.ipynb"), "--json"]
        )
        == 1
    )
    said = capsys.readouterr()
    assert (
        json.loads(said.out)["rows"][0]["exercises"][0]["status"] == "not solved yet"
        and "bob.ipynb is not a notebook" in said.err
    )


def test_progress_counts_what_was_checked_and_hints_go_on() -> None:
    xe.course.check("nb03.dce", lambda module: False)
    rows = {row[0]: row[1:3] for row in xe.course.progress("nb03").rows}
    assert rows["nb03.dce"][0] == "failed" and rows["nb03.dce"][1] >= 1
    xe.course.check("nb03.dce", None)
    assert {row[0]: row[1] for row in xe.course.progress("nb03").rows}[
        "nb03.dce"
    ] == "not solved yet"
    said = [xe.course.hint("nb03.dce") for _ in range(9)]
    assert said[-1] == said[-2] and all(one.startswith("hint ") for one in said)
    with pytest.raises(xe.course.UnknownExerciseError):
        xe.course.hint("nb03.none")
