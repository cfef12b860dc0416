"""The compiler on random modules: text, verifier, passes, buffers, native code and PTX.

The evaluator gives the reference values.

Native code runs in a child process, so that a crash or a hang fails one test and says the seed. A
failing seed is made small by `python tests/properties/module_reduction.py SEED`; `python
tests/properties/hunt.py FIRST COUNT` looks for more.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.module_checks import check_passes, check_text, evaluate_leaves
from tests.properties.random_modules import ModuleWriter, random_module
from tests.support.drawn import DRAWN
from tests.support.pace import wall_seconds

HERE = Path(__file__).parent


def check_in_a_child(first: int, last: int, *, gpu: bool, seconds: float) -> None:
    """Every check on the modules of these seeds."""
    command = [
        sys.executable,
        str(HERE / "hunt.py"),
        "--child",
        str(first),
        str(last),
        str(int(gpu)),
        "14",
    ]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            [str(HERE.parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
    }
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=wall_seconds(seconds), env=environment
        )
        output, died = (
            done.stdout,
            done.returncode and f"exit status {done.returncode}: {done.stderr[-2000:]}",
        )
    except subprocess.TimeoutExpired as late:
        output, died = (late.stdout or b"").decode(), f"no end within {seconds} s"
    seeds = [line for line in output.splitlines() if line.startswith("seed")]
    failed = [line for line in output.splitlines() if line.startswith("FAIL")]
    assert not died, f"{seeds[-1] if seeds else 'the start'}: {died}"
    assert not failed, "\n".join(failed)
    assert len(seeds) == last - first


@pytest.mark.long
@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("first", range(0, 96, 12))
@pytest.mark.sampled(1)
def test_compiled_modules_give_what_the_evaluator_gives(first):
    check_in_a_child(first, first + 12, gpu=True, seconds=120)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("first", range(1000, 3000, 200))
def test_many_compiled_modules_give_what_the_evaluator_gives(first):
    check_in_a_child(first, first + 200, gpu=True, seconds=600)


@pytest.mark.long
@settings(DRAWN, max_examples=60)
@given(st.randoms(use_true_random=False), st.booleans())
def test_text_and_passes_keep_any_module(choice: random.Random, extremes: bool):
    # hypothesis makes the choices, so a failing module is shrunk; no native code runs here.
    case = ModuleWriter(choice, 6, extremes=extremes).write()
    check_text(case)
    check_passes(case, evaluate_leaves(case.module, case.arguments))


def test_the_same_seed_gives_the_same_module():
    one, two = random_module(7), random_module(7)
    assert one.module.to_text() == two.module.to_text()
    assert one.bounds == two.bounds
