"""The widget with a screen reader: roles, names, tab panels, announcements, focus order."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
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
        CHROMIUM is None, reason="no Chromium on the path: accessibility is NOT tested"
    ),
]

MODULE = """HloModule spoken
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[32,64] parameter(0)
  zero = f32[] constant(0)
  z = f32[32,64] broadcast(zero), dimensions={}
  y = f32[32,64] add(x, z)
  e = f32[32,64] exponential(y)
  s = f32[32] reduce(e, zero), dimensions={1}, to_apply=add
  d = f32[32,64] broadcast(s), dimensions={0}
  ROOT q = f32[32,64] divide(e, d)
}
"""
_NAMELESS = """() => [...document.querySelectorAll(".xe button, .xe input, .xe select, .xe summary, .xe [role=tabpanel]")]
  .filter(el => el.offsetParent !== null)
  .filter(el => !((el.tagName !== "SELECT" && el.textContent.trim()) || el.ariaLabel || el.title || el.labels?.length || el.getAttribute("aria-labelledby")))
  .map(el => el.outerHTML.slice(0, 120))"""
_DANGLING = """() => ["aria-controls", "aria-labelledby", "aria-activedescendant"].flatMap(name =>
  [...document.querySelectorAll(`[${name}]`)].filter(el => !document.getElementById(el.getAttribute(name))).map(el => el.outerHTML.slice(0, 120)))"""


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    found = browser.new_page(viewport={"width": 1440, "height": 950})
    open_live(
        found, xe.explore(xe.compile(MODULE, threads=1)), tmp_path_factory.mktemp("accessible")
    )
    yield found
    found.close()


def _said(page: Any) -> str:
    return str(page.locator(".xe-live").text_content())


def test_everything_that_acts_has_a_name_and_every_reference_a_target(page: Any) -> None:
    for tab in "gtdikb":
        page.keyboard.press(tab)
        settled(page)
        assert page.evaluate(_NAMELESS) == []
        assert page.evaluate(_DANGLING) == []
    page.keyboard.press("g")


def test_the_tree_that_a_screen_reader_sees(page: Any) -> None:
    tree = page.locator(".xe").aria_snapshot()
    for part in (
        "tablist",
        'tab "Graph" [selected]',
        'tabpanel "Graph"',
        "list",
        "listitem",
        "combobox",
        'region "why"',
        "status",
        "instruction graph",
    ):
        assert part in tree, f"{part} is not in the tree:\n{tree[:3000]}"
    assert page.locator(".xe").get_attribute("aria-label").startswith("compile explorer of spoken")


def test_steps_and_selections_are_read_out(page: Any) -> None:
    page.keyboard.press("g")
    page.keyboard.press("[")
    settled(page)
    before = _said(page)
    page.keyboard.press("[")
    settled(page)
    after = _said(page)
    assert (
        before != after and ("pass " in after or "as written" in after) and "instructions" in after
    )
    page.keyboard.press("/")
    page.keyboard.type("%e")
    assert page.locator("[role=combobox]").get_attribute("aria-expanded") == "true"
    page.keyboard.press("Enter")
    settled(page)
    assert "selected" in _said(page) and "reads" in _said(page)
    page.keyboard.press("f")
    settled(page)
    assert " refused" in _said(page) or " accepted" in _said(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")


def test_tab_reaches_the_views_and_arrows_go_through_them(page: Any) -> None:
    page.keyboard.press("g")
    page.evaluate("() => document.querySelector('.xe').focus()")
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "() => document.activeElement.getAttribute('role') || document.activeElement.tagName.toLowerCase()"
            )
        )
        if reached[-1] == "tab":
            break
    assert reached[0] == "combobox" and reached[-1] == "tab", reached
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.textContent") == "Text"
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Text"
    page.keyboard.press("ArrowLeft")
    assert page.locator("[role=tabpanel]:not([hidden])").get_attribute("data-panel") == "graph"


_UNREACHED = """() => {
  const groups = ".xe-table thead tr, .xe-chips, .xe-pane-chips, .xe-tools, .xe-timeline, [role=group], [role=tablist]";
  return [...document.querySelectorAll(".xe button, .xe select, .xe input, .xe summary, .xe [role=button]")]
    .filter(el => el.offsetParent && el.tabIndex < 0 && !el.matches(".xe-fold") && !el.closest(groups)?.querySelector("[tabindex='0']"))
    .map(el => el.outerHTML.slice(0, 120));
}"""


@pytest.mark.parametrize("key", ["o", "g", "t", "d", "k"])
def test_every_control_is_reached_by_tab_and_arrows(page: Any, key: str) -> None:
    page.keyboard.press(key)
    settled(page)
    page.wait_for_timeout(100)  # what is new is made reachable a moment later
    assert page.evaluate(_UNREACHED) == []


def test_arrows_go_through_the_rows_of_a_table_and_enter_chooses(page: Any) -> None:
    page.keyboard.press("d")
    page.wait_for_selector(".xe-decisions tbody tr[tabindex='0']")
    page.evaluate("() => document.querySelector('.xe-decisions tbody tr').focus()")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    chosen = page.evaluate(
        "() => [document.querySelector('.xe').explorer.decision, +document.querySelectorAll('.xe-decisions tbody tr')[1].dataset.index]"
    )
    assert chosen[0] == chosen[1]
    page.keyboard.press("End")
    assert page.evaluate(
        "() => document.activeElement === [...document.querySelectorAll('.xe-decisions tbody tr')].at(-1)"
    )
    page.keyboard.press("Escape")


_TABS = "() => [...document.querySelectorAll('[role=tab]')].map(tab => tab.dataset.tab)"
_FOCUS = "() => { const el = document.activeElement; return el === document.body ? '' : el.outerHTML.slice(0, 150) + [...document.querySelectorAll('*')].indexOf(el); }"
_CANCELLED = """() => {
  const keys = [["Tab", false], ["F5", false], ["f", true], ["r", true]], found = [];
  for (const el of document.querySelectorAll(".xe, .xe [tabindex], .xe button, .xe input, .xe select, .xe textarea"))
    for (const [key, ctrlKey] of keys)
      if (!el.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true, cancelable: true }))) found.push(`${key}: ${el.outerHTML.slice(0, 120)}`);
  return found;
}"""


def test_tab_leaves_every_tab_and_the_keys_of_the_browser_are_its_own(page: Any) -> None:
    for tab in page.evaluate(_TABS):
        page.evaluate("tab => document.querySelector('.xe').explorer.setTab(tab)", tab)
        settled(page)
        page.wait_for_timeout(100)  # what is new is made reachable a moment later
        assert page.evaluate(_CANCELLED) == [], tab
        page.evaluate("() => document.querySelector('.xe').focus()")
        visited = []
        for _ in range(300):
            page.keyboard.press("Tab")
            visited.append(page.evaluate(_FOCUS))
            if visited[-1] == "" or visited[-1] in visited[:-1]:
                break
        assert visited[-1] in ("", visited[0]), f"{tab}: the focus does not leave {visited[-1]}"


_RELATIONS = """() => {
  const seen = el => el.offsetParent !== null, out = el => el.outerHTML.slice(0, 120), bad = [];
  for (const list of document.querySelectorAll(".xe [role=list]"))
    for (const el of list.children) if (el.getAttribute("role") !== "listitem") bad.push(`in a list: ${out(el)}`);
  for (const el of document.querySelectorAll(".xe [aria-label]")) {
    const text = el.innerText?.trim() ?? "";
    if (el.tagName === "BUTTON" && /[a-z]/i.test(text) && !el.ariaLabel.toLowerCase().includes(text.toLowerCase())) bad.push(`named otherwise: ${out(el)}`);
  }
  for (const el of document.querySelectorAll(".xe [role=separator]"))
    for (const name of ["aria-valuenow", "aria-valuemin", "aria-valuemax"])
      if (!Number.isFinite(parseFloat(el.getAttribute(name)))) bad.push(`${name}: ${out(el)}`);
  for (const el of document.querySelectorAll(".xe *")) {
    const { overflowY } = getComputedStyle(el);
    if (seen(el) && ["auto", "scroll"].includes(overflowY) && el.scrollHeight > el.clientHeight + 1 && el.tabIndex < 0 && !el.querySelector("[tabindex='0'], button, select, input"))
      bad.push(`scrolls only by the mouse: ${out(el)}`);
  }
  return bad;
}"""


def test_roles_values_and_names_agree_with_what_is_seen(page: Any) -> None:
    for tab in page.evaluate(_TABS):
        page.evaluate("tab => document.querySelector('.xe').explorer.setTab(tab)", tab)
        settled(page)
        page.wait_for_timeout(100)
        assert page.evaluate(_RELATIONS) == [], tab
    page.keyboard.press("g")


_AXE = """() => axe.run(document.querySelector(".xe"), { resultTypes: ["violations"] }).then(found =>
  found.violations.map(v => `${v.impact} ${v.id}: ${v.nodes[0].html.slice(0, 200)}`))"""


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_tab(page: Any, theme: str) -> None:
    package = pytest.importorskip(
        "axe_playwright_python", reason="axe-core (extra `test`) is not installed"
    )
    page.emulate_media(color_scheme=theme)
    page.evaluate((Path(package.__path__[0]) / "axe.min.js").read_text(encoding="utf-8"))
    for tab in page.evaluate(_TABS):
        page.evaluate("tab => document.querySelector('.xe').explorer.setTab(tab)", tab)
        settled(page)
        page.wait_for_timeout(100)
        assert page.evaluate(_AXE) == [], tab
    page.emulate_media(color_scheme="light")


def test_arrows_scroll_the_code_that_has_the_focus(page: Any) -> None:
    lines = page.locator(".xe-panes .xe-lines").first
    lines.evaluate("el => { el.scrollTop = 0; el.focus(); }")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.activeElement.scrollTop > 0")
    page.evaluate("() => document.querySelector('.xe').focus()")
