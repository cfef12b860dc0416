"""No program touches memory beside its arrays: each lies against a page without access, in a child process that dies of a wrong address."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects pages with mprotect"),
    pytest.mark.usefixtures("runs_here"),
]


def run(*arguments, timeout=240):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])}
    command = [sys.executable, str(HERE / "guard_pages.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)


def check(*arguments, timeout=240):
    done = run(*arguments, timeout=timeout)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[-1].startswith("done: "), f"{lines[-1:]}: status {done.returncode}\n{done.stderr[-2000:]}"
    assert int(lines[-1].split()[1]) > 20


def test_the_guard_ends_a_process_that_writes_too_far():
    assert run("broken").returncode == -11


@pytest.mark.timeout(300)
@pytest.mark.parametrize("group", [("opcodes", 0, 200, 3), ("texts", 0, 2000, 17), ("random", 0, 40)])
@pytest.mark.sampled(1)
def test_a_sample(group):
    check(*group)


@pytest.mark.slow
@pytest.mark.timeout(2000)
@pytest.mark.parametrize("group", [("opcodes",), ("texts",), ("random", 1000, 2000)])
def test_many(group):
    check(*group, timeout=1800)
