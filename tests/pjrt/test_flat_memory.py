"""Executions and compiles leave nothing behind: handles, bytes of the device, memory of the process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.pjrt.child import needs_jax, output

needs_jax()
pytestmark = [pytest.mark.jax, pytest.mark.usefixtures("runs_here")]

PROGRAM = """
import gc, json, sys
import jax, jax.numpy as jnp, numpy as np
from xla_explorer import pjrt
from xla_explorer.pjrt import records

pjrt.options.keep = 5
executions, compiles = int(sys.argv[1]), int(sys.argv[2])

def measured():
    gc.collect()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return {"kilobytes": pages * 4, "handles": records.handles(), "bytes": jax.devices()[0].memory_stats()["bytes_in_use"]}

add = jax.jit(lambda x, y: (x + y, x * y))
give = jax.jit(lambda x: x + 1, donate_argnums=0)
host = np.ones(20_000, np.float32)

def execute(count):
    x = jnp.zeros(20_000)
    for _ in range(count // 4):
        y, z = add(x, host)
        x = give(y)
        view = np.asarray(z)
        z.delete()
        jax.device_put(host[::2])

def compile(count):
    for k in range(count):
        jax.jit(lambda x: x * k + jnp.float32(k))(host[:7])
        if k % 5 == 4:
            jax.clear_caches()
    jax.clear_caches()

execute(400), compile(max(compiles // 2, 6)), execute(400)
print(json.dumps([measured(), execute(executions), measured(), compile(compiles), execute(8), measured()]))
"""


def _flat(executions: int, compiles: int, seconds: float = 240) -> None:
    printed = output(PROGRAM, str(executions), str(compiles), seconds=seconds)
    before, _, executed, _, _, compiled = json.loads(printed.splitlines()[-1])
    _no_more(before, executed, 2_000)
    # The compiler keeps caches of what it saw, LLVM some kilobytes of each library.
    _no_more(executed, compiled, 4_000 + 40 * compiles)


def _no_more(before: dict[str, Any], after: dict[str, Any], kilobytes: int) -> None:
    assert after["handles"] <= before["handles"] + 4 and after["bytes"] <= before["bytes"], (before, after)
    assert after["kilobytes"] <= before["kilobytes"] + kilobytes, (before, after)


def test_some_executions_and_some_compiles() -> None:
    _flat(800, 6)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_executions_and_compiles() -> None:
    _flat(100_000, 1_000, seconds=1_700)
