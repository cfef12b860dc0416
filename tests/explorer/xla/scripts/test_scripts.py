"""An unmodified script on real XLA: its programs, its limits, and changes timed in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main
from xla_explorer.explorer.xla.overrides import measured_search as searching
from xla_explorer.explorer.xla.scripts import script_gain

pytestmark = [pytest.mark.jax, pytest.mark.long]

# It imports a neighbour, takes an argument, donates, and prints.
SCRIPT = """
import sys
import jax, jax.numpy as jnp
import neighbour

@jax.jit
def other(x):
    return x + 1

def step(w, x):
    return w - 0.1 * jnp.sin(x @ w).sum(0), jnp.tanh(x @ w) * 2 + x

step = jax.jit(step, donate_argnums=0)
w, x = jnp.ones((64, 64)), jnp.ones((64, 64))
for _ in range(int(sys.argv[1])):
    w, y = step(w, x)
print("the sum is", float(other(y).sum()), neighbour.NAME)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training script with a module beside it."""
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "neighbour.py").write_text("NAME = 'neighbour'\n")
    (folder / "train.py").write_text(SCRIPT)
    return folder / "train.py"


@pytest.fixture(scope="module")
def report(script: Path) -> xe.xla.ScriptReport:
    """The script, recorded once."""
    return xe.xla.run_script(str(script), "7")


def test_programs_have_the_runs_and_shares_of_the_script(report: xe.xla.ScriptReport) -> None:
    rows = {one.program: one for one in report.programs}
    assert rows["jit_step"].runs == 7 and rows["jit_other"].runs == 1
    assert sum(one.share for one in report.programs) == pytest.approx(1)
    assert len(report.run_times("jit_step")) == 7
    assert "the sum is" in report.output and "neighbour" in report.output and report.ended
    assert report.headline().startswith("train.py: ")


def test_a_program_is_read_as_jax_wrote_it(report: xe.xla.ScriptReport) -> None:
    module = report.module("jit_step")
    assert [p.shape.dimensions for p in module.entry.parameters()] == [(64, 64)] * 2
    text = report.stablehlo("jit_step")
    assert text is not None and b"tf.aliasing_output" in text
    with pytest.raises(xe.XlaExplorerError, match=r"jit_stp[\s\S]*it has jit_step"):
        report.module("jit_stp")


def test_a_donating_program_is_searched_and_its_names_are_the_scripts(
    report: xe.xla.ScriptReport, script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(searching, "_ratios", lambda *given: [0.5] * given[3])
    flag = ("xla_cpu_prefer_vector_width", 256)
    monkeypatch.setattr(script_gain, "FLAGS", (flag, ("xla_cpu_enable_fast_math", True)))
    monkeypatch.setattr(script_gain, "_ROUNDS", 1)
    path = tmp_path / "found.json"
    gain = xe.xla.speed_up_script(str(script), ["7"], path=path, search_seconds=20)
    trials = {one.change: one for one in gain.search.trials}
    assert trials["xla_cpu_prefer_vector_width=256"].kept
    assert "xla_cpu_enable_fast_math=True" not in trials  # NaN is not seen on random arguments
    assert gain.path == path and len(gain.rounds) == 1 and gain.ratio > 0
    saved = json.loads(path.read_text())
    assert saved["flags"] == dict([flag]) and saved["when"] == "jit_step" and saved["jaxlib"]
    forbidden = [one for one in gain.search.trials if one.word == "forbid" and one.kept]
    assert forbidden and [*gain.search.best.forbid] == [tuple(one) for one in saved["forbid"]]
    changed = xe.xla.run_script(
        str(script), "7", variables={"XLA_EXPLORER_XLA_OVERRIDES": str(path)}
    )
    assert "--xla_cpu_prefer_vector_width=256" in changed.output
    count = len(saved["forbid"]) + len(saved["fuse"])
    assert f"{count} of {count} request" in changed.output


def test_flags_for_another_jaxlib_do_not_end_the_script(script: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    data = {"version": 1, "flags": {"xla_unknown_flag": True}, "jaxlib": "0.0.1"}
    path.write_text(json.dumps(data))
    found = xe.xla.run_script(str(script), "2", variables={"XLA_EXPLORER_XLA_OVERRIDES": str(path)})
    assert "its flags are for jaxlib 0.0.1" in found.output and "the sum is" in found.output


def test_flags_of_the_file_act_in_xla(tmp_path: Path) -> None:
    path, dumped = tmp_path / "flags.json", tmp_path / "dumped"
    here = version("jaxlib")
    data = {"version": 1, "flags": {"xla_dump_to": str(dumped)}, "jaxlib": here}
    path.write_text(json.dumps(data))
    code = "import jax; jax.jit(lambda x: x + 1)(1.0)"
    variables = {**os.environ, "XLA_EXPLORER_XLA_OVERRIDES": str(path)}
    subprocess.run([sys.executable, "-c", code], env=variables, check=True)
    assert list(dumped.glob("*jit__lambda*"))


def test_an_endless_script_is_ended_and_its_programs_are_shown(tmp_path: Path) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text(
        "import time, jax\nf = jax.jit(lambda x: x * 2)\nwhile True:\n    time.sleep(float(f(0.05)))\n"
    )
    found = xe.xla.run_script(str(endless), seconds=2)
    assert not found.ended and found.programs[0].runs > 1 and "ended at the limit" in str(found)


def test_a_failing_script_names_its_last_line(tmp_path: Path) -> None:
    failing = tmp_path / "failing.py"
    failing.write_text("import jax\nraise ValueError('no data')\n")
    with pytest.raises(xe.XlaExplorerError, match=r"exit code 1: ValueError: no data"):
        xe.xla.run_script(str(failing))
    with pytest.raises(xe.XlaExplorerError, match=r"no such file"):
        xe.xla.run_script(str(tmp_path / "missing.py"))
    failing.write_text("print('nothing of jax')\n")
    with pytest.raises(xe.XlaExplorerError, match=r"ran nothing on XLA"):
        xe.xla.run_script(str(failing))


def test_the_command_takes_a_script(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why-slow", str(script), "--script-args", "3", "--repeats", "2"]) == 0
    shown = capsys.readouterr().out
    assert "train.py: " in shown and "jit_step" in shown and "not fused by XLA" in shown
