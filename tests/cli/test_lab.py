"""`xla-explorer lab`: in containers, on remote machines, and stopped by SIGTERM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xla_explorer.cli import lab as lab_command

FAKE = "import sys, time; open(sys.argv[1], 'w').write(' '.join(sys.argv[2:])); time.sleep(60)"
RUN = """
import os, sys
from pathlib import Path
from xla_explorer.cli import lab
folder = Path(sys.argv[1])
lab.python_command = lambda *words: [sys.executable, "-c", sys.argv[2], str(folder / "started"), str(os.getpid()), *words]
lab.is_root = lambda: sys.argv[3] == "root"
sys.exit(lab.lab(folder, browser=False, port=None))
"""


@pytest.mark.parametrize("user", ["root", "other"])
def test_sigterm_ends_jupyterlab_and_root_is_allowed(tmp_path: Path, user: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path), FAKE, user], stdout=subprocess.PIPE, text=True
    )
    started, end = tmp_path / "started", time.monotonic() + 30
    while not (started.exists() and started.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    words = started.read_text()
    assert ("--allow-root" in words) is (user == "root") and "--no-browser" in words
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 0 and f"/lab/tree/{lab_command.TOUR_NOTEBOOK}" in out
    found = (
        [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(started) in _read(p)]
        if os.path.isdir("/proc/self")
        else []
    )
    assert not found, "the server is gone with the command"


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
