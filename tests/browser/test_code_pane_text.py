"""A long code pane: search beyond the drawn lines, folding, copying, rows for a screen reader."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, settled

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: long panes are NOT tested in a browser"
    ),
]

LENGTH = 500
TEXT = "\n".join(
    [
        "HloModule long",
        "callee {",
        "  q = f32[8] parameter(0)",
        "  ROOT n = f32[8] negate(q)",
        "}",
        "ENTRY e {",
        "  v0 = f32[8] parameter(0)",
        *[f"  v{k} = f32[8] add(v{k - 1}, v{k - 1})" for k in range(1, LENGTH)],
        f"  ROOT c = f32[8] call(v{LENGTH - 1}), to_apply=callee",
        "}",
    ]
)
PANE = ".xe-pane[data-pane='hlo-after']"
COPIED = """() => {
  const data = new DataTransfer(), event = new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true });
  document.querySelector(`PANE .xe-lines`).dispatchEvent(event);
  return data.getData("text/plain");
}""".replace("PANE", PANE)


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    found = browser.new_page(viewport={"width": 1440, "height": 900})
    found.set_default_timeout(30_000)
    trace = xe.optimize(TEXT, "dce", verify=False)
    open_live(found, xe.explore(trace), tmp_path_factory.mktemp("long"))
    if not found.locator(PANE).count():
        found.locator(".xe-pane-chips button", has_text="HLO after").click()
    settled(found)
    yield found
    found.close()


def _drawn(page: Any) -> list[str]:
    texts: list[str] = page.locator(f"{PANE} .xe-line code").all_text_contents()
    return texts


def test_a_search_goes_to_lines_that_are_not_drawn(page: Any) -> None:
    assert not any("add(%v410" in text for text in _drawn(page))
    box = page.locator(f"{PANE} .xe-find input")
    box.fill("ADD(%V410,")
    page.wait_for_selector(f"{PANE} .xe-line.found")
    assert "%v411 = " in page.locator(f"{PANE} .xe-line.found code").inner_text()
    assert page.locator(f"{PANE} .xe-find [role=status]").inner_text() == "1 of 1 line"
    box.fill("%v12,")
    box.press("Enter")
    assert page.locator(f"{PANE} .xe-find [role=status]").inner_text().startswith("1 of 1")
    box.press("Escape")
    assert page.locator(f"{PANE} .xe-line.found").count() == 0
    assert page.evaluate("() => document.activeElement.matches('.xe-lines')")


def test_a_computation_folds_and_a_search_opens_it(page: Any) -> None:
    fold = page.locator(f"{PANE} .xe-fold-all")
    fold.click()
    settled(page)
    assert len(_drawn(page)) < 10, "heads of computations only"
    assert fold.get_attribute("aria-pressed") == "true"
    page.locator(f"{PANE} .xe-find input").fill("%v200,")
    page.wait_for_selector(f"{PANE} .xe-line.found")
    page.locator(f"{PANE} .xe-find input").press("Escape")
    assert len(_drawn(page)) > 10
    fold.click()
    settled(page)
    page.locator(f"{PANE} .xe-lines").evaluate("el => { el.scrollTop = 0; }")
    page.wait_for_selector(f"{PANE} .xe-folder")
    page.locator(f"{PANE} .xe-folder").first.click()
    settled(page)
    assert "…" in "".join(_drawn(page))
    page.locator(f"{PANE} .xe-folder").first.click()
    settled(page)
    assert "…" not in "".join(_drawn(page))


def test_all_lines_are_copied_not_only_the_drawn_ones(page: Any) -> None:
    page.locator(f"{PANE} .xe-lines").focus()
    page.keyboard.press("Control+a")
    copied = page.evaluate(COPIED)
    assert copied.count(" add(") == LENGTH - 1
    assert copied == page.evaluate(
        "() => document.querySelector('.xe').explorer.now.text.map(line => line[0]).join('\\n')"
    )


def test_a_part_of_two_lines_is_copied_without_numbers(page: Any) -> None:
    page.locator(f"{PANE} .xe-lines").evaluate("el => { el.scrollTop = 0; }")
    page.wait_for_selector(f"{PANE} .xe-line[data-at='4']")
    page.evaluate(
        """() => {
          const code = at => document.querySelector(`PANE .xe-line[data-at="${at}"] code`),
            range = document.createRange(), selection = document.getSelection();
          range.setStart(code(3).firstChild, 1);
          range.setEnd(code(4), code(4).childNodes.length);
          selection.removeAllRanges();
          selection.addRange(range);
        }""".replace("PANE", PANE)
    )
    texts = page.evaluate("() => document.querySelector('.xe').explorer.now.text.map(l => l[0])")
    assert page.evaluate(COPIED) == f"{texts[3][1:]}\n{texts[4]}"


def test_rows_have_their_place_among_all(page: Any) -> None:
    lines = page.locator(f"{PANE} .xe-lines")
    assert lines.get_attribute("role") == "table"
    assert int(lines.get_attribute("aria-rowcount")) > LENGTH
    row = page.locator(f"{PANE} [role=rowgroup] > [role=row]").first
    assert int(row.get_attribute("aria-rowindex")) >= 1
