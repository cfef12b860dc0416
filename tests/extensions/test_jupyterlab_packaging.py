"""Files of the JupyterLab extension in the wheel, in the folder that JupyterLab reads."""

from __future__ import annotations

import json
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "extensions" / "jupyterlab" / "labextension"
INSTALLED = "share/jupyter/labextensions/xla-explorer"


def test_the_manifest_names_what_is_there() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    assert (EXTENSION / manifest["jupyterlab"]["_build"]["load"]).is_file()
    assert manifest["name"] == "xla-explorer"
    script = (EXTENSION / "static" / "remoteEntry.js").read_text()
    assert "https://" not in script and "http://" not in script  # nothing is fetched from elsewhere
    shared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]["wheel"]["shared-data"]
    assert all(
        (ROOT / source).exists() and target.startswith(INSTALLED)
        for source, target in shared.items()
    )


def test_a_wheel_carries_the_extension(tmp_path: Path) -> None:
    wheel = pytest.importorskip(
        "hatchling.builders.wheel", reason="hatchling is not installed: no wheel is built"
    )
    made = list(wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    names = {name.partition(".data/data/")[2] for name in zipfile.ZipFile(made[0]).namelist()}
    wanted = {"package.json", "install.json", "static/remoteEntry.js", "static/00_tour.ipynb"}
    assert {f"{INSTALLED}/{name}" for name in wanted} <= names
