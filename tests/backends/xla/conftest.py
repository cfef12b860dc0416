"""Fixtures of tests of plugin files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from xla_explorer.cli.main import main


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return the file of this package's plugin."""
    if sys.platform != "linux":
        pytest.skip("plugin files are written for ELF systems")
    file = tmp_path / "plugin.so"
    assert main(["pjrt-plugin", "-o", str(file)]) == 0
    return file
