"""The widget's edge cases: undrawn parts, exported pages, keys after clicks, late names."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, settled
from xla_explorer.explorer.page import payload

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the widget is NOT tested in a browser"
    ),
]


def _layers(count: int) -> str:
    lines = [
        "x0 = f32[16,32] parameter(0)",
        "w = f32[32,32] parameter(1)",
        "zero = f32[] constant(0)",
    ]
    for k in range(count):
        lines += [
            f"y{k} = f32[16,32] dot(x{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            f"e{k} = f32[16,32] exponential(y{k})",
            f"d{k} = f32[16] reduce(e{k}, zero), dimensions={{1}}, to_apply=sum",
            f"db{k} = f32[16,32] broadcast(d{k}), dimensions={{0}}",
            f"q{k} = f32[16,32] divide(e{k}, db{k})",
            f"x{k + 1} = f32[16,32] add(q{k}, y{k})",
        ]
    body = "\n ".join(lines)
    add = "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
    return f"HloModule layers\n{add}ENTRY main {{\n {body}\n ROOT out = f32[16,32] negate(x{count})\n}}\n"


@pytest.fixture(scope="module")
def big() -> Any:
    """More instructions than a picture of the whole module holds."""
    return xe.compile(_layers(160), verify=False, threads=1)


@pytest.fixture(scope="module")
def big_page(big: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept, payload.MOST_HISTORIES = payload.MOST_HISTORIES, 50
    try:
        return big.save(tmp_path_factory.mktemp("manners") / "big.html")
    finally:
        payload.MOST_HISTORIES = kept


def _open(browser: Any, path: Path) -> tuple[Any, list[str]]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector(".xe[data-ready]", timeout=60_000)
    return page, errors


def _select(page: Any, name: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(f"%{name}")
    page.locator(".xe-found > div").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "name => document.querySelector('.xe-why-body').textContent.includes('%' + name)", arg=name
    )


def _names(page: Any) -> set[str]:
    return set(page.locator(".xe-graph .xe-canvas .xe-node > text.n").all_text_contents())


@pytest.mark.long
def test_all_paths_where_most_of_the_module_is_not_drawn(
    browser: Any, big: Any, big_page: Path
) -> None:
    """A path goes through fusions; of some of them nothing else is in the picture."""
    names = [i.name for i in big.module.entry.instructions.values() if i.opcode.name == "dot"]
    page, errors = _open(browser, big_page)
    for name in (names[3], names[5]):
        _select(page, name)
        page.keyboard.press("p")
    page.wait_for_function(
        "() => document.querySelector('.xe-graph .xe-count').textContent.includes('all paths')"
    )
    drawn = page.locator(".xe-graph .xe-canvas .xe-node").count()
    assert 3 <= drawn < 60 and {f"%{names[k]}" for k in (3, 4, 5)} <= _names(page)
    step = page.locator(".xe").get_attribute("data-step")
    page.keyboard.press("[")
    page.wait_for_function(f"() => document.querySelector('.xe').dataset.step !== '{step}'")
    assert (
        page.locator(".xe-graph .xe-canvas .xe-node").count() >= 3
        and "nothing to draw" not in page.locator(".xe-graph .xe-count").inner_text()
    )
    assert errors == []
    page.close()


@pytest.mark.long
def test_all_paths_between_what_is_inside_two_fusions(browser: Any, tmp_path: Path) -> None:
    session = xe.compile(_layers(2), threads=1)
    inside = [f for f in session.module.entry.instructions.values() if f.opcode.name == "fusion"]
    first, last = (f.called[0].root.name for f in (inside[0], inside[-1]))
    page, errors = _open(browser, session.save(tmp_path / "small.html"))
    for name in (first, last):
        page.evaluate(
            "name => { const a = document.querySelector('.xe').explorer; a.select([...a.now.names].find(([, n]) => n === name)[0], 'graph') }",
            name,
        )
        page.keyboard.press("p")
    page.wait_for_function(
        "() => document.querySelector('.xe-graph .xe-count').textContent.includes('all paths')"
    )
    assert page.locator(".xe-graph .xe-canvas .xe-node").count() >= 3 and errors == []
    page.close()


def test_an_export_says_what_it_left_out(browser: Any, big: Any, big_page: Path) -> None:
    page, _ = _open(browser, big_page)
    name = [i.name for i in big.module.entry.instructions.values() if i.opcode.name == "dot"][80]
    _select(page, name)
    page.wait_for_function("() => document.querySelector('.xe-history')?.textContent.length > 3")
    assert (
        f'left out of this page for its size: session.passes.history("%{name}")'
        in page.locator(".xe-history").inner_text()
    )
    page.close()


def test_fusions_of_a_neighbourhood_are_called_and_coloured_as_ever(
    browser: Any, big: Any, big_page: Path
) -> None:
    page, _ = _open(browser, big_page)
    known = page.evaluate(
        "() => document.querySelector('.xe').explorer.now.picture.groups.filter(g => g.kind === 'fusion').map(g => g.label)"
    )
    fusion = next(
        i
        for i in list(big.module.entry.instructions.values())[360:]
        if i.opcode.name == "fusion" and i.name not in _names(page)
    )
    _select(page, fusion.name)
    page.keyboard.press("n")
    settled(page)
    drawn = page.locator(
        ".xe-graph .xe-node.k-fusion", has_text=re.compile(rf"%{re.escape(fusion.name)}(?![\w.-])")
    ).last
    label = (
        drawn.locator("text.t").first.text_content().split(" · ")[-1]
    )  # the head of an open box has the name too
    assert label != "fusion" and (not known or label in known)
    assert page.locator(".xe-graph .xe-node.k-contraction", has_text="dot").count() >= 1
    page.close()


def test_keys_work_after_a_click_on_what_is_built_anew(browser: Any, tmp_path: Path) -> None:
    page, _ = _open(browser, xe.compile(_layers(2), threads=1).save(tmp_path / "keys.html"))
    for click in (".xe-decisions .xe-sort", ".xe-chips button >> nth=1", ".xe-skip >> nth=0"):
        page.keyboard.press("d")
        page.locator(click).click()
        page.keyboard.press("g")
        assert (
            page.locator("[role=tab][aria-selected=true]").get_attribute("data-tab") == "graph"
        ), click
    page.close()


def test_times_appear_when_they_are_measured(browser: Any, tmp_path: Path) -> None:
    session = xe.compile(_layers(1), threads=1)
    widget = xe.explore(session)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_live(page, widget, tmp_path)
    assert "not run yet" in page.locator(".xe-times header").inner_text()
    page.keyboard.press("[")
    settled(page)
    step = page.locator(".xe").get_attribute("data-step")
    widget.refresh()  # nothing new: nothing is sent
    session.profile(repeats=2)
    widget.refresh()
    page.evaluate("() => window.deliver()")
    page.wait_for_selector(".xe-times tbody tr")
    assert (
        "not run yet" not in page.locator(".xe-times header").inner_text()
        and "runs in" in page.locator(".xe-headline").inner_text()
    )
    assert (
        page.locator(".xe-tools select").is_visible()
        and page.locator(".xe").get_attribute("data-step") == step
    )
    page.close()


def test_a_pane_that_only_says_how_to_get_it_is_not_opened(
    browser: Any, big: Any, big_page: Path
) -> None:
    page, _ = _open(browser, big_page)
    shown = page.locator(".xe-pane").all_inner_texts()
    assert shown and not any("not made for this page" in text for text in shown)
    page.close()
