"""No program touches memory beside its arrays.

Each array lies against an inaccessible page, in a child process that dies of a wrong address.
"""

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
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            [str(HERE.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
    }
    command = [sys.executable, str(HERE / "guard_pages.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)


def check(*arguments, timeout=240):
    done = run(*arguments, timeout=timeout)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[-1].startswith("done: "), (
        f"{lines[-1:]}: status {done.returncode}\n{done.stderr[-2000:]}"
    )
    assert int(lines[-1].split()[1]) > 20


def test_the_guard_ends_a_process_that_writes_too_far():
    assert run("broken").returncode == -11


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "group", [("opcodes", 0, 200, 3), ("texts", 0, 2000, 17), ("random", 0, 40)]
)
@pytest.mark.sampled(1)
def test_a_sample(group):
    check(*group)


@pytest.mark.slow
@pytest.mark.timeout(2000)
@pytest.mark.parametrize("group", [("opcodes",), ("texts",), ("random", 1000, 2000)])
def test_many(group):
    check(*group, timeout=1800)


WINDOWS = """
import functools

import numpy as np
import xla_explorer as xe
from tests.backends.cpu.guard_pages import run_guarded
from xla_explorer.backends.llvm import early_objects

early_objects.optimize_and_emit = functools.partial(early_objects.optimize_and_emit, preset="none")  # or LLVM removes what it sees not to be used
WINDOWS = {"3,9": "size=2x1 stride=2x1 pad=0_3x1_2", "4,7": "size=1x1 pad=0_0x1_0", "7,9": "size=1x1 pad=2_1x0_3", "5,6": "size=1x2 pad=1_0x2_0 rhs_dilate=1x2"}
for element in ("f32", "c64"):
    for shape, window in WINDOWS.items():
        add = f"add {{ a = {element}[] parameter(0) b = {element}[] parameter(1) ROOT r = {element}[] add(a, b) }}"
        text = f"{add} ENTRY e {{ x = {element}[4,6] parameter(0) c = {element}[] parameter(1) ROOT r = {element}[{shape}] reduce-window(x, c), window={{{window}}}, to_apply=add }}"
        session = xe.compile(text, threads=1, cache=False)
        given = xe.random_arguments(session.source)
        for at_end in (True, False):
            np.testing.assert_allclose(run_guarded(session, given, at_end=at_end)[0], xe.evaluate(session.source, *given), rtol=1e-5)
print("read")
"""


@pytest.mark.long
def test_windows_that_lie_beside_an_array_read_nothing_of_it():
    # The guard of a step that is always outside names no axis: it was left out, and what lies
    # before the array was read.
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS],
        capture_output=True,
        text=True,
        timeout=240,
        env=environment,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "read"), done.stderr[-2000:]
