"""The exported page in a browser: keys, linked selection, themes, hostile names, no script."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.browser.live_page import settled
from tests.support.explorer_fakes import HOSTILE, GeneratedSource, HostileSource, SoftmaxSource
from xla_explorer.explorer.asking.links import page_link
from xla_explorer.explorer.page.front_end import script, style
from xla_explorer.explorer.page.html_page import save_page
from xla_explorer.explorer.page.payload import build_payload, packed
from xla_explorer.explorer.page.view import answer_of

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the page is NOT tested in a browser"
    ),
]


class Page:
    """An opened page that remembers what went wrong in it."""

    def __init__(self, browser: Any, path: Path, address: str = "", **options: Any) -> None:
        self.page = browser.new_page(viewport={"width": 1440, "height": 900}, **options)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri() + address)

    def ready(self) -> Page:
        self.page.wait_for_selector(".xe[data-ready]", timeout=20_000)
        return self

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            settled(self.page)

    def step(self) -> int:
        return int(self.page.locator(".xe").get_attribute("data-step"))

    def count(self, selector: str) -> int:
        return int(self.page.locator(selector).count())

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    def keep(self, name: str) -> None:
        """Screenshots for a person, where XLA_EXPLORER_SCREENSHOTS names a folder."""
        folder = os.environ.get("XLA_EXPLORER_SCREENSHOTS")
        if folder:
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))


@pytest.fixture(scope="module")
def softmax(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_page(SoftmaxSource(), tmp_path_factory.mktemp("pages") / "softmax.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.sampled(1)
def test_stepping_by_keyboard(browser: Any, softmax: Path, scheme: str) -> None:
    page = Page(browser, softmax, color_scheme=scheme).ready()
    assert page.page.locator(".xe").get_attribute("data-theme") == scheme
    assert page.step() == 7  # the last step that changed something
    page.keep(f"{scheme}_final")
    page.press("[")
    assert page.step() == 4
    page.press("[", "[", "]")
    assert page.step() == 3
    assert page.count(".xe-node.changed") >= 1 and page.count(".xe-ghost") >= 1
    page.keep(f"{scheme}_algsimp")
    page.press("t")
    assert page.count(".xe-line.del") == 5 and page.count(".xe-line.add") == 2
    page.keep(f"{scheme}_text")
    page.press("g", "[")
    assert page.step() == 0 and page.count(".xe-ghost") == 0
    page.press("]", "]", "[")
    assert (
        page.step() == 3 and page.count(".xe-ghost") == 1
    )  # a removed instruction is still reported after a step back
    page.press("}", "}")
    assert page.step() == 5 and "changed nothing" in page.text(".xe-where")
    assert page.errors == [] and len(page.requests) == 1
    page.page.close()


@pytest.mark.parametrize(
    "address", [page_link("", step=7, select="%exp.9"), "#select=exp.9", "#step=7&select=%exp.9"]
)
def test_a_link_names_the_instruction_that_it_selects(
    browser: Any, softmax: Path, address: str
) -> None:
    page = Page(browser, softmax, address).ready()
    assert "%exp.9" in page.text(".xe-why-body")
    assert "op=9" in page.page.url and page.errors == []
    page.page.evaluate("location.hash = '#step=7&select=%quotient.14'")
    page.page.wait_for_function(
        "() => document.querySelector('.xe-why-body').innerText.includes('%quotient.14')"
    )
    page.page.close()


def test_one_selection_lights_every_pane(browser: Any, softmax: Path) -> None:
    page = Page(browser, softmax, "#step=7&op=9").ready()
    assert "%exp.9" in page.text(".xe-why-body")
    assert page.count(".xe-pane") == 3
    for k in range(3):
        assert page.page.locator(".xe-pane").nth(k).locator(".xe-line.on").count() >= 1
    assert page.count(".xe-node.on") == 1
    assert page.count(".xe-times tr.on") == 1  # through the fusion that holds it
    page.page.locator(".xe-pane").nth(2).locator(".xe-line", has_text="vdivps").click()
    assert "%quotient.14" in page.text(".xe-why-body") and "op=14" in page.page.url
    page.press("ArrowUp")
    assert "%sum_b.13" in page.text(".xe-why-body")
    page.keep("selection")
    page.page.close()


def test_fusion_decisions_as_checklists(browser: Any, softmax: Path) -> None:
    page = Page(browser, softmax).ready()
    page.press("f")
    assert "fusion refused" in page.text(".xe-why-body") and page.count(".xe-checks .no") == 1
    assert 'session.override(force=[("fusion", "%exp.9", "%quotient.14")])' in page.text(".xe-try")
    page.keep("decision")
    page.press("d")
    assert page.count(".xe-decisions tbody tr") == 4 and page.count(".xe-decisions tr.on") == 1
    page.keep("fusion_tab")
    page.press("f")
    assert "fusion accepted" in page.text(".xe-why-body") and page.step() == 7
    page.page.close()


def test_search_help_and_panes(browser: Any, softmax: Path) -> None:
    page = Page(browser, softmax).ready()
    page.press("/")
    page.page.keyboard.type("exp")
    assert page.count(".xe-found > div") >= 1
    page.keep("search")
    page.press("Enter")
    assert "exp" in page.text(".xe-why-body")
    page.press("?")
    assert page.page.locator(".xe-help").is_visible()
    page.keep("help")
    page.press("Escape")
    assert not page.page.locator(".xe-help").is_visible()
    page.press("1")
    assert page.count(".xe-pane") == 4
    page.press("1", "6", "5")
    assert page.errors == []
    page.page.close()


def test_boxes_open_and_close(browser: Any, softmax: Path) -> None:
    page = Page(browser, softmax, "#step=7&op=19").ready()
    assert page.count(".xe-node.box") == 3
    page.press("c")
    assert page.count(".xe-node.box") == 2
    page.keep("closed_box")
    page.press("e")
    assert page.count(".xe-node.box") == 3
    page.page.close()


def test_a_big_module_stays_within_its_budget(browser: Any, tmp_path: Path) -> None:
    page = Page(browser, save_page(GeneratedSource(), tmp_path / "big.html"))
    page.ready()
    assert page.count(".xe-node") <= 300 and "hidden" in page.text(".xe-count")
    page.keep("generated")
    page.press("[")
    assert float(page.page.locator(".xe").get_attribute("data-draw-ms")) < 2000
    page.press("/")
    page.page.keyboard.type("v.700")
    page.press("Enter")
    assert page.count(".xe-node.on") == 1
    page.press("n")
    assert page.count(".xe-node") <= 45
    page.keep("neighbourhood")
    assert page.errors == []
    page.page.close()


_KERNEL = """
const answers = JSON.parse(document.getElementById("answers").textContent);
const unpack = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const state = { data: unpack(answers.light), step: -1, selected: -1 }, listeners = {};
window.asked = [];
const model = {
  get: key => state[key],
  set: (key, value) => { state[key] = value; },
  save_changes() {},
  on: (name, callback) => { listeners[name] = callback; },
  send: message => {
    const key = [message.call.replace("view.", ""), ...Object.values(message.args)].join(" ");
    window.asked.push(key);
    setTimeout(() => {
      if (answers[key]) listeners["msg:custom"]({ reply: message.reply }, [unpack(answers[key])]);
      else listeners["msg:custom"]({ reply: message.reply, error: `RuntimeError: no ${key}` }, []);
    }, 5);
  },
};
window.set = (key, value) => { state[key] = value; listeners["change:" + key](); };
render({ model, el: document.body });
document.querySelector(".xe").focus();
"""


def test_steps_are_asked_from_a_kernel_when_they_are_looked_at(
    browser: Any, tmp_path: Path
) -> None:
    source = GeneratedSource(600)
    answers = {
        "light": packed(build_payload(source, complete=False)),
        "panes": packed(answer_of(source, "panes")),
    }
    answers |= {f"step {k}": packed(source.view().detail(k)) for k in range(7) if k != 3}
    data = json.dumps({key: base64.b64encode(value).decode() for key, value in answers.items()})
    (tmp_path / "live.html").write_text(
        f"<!doctype html><meta charset=utf-8><style>{style()}</style><body style='width:790px;background:#222'>"
        f'<script type="application/json" id="answers">{data}</script>'
        f'<script type="module">{script()}{_KERNEL}</script>',
        encoding="utf-8",
    )
    page = Page(browser, tmp_path / "live.html").ready()
    assert page.page.locator(".xe").get_attribute("data-theme") == "dark"
    assert page.step() == 6
    page.keep("live_narrow")
    page.press("[")
    page.press("[")
    assert page.step() == 4
    asked = page.page.evaluate("window.asked")
    assert asked.count("step 4") == 1 and "step 1" not in asked
    page.press("[")
    page.page.wait_for_selector(".xe-why-body .xe-error")
    assert "no step 3" in page.text(".xe-why-body .xe-error") and page.step() == 4
    page.page.evaluate("window.set('step', 0)")
    page.page.wait_for_selector(".xe[data-step='0']")
    page.page.evaluate("window.set('selected', 300)")
    assert "%v.300" in page.text(".xe-why-body")
    assert page.errors == []
    page.page.close()


def test_a_failed_pass_is_explained(browser: Any, tmp_path: Path) -> None:
    page = Page(browser, save_page(SoftmaxSource(failed=True), tmp_path / "failed.html")).ready()
    assert "HloVerifyError" in page.text(".xe-why-body .xe-error")
    page.keep("failed")
    page.press("[")
    assert page.step() == 4
    page.page.close()


def test_hostile_names_stay_text(browser: Any, tmp_path: Path) -> None:
    page = Page(browser, save_page(HostileSource(), tmp_path / "hostile.html")).ready()
    page.press("ArrowDown", "ArrowDown", "f", "w", "d", "t", "g", "1", "2", "3", "[", "]", "?", "?")
    for tab in ("rewrite", "kernels", "buffers"):  # the newer panes
        page.page.locator(f".xe-tabs button[data-tab={tab}]").click()
        settled(page.page)
    assert page.count(".xe-buffer") == len(HOSTILE) and page.count(".xe-kernels tbody tr") == len(
        HOSTILE
    )
    page.page.locator(".xe-buffers tbody tr").nth(0).click()
    page.page.locator(".xe-buffers tbody tr").nth(1).click()
    for view in ("roofline", "timeline"):
        page.page.locator(".xe-times .xe-pane-chips button", has_text=view).click()
    page.press("k")
    page.page.locator(".xe-kernels .xe-act").first.click()
    page.page.wait_for_function("() => document.querySelector('.xe').explorer.tab === 'text'")
    page.press("]", "[", "g")
    page.page.evaluate(
        "document.querySelector('.xe').explorer.go(1)"
    )  # what LLVM's passes show has no graph
    page.press("g")
    page.page.locator(".xe-tools select").select_option(index=1)
    page.press("i", "g")
    page.page.locator(".xe-node").first.hover(force=True)
    settled(page.page)
    assert page.page.evaluate("window.pwned") is None
    assert page.count(".xe img, .xe script, .xe [onload], .xe [onerror], .xe [onmouseover]") == 0
    assert page.errors == []
    page.page.close()


def test_the_page_is_complete_without_script(browser: Any, softmax: Path) -> None:
    page = Page(browser, softmax, java_script_enabled=False)
    text = page.text("#static")
    for part in (
        "softmax_dot",
        "would-duplicate-expensive",
        "algsimp",
        "vfmadd213ps" if "vfmadd213ps" in text else "fmul",
        "exp_sum_fusion",
    ):
        assert part in text
    assert page.count("#static svg") == 1
    page.keep("no_script")
    page.page.close()
