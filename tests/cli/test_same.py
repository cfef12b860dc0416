"""`xla-explorer same`: verdict and exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xla_explorer.cli.main import main

TEXT = "ENTRY m { x = f32[8] parameter(0) y = f32[8] parameter(1) ROOT r = f32[8] maximum(x, y) }"
WRONG = "ENTRY m { x = f32[8] parameter(0) y = f32[8] parameter(1) c = pred[8] compare(x, y), direction=GT ROOT r = f32[8] select(c, x, y) }"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "a.hlo").write_text(TEXT)
    (tmp_path / "b.hlo").write_text(WRONG)
    return str(tmp_path / "a.hlo"), str(tmp_path / "b.hlo")


def test_the_exit_code_is_the_verdict(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = files
    assert main(["same", first, first, "--claim", "bitwise"]) == 0
    assert "the same: bitwise" in capsys.readouterr().out
    assert main(["same", first, second]) == 1
    assert "where nan is right" in capsys.readouterr().out
    assert main(["same", first, second, "--claim", "fast", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tier"] == "fast"


def test_a_compiled_candidate(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["same", files[0], files[0], "--compiled", "--claim", "numeric"]) == 0
    assert "on cpu" not in capsys.readouterr().err


def test_an_unknown_claim(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["same", *files, "--claim", "close"]) != 0
    assert "claim must be one of" in capsys.readouterr().err
