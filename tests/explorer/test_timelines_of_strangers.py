"""`xe.read_timeline`: a field of another type is one error that names the event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError

EVENT = {
    "name": "k",
    "ph": "X",
    "pid": 1,
    "tid": 2,
    "ts": 0,
    "dur": 3,
    "args": {"hlo_op": "k", "bytes_accessed": 8, "source": "m.py:1"},
}


@pytest.mark.parametrize("field", EVENT)
@pytest.mark.parametrize("value", [{}, [], None, "text", True, 1e400, 10**400, -1, [{}]])
@pytest.mark.parametrize("phase", ["X", "B", "E", "M"])
def test_a_field_of_another_type_is_one_error(
    tmp_path: Path, field: str, value: Any, phase: str
) -> None:
    path = tmp_path / "t.json"
    named = {"name": "thread_name", "ph": "M", "pid": 1, "tid": 2, "args": {"name": "t"}}
    begun = {**EVENT, "ph": "B"} if phase == "E" else named
    path.write_text(
        json.dumps({"traceEvents": [named, EVENT, begun, {**EVENT, "ph": phase, field: value}]})
    )
    try:
        assert len(xe.read_timeline(path))
    except XlaExplorerError as problem:
        assert field in str(problem) and "event 3" in str(problem)


@pytest.mark.parametrize(
    "argument", ["hlo_op", "hlo_module", "bytes_accessed", "source", "cycles", "model_flops"]
)
@pytest.mark.parametrize("value", [{}, [1], None, "text", 1e400, 10**400])
def test_arguments_of_an_event_may_be_anything(tmp_path: Path, argument: str, value: Any) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps({"traceEvents": [{**EVENT, "args": {**EVENT["args"], argument: value}}]})
    )  # type: ignore[dict-item]
    frame = xe.read_timeline(path)
    assert len(frame) == 1 and str(frame) and frame._repr_html_()
