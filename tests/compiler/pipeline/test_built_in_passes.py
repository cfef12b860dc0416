"""Built-in passes load at their first use, from a table that this checks against the modules."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

from xla_explorer.compiler import spmd, transforms
from xla_explorer.compiler.pipeline.built_in_passes import BUILT_IN
from xla_explorer.compiler.pipeline.pass_interface import declared_passes, make_pass

# A program on one device needs about 870 modules; with every pass it would need 150 more.
MOST_MODULES = 900


@pytest.mark.parametrize("room", [transforms, spmd], ids=lambda room: room.__name__)
def test_the_table_has_the_names_that_each_module_declares(room: ModuleType) -> None:
    for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        importlib.import_module(found.name)
    inside = f"{room.__name__}."
    declared = {
        name: cls.__module__
        for name, cls in declared_passes().items()
        if cls.__module__.startswith(inside)
    }
    assert declared == {name: where for name, where in BUILT_IN.items() if where.startswith(inside)}


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_name_makes_its_pass(name: str) -> None:
    made = make_pass(name)
    assert type(made).__module__ == BUILT_IN[name]
    assert name in declared_passes()


COMPILES = """
import json, sys
import xla_explorer as xe
session = xe.compile("ENTRY e { x = f32[64] parameter(0)  ROOT r = f32[64] add(x, x) }", backend="cpu")
session.executable
plain = sorted(m for m in sys.modules if m.startswith("xla_explorer"))

import dataclasses
from xla_explorer.compiler.pipeline.pass_interface import PassRegistrationError
@dataclasses.dataclass(frozen=True)
class Mine:
    name = "hlo-module-dce"
    def run(self, module, context):
        return False
try:
    xe.register_pass()(Mine)
    refused = ""
except PassRegistrationError as error:
    refused = str(error)
try:
    xe.optimize(session.source, "spmd-partitionin")
    near = ""
except Exception as error:
    near = str(error)
print(json.dumps([plain, refused, near]))
"""


def test_a_plain_compile_loads_only_the_passes_that_it_runs() -> None:
    done = subprocess.run([sys.executable, "-c", COMPILES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plain, refused, near = json.loads(done.stdout)
    spmd_modules = [name for name in plain if name.startswith("xla_explorer.compiler.spmd")]
    assert not spmd_modules, spmd_modules
    assert "xla_explorer.compiler.transforms.loops.module_dead_code" not in plain
    assert len(plain) <= MOST_MODULES, f"{len(plain)} modules of xla_explorer are imported"
    # Names of passes that are not loaded yet are taken, and are suggested.
    assert "module_dead_code" in refused
    assert "spmd-partitioning" in near
