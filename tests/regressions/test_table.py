"""The tables of findings and of features name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def cells_of(file: str, count: int) -> list[tuple[list[str], str]]:
    """(cells, whole line) of each row of a table with so many columns, without its head."""
    table = []
    for line in (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        if line.startswith("| ") and len(cells) == count and cells[0] not in ("finding", "row"):
            table.append((cells, line))
    return table


def rows() -> list[tuple[str, list[tuple[str, str]], str]]:
    """(finding, tests that hold it, whole line) of each row of the table of findings."""
    return [(cells[0], _TEST.findall(cells[3]), line) for cells, line in cells_of("README.md", 4)]


def assert_tests_exist(row: str, tests: list[tuple[str, str]]) -> None:
    for path, name in tests:
        file = TESTS.parent / path
        assert file.is_file(), f"{row}: {path} is not there"
        assert not name or re.search(
            rf"^\s*(async )?def {name}\b", file.read_text(), re.MULTILINE
        ), f"{row}: {path} has no {name}"


def test_there_are_rows_and_none_stands_twice():
    lines = [line for _, _, line in rows()]
    assert len(lines) > 100
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("finding", "tests", "line"), rows(), ids=[finding for finding, _, _ in rows()]
)
def test_each_row_names_tests_that_exist(finding: str, tests: list[tuple[str, str]], line: str):
    assert tests or "left to" in line, f"{finding}: no test is named, and nothing says who has it"
    assert_tests_exist(finding, tests)


def test_each_row_of_the_features_is_held_or_says_what_is_missing():
    features = cells_of("features.md", 6)
    assert [cells[0] for cells, _ in features] == [
        *map(str, range(1, 73)),
        *[f"4.{k}" for k in range(1, 16)],
    ]
    for (row, _, call, verdict, missing, test), _ in features:
        assert verdict in ("yes", "partial", "no", "left out"), row
        assert (verdict == "yes") == (not missing), (
            f"{row} is {verdict}, and what is missing is {missing!r}"
        )
        assert verdict == "no" or (call and _TEST.findall(test)), f"{row}: no test is named"
        assert_tests_exist(row, _TEST.findall(test))


def test_the_readme_says_what_ends_native_code() -> None:
    text = " ".join((TESTS.parent / "README.md").read_text(encoding="utf-8").split())
    assert "native code that does not end stops for nothing but `kill`, Ctrl-C included" in text
