"""The check of the explorer's script fails where its tools cannot be had."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[2] / ".ci" / "front_end" / "check"


@pytest.mark.skipif(os.name == "nt", reason="a script of bash")
def test_a_machine_without_node_fails_the_check(tmp_path: Path) -> None:
    for command in ("bash", "dirname"):
        found = shutil.which(command)
        assert found is not None
        (tmp_path / command).symlink_to(found)
    ran = subprocess.run(
        [tmp_path / "bash", CHECK], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert "neither type-checked nor linted" in ran.stderr
    assert "pip install" in ran.stderr
