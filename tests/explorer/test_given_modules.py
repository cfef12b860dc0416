"""Functions that take a module take its text and the path of its file too."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

TEXT = "HloModule a\nENTRY e { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }\n"


@pytest.fixture(params=["text", "path", "name", "module", "session"])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / "a.hlo"
    path.write_text(TEXT)
    kinds = {
        "text": lambda: TEXT,
        "path": lambda: path,
        "name": lambda: str(path),
        "module": lambda: xe.parse_hlo(TEXT),
        "session": lambda: xe.compile(TEXT),
    }
    return kinds[request.param]()


def test_verify_evaluate_compile_and_draw(given: Any) -> None:
    xe.verify(given)
    assert xe.evaluate(given, np.array([1.0, -2.0], np.float32)).tolist() == [-1.0, 2.0]
    assert xe.compile(given, backend="interpreter").source.name == "a"
    assert xe.optimize(given, "dce").module.name == "a" and "negate" in xe.graph(given).to_svg()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"cannot read .*nothere\.hlo"):
        xe.verify(str(tmp_path / "nothere.hlo"))


def test_constants_that_the_text_leaves_out_are_named() -> None:
    text = "HloModule m\nENTRY e {\n  c = f32[4] constant({...})\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] add(x, c)\n}"
    with pytest.warns(UserWarning, match=r"m: the text leaves out the values of 1 constant .*%c"):
        xe.compile(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xe.compile(text.replace("{...}", "{1, 2, 3, 4}"))
