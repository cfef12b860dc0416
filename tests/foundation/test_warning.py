"""Warnings point at the user's line."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe

PACKAGE = Path(xe.__file__).parent
ELIDED = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  c = f32[64] constant({...})
  s = f32[64] add(x, c)
  ROOT t = f32[64] tanh(s)
}"""


def test_every_warning_goes_through_one_function() -> None:
    def own(path: Path) -> bool:
        text = path.read_text(encoding="utf-8")
        calls = (
            [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            if "warn" in text
            else []
        )
        return any(
            ast.unparse(call.func) in ("warnings.warn", "warnings.warn_explicit") for call in calls
        )

    assert [str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if own(path)] == [
        "foundation/warning.py"
    ]


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.override(),
        lambda s: s.override(forbid=[("fusion", "s", "t")]),
        lambda s: [s.override(skip_rules=k) for k in sorted([[]], key=len)],
    ],
    ids=["override", "forbid", "below a comprehension"],
)
def test_a_warning_points_at_the_caller(use: Callable[[Any], object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = xe.compile(ELIDED)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            use(session)
        except (TypeError, xe.XlaExplorerError):
            pytest.fail("the call itself must work")
    assert caught and {one.filename for one in caught} == {__file__}
