"""A user without rights: read-only home and folders, an installation of somebody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="users of POSIX"),
]
SCRIPT = """
import os, sys
import numpy as np
import xla_explorer as xe

text = "HloModule m ENTRY e { x = f32[64] parameter(0) y = f32[64] exponential(x) ROOT r = f32[64] add(y, x) }"
places = [os.path.dirname(xe.__file__), os.getcwd(), os.path.expanduser("~")]
assert not any(os.access(place, os.W_OK) for place in places), places
x = np.linspace(-1, 1, 64, dtype=np.float32)
wanted = np.exp(x) + x
session = xe.compile(text)
np.testing.assert_allclose(session(x), wanted, rtol=1e-6)
np.testing.assert_allclose(xe.compile(text, backend="gpu", device="emulator")(x), wanted, rtol=1e-5)
assert len(session.profile(x, repeats=2)) > 1
assert session.save(sys.argv[1] + "/page.html").stat().st_size > 100_000
xe.aot(text).save(sys.argv[1] + "/object")
if sys.argv[2] == "True":
    np.testing.assert_allclose(xe.compile(text, isolate=True)(x), wanted, rtol=1e-6)
    rows = xe.sweep([text], [{"passes": "default"}, {"passes": "none"}], executor=2, repeats=1, store=sys.argv[1] + "/rows.jsonl")
    assert list(rows["status"]) == ["ok", "ok"], rows
print("done")
"""


def _another_user() -> tuple[list[str], bool]:
    """Return the start of a command for a user without rights, and whether it can read this Python.

    In root's own folders that user may read all files, but its children may not.
    """
    if os.getuid() != 0:
        return [], True
    if (setpriv := shutil.which("setpriv")) is None:
        pytest.skip("util-linux's setpriv is not installed: nothing is tried as another user")
    user = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    plain = [*user, "--inh-caps=-all", "--bounding-set=-all", "--"]
    again = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import llvmlite'], check=True)"
    if (
        subprocess.run(
            [*plain, sys.executable, "-c", again],
            cwd="/",
            capture_output=True,
            timeout=60,
            check=False,
        ).returncode
        == 0
    ):
        return plain, True
    return [
        *user,
        "--inh-caps=-all,+dac_read_search",
        "--ambient-caps=-all,+dac_read_search",
        "--bounding-set=-all,+dac_read_search",
        "--",
    ], False


def test_the_main_jobs_need_no_rights_and_write_where_they_are_told() -> None:
    user, readable = _another_user()
    if not user and os.access(ROOT / "xla_explorer", os.W_OK):
        pytest.skip(
            "the installation belongs to who runs the tests: only root can try another user"
        )
    with (
        tempfile.TemporaryDirectory() as folder
    ):  # pytest's own belongs to the user of the tests alone
        written = Path(folder) / "written"
        written.mkdir()
        Path(folder).chmod(0o755)
        if user:
            os.chown(written, NOBODY, NOBODY)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/proc/nowhere",
            "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT)),
            "TMPDIR": str(written),
        }
        command = [*user, sys.executable, "-P", "-c", SCRIPT, str(written), str(readable)]
        done = subprocess.run(
            command,
            env=environment,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0 and done.stdout.strip() == "done", done.stderr[-3000:]
        # Children of a user who cannot read this Python do not start, which is said once.
        expected = "" if readable else "LlvmInThisProcessWarning"
        assert done.stderr.replace(expected, "").count("Warning") == 0, done.stderr[-3000:]
