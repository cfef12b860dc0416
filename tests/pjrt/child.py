"""JAX programs in child processes that find the plugin by its entry point, as if installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def needs_jax() -> None:
    """Skip the file where JAX is not installed."""
    import pytest  # the training scripts run in environments without it

    if importlib.util.find_spec("jax") is None:
        pytest.skip("needs the extra `jax`", allow_module_level=True)


@cache
def _discovery() -> tempfile.TemporaryDirectory[str]:
    """Return a folder with pyproject.toml's entry points as an installed distribution has them.

    It serves with and without an installed package.
    """
    folder = tempfile.TemporaryDirectory(prefix="xla_explorer_entry_points")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = Path(folder.name) / "xla_explorer_pjrt_test-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: xla-explorer-pjrt-test\nVersion: 0\n"
    )
    rows = [f"{name} = {module}" for name, module in project["entry-points"]["jax_plugins"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[jax_plugins]", *rows, ""]))
    return folder


def run(
    script: str,
    *arguments: str,
    platforms: str = "xla_explorer,cpu",
    seconds: float = 240,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Return a Python program (text, or the path of a file) with JAX on the plugin."""
    given = [script] if script.endswith(".py") else ["-c", script]
    path = os.pathsep.join(
        [str(ROOT), _discovery().name, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    )
    settings = {**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": platforms, **environment}
    command = [sys.executable, "-X", "faulthandler", *given, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, env=settings, cwd=ROOT
    )


def output(script: str, *arguments: str, **settings: str) -> str:
    """Return the output of a program, which must end cleanly and quietly."""
    done = run(script, *arguments, **settings)
    assert done.returncode == 0, (
        f"exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
    assert not done.stderr, done.stderr[-4000:]
    return done.stdout
