"""Legibility of the widget: contrast of 4.5:1 or more, and no text on another, in both themes.

A small and a large module are tried, with a selection and with nodes coloured by time.
"""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, settled
from tests.browser.page_text import Written, on_each_other, placed_texts, written_texts

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
        reason="no Chromium on the path: it is NOT tested whether the widget can be read",
    ),
]
READABLE = 4.5

_REDUCERS = "".join(
    [
        f"{name} {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] {op}(a, b) }}\n"
        for name, op in (("max", "maximum"), ("sum", "add"))
    ]
)


def layers_text(count: int) -> str:
    """Layers of a product, a softmax and some arithmetic, without names of scopes."""
    lines = [
        "x0 = f32[16,32] parameter(0)",
        "w = f32[32,32] parameter(1)",
        "low = f32[] constant(-inf)",
        "zero = f32[] constant(0)",
    ]
    for k in range(count):
        lines += [
            f"y{k} = f32[16,32] dot(x{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            f"m{k} = f32[16] reduce(y{k}, low), dimensions={{1}}, to_apply=max",
            f"mb{k} = f32[16,32] broadcast(m{k}), dimensions={{0}}",
            f"sub{k} = f32[16,32] subtract(y{k}, mb{k})",
            f"e{k} = f32[16,32] exponential(sub{k})",
            f"d{k} = f32[16] reduce(e{k}, zero), dimensions={{1}}, to_apply=sum",
            f"db{k} = f32[16,32] broadcast(d{k}), dimensions={{0}}",
            f"q{k} = f32[16,32] divide(e{k}, db{k})",
            f"x{k + 1} = f32[16,32] add(q{k}, y{k})",
        ]
    body = "\n ".join(lines)
    return f"HloModule layers\n{_REDUCERS}ENTRY main {{\n {body}\n ROOT out = f32[16,32] negate(x{count})\n}}\n"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("legible")
    for name, layers in (("small", 1), ("large", 26)):
        session = xe.compile(layers_text(layers), threads=1)
        session.profile(repeats=2)
        session.save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in ("small", "large")}


def _check(page: Any, what: str) -> list[Written]:
    settled(page)
    texts = written_texts(page)
    assert len(texts) > 40, what
    assert [str(t) for t in texts if t.contrast < READABLE] == [], what
    assert [f"{a} / {b}" for a, b in on_each_other([t for t in texts if t.drawn])] == [], what
    return texts


_ROOF = """roof => {
  const { explorer } = document.querySelector('.xe');
  explorer.measured({ roof, timings: explorer.store.data.timings });
}"""
_COLOUR_BY_TIME = """() => {
  const select = document.querySelector(".xe-tools select");
  select.value = "0";
  select.onchange();
}"""
_TEXT_OF_LABELS_ON_NODES = """() => {
  const boxes = list => [...list].map(el => [el.getBoundingClientRect(), el.textContent]),
    labels = boxes(document.querySelectorAll(".xe-graph .xe-edge-label rect")),
    names = boxes(document.querySelectorAll(".xe-graph .xe-node > text"));
  return labels.flatMap(([l]) => names.filter(([n]) => l.left < n.right - 1 && n.left < l.right - 1 && l.top < n.bottom - 1 && n.top < l.bottom - 1).map(([, text]) => text));
}"""


@pytest.mark.long
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize(("size", "width"), [("large", 900), ("small", 1440)])
@pytest.mark.sampled(1)  # a small page turned dark is looked at below
def test_all_text_is_readable_on_what_is_behind_it(
    browser: Any, exported: dict[str, Path], theme: str, size: str, width: int
) -> None:
    # The host's theme is not the browser's: the host's counts.
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme="light" if theme == "dark" else "dark",
    )
    page.goto(exported[size].as_uri())
    page.wait_for_selector(".xe[data-ready]", timeout=60_000)
    page.evaluate(
        f"document.body.dataset.jpThemeLight = '{'true' if theme == 'light' else 'false'}'"
    )
    page.wait_for_selector(f".xe[data-theme={theme}]")
    seen = _check(page, "as it opens")
    assert page.evaluate(_TEXT_OF_LABELS_ON_NODES) == []
    kinds = {t.where for t in seen}
    assert {"nam", "typ", "num", "xe-name"} <= kinds, kinds
    page.keyboard.press("f")  # a decision: a checklist, chips, two lit nodes
    _check(page, "a decision")
    page.keyboard.press("Escape")
    page.evaluate(
        "() => { const a = document.querySelector('.xe').explorer; a.select(a.store.timings.find(t => t.instruction !== null).instruction, 'test') }"
    )
    lit = _check(page, "a selection")
    assert (
        page.locator(".xe-line.on").count()
        and page.locator(".xe-node.on").count()
        and page.locator(".xe-times tr.on").count()
    )
    assert any(t.where == "xe-step now" or "now" in t.where or t.where == "xe-name" for t in lit)
    page.evaluate(_COLOUR_BY_TIME)
    assert page.locator(".xe-node.heat").count() >= 3
    _check(page, "coloured by time")
    page.locator(".xe-times .xe-pane-chips button", has_text="roofline").click()
    for key, name in {"d": "decisions", "k": "kernels and the roofline", "b": "buffers"}.items():
        page.keyboard.press(key)
        _check_only_contrast(page, name)
    page.keyboard.press("g")
    page.keyboard.press("[")
    _check(page, "the step before, with what is new and what goes")
    page.keyboard.press("t")
    page.keyboard.press("?")
    _check_only_contrast(page, "changed text and the list of keys")
    page.close()


def test_no_text_of_the_roofline_lies_on_another_whatever_the_machine_gives(
    browser: Any, exported: dict[str, Path]
) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.goto(exported["small"].as_uri())
    page.wait_for_selector(".xe[data-ready]", timeout=60_000)
    for flops, memory in itertools.product((1e7, 3e10, 9e12, 9e15), (2e6, 2e10, 8e13)):
        page.evaluate(
            _ROOF,
            [
                f"{flops:g} flops and {memory:g} bytes in a second",
                flops,
                memory,
                [[32768, 3 * memory]],
                2,
            ],
        )
        page.locator(".xe-times .xe-pane-chips button", has_text="table").click()
        page.locator(".xe-times .xe-pane-chips button", has_text="roofline").click()
        page.wait_for_function(
            "words => document.querySelector('.xe-plot')?.textContent.includes(words)",
            arg=f"{flops:g} flops and {memory:g}",
        )
        texts = [t for t in placed_texts(page, ".xe-plot") if t.drawn]
        assert len(texts) >= 6, "ticks, the peak, the ridge; names where there is room"
        assert [f"{a} / {b}" for a, b in on_each_other(texts)] == [], (flops, memory)
        assert [str(t) for t in texts if t.cut] == [], (flops, memory)
    page.close()


def _check_only_contrast(page: Any, what: str) -> None:
    settled(page)
    assert [str(t) for t in written_texts(page) if t.contrast < READABLE] == [], what


def test_the_measurement_sees_what_cannot_be_read(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(
        "<div class=xe style='background:#fff'><p class=bad style='color:#999'>pale</p><p class=good style='color:#222'>ink</p>"
        "<p class=layer style='color:#222;background:#0008'>under a layer</p><p class=faint style='opacity:.4'>faint</p>"
        "<svg width=200 height=40><rect width=200 height=40 fill='#123'/><text class=drawn x=10 y=20 fill='#234'>dark on dark</text>"
        "<text class=over x=12 y=22 fill='#fff'>on it</text></svg></div>"
    )
    texts = written_texts(page)
    by = {t.where: t.contrast for t in texts}
    assert (
        by["bad"] < 3
        and by["faint"] < 4.5
        and by["drawn"] < 1.5
        and by["good"] > 12
        and by["layer"] < by["good"]
        and by["over"] > 10
    )
    assert {(a.where, b.where) for a, b in on_each_other([t for t in texts if t.drawn])} == {
        ("drawn", "over")
    }
    page.close()


# theme: the host's script that announces it, and the one that reverts it.
_HOSTS = {
    "dark": {
        "document.body.dataset.jpThemeLight = 'false'": "delete document.body.dataset.jpThemeLight",
        "document.body.dataset.vscodeThemeKind = 'vscode-dark'": "delete document.body.dataset.vscodeThemeKind",
        "document.body.dataset.vscodeThemeKind = 'vscode-high-contrast'": "delete document.body.dataset.vscodeThemeKind",
        "document.body.classList.add('vscode-dark')": "document.body.classList.remove('vscode-dark')",
        "document.documentElement.setAttribute('theme', 'dark')": "document.documentElement.removeAttribute('theme')",
        "document.body.style.background = '#101010'": "document.body.style.background = ''",
    },
    "light": {
        "document.body.dataset.jpThemeLight = 'true'": "delete document.body.dataset.jpThemeLight",
        "document.body.dataset.vscodeThemeKind = 'vscode-high-contrast-light'": "delete document.body.dataset.vscodeThemeKind",
        "document.documentElement.setAttribute('theme', 'light')": "document.documentElement.removeAttribute('theme')",
        "document.body.style.background = '#fdfdfd'": "document.body.style.background = ''",
    },
}


def test_the_theme_is_the_hosts_and_follows_it(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(color_scheme="light")
    open_live(page, xe.explore(xe.optimize(layers_text(1), "dce")), tmp_path)
    for theme, other in (("dark", "light"), ("light", "dark")):
        page.emulate_media(color_scheme=other)
        page.wait_for_selector(f".xe[data-theme={other}]")
        for mark, back in _HOSTS[theme].items():
            assert page.locator(".xe").get_attribute("data-theme") == other, mark
            page.evaluate(mark)
            page.wait_for_selector(f".xe[data-theme={theme}]")
            page.evaluate(back)
            page.wait_for_selector(f".xe[data-theme={other}]")
    page.close()


def test_a_widget_that_is_made_before_it_is_in_the_page_looks_again(
    browser: Any, tmp_path: Path
) -> None:
    """JupyterLab attaches a big output only when its rendering is done."""
    page = browser.new_page(color_scheme="light")
    open_live(page, xe.explore(xe.optimize(layers_text(1), "dce")), tmp_path)
    page.evaluate(
        """async () => {
          document.querySelector(".xe").remove();
          const loose = document.createElement("div"), home = document.createElement("div");
          home.style.background = "#111";
          document.body.append(home);
          window.renderAgain(loose);
          await new Promise(done => setTimeout(done, 300));
          home.append(loose);
        }"""
    )
    page.wait_for_selector(".xe[data-theme=dark]")
    page.close()


def test_coloured_nodes_are_painted_again_when_the_theme_turns(
    browser: Any, exported: dict[str, Path]
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
    page.goto(exported["small"].as_uri())
    page.wait_for_selector(".xe[data-ready]")
    page.evaluate(_COLOUR_BY_TIME)
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    page.wait_for_selector(".xe[data-theme=dark]")
    _check(page, "coloured by time, turned dark")
    page.close()


def test_what_a_refusal_costs_is_in_sight_beside_the_texts_of_schedules(
    browser: Any, exported: dict[str, Path]
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(exported["small"].as_uri())
    page.wait_for_selector(".xe[data-ready]")
    page.keyboard.press("d")
    page.locator(".xe-decisions .xe-chips button").first.click()  # all, not only the refused
    table = page.locator(".xe-decisions table")
    table.locator("td", has_text="split{").first.wait_for(state="attached")
    assert table.evaluate(
        "table => table.getBoundingClientRect().right <= table.parentElement.getBoundingClientRect().right + 1"
    )
    page.close()
