"""`xla-explorer bisect` and `reduce`: the wrong pass, and the smallest failing module."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main

TEXT = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] sine(a)
  c = f32[4] multiply(b, a)
  ROOT r = f32[4] add(c, x)
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "m.hlo"
    path.write_text(TEXT)
    return path


def test_bisect_says_that_every_pass_keeps_the_value(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bisect", str(module)]) == 0
    assert "every pass keeps the value" in capsys.readouterr().out


def test_minimize_runs_a_command(module: Path, tmp_path: Path) -> None:
    script, out = tmp_path / "test.py", tmp_path / "small.hlo"
    script.write_text("import sys; sys.exit(0 if ' sine(' in open(sys.argv[1]).read() else 1)")
    assert (
        main(["minimize", str(module), "--test", f"{sys.executable} {script}", "-o", str(out)]) == 0
    )
    assert [i.opcode.name for i in xe.parse_hlo(out.read_text()).instructions()] == [
        "parameter",
        "sine",
    ]


def test_a_page_in_a_folder_that_is_not_there(module: Path, tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "x.html"
    with pytest.raises(xe.XlaExplorerError, match="create it first") as refused:
        xe.compile(TEXT).save(path)
    assert str(path) in str(refused.value) and ".part" not in str(refused.value)
