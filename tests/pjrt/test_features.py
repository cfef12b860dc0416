"""Uses of JAX (`features.py`) through the plugin, all in one process."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

from tests.pjrt.child import needs_jax, output, run

needs_jax()
pytestmark = [pytest.mark.jax, pytest.mark.usefixtures("runs_here")]
PROGRAM = Path(__file__).with_name("features.py")


def _names() -> list[str]:
    """Read from the text: this process does not import JAX."""
    functions = [
        node
        for node in ast.parse(PROGRAM.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    return [
        f.name
        for f in functions
        if any(isinstance(d, ast.Name) and d.id == "feature" for d in f.decorator_list)
    ]


@cache
def _outcomes() -> tuple[dict[str, str], str]:
    """(name -> what went wrong, how the process ended)."""
    done = run(str(PROGRAM))
    rows = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    return rows, f"exit status {done.returncode}: {done.stderr[-3000:]}"


@pytest.mark.long
@pytest.mark.parametrize("name", [*_names(), "end"])
def test_feature(name: str) -> None:
    rows, end = _outcomes()
    assert name in rows, end
    assert not rows[name], rows[name]
    assert end.startswith("exit status 0"), end


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_executions_and_compiles_leave_nothing_behind() -> None:
    output(str(PROGRAM.with_name("flat_memory.py")), "100000", "1000", seconds=1_700)
