"""Ten questions to a compiler explorer: actions that answer each, and the seconds they take.

`python -m tests.browser.ten_questions` prints the rows of `notebooks/explorer_comparison.md` as
measured here. An action is a click, a key, or a text that is typed; the seconds are those of the
page and of the kernel behind it, not of a person who reads and aims.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import xla_explorer as xe
from tests.browser.live_page import open_live
from tests.browser.test_legible import CHROMIUM, layers_text

Action = Callable[[Any], object]


def click(selector: str) -> Action:
    """Return a click on the first visible match."""
    return lambda page: page.locator(selector).locator("visible=true").first.click()


def key(name: str) -> Action:
    """Return a key press."""
    return lambda page: page.keyboard.press(name)


def typed(text: str) -> Action:
    """Return the typing of a text."""
    return lambda page: page.keyboard.type(text)


def _pass(name: str) -> Action:
    """Return a click on a pass of the list."""
    return lambda page: page.locator(".xe-timeline").get_by_text(name, exact=True).first.click()


class Question(NamedTuple):
    """actions: what a person does, from the first view on.

    answer: what is there then, as a condition in the page.
    """

    text: str
    actions: Sequence[Action]
    answer: str


def _shows(selector: str, text: str = "") -> str:
    return f"() => [...document.querySelectorAll({selector!r})].some(el => el.offsetParent !== null && el.textContent.includes({text!r}))"


# In a notebook the kernel sends its measurements by itself; the page of the test fetches them.
_MEASURED = """async () => { if (document.querySelector('.xe-measure').textContent !== 'measure') return false;
  await deliver(); return document.querySelector('.xe-overview .xe-bar-row').innerText.includes('measured'); }"""

QUESTIONS = (
    Question("Which kernel takes most time, and what bounds it?", (click(".xe-measure"),), _MEASURED),
    Question("Why are these two operations not one kernel?", (click(".xe-refused tbody tr"),), _shows(".xe-why", "conditions")),
    Question("What would it gain if they were?", (click(".xe-attempt"),), _shows(".xe-compared", "median")),
    Question("Which passes made this instruction, and from what?", (click(".xe-hottest tbody tr"),), _shows(".xe-history li", "pass")),
    Question("What did this pass change in the text?", (_pass("fusion"), key("t")), _shows(".xe-text", "fused_computation")),
    Question("Which machine code came from this HLO line?", (click(".xe-hottest tbody tr"), key("s")), _shows(".xe-side-by-side-table td.hlo .on")),
    Question("Which source lines does the time go to?", (), _shows(".xe-overview h4", "by source line")),
    Question("What is in memory at the peak?", (key("b"),), _shows(".xe-buffers", "peak")),
    Question("Is there a NaN in this value, and how far is it from the reference?", (click(".xe-hottest tbody tr"), click(".xe-tensor .xe-act")), _shows(".xe-tensor", "nan")),
    Question("Where are all dots of over 2 kB?", (key("/"), typed("op:dot bytes>2000")), "() => document.querySelector('.xe-hits').textContent.includes('hit')"),
)  # fmt: skip


def answered(browser: Any, folder: Path) -> list[tuple[Question, float]]:
    """Answer each question in its own view; return the seconds from first action to answer."""
    session = xe.compile(layers_text(3), threads=1)
    found = []
    for number, question in enumerate(QUESTIONS):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        place = folder / str(number)
        place.mkdir()
        open_live(page, xe.explore(session), place, tab="")
        page.wait_for_selector(".xe-hottest tbody tr")
        started = time.perf_counter()
        for action in question.actions:
            action(page)
        page.wait_for_function(question.answer, polling=20)
        found.append((question, time.perf_counter() - started))
        page.close()
    return found


def main() -> None:
    """Print the measured rows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for question, seconds in answered(browser, Path(folder)):
            print(f"| {question.text} | {len(question.actions)} | {seconds:.2f} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
