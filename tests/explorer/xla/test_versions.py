"""`xla-explorer versions`: script, program and decisions joined; the first regression is found."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main
from xla_explorer.explorer.xla.versions import VersionRow, Versions
from xla_explorer.explorer.xla.versions.comparing import Way, _bisected
from xla_explorer.explorer.xla.versions.environments import Environment, environment

BASE = VersionRow("0.9", "0.9.0", 1.0, 0.5, 200.0, 100.0, 1.0, 0.0, 10)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"ratio": 0.8}, "1.25 times the time a run"),
        ({"ratio": 0.95}, ""),
        ({"ratio": 1.4}, ""),
        ({"ratio": math.nan}, ""),
        ({"difference": 0.01}, "results differ by 1.0e-02"),
        ({"compile_s": 1.0}, "2.00 times the compile time"),
        ({"peak_mib": 300.0}, "1.50 times the peak memory"),
        ({"error": "KeyError: 1"}, "fails: KeyError: 1"),
    ],
)
def test_what_counts_as_worse(changes, says):
    row = BASE._replace(label="0.10", **changes)
    report = Versions("train.py", "jit_step", [BASE, row], 1.1)
    assert report.why_worse(row) == says and bool(report.worse) is bool(says)
    assert ("no version is worse" in report.headline()) is not bool(says)
    assert list(report.to_frame().columns) == list(VersionRow._fields)


@pytest.mark.parametrize("first_worse", [1, 3, 7, 9])
def test_bisection_runs_few_versions_and_finds_the_first_that_is_worse(first_worse):
    ways = [Way(Environment(str(k), "python"), "") for k in range(10)]
    run = set()

    def compared(chosen):
        run.update(chosen)
        rows = [
            BASE._replace(label=way.label, ratio=0.5 if int(way.label) >= first_worse else 1.0)
            for way in chosen
        ]
        return Versions("s.py", "m", rows, 1.1)

    report, chosen = _bisected(ways, compared)
    assert report.worse[0].label == str(first_worse) and len(run) <= 6
    before = chosen[[way.label for way in chosen].index(str(first_worse)) - 1]
    assert before.label == str(first_worse - 1), "decisions are compared with the version before"


def test_an_environment_is_a_folder_or_a_version(tmp_path, monkeypatch):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("")
    assert environment(str(tmp_path)) == Environment(str(tmp_path), str(python))
    with pytest.raises(xe.XlaExplorerError, match="neither a version"):
        environment("no/such/folder")
    known = tmp_path / f"jax-0.10.2-python{sys.version_info[0]}.{sys.version_info[1]}"
    known.mkdir()
    (known / "complete").write_text("")
    monkeypatch.setattr("subprocess.run", None)  # what is there is not installed again
    assert environment("0.10.2", tmp_path).python == str(known / "bin" / "python")


def test_a_script_that_is_not_there_is_bad_input(capsys):
    assert main(["versions", "no.py", "--jaxlib", sys.prefix]) != 0
    assert "cannot read the script no.py" in capsys.readouterr().err


SCRIPT = """
import jax, jax.numpy as jnp, sys
assert sys.argv[1:] == ["--steps", "3"], sys.argv
@jax.jit
def step(w, x):
    return jax.nn.softmax(jnp.tanh(x @ w) / 3).sum(0)
step(jnp.ones((16, 16)), jnp.ones((32, 16)))
"""


@pytest.mark.jax
@pytest.mark.long
def test_a_script_under_flags_that_change_decisions(tmp_path, capsys):
    script, page = tmp_path / "train.py", tmp_path / "page.html"
    script.write_text(SCRIPT)
    words = ["versions", str(script), "--jaxlib", sys.prefix, "--repeats", "5", "-o", str(page)]
    words += ["--flags=--xla_disable_hlo_passes=fusion", "--flags=--xla_no_such_flag=1"]
    # The second set fails, which is worse; so is the first if it has this ratio.
    status = main([*words, "--slower", "0.001", "--script-args=--steps 3"])
    text = capsys.readouterr().out
    assert status == 1, text
    assert "xla_no_such_flag" in text and "times the time a run" in text
    assert "decisions of XLA that differ" in text and "fusion" in text
    assert "train.py" in page.read_text() and Path(page).stat().st_size > 1000
