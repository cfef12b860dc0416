"""The smallest JAX programs through the plugin, each in a process that must end cleanly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pjrt.child import needs_jax, output, run

needs_jax()
pytestmark = [pytest.mark.jax, pytest.mark.usefixtures("runs_here")]


# The process ends while the plugin computes.
BESIDE = """
import jax
print(jax.devices()[0].platform, [d.platform for d in jax.devices('xla_explorer')], jax.jit(lambda x: x * 2)(2.0))
with jax.default_device(jax.devices('xla_explorer')[0]):
    f = jax.jit(lambda x: jax.lax.fori_loop(0, 3_000_000, lambda k, c: c * 0.5 + k, x), compiler_options={'dispatch': 'asynchronous'})
    kept = [f(float(k)) for k in range(9)]
    last = f(kept[-1])
"""


def test_jax_keeps_its_own_cpu_where_nobody_asks_for_the_plugin() -> None:
    assert output(BESIDE, platforms="") == "cpu ['xla_explorer'] 4.0\n"


ANOTHER = """
import sys
import jax, jax.numpy as jnp
from xla_explorer import pjrt

print(pjrt.options.backend, jax.devices()[0].device_kind)
for backend in sys.argv[1:]:
    pjrt.options.backend = backend
    a, b = jax.jit(lambda x: (x * 2, x + 4), donate_argnums=0)(jnp.arange(4.0))
    print(a, b, pjrt.sessions[-1].backend)
"""


@pytest.mark.parametrize("backends", [("interpreter",), pytest.param(("interpreter", "gpu"), marks=pytest.mark.slow)])
def test_other_backends_and_a_page_for_each_compile(tmp_path: Path, backends: tuple[str, ...]) -> None:
    done = run(ANOTHER, *backends, XLA_EXPLORER_PJRT_BACKEND="interpreter", XLA_EXPLORER_PJRT_DUMP=str(tmp_path / "pages"))
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0] == "interpreter xla_explorer interpreter", done.stderr
    assert lines[1:] == [f"[0. 2. 4. 6.] [4. 5. 6. 7.] {backend}" for backend in backends]
    pages = sorted((tmp_path / "pages").iterdir())
    assert pages[0].name.startswith("0000_jit_") and all(b"<html" in page.read_bytes()[:200] for page in pages)


@pytest.mark.slow
def test_what_keeps_the_plugin_from_starting_is_said() -> None:
    done = run("import jax; jax.devices()", XLA_EXPLORER_PJRT_THREADS="many")
    assert done.returncode == 1 and "threads must be an integer of at least 1, got 'many'" in done.stderr, done.stderr
    quiet = run("import jax; print(jax.devices())", platforms="", XLA_EXPLORER_PJRT_THREADS="many")
    assert quiet.returncode == 0 and "Cpu" in quiet.stdout and not quiet.stderr, quiet.stderr
