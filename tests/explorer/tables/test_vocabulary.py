"""One vocabulary: a column has one name everywhere, and the page shows the rows of Python."""

from __future__ import annotations

import ast
import typing
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.explorer.asking import answer, questions
from xla_explorer.explorer.page.view import answer_of
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.tables import COLUMNS, NOUNS, Kernel
from xla_explorer.explorer.tables.kernel import (
    KERNEL_COLUMNS,
    PROFILE_COLUMNS,
    RECORDED_COLUMNS,
    TIMELINE_COLUMNS,
)

ROOT = Path(xe.__file__).parent / "explorer"

CALLS = [
    "decisions()", "kernels()", "profile()", "buffers()", "overrides()", "loops()",
    "passes.to_frame()", "passes.costs()", "passes.hot_rules()", "passes.provenance()",
    "passes.search('op:reduce')", "llvm.remarks()", "llvm.times()", "passes.rule_times()",
]  # fmt: skip


@pytest.fixture(scope="module")
def attention() -> Session:
    session = xe.compile(xe.example("attention"))
    session.profile(repeats=2)
    return session


def test_every_column_is_an_identifier_with_a_meaning() -> None:
    units = {"", "us", "ms", "s", "bytes", "flops", "share", "count"}
    for name, column in COLUMNS.items():
        assert name.isidentifier() and name == column.name
        assert column.unit in units and column.sentence, name
        assert column.better in ("", "less", "more") and 0 <= column.rank <= 9, name
    for noun in NOUNS.values():
        assert set(noun.columns) <= set(COLUMNS), noun.name


@pytest.mark.parametrize("call", CALLS)
def test_the_columns_of_a_table_are_those_of_its_noun(attention: Session, call: str) -> None:
    reply = answer(attention, call)
    noun = questions()[call.partition("(")[0]].noun
    assert noun in NOUNS
    assert set(reply.columns or []) <= set(NOUNS[noun].columns)


def test_every_number_that_the_page_shows_of_a_kernel_is_in_kernels(attention: Session) -> None:
    source, frame = attention._explorer_source_(), attention.kernels()
    shown = answer_of(source, "kernels")
    assert [row[: len(frame.columns)] for row in shown["rows"]] == [
        [None if cell != cell else cell for cell in row]
        for row in frame.astype(object).values.tolist()
    ]
    by_name = {row.kernel: row for row in frame.itertuples()}
    timed = [row for row in source.timings() if row.instruction is not None]
    assert len(timed) == len(by_name)
    for timing in timed:
        row = by_name[timing.kernel]
        assert timing.bytes == row.bytes_read + row.bytes_written
        for name in (*PROFILE_COLUMNS, "share"):
            known, mine = getattr(timing, name), getattr(row, name)
            assert known == (None if mine != mine else mine) or known == pytest.approx(mine), name


def test_a_fact_of_a_row_of_a_kernel_has_the_name_of_its_column() -> None:
    assert set(typing.get_type_hints(Kernel)) <= set(COLUMNS)
    for columns in (KERNEL_COLUMNS, PROFILE_COLUMNS, TIMELINE_COLUMNS, RECORDED_COLUMNS):
        assert set(columns) <= set(Kernel._fields)


def test_a_noun_has_one_row_type_of_kernels() -> None:
    """No other row of the explorer has the columns of a kernel's times."""
    assert NOUNS["kernel"].rows == (Kernel,)
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name != "Kernel":
                fields = {
                    one.target.id
                    for one in node.body
                    if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
                }
                assert not {"kernel", "median_us"} <= fields, f"{path.name}: {node.name}"
