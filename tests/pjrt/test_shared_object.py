"""The plugin as a file, which JAX loads by its path."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.pjrt.child import needs_jax, run
from xla_explorer.cli.main import main

needs_jax()
pytestmark = [pytest.mark.jax, pytest.mark.usefixtures("runs_here")]


def test_a_host_loads_the_file_that_the_command_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "libxla_explorer_pjrt.so"
    assert main(["pjrt-plugin", "-o", str(file)]) == 0
    assert str(file) in capsys.readouterr().out
    image = file.read_bytes()
    assert image[:4] == b"\x7fELF" and struct.unpack_from("<H", image, 16) == (3,), "a shared object"
    script = "import jax; print(jax.devices(), jax.jit(lambda x: x * 3)(2.0))"
    done = run(script, platforms="from_a_file", PJRT_NAMES_AND_LIBRARY_PATHS=f"from_a_file:{file}")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "[XlaExplorerDevice(id=0)] 6.0\n"
