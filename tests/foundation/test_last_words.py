"""Last output of a child that died: the failed check, not the stack after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xla_explorer.foundation.child_process import ChildEndedError
from xla_explorer.foundation.child_python import child_environment, code_command, foreign_command

CHECK = "F1128 07:00:00.000000  123 shape_util.cc:10] Check failed: ShapeUtil::Compatible(a, b) f32[7,4] vs. f32[6,4]"
STACK = [
    "*** Check failure stack trace: ***",
    "    @     0x7f7912345678  absl::LogMessageFatal",
    "    @     0x7f79  (unknown)",
    "",
]
PYTHON = [
    "Fatal Python error: Aborted",
    "",
    "Current thread 0x00007f (most recent call first):",
    '  File "x.py", line 3 in f',
]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([CHECK, *STACK], "Check failed: ShapeUtil::Compatible"),
        (["warming up", CHECK, *STACK, *PYTHON], "Check failed: ShapeUtil::Compatible"),
        (["INTERNAL: RET_CHECK failure (hlo.cc:3) a == b", *STACK], "RET_CHECK failure"),
        (["python: APInt.h:135: Assertion `isUIntN(BitWidth, val)' failed.", *PYTHON], "isUIntN"),
        (["LLVM ERROR: Cannot select: t5", *PYTHON], "Cannot select"),
        (["something went wrong", *STACK], "something went wrong"),
        (STACK, ""),
        ([], ""),
    ],
)  # fmt: skip
def test_the_check_that_failed_is_told(said: list[str], told: str) -> None:
    words = ChildEndedError(-6, said).last_line
    assert told in words and "0x7f79" not in words and bool(words) == bool(told)


def test_a_package_named_like_a_standard_module_hides_nothing_in_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package named like a standard module hides nothing in a child.

    An installed backport of `dataclasses` lies in site-packages beside this package.
    """
    from xla_explorer.foundation import child_python

    home = Path(child_python.__file__).resolve().parents[2]
    (tmp_path / "dataclasses.py").write_text("raise SystemExit('the backport was imported')")
    os.symlink(home / "xla_explorer", tmp_path / "xla_explorer")
    monkeypatch.setattr(child_python, "_HOME", str(tmp_path))
    monkeypatch.setattr(
        sys, "path", [*[p for p in sys.path if p and Path(p).resolve() != home], str(tmp_path)]
    )
    code = "import dataclasses, xla_explorer; print(xla_explorer.__file__)"
    done = subprocess.run(
        code_command(code), env=child_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout, done.stderr
    command = foreign_command(sys.executable, "xla_explorer.foundation.reason")
    started = (
        command[2].partition("; import runpy")[0]
        + "; import dataclasses, xla_explorer.foundation.reason"
    )
    done = subprocess.run(
        [sys.executable, "-c", started],
        cwd=tmp_path.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
