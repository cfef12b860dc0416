"""Tables of the explorer: sorting, initial order, marks of more rows; roofline texts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_saved

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path: tables are NOT tested"),
]
COLUMN = """([panel, head]) => {
  const table = document.querySelector(`[data-panel=${panel}] .xe-table`),
    at = [...table.tHead.rows[0].cells].findIndex(th => th.textContent.replace(/ [↑↓]$/, '') === head);
  return [...table.tBodies[0].rows].map(row => row.cells[at].textContent);
}"""
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "µs": 1, "ms": 1e3, "s": 1e6}


def _number(text: str) -> float:
    """Return a cell with a unit as a number."""
    value, _, unit = text.lstrip("~+").replace("−", "-").partition(" ")
    return float(value.replace(",", "") or 0) * UNITS.get(unit, 1)


@pytest.fixture(scope="module")
def session() -> xe.Session:
    session = xe.compile(xe.example("attention"), threads=1)
    session.profile(*xe.random_arguments(session.module))
    return session


@pytest.fixture
def page(browser: Any, session: xe.Session, tmp_path: Path) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_saved(page, session, tmp_path)
    yield page
    page.close()


@pytest.mark.parametrize(
    ("key", "panel", "heads"),
    [
        ("k", "kernels", ["measured", "predicted", "reads + writes", "flops", "kernel"]),
        ("a", "costs", ["time", "instructions", "Δ", "pass", "step"]),
        ("b", "buffers", ["size", "value"]),
    ],
)
def test_every_head_sorts_its_table_both_ways(
    page: Any, key: str, panel: str, heads: list[str]
) -> None:
    page.keyboard.press(key)
    table = page.locator(f"[data-panel={panel}] .xe-table").first
    table.wait_for()
    for head in heads:
        orders = []
        titles = [title.rstrip(" ↑↓") for title in table.locator("thead th").all_text_contents()]
        for _ in range(2):
            table.locator("thead th").nth(titles.index(head)).locator("button").click()
            cells = page.evaluate(COLUMN, [panel, head])
            is_text = head in ("kernel", "pass", "value")
            orders.append(cells if is_text else [_number(cell) for cell in cells])
        for order in orders:
            assert order in (sorted(order), sorted(order, reverse=True)), (head, order)
        assert orders[0] == orders[1][::-1] or sorted(orders[0]) == sorted(orders[1]), head
        pressed = table.locator("thead th[aria-sort='ascending'], thead th[aria-sort='descending']")
        assert pressed.count() == 1
    page.keyboard.press("g")  # keys go on working after the head was built anew
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Graph"


def test_the_table_of_buffers_begins_with_what_fills_the_peak(
    page: Any, session: xe.Session
) -> None:
    page.keyboard.press("b")
    page.locator("[data-panel=buffers] .xe-which button").first.wait_for()
    peak = session.buffers().at_peak()
    shown = page.evaluate(COLUMN, ["buffers", "value"])
    assert shown == [row[0] for row in peak.holders]
    sizes = [_number(text) for text in page.evaluate(COLUMN, ["buffers", "size"])]
    assert sizes == sorted(sizes, reverse=True)
    page.locator("[data-panel=buffers] .xe-which button", has_text="all").click()
    assert len(page.evaluate(COLUMN, ["buffers", "value"])) > len(shown)


def test_decisions_open_on_what_was_refused_by_cost(page: Any) -> None:
    page.keyboard.press("d")
    rows = page.locator("[data-panel=fusion] tbody tr")
    rows.first.wait_for()
    assert {row.split()[0] for row in rows.evaluate_all("rows => rows.map(r => r.className)")} == {
        "refused"
    }
    costs = page.evaluate(COLUMN, ["fusion", "cost"])
    known = [_number(cost.removeprefix("≤ ")) for cost in costs if cost not in ("", "none")]
    assert known and known == sorted(known, reverse=True)


def test_a_table_that_goes_on_to_a_side_shows_it(page: Any) -> None:
    page.set_viewport_size({"width": 900, "height": 900})
    page.keyboard.press("k")
    box = page.locator("[data-panel=kernels] .xe-scroll")
    page.locator("[data-panel=kernels] tbody tr").first.wait_for()
    wide, seen, image = box.evaluate(
        "el => [el.scrollWidth, el.clientWidth, getComputedStyle(el).backgroundAttachment]"
    )
    assert wide > seen and image == "local, local, scroll, scroll"


def test_no_tool_of_the_graph_is_cut_in_a_narrow_middle(page: Any) -> None:
    page.set_viewport_size({"width": 900, "height": 900})
    page.keyboard.press("g")
    page.locator(".xe-graph-bar .xe-tools button").first.wait_for()
    cut = page.evaluate(
        """() => { const edge = document.querySelector('.xe-graph-bar').getBoundingClientRect().right;
        return [...document.querySelectorAll('.xe-tools > *')].filter(el => el.getBoundingClientRect().right > edge)
          .map(el => el.textContent); }"""
    )
    assert cut == []


def test_why_has_decisions_and_history_before_the_layout(page: Any) -> None:
    page.keyboard.press("o")
    page.locator(".xe-hottest tbody tr").first.click()
    page.wait_for_selector(".xe-why .xe-history")
    order = page.evaluate(
        """() => { const body = document.querySelector('.xe-why-body'), place = el => [...body.querySelectorAll('*')].indexOf(el);
          return ['.xe-history', '.xe-layout'].map(one => place(body.querySelector(one))); }"""
    )
    assert 0 < order[0] < order[1], order


_ROOF_TEXTS = """() => [...document.querySelectorAll('.xe-plot text')].map(el => { const r = el.getBoundingClientRect();
  return [el.textContent, r.left, r.right, r.top + 2, r.bottom - 2, el.parentNode.matches('.xe-point-names')]; })"""
_ROOF_POINTS = "() => [...document.querySelectorAll('.xe-plot circle')].map(el => { const r = el.getBoundingClientRect(); return [r.left, r.right, r.top, r.bottom]; })"


@pytest.mark.parametrize("width", [900, 1440])
def test_no_text_of_the_roofline_is_over_another_or_over_a_point(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.locator(".xe-times .xe-pane-chips button", has_text="roofline").click()
    page.wait_for_selector(".xe-plot svg")
    plot, room = page.evaluate(
        "() => ['.xe-plot svg', '.xe-times .xe-scroll'].map(one => document.querySelector(one).clientWidth || document.querySelector(one).getBoundingClientRect().width)"
    )
    assert plot > room - 40, "it takes the width that there is"
    texts, points = page.evaluate(_ROOF_TEXTS), page.evaluate(_ROOF_POINTS)
    assert sum(text[-1] for text in texts) >= 3, "kernels are named"

    def overlap(a: Any, b: Any) -> bool:
        return bool(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3])

    for k, (text, *box, is_name) in enumerate(texts):
        for other, *place, _ in texts[:k]:
            assert not overlap(box, place), (text, other)
        if is_name:
            assert not any(overlap(box, point) for point in points), text
