"""Each question of the comparison page is answered in as many actions as the page states."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.browser.ten_questions import QUESTIONS, answered

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PAGE = Path(__file__).resolve().parents[2] / "notebooks" / "explorer_comparison.md"


def _rows() -> dict[str, list[str]]:
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 7 and cells[0] != "question":
            found[cells[0]] = cells
    return found


def test_the_page_has_the_questions_and_our_actions() -> None:
    assert {text: int(cells[1]) for text, cells in _rows().items()} == {
        q.text: len(q.actions) for q in QUESTIONS
    }
    assert len(QUESTIONS) == 10


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on the path: the ten questions are NOT asked"
)
def test_each_question_is_answered_by_the_actions_of_the_page(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: no browser test runs"
    )
    assert [question.text for question, _ in answered(browser, tmp_path)] == list(_rows())
