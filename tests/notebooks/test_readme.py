"""The README: its size, its picture, its links, and the output that it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_fits_one_screen() -> None:
    lines = TEXT.splitlines()
    assert len(lines) < 60
    assert [line for line in lines if len(line) > 100] == []


def test_it_has_the_two_commands() -> None:
    assert "pip install . && xla-explorer tour" in TEXT
    assert 'pip install -e ".[test]" && pytest' in TEXT


def test_links_and_the_one_picture_lead_to_files() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", TEXT) if "://" not in target]
    assert [target for target in targets if not (ROOT / target).is_file()] == []
    assert sum(target.endswith(".png") for target in targets) == 1


def test_the_shown_output_is_what_the_code_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown = (
        re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)[0] for kind in ("python", "text")
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in printed if line.strip()] == shown.splitlines()
    assert (tmp_path / "attention.html").read_text(encoding="utf-8").startswith("<!doctype html>")
