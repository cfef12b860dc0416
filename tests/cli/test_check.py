"""`xla-explorer check`: exit code 0 if a compile equals the saved one, else 1 with differences."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from xla_explorer.cli.main import main

CHAIN = "HloModule m\nENTRY e {{\n  x = f32[64] parameter(0)\n  a = f32[64] exponential(x)\n{more}  ROOT r = f32[64] add(a, x)\n}}\n"


def _file(folder: Path, more: str = "") -> str:
    path = folder / "m.hlo"
    path.write_text(CHAIN.format(more=more))
    return str(path)


def test_the_same_module_passes_and_another_one_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = str(tmp_path / "saved.json")
    assert main(["check", _file(tmp_path), "--against", saved, "--save"]) == 0
    first = Path(saved).read_text()
    assert json.loads(first)["kernels"] == 1 and str(tmp_path) not in first
    assert main(["check", _file(tmp_path), "--against", saved]) == 0
    assert "are as saved" in capsys.readouterr().out
    # The same module without fusion: more kernels, more bytes, and a decision that is no longer
    # made.
    assert main(["check", _file(tmp_path), "--against", saved, "--passes", "none"]) == 1
    text = capsys.readouterr().out
    assert "kernels" in text and "bytes" in text and "fusion %a -> %r" in text


def test_a_difference_as_json_names_both_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.json"
    main(["check", _file(tmp_path), "--against", str(saved), "--save"])
    facts = json.loads(saved.read_text())
    facts["bytes"] += 1
    saved.write_text(json.dumps(facts))
    capsys.readouterr()
    assert main(["check", _file(tmp_path), "--against", str(saved), "--json"]) == 1
    assert str(facts["bytes"]) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no", "must be JSON"),
        ("{}", "not written by"),
        ("[1]", "not written by"),
        ('{"version": 9}', "not written by"),
    ],
)
def test_what_check_did_not_save_is_refused(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "saved.json").write_text(text)
    assert main(["check", _file(tmp_path), "--against", str(tmp_path / "saved.json")]) == 2
    assert says in capsys.readouterr().err


def test_another_backend_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = str(tmp_path / "saved.json")
    main(["check", _file(tmp_path), "--against", saved, "--save"])
    assert main(["check", _file(tmp_path), "--against", saved, "--backend", "interpreter"]) == 2
    assert "is of the backend cpu" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.jax
def test_the_xla_of_another_environment_is_held_against_what_this_one_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A saved compile is compared with the XLA of another environment, as before an upgrade.

    The saved file names no folder, so that it can be kept beside the program.
    """
    pytest.importorskip("jax", reason="needs the extra `jax`")
    saved, other = str(tmp_path / "saved.json"), f"xla:{sys.prefix}"
    assert main(["check", _file(tmp_path), "--against", saved, "--backend", other, "--save"]) == 0
    facts = json.loads(Path(saved).read_text())
    assert facts["backend"] == "xla" and sys.prefix not in Path(saved).read_text()
    assert facts["decisions"] == {"fusion %a -> %r": "fused"}, "XLA's own, by its dump"
    assert main(["check", _file(tmp_path), "--against", saved, "--backend", "xla"]) == 0
