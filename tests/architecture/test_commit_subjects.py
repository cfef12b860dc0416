"""`.ci/check_subjects` accepts subjects up to 72 characters; this branch's commits pass."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / ".ci" / "check_subjects"


def _check(*arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", CHECK, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("subject", "code"), [("é" * 72, 0), ("x" * 73, 1), ("short\n\n" + "x" * 90, 0)]
)
def test_a_message_is_judged_by_its_subject(tmp_path: Path, subject: str, code: int) -> None:
    message = tmp_path / "message"
    message.write_text(f"{subject}\n# {'a comment of git ' * 9}\n", encoding="utf-8")
    done = _check(message)
    assert done.returncode == code
    assert ("at most 72 characters, got 73" in done.stderr) == (code == 1)


def test_the_commits_of_this_branch_have_short_subjects() -> None:
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("no git repository here, as in an unpacked sdist")
    done = _check()
    assert done.returncode == 0, done.stderr
