"""After `xe.warm_up` a first compilation loads no further module."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import xla_explorer as xe
from tests.support.pace import processor_seconds

FIRST_COMPILE = """
import sys
import xla_explorer as xe
xe.warm_up("{backend}")
before = set(sys.modules)
xe.compile('''HloModule m
ENTRY e {{
  x = f32[8,8] parameter(0)
  y = f32[8,8] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT z = f32[8,8] tanh(y)
}}''', backend="{backend}", journal="off", cache=False)
print(sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_nothing_is_left_to_load(backend: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", FIRST_COMPILE.format(backend=backend)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.stdout.strip() == "[]", found.stdout + found.stderr


def test_unknown_backends_are_named() -> None:
    with pytest.raises(LookupError, match="no backend is named"):
        xe.warm_up("abacus")


def test_a_second_time_costs_next_to_nothing() -> None:
    xe.warm_up()
    started = time.process_time()
    xe.warm_up()
    assert time.process_time() - started < processor_seconds(0.1)
