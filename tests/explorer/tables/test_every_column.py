"""One name a fact: every table of the explorer has columns of the one list of columns."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.explorer.asking import answer, questions
from xla_explorer.explorer.display import SCHEMA
from xla_explorer.explorer.display.frames import column_names
from xla_explorer.explorer.page.schema import ROWS
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.tables import COLUMNS, NOUNS

ROOT = Path(xe.__file__).parent
ROOMS = sorted((ROOT / "explorer").rglob("*.py"))
OTHER_SPELLINGS = {
    "line": {"source_line", "source_place", "src_line", "location"},
    "roof_share": {"roof", "roofline", "roofline_share", "of_roof"},
    "predicted_us": {"predicted", "cost_us_predicted", "expected_us", "model_us"},
    "reason": {"why", "why_not", "why_not_fused", "problem", "says", "explanation"},
}
"""Names that a fact must not have: source line, share of the roof, predicted time, reason."""


def _tables(path: Path) -> Iterator[tuple[int, ast.expr]]:
    """Yield the line and the columns of each frame and table that a file makes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            place = {"wide_frame": 1, "Table": 0}.get(name)
            if place is not None and len(node.args) > place:
                yield node.lineno, node.args[place]


def _columns(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the columns of each table; of computed ones those in its text."""
    tables = list(_tables(path))
    if not tables:
        return
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    module: Any = importlib.import_module(".".join(parts))
    for line, node in tables:
        try:
            found = eval(compile(ast.Expression(node), str(path), "eval"), vars(module))
        except (NameError, AttributeError, TypeError):
            parts_of = node.elts if isinstance(node, ast.List) else []
            found = [one.value for one in parts_of if isinstance(one, ast.Constant)]
        yield line, column_names([str(name) for name in found])


def test_every_table_has_columns_of_the_vocabulary() -> None:
    unknown, seen = [], 0
    for path in ROOMS:
        name = path.relative_to(ROOT / "explorer").as_posix()
        for line, columns in _columns(path):
            seen += len(columns)
            unknown += [f"{name}:{line}: {one}" for one in columns if one not in COLUMNS]
    assert not unknown, "columns.py has no such column: " + "; ".join(unknown)
    assert seen > 300


def test_a_fact_has_one_spelling() -> None:
    for name, others in OTHER_SPELLINGS.items():
        assert name in COLUMNS
        assert not others & set(COLUMNS), name
        for row in ROWS.values():
            assert not others & set(row._fields), row  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def attention() -> Session:
    session = xe.compile(xe.example("attention"))
    session.profile(repeats=2)
    return session


@pytest.mark.long
def test_the_frames_of_every_question_have_columns_of_the_vocabulary(attention: Session) -> None:
    name = str(attention.kernels()["kernel"][1])
    given: dict[str, Any] = {
        "kernel": name, "instruction": name, "kind": "fusion", "query": "op:dot", "step": -1,
        "subjects": list(attention.decisions("fusion")["subjects"][0]), "stage": "assembly",
    }  # fmt: skip
    walked = 0
    for question in questions().values():
        if question.owner in ("xla", "devices") or question.cost.name == "RUNS":
            continue
        if question.name in ("passes.effective", "passes.commute", "passes.search_order", "ptx"):
            continue  # minutes, or a GPU
        args = {
            a.name: given[a.name] for a in question.arguments if a.required or a.name == "subjects"
        }
        reply = answer(attention, question.name, args)
        for column in reply.columns or ():
            known = column in COLUMNS or column.startswith("step_")
            assert known, f"{question.name}: {column}"
        walked += reply.columns is not None
    assert walked >= 15


def test_json_of_reports_has_a_schema_version(attention: Session) -> None:
    reports = [attention.explain(), attention.loops(), attention.buffers(), attention.overrides()]
    name = str(attention.kernels()["kernel"][1])
    for report in [*reports, attention.explain(name), attention.passes[1]]:
        data = report.to_json()  # type: ignore[union-attr]
        assert data["schema"] == SCHEMA, type(report).__name__
        assert [text for text in _keys(data) if text == "schema"] == ["schema"], "only outside"


def _keys(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _keys(value)
    elif isinstance(data, list):
        for value in data:
            yield from _keys(value)


def test_nouns_have_row_types_whose_fields_are_columns() -> None:
    for noun in NOUNS.values():
        assert noun.rows and set(noun.columns) <= set(COLUMNS), noun.name
