"""A soak of the CPU backend in a child process: no wrong value, no crash, memory that stays where it is.

A minute of it in every run, three minutes and an hour among the slow tests (`pytest -m slow tests/properties/test_soak.py`).
"""

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
    # Every module here is a new one, and a new one leaves about 180 KiB behind: 85 in llvmlite (the callbacks of a PassBuilder are never
    # freed), 5 in LLJIT (an emptied library keeps its name), the rest in tables of shapes and attributes and in the arena's blocks. An
    # executable or a module that is kept by mistake costs more. A module compiled again costs 5 KiB. 24 MiB: caches that fill a little for a while.
    assert report["end_mib"] <= report["middle_mib"] + 24 + 0.25 * report["after_middle"], report


@pytest.mark.timeout(300)
def test_random_modules_and_threads_for_a_minute():
    soak(60, 5000)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_random_modules_and_threads_for_three_minutes():
    soak(180, 20000)


@pytest.mark.slow
@pytest.mark.timeout(8000)
def test_random_modules_and_threads_for_an_hour():
    soak(3600, 1_000_000)
