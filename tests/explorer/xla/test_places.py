"""The line of an instruction: the user's file, or the cell of the notebook that ran it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.places import PlacedModule

CELL = "/tmp/ipykernel_4711/1234567.py"


def _line_of(file: str) -> str:
    text = f'ENTRY e {{ x = f32[8] parameter(0)  ROOT r = f32[8] negate(x), metadata={{source_file="{file}" source_line=3}} }}'
    return PlacedModule(xe.parse_hlo(text)).find("r")[1].line


def test_a_line_of_a_cell_is_named_by_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def format_code_name(file: str) -> tuple[str, str] | None:
        return ("Cell", "In[5]") if file == CELL else None

    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=format_code_name))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert _line_of(CELL) == "In[5]:3"
    assert _line_of("/tmp/ipykernel_4711/99.py") == "/tmp/ipykernel_4711/99.py:3", (
        "a cell of another process"
    )
    assert _line_of("models/gpt.py") == "models/gpt.py:3"


@pytest.mark.parametrize("ipython", [None, SimpleNamespace(get_ipython=lambda: None)])
def test_without_a_notebook_the_file_is_named(
    monkeypatch: pytest.MonkeyPatch, ipython: SimpleNamespace | None
) -> None:
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert _line_of(CELL) == f"{CELL}:3"
