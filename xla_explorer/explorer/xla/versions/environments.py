"""Environments with a version of jax: folders that exist, or made from the package index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from xla_explorer.foundation.child_python import python_command
from xla_explorer.foundation.diagnostic import XlaExplorerError

_VERSION: Final = re.compile(r"\d+(\.\d+)*(\.\*)?\Z")
_INSTALL_S: Final = 900.0


class Environment(NamedTuple):
    """A version of jax. label: as the user named it. python: its interpreter."""

    label: str
    python: str


def environment(given: str, folder: Path | None = None) -> Environment:
    """Return an environment by its folder, its interpreter, or a version of jaxlib.

    A version is installed once, into `folder` (default: the user's cache), by `pip`.

    Raises
    ------
    XlaExplorerError
        The folder has no Python, or the version cannot be installed.
    """
    path = Path(given).expanduser()
    for one in (path / "bin" / "python", path / "Scripts" / "python.exe", path):
        if one.is_file():
            return Environment(given, str(one.absolute()))
    if _VERSION.match(given) is None:
        raise XlaExplorerError(
            f"{given} is neither a version of jaxlib nor the folder of an environment",
            "write 0.10.2, or the folder that `python -m venv` made",
        )
    return Environment(given, _installed(given, folder or _cache()))


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "xla_explorer" / "environments"


def _installed(version: str, folder: Path) -> str:
    """Install a version of jax for this Python if it is not there yet."""
    name = f"jax-{version}-python{sys.version_info[0]}.{sys.version_info[1]}"
    place = folder / name
    python = place / "bin" / "python"
    if (place / "complete").is_file():
        return str(python)
    wanted = version if version.count(".") >= 2 else f"{version}.*"
    commands = (
        python_command("venv", str(place)),
        [str(python), "-m", "pip", "install", "-q", f"jax=={wanted}", f"jaxlib=={wanted}"],
    )
    for command in commands:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_INSTALL_S, check=False
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise XlaExplorerError(
                f"jax {version} cannot be installed for Python {sys.version.split()[0]}: {last[:300]}",
                "name the folder of an environment with another Python instead",
            )
    (place / "complete").write_text("")
    return str(python)
