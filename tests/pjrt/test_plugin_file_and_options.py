"""The plugin as a file that JAX loads by path; options from the environment, and wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pjrt.child import needs_jax, run
from xla_explorer.cli.main import main

needs_jax()
pytestmark = [pytest.mark.slow, pytest.mark.jax, pytest.mark.usefixtures("runs_here")]

PROGRAM = """
import jax, jax.numpy as jnp
from xla_explorer import pjrt

print(jax.devices(), pjrt.options.backend)
for backend in ("interpreter", "gpu"):
    pjrt.options.backend = backend
    a, b = jax.jit(lambda x: (x * 2, x + 4), donate_argnums=0)(jnp.arange(4.0))
    print(a, b, pjrt.sessions[-1].backend)
"""


def test_jax_loads_the_file_that_the_command_writes(tmp_path: Path) -> None:
    """And another backend runs in the same process, with a page for each compile."""
    file = tmp_path / "libxla_explorer_pjrt.so"
    assert main(["pjrt-plugin", "-o", str(file)]) == 0
    options = {
        "XLA_EXPLORER_PJRT_BACKEND": "interpreter",
        "XLA_EXPLORER_PJRT_DUMP": str(tmp_path / "pages"),
    }
    done = run(
        PROGRAM,
        platforms="from_a_file",
        PJRT_NAMES_AND_LIBRARY_PATHS=f"from_a_file:{file}",
        **options,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0] == "[XlaExplorerDevice(id=0)] interpreter", (
        done.stderr[-3000:]
    )
    assert lines[1:] == [
        f"[0. 2. 4. 6.] [4. 5. 6. 7.] {backend}" for backend in ("interpreter", "gpu")
    ]
    pages = sorted((tmp_path / "pages").iterdir())
    assert pages[0].name.startswith("0000_jit_") and all(
        b"<html" in page.read_bytes()[:200] for page in pages
    )


def test_what_keeps_the_plugin_from_starting_is_said() -> None:
    done = run("import jax; jax.devices()", XLA_EXPLORER_PJRT_THREADS="many")
    assert (
        done.returncode == 1
        and "threads must be an integer of at least 1, got 'many'" in done.stderr
    ), done.stderr
    quiet = run("import jax; print(jax.devices())", platforms="", XLA_EXPLORER_PJRT_THREADS="many")
    assert quiet.returncode == 0 and "Cpu" in quiet.stdout and not quiet.stderr, quiet.stderr
