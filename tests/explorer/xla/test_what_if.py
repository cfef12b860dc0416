"""Other flags, texts and versions of XLA: settings, rows, and the message of a failed one."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.xla import child
from xla_explorer.backends.xla.child import XlaChild, XlaProcessError
from xla_explorer.explorer.xla import what_if
from xla_explorer.explorer.xla.what_if import Variant, flag_variants, timed
from xla_explorer.foundation.child_python import foreign_command, foreign_environment
from xla_explorer.hlo.text import parse_hlo

TEXT = "HloModule m\nENTRY main { x = f32[64] parameter(0)\n e = f32[64] exponential(x)\n ROOT r = f32[64] add(e, x) }"


class FakeChild:
    """A fake of XLA's process: `slow` takes twice as long, `wrong` miscomputes, `bad` ends."""

    def __init__(self, flags: str = "", python: str | None = None, dumped: str = ".*") -> None:
        self.flags = flags

    def ask(self, request: str, *values: object) -> object:
        if "bad" in self.flags:
            raise XlaProcessError(
                f"the process of real XLA ended during '{request}': it ended its process with exit code 1"
            )
        if request == "compile":
            return {"xla": 0.5}
        if request == "run":
            return [np.full(4, 2.0 if "wrong" in self.flags else 1.0, np.float32)]
        return [20.0 if "slow" in self.flags else 10.0] * int(str(values[1]))

    def close(self) -> None:
        pass


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "XlaChild", FakeChild)
    monkeypatch.setattr(what_if, "_kernels", lambda one: 3)


def test_a_mapping_gives_one_setting_for_each_value() -> None:
    module = parse_hlo(TEXT)
    found = flag_variants(
        module, {"xla_cpu_enable_fast_math": [True, False], "--xla_disable_hlo_passes": "fusion"}
    )
    assert [one.flags for one in found] == [
        "", "--xla_cpu_enable_fast_math=true", "--xla_cpu_enable_fast_math=false", "--xla_disable_hlo_passes=fusion"]  # fmt: skip
    assert [one.label for one in flag_variants(module, ["--a=1 --b=2"])] == [
        "default",
        "--a=1 --b=2",
    ]
    with pytest.raises(ValueError, match="at least one setting"):
        flag_variants(module, {})


def test_rows_are_held_to_the_first(fake: None) -> None:
    found = timed(
        flag_variants(parse_hlo(TEXT), ["slow", "wrong", "bad"]), [np.zeros(64, np.float32)], 10
    )
    first, slow, wrong, bad = found.rows
    assert (first.ratio, slow.ratio, first.difference, wrong.difference) == (1.0, 0.5, 0.0, 1.0)
    assert np.isnan(bad.median_us) and "bad" in bad.error and "at an unknown flag" in bad.error
    assert (
        len(found.samples["slow"]) == 10
        and found.best is first
        and "wrong" in str(found).splitlines()[-1]
    )
    assert list(found.to_frame()["label"]) == ["default", "slow", "wrong", "bad"]


def test_where_the_first_fails_its_words_are_the_error(fake: None) -> None:
    with pytest.raises(XlaProcessError, match="ended during 'compile'"):
        timed([Variant("given", parse_hlo(TEXT), "bad")], [], 5)


def test_another_environment_must_have_a_python(tmp_path: Path) -> None:
    with pytest.raises(XlaProcessError, match="has no Python"):
        xe.compile(TEXT, backend=f"xla:{tmp_path}")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    assert child._interpreter(str(tmp_path)) == str(tmp_path / "bin" / "python")


def test_another_environment_sees_its_own_packages_first() -> None:
    command = foreign_command(sys.executable, "some.module")
    assert (
        command[0] == sys.executable
        and command[3] == "some.module"
        and "xla_explorer" in command[2]
    )
    assert (
        "PYTHONPATH" not in foreign_environment()
        and foreign_environment(XLA_FLAGS="--a")["XLA_FLAGS"] == "--a"
    )


@pytest.mark.long
@pytest.mark.jax
def test_an_edited_text_is_compiled_by_xla_beside_the_one_it_was() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    found = xe.xla.time(
        TEXT.replace("exponential", "tanh"), against=TEXT, environments=[sys.executable], repeats=5
    )
    assert [row.label.split(" by ")[0] for row in found.rows] == [
        "against",
        "given",
        "against",
        "given",
    ]
    assert (
        found.rows[2].difference == 0 < found.rows[1].difference == found.rows[3].difference
        and found.rows[0].kernels == 1
    )


def test_an_environment_without_jax_says_what_to_install(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False)
    one = XlaChild(python=str(tmp_path))
    try:
        with pytest.raises(XlaProcessError, match="ended during 'compile'") as raised:
            one.ask("compile", TEXT)
        assert f"{tmp_path / 'bin' / 'python'} -m pip install jax" in str(raised.value)
    finally:
        one.close()
