"""The table of findings names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def rows() -> list[tuple[str, list[tuple[str, str]], str]]:
    """(finding, tests that hold it, whole line) of each row of the table."""
    table = []
    for line in (Path(__file__).parent / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        if line.startswith("| ") and len(cells) == 4 and cells[0] != "finding":
            table.append((cells[0], _TEST.findall(cells[3]), line))
    return table


def test_there_are_rows_and_none_stands_twice():
    lines = [line for _, _, line in rows()]
    assert len(lines) > 100
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(("finding", "tests", "line"), rows(), ids=[finding for finding, _, _ in rows()])
def test_each_row_names_tests_that_exist(finding: str, tests: list[tuple[str, str]], line: str):
    assert tests or "left to" in line, f"{finding}: no test is named, and nothing says who has it"
    for path, name in tests:
        file = TESTS.parent / path
        assert file.is_file(), f"{finding}: {path} is not there"
        assert not name or re.search(rf"^\s*(async )?def {name}\b", file.read_text(), re.MULTILINE), f"{finding}: {path} has no {name}"


def test_the_readme_says_what_ends_native_code() -> None:
    text = " ".join((TESTS.parent / "README.md").read_text(encoding="utf-8").split())
    assert "native code that does not end stops for nothing but `kill`, Ctrl-C included" in text
