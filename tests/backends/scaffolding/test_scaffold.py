"""The kit: each scaffold passes its tests, installs by entry point and names its gaps."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.backends.scaffolding.scaffold import ScaffoldError, scaffold
from xla_explorer.cli.main import main

GUIDE = Path(__file__).resolve().parents[3] / ".github" / "CONTRIBUTING.md"


def run(arguments: list[str], folder: Path, path: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("scenario", [1, 2, 3])
@pytest.mark.long
def test_a_scaffold_passes_its_own_tests_at_once(
    scenario: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "chip"
    assert main(["new-backend", "my-chip", "--scenario", str(scenario), "-o", str(folder)]) == 0
    assert "pip install -e" in capsys.readouterr().out
    said = run(["-m", "pytest", "-q", "-p", "no:cacheprovider"], folder)
    # A backend that only compiles cannot run the one test that computes.
    assert ("4 passed" if scenario == 3 else "3 passed, 1 skipped") in said


@pytest.mark.parametrize("scenario", [1, 2, 3])
def test_what_a_scaffold_imports_is_there(scenario: int, tmp_path: Path) -> None:
    made = xe.backends.scaffold("chip", scenario, tmp_path / "chip")
    imports = [
        node
        for path in made.folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    ]
    ours = [
        (node.module, alias.name)
        for node in imports
        for alias in node.names
        if node.module and node.module.startswith("xla_explorer.")
    ]
    assert ours
    assert [row for row in ours if not hasattr(importlib.import_module(row[0]), row[1])] == []


@pytest.mark.long
def test_an_installed_scaffold_is_found_by_its_entry_point(tmp_path: Path) -> None:
    made = xe.backends.scaffold("my-chip", 3, tmp_path / "chip")
    # The metadata beside the code, as pip leaves it.
    metadata = made.folder / "xla_explorer_my_chip-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: xla-explorer-my-chip\nVersion: 0.1.0\n"
    )
    points = re.search(
        r'\[project\.entry-points\."(.*)"\]\n(\S+) = "(.*)"',
        (made.folder / "pyproject.toml").read_text(),
    )
    assert points is not None
    (metadata / "entry_points.txt").write_text(f"[{points[1]}]\n{points[2]} = {points[3]}\n")
    (tmp_path / "m.hlo").write_text(
        "HloModule m\nENTRY e { x = f32[4] parameter(0)\n ROOT y = f32[4] negate(x) }\n"
    )
    said = run(
        ["-m", "xla_explorer", "run", "m.hlo", "--backend", "my-chip", "--check", "--json"],
        tmp_path,
        str(made.folder),
    )
    assert '"shape"' in said


def test_the_guide_says_how_many_lines_each_scenario_takes(tmp_path: Path) -> None:
    told = {
        int(k): int(n)
        for k, n in re.findall(r"^\| (\d)[^|]*\|[^|]*\| (\d+) \|", GUIDE.read_text(), re.MULTILINE)
    }
    assert told == {
        k: xe.backends.scaffold(f"chip-{k}", k, tmp_path / str(k)).lines for k in (1, 2, 3)
    }


@pytest.mark.parametrize(
    ("name", "scenario", "message"),
    [
        ("My Chip", 1, "cannot be the name of a backend"),
        ("chip", 4, "unknown scenario 4"),
        ("cpu", 3, "exists already"),
        ("chip", 3, "must be empty or new"),
    ],
)
def test_what_it_does_not_write(name: str, scenario: int, message: str, tmp_path: Path) -> None:
    (tmp_path / "full").write_text("x")
    with pytest.raises(xe.XlaExplorerError, match=message) as caught:
        xe.backends.scaffold(name, scenario, tmp_path)
    assert "hint" in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["full"]


def test_a_bad_name_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-backend", "No Chip", "--scenario", "1"]) == 2
    assert "hint" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["mychip\n", "my chip", "mychip\n\n", "-chip", "chip-", "Chip", ""]
)
def test_a_name_is_nothing_but_a_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="cannot be the name of a backend"):
        scaffold(name, 1, tmp_path / "new")
    assert not (tmp_path / "new").exists()
