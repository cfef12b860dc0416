"""The first view: hottest kernels, priced refusals, a graph of the hot part, enough room."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live
from tests.browser.test_legible import layers_text
from tests.support.dag import dag_text

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="no Chromium on the path: the first view is NOT tested in a browser",
    ),
]


def _open(browser: Any, path: Path, address: str = "", width: int = 1440) -> tuple[Any, list[str]]:
    page = browser.new_page(viewport={"width": width, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri() + address)
    page.wait_for_selector(".xe[data-ready]")
    return page, errors


@pytest.mark.long
def test_a_live_view_opens_on_its_kernels_measures_them_and_tries_a_refusal(
    browser: Any, tmp_path: Path
) -> None:
    session = xe.compile(layers_text(1), threads=1)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_live(page, xe.explore(session), tmp_path, tab="")
    page.wait_for_selector(".xe-hottest tbody tr")
    assert page.locator(".xe-tabs button.on").text_content() == "Overview"
    assert "estimated by the cost model" in page.locator(".xe-overview .xe-bar-row").inner_text()
    page.locator(".xe-measure").click()
    page.wait_for_function("() => document.querySelector('.xe-measure').textContent === 'measure'")
    page.evaluate("deliver()")
    page.wait_for_function(
        "() => document.querySelector('.xe-overview .xe-bar-row').innerText.includes('measured')"
    )
    times = dict(
        zip(session.last_profile["kernel"], session.last_profile["median_us"], strict=True)
    )
    assert list(times.values())[1:] == [3 + 2 * k for k in range(len(times) - 1)]
    assert page.locator(".xe-hottest tbody tr td").first.inner_text() == "%reduce_fusion× 2", (
        "the run that the button made; two that are alike are one row"
    )
    assert {r.bound for r in session._explorer_source_().view().rows()} <= {
        "memory",
        "arithmetic",
        "launch",
        "latency",
    }
    said = page.locator(".xe-overview-body").inner_text()
    assert ("outside kernels" in said) != ("together in a run of" in said), (
        "all of the run is accounted for"
    )
    assert [
        page.locator(f"{table} th", has_text="share of run").count()
        for table in (".xe-hottest", ".xe-times")
    ] == [1, 1]
    prices = page.locator(".xe-refused tbody tr td:nth-child(2)").all_inner_texts()
    assert prices and all(text[0] in "≤~" for text in prices)
    page.locator(".xe-attempt").first.click()
    page.wait_for_selector(".xe-compared", timeout=60_000)
    page.close()


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[xe.Session, Path]:
    session = xe.compile(dag_text(200), verify=False, threads=1)
    return session, session.save(tmp_path_factory.mktemp("first") / "big.html")


@pytest.mark.long
def test_a_big_module_opens_around_the_kernel_that_takes_most_time(
    browser: Any, big: tuple[xe.Session, Path]
) -> None:
    page, errors = _open(browser, big[1], "#tab=graph")
    seen = page.evaluate(
        """() => { const a = document.querySelector('.xe').explorer, stage = document.querySelector('.xe-stage').getBoundingClientRect(),
          times = Object.entries(a.store.data.columns[0][2]).sort((x, y) => y[1] - x[1]), inside = el => {
            const b = el.getBoundingClientRect(), x = b.x + b.width / 2, y = b.y + b.height / 2;
            return x > stage.left && x < stage.right && y > stage.top && y < stage.bottom; };
          a.select(+times[0][0], 'test');
          const read = new Set(a.now.picture.edges.map(e => e.source));
          return [document.querySelectorAll('.xe-node.on').length, inside(document.querySelector('.xe-node.on')),
            [...document.querySelectorAll('.xe-node')].filter(inside).length, document.querySelector('.xe-count').innerText,
            a.now.picture.nodes.filter(n => n.kind === 'parameter' && read.has(n.id)).length,
            document.querySelectorAll('.xe-node.k-parameter').length, a.now.picture.nodes.filter(n => n.kind === 'parameter').length]; }"""
    )
    assert seen[0] == 1 and seen[1] and seen[2] >= 5, seen
    assert (
        seen[5] == seen[6] - seen[4] and f"{seen[4]} parameters folded" in seen[3] and errors == []
    )
    page.close()


DIVISION = """HloModule division
ENTRY e {
  x = f32[8] parameter(0)
  four = f32[] constant(4)
  fours = f32[8] broadcast(four), dimensions={}
  d = f32[8] divide(x, fours)
  ROOT r = f32[8] exponential(d)
}"""


def test_marks_say_what_the_pass_did_and_the_legend_counts_them(
    browser: Any, big: tuple[xe.Session, Path], tmp_path: Path
) -> None:
    small = xe.compile(DIVISION, passes="algsimp", threads=1)
    step = next(
        recorded.number
        for recorded in small.passes[1:]
        if recorded.name == "algsimp" and recorded.changed
    )
    page, errors = _open(browser, small.save(tmp_path / "small.html"), f"#tab=graph&step={step}")
    assert (
        page.locator(".xe-node .plus").count() == 1
        and page.locator(".xe-legend .mark.new").inner_text() == "+ new 1"
    )
    assert errors == []
    page.close()
    session, path = big
    page, errors = _open(browser, path, "#tab=graph")
    for recorded in session.passes[1:]:
        if not recorded.changed:
            continue
        page.evaluate("k => document.querySelector('.xe').explorer.go(k)", recorded.number)
        added, drawn = recorded.diff.added, page.evaluate(
            "() => Object.fromEntries([...document.querySelector('.xe').explorer.now.picture.nodes].map(n => [n.id, n.name]))"
        )  # fmt: skip
        marked = page.locator(".xe-node .plus").count()
        assert bool(marked) <= bool(added & set(map(int, drawn))), (
            f"pass {recorded.number} added {len(added)}, {marked} are marked"
        )
        legend = page.locator(".xe-legend .mark.new").all_inner_texts()
        assert legend == ([f"+ new {marked}"] if marked else [])
    assert errors == []
    page.close()


def test_borders_move_panels_fold_and_both_are_remembered(browser: Any, tmp_path: Path) -> None:
    path = xe.compile(layers_text(1), threads=1).save(tmp_path / "room.html")
    page, errors = _open(browser, path)
    size = lambda selector: page.locator(selector).first.bounding_box()  # noqa: E731
    left = size(".xe-timeline")["width"]
    bar = size(".xe-timeline > .xe-border")
    page.mouse.move(bar["x"] + 3, bar["y"] + 100)
    page.mouse.down()
    page.mouse.move(bar["x"] + 63, bar["y"] + 120)
    page.mouse.up()
    assert abs(size(".xe-timeline")["width"] - left - 60) < 3
    code = size(".xe-panes")["height"]
    page.locator(".xe-code > .xe-border").focus()
    page.keyboard.press("ArrowUp")
    assert abs(size(".xe-panes")["height"] - code - 16) < 2
    for _ in range(8):
        page.locator(".xe-code .xe-pane-chips button:not(.on)").first.click() if page.locator(
            ".xe-code .xe-pane-chips button:not(.on)"
        ).count() else None
    assert page.locator(".xe-pane").count() >= 6, "any number of panes side by side"
    lines = ".xe-pane[data-pane='hlo-after'] .xe-lines"
    assert page.evaluate(
        f'() => {{ const el = document.querySelector("{lines}"); return el.scrollWidth > el.clientWidth + 5; }}'
    )
    page.locator(".xe-wrap").click()
    assert not page.evaluate(
        f'() => {{ const el = document.querySelector("{lines}"); return el.scrollWidth > el.clientWidth + 5; }}'
    )
    page.locator(".xe-why > header b").click()
    assert size(".xe-why")["width"] < 40 and not page.locator(".xe-why-body").is_visible()
    page.reload()
    page.wait_for_selector(".xe[data-ready]")
    assert abs(size(".xe-timeline")["width"] - left - 60) < 3 and size(".xe-why")["width"] < 40
    page.locator(".xe-timeline > .xe-border").dblclick()
    assert abs(size(".xe-timeline")["width"] - left) < 3 and errors == []
    page.close()


@pytest.mark.long
@pytest.mark.parametrize("where", ["page", "notebook"])
def test_every_border_resizes_a_panel_by_mouse_and_keys(
    browser: Any, tmp_path: Path, where: str
) -> None:
    session = xe.compile(layers_text(6), threads=1)
    session.profile(repeats=2)
    if where == "page":
        page, errors = _open(browser, session.save(tmp_path / "borders.html"))
    else:
        page, errors = browser.new_page(viewport={"width": 1440, "height": 900}), []
        open_live(page, xe.explore(session), tmp_path)
    page.evaluate("() => document.querySelector('.xe-times').classList.remove('folded')")
    page.wait_for_timeout(100)
    panels = {
        "passes": ".xe-timeline",
        "reasons": ".xe-why",
        "code": ".xe-centre",
        "times": ".xe-panes",
    }
    panels |= (
        {"code": ".xe-panes", "times": ".xe-times .xe-scroll"}
        if where == "page"
        else {"times (lower)": ".xe-times .xe-scroll"}
    )
    borders = {
        "passes": ("ArrowRight", ".xe-timeline"),
        "reasons": ("ArrowLeft", ".xe-why"),
        "code": ("ArrowUp", ".xe-code"),
        "times": ("ArrowUp", ".xe-times"),
    }
    for name, panel in panels.items():
        key, owner = borders[name.split(" ")[0]]
        bar = page.locator(f"{owner} > .xe-border{'.below' if 'lower' in name else ':not(.below)'}")
        side = "width" if key in ("ArrowLeft", "ArrowRight") else "height"

        def size(panel=panel, side=side):
            return page.locator(panel).first.bounding_box()[side]

        before = size()
        bar.focus()
        page.keyboard.press(key)
        page.wait_for_timeout(50)
        assert abs(abs(size() - before) - 16) < 2, f"{name} in a {where}: {before} -> {size()}"
        assert page.evaluate(
            "() => Number(document.activeElement.getAttribute('aria-valuenow'))"
        ) == pytest.approx(size(), abs=1)
        box = bar.bounding_box()
        before = size()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2 + 20, box["y"] + box["height"] / 2 + 20)
        page.mouse.up()
        page.wait_for_timeout(50)
        assert abs(abs(size() - before) - 20) < 3, f"{name} in a {where}: {before} -> {size()}"
    assert errors == []
    page.close()
