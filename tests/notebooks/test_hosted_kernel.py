"""The page about hosted kernels: all dependencies, and three lines that work in a bare kernel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "notebooks" / "install_in_a_hosted_kernel.md").read_text(encoding="utf-8")
TABLE = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+?) \|", PAGE, re.MULTILINE))
USE = """
import numpy as np, ipywidgets, importlib.util
assert importlib.util.find_spec("jupyterlab") is None
import xla_explorer as xe
session = xe.compile("ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x) ROOT r = f32[4] add(e, x) }")
assert session(np.zeros(4, np.float32)).tolist() == [1, 1, 1, 1]
assert len(session.decisions("fusion")) == 1
widget = xe.explore(session)
session.save("page.html")
print(np.__version__, ipywidgets.__version__, type(widget).__name__)
"""


def _commands() -> list[str]:
    found = re.search(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found.group(1).strip().splitlines()


def test_the_table_has_every_dependency_and_what_is_installed() -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]
    wanted = {re.split(r"[<>=~;\[ ]", text)[0]: text for text in dependencies}
    assert set(TABLE) == set(wanted)
    installed = re.findall(r'"([^"]+)"', _commands()[1])
    assert sorted(installed) == sorted(
        wanted[name] for name, how in TABLE.items() if how.startswith("install")
    )
    assert [name for name, how in TABLE.items() if how == "leave out"] == ["jupyterlab"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the page's lines are for a POSIX shell")
@pytest.mark.timeout(3600)
def test_the_three_lines_in_an_environment_that_has_little(tmp_path: Path, runs_here: None) -> None:
    environment = tmp_path / "venv"
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    variables["PATH"] = os.pathsep.join([str(environment / "bin"), variables.get("PATH", "")])

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (
            f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        )
        return done.stdout

    run(sys.executable, "-m", "venv", str(environment))
    try:
        run(
            "pip",
            "install",
            "--quiet",
            "numpy>=2.0,<2.3",
            "pandas>=2.2,<3",
            "ipython",
            "ipywidgets==7.7.1",
            "notebook<7",
        )
    except AssertionError as problem:
        pytest.skip(f"no packages can be installed here: {str(problem)[-500:]}")
    before = run(
        "python", "-c", "import numpy, ipywidgets; print(numpy.__version__, ipywidgets.__version__)"
    ).split()
    for command in _commands():
        run("bash", "-c", command.replace("--no-deps xla-explorer", f"--no-deps '{ROOT}'"))
    assert run("python", "-c", USE).split() == [*before, "ExplorerWidget"]
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert set((tmp_path / "constraints.txt").read_text().split()) >= {
        f"numpy=={before[0]}",
        f"ipywidgets=={before[1]}",
    }
