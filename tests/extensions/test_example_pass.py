"""The example plug-in package: its pass answers by name, decides with reasons, takes options."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import pass_interface

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "extensions" / "xla_explorer_example_pass"
TEXT = """HloModule m
ENTRY e { x = s32[4] parameter(0)
  y = f32[4] parameter(1)
  a = s32[4] negate(x)
  b = f32[4] negate(y)
  ROOT t = (s32[4], f32[4]) tuple(a, b) }"""


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the package were installed: its entry point is found."""
    import importlib.metadata
    import tomllib

    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    points = [
        EntryPoint(name, value, group)
        for group, rows in project["entry-points"].items()
        for name, value in rows.items()
    ]
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: [p for p in points if p.group == group]
    )
    pass_interface._load_plugins.cache_clear()
    yield
    pass_interface._REGISTRY.pop("negate-to-subtract", None)
    for name in [n for n in sys.modules if n.startswith("xla_explorer_example_pass")]:
        del sys.modules[name]
    pass_interface._load_plugins.cache_clear()


@pytest.mark.usefixtures("installed")
def test_the_pass_runs_by_name_and_decides_with_reasons() -> None:
    trace = xe.optimize(xe.parse_hlo(TEXT), "negate-to-subtract,dce", verify=True)
    opcodes = [i.opcode.name for i in trace.module.entry.post_order()]
    assert "subtract" in opcodes and opcodes.count("negate") == 1
    decisions = {
        e.names[0]: e.reason.code if e.reason else None
        for e in trace.passes.journal.events
        if e.by == "negate-to-subtract" and e.is_decision
    }
    assert decisions == {"a": None, "b": "not-an-integer"}


@pytest.mark.usefixtures("installed")
def test_its_option_parses() -> None:
    trace = xe.optimize(xe.parse_hlo(TEXT), "negate-to-subtract{max_elements=3}")
    assert not trace.passes.changed
    assert "too-large" in [e.reason.code for e in trace.passes.journal.events if e.reason]


def test_without_it_the_name_is_unknown() -> None:
    with pytest.raises((LookupError, ValueError, xe.XlaExplorerError), match="negate-to-subtract"):
        xe.optimize(xe.parse_hlo(TEXT), "negate-to-subtract")
