"""The public interface: a snapshot, its size, and the names that extensions and checkers see."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.api.public_api import SNAPSHOT, lines
from xla_explorer.explorer.sessions.compilation import compile_as

ROOT = Path(xe.__file__).resolve().parents[1]
TEXT = """HloModule m

ENTRY e {
  p = (f32[4], f32[]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  b = f32[] get-tuple-element(p), index=1
  c = f32[4] broadcast(b), dimensions={}
  z = f32[4] add(a, c)
  zero = f32[] constant(0)
  zeros = f32[4] broadcast(zero), dimensions={}
  ROOT r = f32[4] add(z, zeros)
}
"""


def test_the_snapshot_is_current() -> None:
    now, known = list(lines()), SNAPSHOT.read_text(encoding="utf-8").splitlines()
    assert now == known, (
        "a public name or signature changed; if it is meant: python -m tests.api.public_api"
    )


def test_the_face_stays_small() -> None:
    """Without the folder of backends and the hook of Jupyter."""
    assert len(set(xe.__all__) - {"__version__", "backends", "load_ipython_extension"}) <= 44


def test_a_session_stays_small() -> None:
    assert len([line for line in lines() if line.startswith("Session.")]) <= 33


def test_the_calls_of_the_referees(tmp_path: Path) -> None:
    """The calls of the referees beside the checkout keep their form."""
    xe.warm_up("interpreter")
    session = xe.compile(TEXT, backend="interpreter", journal="off", threads=1, cache=False)
    given = xe.random_arguments(session.source, 3)
    leaves = session.signature.leaves(given)
    assert len(leaves) == 2 and np.array_equal(
        session.run_flat(leaves)[0], session(*session.place(*given))
    )
    trace = xe.optimize(TEXT, "algsimp,dce", journal="passes")
    assert (
        trace.steps[0].changed
        and trace.module.instruction_count() < session.source.instruction_count()
    )
    (tmp_path / "m.hlo").write_text(TEXT)
    assert xe.load(str(tmp_path / "m.hlo")).to_text() == session.source.to_text()
    assert session.module.to_text() and callable(xe.jit)


def test_extensions_import_the_package_by_plugin_only() -> None:
    wrong = []
    for path in sorted((ROOT / "extensions").rglob("*.py")):
        wrong += [
            f"{path.name}:{node.lineno}: {ast.unparse(node)}"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("xla_explorer.")
            and node.module != "xla_explorer.plugin"
        ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_a_type_checker_rejects_names_that_are_not_there(tmp_path: Path) -> None:
    pytest.importorskip(
        "mypy", reason="mypy is not installed: what a type checker sees is not tested"
    )
    (tmp_path / "use.py").write_text(
        "import xla_explorer as xe\nreveal_type(xe.compile)\nxe.comple('x')\nxe.compile('x', journal=1)\n"
        "view = xe.explore('x')\nview.layout.height = '400px'\nview.observe(print, 'step')\n"
        "view.link('step', view)\nview.stepp\n"
    )
    # The facade and the modules behind it: following all imports would check the whole package, as
    # the step `style and types` does.
    read = ["xla_explorer"]
    read += [
        f"xla_explorer.explorer.{name}" for name in ("compiling", "exploring", "session", "widget")
    ]
    read.append("xla_explorer.foundation.keywords")  # its decorator keeps the signature
    sections = "".join([f"[mypy-{name}]\nfollow_imports = silent\n" for name in read])
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = True\nfollow_imports = skip\n{sections}")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(tmp_path / "mypy.ini"),
        "--cache-dir",
        str(tmp_path / "cache"),
        str(tmp_path / "use.py"),
    ]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    assert (
        'Module has no attribute "comple"' in told
        and "-> xla_explorer.explorer.session.Session" in told
        and 'Argument "journal" to "compile" has incompatible type' in told
        and '"ExplorerView" has no attribute "stepp"' in told
        and "3 errors" in told
    ), told


def test_compile_takes_what_compile_as_takes() -> None:
    shown = dict(inspect.signature(xe.compile).parameters)
    for name in ("force", "forbid", "mesh", "shardings"):
        del shown[name]
    forwarded = list(inspect.signature(compile_as).parameters.values())[1:]
    assert list(shown.values()) == forwarded
    assert "\ndef compile(" in inspect.getsource(xe.compile)
