"""`xla-explorer lab`: JupyterLab on copies of the tour and of the course."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from xla_explorer.explorer.sessions.examples import TOUR_NOTEBOOK, notebook_paths
from xla_explorer.foundation.child_python import python_command

SHUT_DOWN_SECONDS = 15


def copy_notebooks(folder: Path) -> Path:
    """Copy the notebooks into the reader's folder, without replacing existing ones.

    Returns the path of the tour.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in notebook_paths():
        if not (folder / notebook.name).exists():
            shutil.copyfile(notebook, folder / notebook.name)
    return folder / TOUR_NOTEBOOK


def lab(folder: Path, *, browser: bool, port: int | None, options: Sequence[str] = ()) -> int:
    """Copy the notebooks and run JupyterLab on the tour until it is stopped.

    Returns its exit code, or 0 after Ctrl-C or SIGTERM.
    """
    notebook = copy_notebooks(folder)
    # -y: Ctrl-C reaches the server too; it must end without a question.
    command = python_command("jupyterlab", str(notebook), "-y", *options)
    if not browser:
        command.append("--no-browser")
    if port is not None:
        command.append(f"--port={port}")
    if is_root():
        command.append(
            "--allow-root"
        )  # a container: Jupyter would end with a hint at this very option
    print(f"opening {notebook} (copies, the course beside it; Ctrl-C stops JupyterLab)")
    if not browser:
        print(
            f"in the browser: the address that JupyterLab prints, with /lab/tree/{notebook.name} "
            "in the place of /lab",
            flush=True,
        )
    before = signal.signal(signal.SIGTERM, _interrupt)
    server = subprocess.Popen(command)
    try:
        return server.wait()
    except KeyboardInterrupt as stopped:
        if isinstance(stopped, _Terminated):
            server.terminate()  # Ctrl-C reaches the server too, SIGTERM only this process
        try:
            server.wait(SHUT_DOWN_SECONDS)  # it ends its kernels first
        except subprocess.TimeoutExpired:
            server.kill()
        return 0
    finally:
        signal.signal(signal.SIGTERM, before)


def is_root() -> bool:
    """Return True if this user is root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


class _Terminated(KeyboardInterrupt):
    """The signal SIGTERM as an exception."""


def _interrupt(number: int, frame: object) -> None:
    raise _Terminated
