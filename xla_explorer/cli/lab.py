"""`xla-explorer lab`: JupyterLab on a copy of the tour notebook."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from xla_explorer.explorer.examples import TOUR_NOTEBOOK, example_path


def copy_tour(folder: Path) -> Path:
    """The notebook in a folder of the reader's; one that is there already is kept. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / TOUR_NOTEBOOK
    if not copy.exists():
        shutil.copyfile(example_path(TOUR_NOTEBOOK), copy)
    return copy


def lab(folder: Path, *, browser: bool, port: int | None, options: Sequence[str] = ()) -> int:
    """Copy the notebook and run JupyterLab on it until it is stopped. Returns its exit code."""
    notebook = copy_tour(folder)
    command = [sys.executable, "-m", "jupyterlab", str(notebook), *options]
    if not browser:
        command.append("--no-browser")
    if port is not None:
        command.append(f"--port={port}")
    print(f"opening {notebook} (a copy; Ctrl-C stops JupyterLab)")
    try:
        return subprocess.call(command)
    except KeyboardInterrupt:
        return 0
