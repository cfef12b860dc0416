"""Every notebook's cells in development mode, warnings as errors: no resource stays open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("IPython", reason="IPython is not installed: the notebooks are NOT run")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RUN = """
import json, sys, warnings
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

shell, failed = InteractiveShell.instance(), 0
for number, cell in enumerate(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["cells"]):
    if cell["cell_type"] == "code":
        warnings.simplefilter("error")
        result = shell.run_cell("".join(cell["source"]))
        problem = result.error_before_exec or result.error_in_exec
        if problem is not None:
            print(f"cell {number}: {type(problem).__name__}: {problem}", file=sys.stderr)
            failed = 1
sys.exit(failed)
"""


# The README's code runs so by default: tests/explorer/test_public_functions.py.
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_no_cell_warns(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", RUN, str(path)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 0 and not [
        line for line in said if "Warning" in line or "Traceback" in line or "cell " in line
    ], done.stderr[-3000:]
