"""Each of twenty planted mistakes of a device is found by conform, with a small program.

Only programs that contain the fault's opcode run: the others cannot differ. `python -m
tests.backends.xla.test_planted_faults PLUGIN` prints each fault's smallest program.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.backends.xla.planted_faults import FAULTS, SITE
from xla_explorer.backends.testing.conformance import Conformance, conformance_of
from xla_explorer.backends.testing.programs import ALL_PROGRAMS
from xla_explorer.backends.xla.plugin_file import PluginRunner

_QUICK = ("ties-away",)  # of few programs


def conformance_with(plugin: Path, folder: Path, name: str) -> Conformance:
    """Run the programs with a fault's opcode on the plugin with this fault."""
    (folder / "sitecustomize.py").write_text(SITE)
    opcode = FAULTS[name][0]
    programs = {one.opcode for one in ALL_PROGRAMS if f"{opcode}(" in one.body + one.functions}
    runner = PluginRunner(plugin)
    before = dict(os.environ)
    sys.path.insert(0, str(folder))  # children take the path of this process
    os.environ["XLA_EXPLORER_PJRT_BACKEND"] = "interpreter"
    os.environ["XLA_EXPLORER_PLANTED_FAULT"] = name
    try:
        return conformance_of(name, runner, programs)
    finally:
        runner.close()
        sys.path.remove(str(folder))
        os.environ.clear()
        os.environ.update(before)


def _instructions(found: Conformance) -> int:
    assert found.first_failure is not None, found.to_frame()
    return xe.parse_hlo(found.first_failure.text).instruction_count()


@pytest.mark.jax
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in _QUICK else pytest.mark.slow)
        for name in FAULTS
    ],
)
def test_a_planted_fault_is_found(plugin: Path, tmp_path: Path, name: str) -> None:
    assert _instructions(conformance_with(plugin, tmp_path, name)) < 10


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for fault in sys.argv[2:] or FAULTS:
            result = conformance_with(Path(sys.argv[1]), Path(made), fault)
            smallest = _instructions(result) if result.first_failure else 0
            wrong = result.counts["wrong"] + result.counts["crashed"]
            print(f"{fault:24} {len(result.rows):4} {wrong:4} {smallest:3}", flush=True)
