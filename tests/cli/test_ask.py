"""`xla-explorer ask`: a question of the registry from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xla_explorer.cli.main import main
from xla_explorer.explorer.sessions.examples import example_path

TEXT = "ENTRY m { x = f32[8] parameter(0) e = f32[8] exponential(x) ROOT r = f32[8] add(e, x) }"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.hlo"
    path.write_text(TEXT)
    return str(path)


def test_a_question_is_answered_as_in_python(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", file, "passes[0].text"]) == 0
    assert "exponential(%x)" in capsys.readouterr().out
    assert main(["ask", file, "kernels()", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1 and found["call"] == "kernels()"
    assert found["rows"][0][found["columns"].index("opcode")] == "fusion"


def test_did_these_two_fuse_takes_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(example_path("attention"))
    call = "why_not('fusion', '%dot_general.2', '%exp.1')"
    assert main(["ask", path, call, "--tokens", "400"]) == 0
    text = capsys.readouterr().out
    assert "refused" in text and "producer-has-own-kernel" in text


def test_without_a_call_the_questions_are_listed(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", file]) == 0
    text = capsys.readouterr().out
    assert "passes.costs" in text and "why_not" in text and "xla.why_slow" in text


def test_a_wrong_call_ends_before_the_compile(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["ask", "not a file", "decisions(kin=1)"]) != 0
    assert "did you mean 'kind'" in capsys.readouterr().err
