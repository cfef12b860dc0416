"""The process ends cleanly, whatever happened in it.

`test_several_devices.py` has one such end that is always tried.
"""

from __future__ import annotations

import pytest

from tests.pjrt.child import needs_jax, run

needs_jax()
pytestmark = [pytest.mark.jax, pytest.mark.usefixtures("runs_here")]

# name -> (program, exit status)
ENDINGS = {
    "arrays are left": (
        "kept = [jax.jit(lambda x: x + k)(np.ones(300_000, 'f4')) for k in range(3)]",
        0,
    ),
    "an exception": ("y = jax.jit(lambda x: x + 1)(1.0)\nraise SystemExit(3)", 3),
    # Not a daemon: from those jaxlib's own CPU aborts, too, when Python ends before 3.14.
    "a thread that computes after the end of the main one": (
        """
import threading
f = jax.jit(lambda x: x * 2)
def on():
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        f(x)
threading.Thread(target=on).start()
raise ValueError("own words")""",
        1,
    ),
    "work at exit": (
        """
import atexit
f = jax.jit(lambda x: x * 2)
atexit.register(lambda: f(x).block_until_ready())
globals()["cycle"] = [f, x]; cycle.append(cycle)""",
        0,
    ),
    "a callback in an unfinished thread": (
        """
import threading
def slow(v):
    time.sleep(0.2)
    return v
f = jax.jit(lambda x: jax.pure_callback(slow, jax.ShapeDtypeStruct((3,), "f4"), x))
thread = threading.Thread(target=lambda: f(x).block_until_ready())
thread.start()""",
        0,
    ),
    "an exception in a callback": (
        """
def wrong(v):
    raise ValueError("own words")
jax.jit(lambda x: jax.pure_callback(wrong, jax.ShapeDtypeStruct((3,), "f4"), x))(x).block_until_ready()""",
        1,
    ),
    "a debug print nobody waits for": ("jax.jit(lambda x: jax.debug.print('{}', x) or x)(x)", 0),
    "deleted and donated arrays": (
        "a = jnp.ones(9); v = np.asarray(a); jax.jit(lambda x: x + 1, donate_argnums=0)(a); del a",
        0,
    ),
    "a program that still computes": (
        """
f = jax.jit(lambda x: jax.lax.fori_loop(0, 3_000_000, lambda k, c: c * 0.5 + k, x), compiler_options={"dispatch": "asynchronous"})
kept = [f(float(k)) for k in range(9)]
last = f(kept[-1])""",
        0,
    ),
    "an exception while a program computes": (
        """
f = jax.jit(lambda x: jax.lax.fori_loop(0, 3_000_000, lambda k, c: c * 0.5 + k, x), compiler_options={"dispatch": "asynchronous"})
f(f(1.0))
raise ValueError("own words")""",
        1,
    ),
    "compiling in threads": (
        """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    made = list(pool.map(lambda k: jax.jit(lambda x: x - k)(x), range(3)))""",
        0,
    ),
    "an interrupt while a program compiles": (
        """
import signal
from xla_explorer.pjrt import executables
def endless(*_):
    while True:
        time.sleep(0.01)
def leave(*_):
    raise KeyboardInterrupt
executables.compile_program = endless
signal.signal(signal.SIGALRM, leave)
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    jax.jit(lambda x: x - 5)(x)
except KeyboardInterrupt:
    del x
raise SystemExit(4)""",
        4,
    ),
    "references in a cycle with a class": (
        """
class Holder:
    def __del__(self):
        self.array.block_until_ready()
holder = Holder(); holder.array = jax.jit(lambda x: x + 1)(x); holder.me = holder""",
        0,
    ),
}
# Freed memory is overwritten at once: native code that still writes there ends the process.
SPOILED = {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "85"}
START = "import time\nimport jax, jax.numpy as jnp, numpy as np\nx = jnp.ones(3)\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDINGS)
def test_a_process_ends_however_it_ends(name: str) -> None:
    script, status = ENDINGS[name]
    done = run(START + script + "\n", **SPOILED)
    assert done.returncode == status, (
        f"{name}: exit status {done.returncode}\n{done.stderr[-3000:]}"
    )
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr, done.stderr[-3000:]
