"""Child processes end with Python, import nothing from the working folder, get few facts."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

import xla_explorer
from xla_explorer.foundation.child_process import MessagingChild
from xla_explorer.foundation.child_python import child_command, child_environment

ROOM = Path(xla_explorer.__file__).parent
HLO = "HloModule a\nENTRY e { x = f32[8] parameter(0)\n ROOT y = f32[8] add(x,x) }"
STARTS = {
    "isolated, course and conformance": (
        f"s = xe.compile({HLO!r}, isolate=True); s(x)\n"
        "from xla_explorer.course.native_run import NativeChild\nc = NativeChild()\n"
        "c.run('define void @k(ptr %a, ptr %o, i64 %n) {\\n  store <8 x float> zeroinitializer, ptr %o, align 4\\n  ret void\\n}', [x], 8, 8)\n"
        "from xla_explorer.backends.testing.isolated import IsolatedRunner\n"
        f"r = IsolatedRunner('cpu'); assert r(xe.parse_hlo({HLO!r}), 'any', 0)[0].status == 'ok'"
    ),
    "xla": f"s = xe.compile({HLO!r}, backend='xla'); s(x)",
    "a sweep, and one that is left": (
        f"rows = xe.sweep([{HLO!r}], [{{}}], executor=2, repeats=1); assert list(rows['status']) == ['ok']\n"
        "from xla_explorer.explorer.comparisons.sweep.executors import process_runner\nfrom xla_explorer.explorer.comparisons.sweep.task import Task\n"
        f"s = process_runner(2, 0)([Task('a', {HLO!r}, 'o', {{}}, 0, True, 0)] * 4); next(s)"
    ),
}
needs_jax = pytest.mark.skipif(
    find_spec("jax") is None, reason="needs the extra `jax`: pip install 'xla-explorer[jax]'"
)
ALL = [pytest.param(name, marks=needs_jax if name == "xla" else ()) for name in STARTS]


def run(code: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(ROOM.parent), *[p for p in sys.path if p]])
    environment = {**os.environ, "PYTHONPATH": paths, **more}
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", ALL)
def test_a_script_that_leaves_its_child_open_ends_well(kind: str, tmp_path: Path) -> None:
    """A script that leaves its child open ends well, without imports from the working folder.

    Neither process may import the modules there: here they would end it.
    """
    for name in ("numpy", "llvmlite", "json", "ctypes", "jax", "xla_explorer"):
        (tmp_path / f"{name}.py").write_text(
            f"import os\nopen({str(tmp_path / 'ran')!r}, 'w').close()\nos._exit(9)\n"
        )
    done = run(
        f"import numpy as np, xla_explorer as xe\nx = np.ones(8, np.float32)\n{STARTS[kind]}\nprint('end')",
        tmp_path,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "end"), done.stderr
    assert "Fatal" not in done.stderr and not (tmp_path / "ran").exists()


def test_a_thread_that_still_waits_for_a_child_does_not_abort_the_end(tmp_path: Path) -> None:
    code = (
        "import sys, threading, time\nfrom xla_explorer.foundation.child_process import MessagingChild\n"
        "child = MessagingChild([sys.executable, '-c', 'import time; time.sleep(60)'], {})\n"
        "threading.Thread(target=lambda: child.ask(None, bytes(1 << 22)), daemon=True).start()\n"
        "time.sleep(0.3)\nprint('end')"
    )
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "end", "")


def test_every_python_process_is_started_without_the_working_folder() -> None:
    """One helper makes the commands: no other file writes `sys.executable`."""
    for path in ROOM.rglob("*.py"):
        if path.name != "child_python.py" and re.search(
            r"\bsys\s*\.\s*executable", text := path.read_text(encoding="utf-8")
        ):
            names = [
                n
                for n in ast.walk(ast.parse(text))
                if isinstance(n, ast.Attribute) and n.attr == "executable"
            ]
            found = [
                n.lineno for n in names if isinstance(n.value, ast.Name) and n.value.id == "sys"
            ]
            assert not found, (
                f"{path}:{found[0]} starts Python by itself: use child_python.python_command"
            )


def test_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "s")
    monkeypatch.setenv("XLA_FLAGS", "--f")
    monkeypatch.setenv("WANTED", "w")
    monkeypatch.setenv("PYTHONSTARTUP", "evil.py")
    found = child_environment(("WANTED",), MODE="quiet")
    assert "MY_SECRET_TOKEN" not in found and "PYTHONSTARTUP" not in found
    assert (found["XLA_FLAGS"], found["WANTED"], found["MODE"], found["PATH"]) == (
        "--f",
        "w",
        "quiet",
        os.environ["PATH"],
    )
    assert "" not in found["PYTHONPATH"].split(os.pathsep)


LOOK = """
import ctypes, json, os, socket, sys, time
from xla_explorer.foundation.messages import receive, send

def main():
    while True:
        what, = receive(sys.stdin.buffer)
        if what == "end":
            while True: pass
        status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
        send(sys.stdout.buffer, [status["NoNewPrivs"], os.readlink("/proc/self/ns/net"), os.getuid(), os.path.exists(__file__), socket.if_nameindex(), os.getpid()])
"""


@pytest.fixture
def looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MessagingChild:
    (tmp_path / "what_a_child_sees.py").write_text(LOOK)
    monkeypatch.syspath_prepend(str(tmp_path))
    return MessagingChild(child_command("what_a_child_sees"), child_environment())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's means")
def test_a_child_gains_no_privileges_and_has_no_network_where_the_kernel_allows_it(
    looking: MessagingChild,
) -> None:
    no_new_privileges, network, user, reads, interfaces, _ = looking.ask(60, "look")
    assert no_new_privileges.strip() == "1" and reads and user == os.getuid()
    if network != os.readlink("/proc/self/ns/net"):
        assert [name for _, name in interfaces] == ["lo"]
    probe = subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True, check=False)
    assert probe.returncode != 0 or network != os.readlink("/proc/self/ns/net"), (
        "the kernel allows it"
    )
    looking.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("thread", [False, True])
def test_a_child_ends_with_a_killed_parent(thread: bool, tmp_path: Path) -> None:
    (tmp_path / "what_a_child_sees.py").write_text(LOOK)
    body = (
        "from xla_explorer.foundation.child_process import MessagingChild\n"
        "from xla_explorer.foundation.child_python import child_command, child_environment\n"
        f"import sys, threading, os\nsys.path.insert(0, {str(tmp_path)!r})\nmade = []\n"
        "def start():\n    made.append(MessagingChild(child_command('what_a_child_sees'), child_environment()))\n"
        f"if {thread}:\n    t = threading.Thread(target=start); t.start(); t.join()\nelse:\n    start()\n"
        "pid = made[0].ask(60, 'look')[-1]\n"
        "threading.Thread(target=lambda: made[0].ask(None, 'end'), daemon=True).start()\n"
        "print(pid, flush=True)\nimport time; time.sleep(0.3); os.kill(os.getpid(), 9)\n"
    )
    pid = int(run(body, tmp_path).stdout)
    limit = time.monotonic() + 2
    while time.monotonic() < limit:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.05)
    os.kill(pid, 9)
    pytest.fail("the child still ran 2 s after its parent")
