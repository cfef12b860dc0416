"""The version stands in one place; every other mention, and the change log, agrees with it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import xla_explorer

ROOT = Path(__file__).resolve().parents[2]


def test_the_build_takes_the_version_from_the_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in settings["project"] and "version" in settings["project"]["dynamic"]
    place = ROOT / settings["tool"]["hatch"]["version"]["path"]
    assert re.findall(
        r'^__version__ = "(.+)"$', place.read_text(encoding="utf-8"), re.MULTILINE
    ) == [xla_explorer.__version__]


def test_the_jupyterlab_extension_has_the_version_of_the_package() -> None:
    manifest = json.loads(
        (ROOT / "extensions" / "jupyterlab" / "labextension" / "package.json").read_text(
            encoding="utf-8"
        )
    )
    assert manifest["version"] == xla_explorer.__version__


def test_the_change_log_begins_with_the_version() -> None:
    headings = re.findall(
        r"^## (\S+?),",
        (ROOT / "notebooks" / "changes.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert headings[0] == xla_explorer.__version__
