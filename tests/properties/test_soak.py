"""A soak of the CPU backend in a child process: no wrong value, no crash, memory that stays where it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def soak(seconds: int, first: int) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE.parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])}
    done = subprocess.run(
        [sys.executable, str(HERE / "soak.py"), str(seconds), str(first)],
        capture_output=True, text=True, timeout=2 * seconds + 120, env=environment,
    )
    last = [line for line in done.stderr.splitlines() if line.startswith("seed")][-1:]
    assert done.returncode == 0, f"{last}: exit status {done.returncode}: {done.stderr[-2000:]}"
    report = json.loads(done.stdout.splitlines()[-1])
    assert not report["failures"], "\n".join(report["failures"])
    assert report["modules"] > seconds / 4, report
    # What grows with every module would show here; the caches of Python and LLVM fill a little for a while.
    assert report["end_mib"] <= 1.15 * report["middle_mib"] + 24, report


@pytest.mark.timeout(240)
def test_random_modules_and_threads_for_a_while():
    soak(20, 5000)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_random_modules_and_threads_for_three_minutes():
    soak(180, 20000)
