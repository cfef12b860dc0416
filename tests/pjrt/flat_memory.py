"""Executions and compiles leak no handles, device bytes or process memory.

A few of each run among the features.

JAX_PLATFORMS=xla_explorer,cpu python tests/pjrt/flat_memory.py EXECUTIONS COMPILES
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def check(executions: int, compiles: int) -> None:
    from xla_explorer import pjrt

    kept, pjrt.options.keep = pjrt.options.keep, 5
    execute(200), compile_some(max(compiles // 2, 2)), execute(200)
    before = measured()
    execute(executions)
    executed = measured()
    compile_some(compiles), execute(8)
    compiled = measured()
    pjrt.options.keep = kept
    no_more(before, executed, 2_000)
    # The compiler keeps caches of what it saw, LLVM some kilobytes of each library.
    no_more(executed, compiled, 4_000 + 40 * compiles)


def execute(count: int) -> None:
    add, give = jax.jit(lambda x, y: (x + y, x * y)), jax.jit(lambda x: x + 1, donate_argnums=0)
    x, host = jnp.zeros(20_000), np.ones(20_000, np.float32)
    for _ in range(count // 4):
        y, z = add(x, host)
        x = give(y)
        view = np.asarray(z)
        z.delete()
        jax.device_put(host[::2])
    del view


def compile_some(count: int) -> None:
    for k in range(count):
        jax.jit(lambda x, k=k: x * k + jnp.float32(k))(np.ones(7, np.float32))
        if k % 5 == 4:
            jax.clear_caches()
    jax.clear_caches()


def measured() -> dict[str, Any]:
    from xla_explorer.pjrt import records

    gc.collect()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return {
        "kilobytes": pages * 4,
        "handles": records.handles(),
        "bytes": jax.devices()[0].memory_stats()["bytes_in_use"],
    }


def no_more(before: dict[str, Any], after: dict[str, Any], kilobytes: int) -> None:
    assert after["handles"] <= before["handles"] + 4 and after["bytes"] <= before["bytes"], (
        before,
        after,
    )
    assert after["kilobytes"] <= before["kilobytes"] + kilobytes, (before, after)


if __name__ == "__main__":
    check(int(sys.argv[1]), int(sys.argv[2]))
