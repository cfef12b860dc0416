"""Screenshots compared before and after a change: equal ones match, differences are located."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.browser.screenshots import LAB, SHOTS, differences, take

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: screenshots are NOT compared"
    ),
]


def test_a_difference_is_found_where_it_is(browser: Any, tmp_path: Path) -> None:
    for name, left in (("before", 10), ("after", 60)):
        (tmp_path / name).mkdir()
        page = browser.new_page(viewport={"width": 200, "height": 100})
        for shot, at in (("same", 10), ("moved", left)):
            page.set_content(
                f'<body style="margin:0"><div style="position:absolute;left:{at}px;top:20px;width:10px;height:10px;background:#000">'
            )
            page.screenshot(path=str(tmp_path / name / f"{shot}.png"))
        page.close()
    found = differences(browser, tmp_path / "before", tmp_path / "after")
    assert found == {
        "moved": [pytest.approx(200 / 20_000), 10, 20, 69, 29],
        "same": [0, 200, 100, 0, 0],
    }


@pytest.mark.slow
def test_the_twenty_are_taken_and_what_is_pressed_works(
    browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take(browser, tmp_path, [name[:2] for name in SHOTS])
    assert capsys.readouterr().out == ""
    assert (
        len({file.read_bytes() for file in tmp_path.glob("*.png")}) == len(SHOTS) == 20 - len(LAB)
    )
