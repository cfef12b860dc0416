"""The widget with a kernel: what-ifs, single rewrites, LLVM passes, buffers, paths, help."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, settled
from xla_explorer.explorer.page.graph_columns import own_column
from xla_explorer.explorer.sessions.compilation import program_steps

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

SOFTMAX = """HloModule softmax
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] maximum(a, b) }
ENTRY e { x = f32[64,512] parameter(0)
 w = f32[512,128] parameter(1)
 low = f32[] constant(-inf)
 zero = f32[] constant(0)
 m = f32[64] reduce(x, low), dimensions={1}, to_apply=max
 mb = f32[64,512] broadcast(m), dimensions={0}
 s = f32[64,512] subtract(x, mb)
 ex = f32[64,512] exponential(s)
 zb = f32[64,512] broadcast(zero), dimensions={}
 ex2 = f32[64,512] add(ex, zb)
 d = f32[64] reduce(ex2, zero), dimensions={1}, to_apply=add
 db = f32[64,512] broadcast(d), dimensions={0}
 q = f32[64,512] divide(ex2, db)
 ROOT o = f32[64,128] dot(q, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""


@pytest.fixture(scope="module")
def session() -> Any:
    made = xe.compile(SOFTMAX)
    made.profile(repeats=5)
    return made


# One loop that is left to LLVM's vectoriser: the kernels of a softmax are written as vectors.
PLAIN = """HloModule plain
ENTRY e { x = f32[64,512] parameter(0)  i = s64[64,512] iota(), iota_dimension=1  f = f32[64,512] convert(i)
 y = f32[64,512] multiply(x, f)
 ROOT z = f32[64,512] exponential(y)
}"""  # a kernel that is left to LLVM's vectoriser


@pytest.fixture(scope="module")
def plain() -> Any:
    return xe.compile(PLAIN, threads=1)


class Live:
    """A page with an `ExplorerWidget` behind it."""

    def __init__(self, browser: Any, widget: Any, folder: Path, scheme: str = "light") -> None:
        self.page = browser.new_page(viewport={"width": 1440, "height": 950}, color_scheme=scheme)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        open_live(self.page, widget, folder)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            settled(self.page)

    def wait(self, selector: str, text: str = "") -> Any:
        found = self.page.locator(selector, has_text=text) if text else self.page.locator(selector)
        found.first.wait_for(timeout=30_000)
        return found

    def keep(self, name: str) -> None:
        folder = os.environ.get("XLA_EXPLORER_SCREENSHOTS")
        if folder:
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))

    def close(self) -> None:
        assert self.errors == []
        self.page.close()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.sampled(1)
def test_a_fusion_is_forbidden_compared_and_taken_back(
    browser: Any, session: Any, tmp_path: Path, scheme: str
) -> None:
    widget = xe.explore(session)
    live = Live(browser, widget, tmp_path, scheme)
    accepted = next(
        d
        for d in session._explorer_source_().decisions()
        if d.verdict == "accepted" and d.names[0] == "broadcast.1"
    )
    live.page.evaluate(
        f"document.querySelector('.xe').explorer.showDecision({session._explorer_source_().decisions().index(accepted)}, true)"
    )
    live.wait(".xe-why .xe-act", "forbid it and compare").click()
    live.wait(".xe-compared")
    rows = {
        row.split("\t")[0]: row.split("\t")[1:]
        for row in live.page.locator(".xe-compared tbody tr").all_inner_texts()
    }
    assert rows["kernels"][:2] == ["7", "6"]
    assert "✗" in rows["bytes read and written (estimate)"][2] and rows["median time"][0].endswith(
        "s"
    )
    assert "predicted time, cost model" in rows
    assert (
        live.page.locator(
            ".xe-compare", has_text="forbid fusion of %broadcast.1 → %multiply"
        ).count()
        == 1
    )
    assert "forbidden-by-user" in live.page.locator(".xe-compare").inner_text()
    live.keep(f"comparison_{scheme}")
    assert len(program_steps(widget.source.session)) == 7
    live.press("d")  # the new compile is shown: its decisions name the override
    assert "forbidden-by-user" in live.page.locator(".xe-decisions").inner_text()
    live.page.locator(".xe-tabs button[data-tab=compare]").click()
    live.page.locator(".xe-compare .xe-act").click()
    live.page.wait_for_function("() => document.querySelectorAll('.xe-compared').length === 0")
    live.wait(".xe[data-ready]")
    assert widget.source.session is session
    live.close()


def test_a_fusion_that_cannot_be_forced_says_why(
    browser: Any, session: Any, tmp_path: Path
) -> None:
    live = Live(browser, xe.explore(session), tmp_path)
    live.page.evaluate(
        "document.querySelector('.xe').explorer.tryOut('override', { force: [['fusion', 'no_such', 'q']] })"
    )
    shown = live.page.locator(".xe-why .xe-error")
    shown.wait_for()
    assert "no instruction was ever named no_such" in shown.inner_text()
    assert live.page.locator(".xe[aria-busy]").count() == 0, "the page is ready for the next"
    live.close()


def test_stepping_inside_a_pass(browser: Any, session: Any, tmp_path: Path) -> None:
    live = Live(browser, xe.explore(session), tmp_path)
    step = next(s.index for s in session._explorer_source_().steps() if s.rewrites)
    live.page.evaluate(f"document.querySelector('.xe').explorer.go({step})")
    live.press(".")
    live.wait(f".xe-rewrite[data-drawn='{step} 0']")
    text = live.page.locator(".xe-rewrite").inner_text()
    assert (
        "add-zero" in text
        and "Rewrite x + 0 as x" in text
        and "addition.py:" in text
        and "@rule(" in text
    )
    assert live.page.locator(".xe-rewrite .xe-line.del").count() >= 1
    assert live.page.locator(".xe-rewrite figure svg .xe-node").count() >= 4
    live.press(".")
    live.wait(f".xe-rewrite[data-drawn='{step} 1']")
    assert "divide-by-broadcast" in live.page.locator(".xe-rewrite").inner_text()
    # Only what this one rewrite did: the addition of zero went before it.
    removed = live.page.locator(".xe-rewrite .xe-line.del").all_inner_texts()
    assert any("divide" in line for line in removed) and not any(
        " add(" in line for line in removed
    )
    assert live.page.locator(".xe-rewrite figure .xe-node.new").count() >= 2
    live.keep("rewrite")
    live.press(",")
    assert "add-zero" in live.page.locator(".xe-rewrite .xe-bar-row").inner_text()
    live.press("]", "]")
    assert "pass" in live.page.locator(".xe-where").inner_text()
    live.close()


def test_kernels_are_formulas_and_a_table_to_save(
    browser: Any, session: Any, tmp_path: Path
) -> None:
    live = Live(browser, xe.explore(session), tmp_path)
    live.press("k")
    live.wait(".xe-kernels tbody tr")
    text = live.page.locator(".xe-kernels").inner_text()
    assert "exp(x - reduce_fusion.1{0})" in text and "max over 1 of x" in text and "dot(" in text
    live.keep("kernels")

    live.press("k")
    live.wait(".xe-kernels tbody tr")
    with live.page.expect_download() as download:
        live.page.locator(".xe-kernels .xe-save").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert download.value.suggested_filename == "kernels.csv"
    assert lines[0].startswith("kernel,opcode,computes") and len(lines) == 7
    live.close()


def test_remarks_stand_at_the_instruction_and_passes_of_llvm_are_steps(
    browser: Any, plain: Any, tmp_path: Path
) -> None:
    live = Live(browser, xe.explore(plain), tmp_path)
    live.page.evaluate(
        f"document.querySelector('.xe').explorer.select({plain.passes.find('z')}, 'test')"
    )
    live.wait(".xe-remarks", "vectorized loop (vectorization width:")

    steps = live.page.evaluate("document.querySelector('.xe').explorer.store.steps.length")
    live.press("k")
    live.wait(".xe-kernels tbody tr")
    live.page.locator(".xe-kernels tbody tr", has_text="exp(").locator(".xe-act").click()
    live.page.wait_for_function(
        f"() => document.querySelector('.xe').explorer.store.steps.length > {steps + 5}",
        timeout=60_000,
    )
    live.wait(".xe-step", "LoopVectorize").first.click()
    live.wait(".xe-line.add", "vector.body")
    assert "LoopVectorize" in live.page.locator(".xe-where").inner_text()
    live.keep("llvm_pass")
    live.press("]", "[")
    live.page.evaluate("document.querySelector('.xe').explorer.go(0)")
    live.press("g")
    assert live.page.locator(".xe-node").count() >= 3
    live.close()


def test_roofline_and_timeline_of_the_times(browser: Any, session: Any, tmp_path: Path) -> None:
    live = Live(browser, xe.explore(session), tmp_path)
    chips = live.page.locator(".xe-times .xe-pane-chips button")
    chips.filter(has_text="roofline").click()
    assert live.page.locator(".xe-times circle").count() >= 4
    words = live.page.locator(".xe-times .xe-plot").text_content()
    assert "ridge" in words and "flop/s" in words
    live.page.locator(".xe-times .xe-point", has_text="%o").first.dispatch_event(
        "click"
    )  # whatever lies over it
    assert "%o" in live.page.locator(".xe-why-body").inner_text()
    live.keep("roofline")
    chips.filter(has_text="timeline").click()
    run, compiled = live.page.locator(".xe-lane").all()
    assert (
        run.locator(".xe-run").count() == 6
        and live.page.locator(".xe-times .xe-run.on").count() == 1
    )
    assert compiled.locator(".xe-pass").count() > 3
    widest = "el => Math.max(...[...el.querySelectorAll('rect')].map(r => r.width.baseVal.value))"
    whole, before = run.get_attribute("aria-label"), run.evaluate(widest)
    run.focus()
    live.press("+", "+", "ArrowRight")
    assert run.evaluate(widest) > before and run.get_attribute("aria-label") != whole, (
        "zoomed by keys"
    )
    run.hover()
    live.page.mouse.wheel(0, 900)
    live.page.wait_for_function(
        "whole => document.querySelector('.xe-lane').getAttribute('aria-label') === whole",
        arg=whole,
    )
    live.close()


def test_lines_of_ptx_are_counted_on_a_click(browser: Any, plain: Any, tmp_path: Path) -> None:
    live = Live(browser, xe.explore(plain), tmp_path)
    live.page.locator(".xe-pane-chips button", has_text="PTX").click()
    live.page.locator(".xe-count-lines").click()
    live.wait(".xe-marks")
    assert "lines ran" in live.page.locator(".xe-marks").inner_text()
    ran = live.page.locator('.xe-pane[data-pane="ptx"] .xe-line[title*="warp instructions"]')
    assert ran.count() > 5 and "% of its kernel" in ran.first.get_attribute("title")
    live.keep("counted_ptx")
    live.close()


def test_codes_are_explained_and_buffers_have_reasons(
    browser: Any, session: Any, tmp_path: Path
) -> None:
    live = Live(browser, xe.explore(session), tmp_path)
    titles = live.page.locator(".xe-graph .xe-edge-label title").all_text_contents()
    assert titles and all(": " in title for title in titles)
    live.press("d")
    chip = live.page.locator(".xe-chips button.refused").first
    assert " " in chip.get_attribute("title")
    live.press("n")  # a key of the graph shows the graph
    assert live.page.locator(".xe-graph").is_visible()

    live.press("b")
    live.wait(".xe-buffer")
    assert live.page.locator(".xe-peak").text_content().startswith("peak 128 KiB: %")
    rows = live.page.locator(".xe-buffers tbody tr")
    rows.filter(has_text="%subtract_exponential_fusion").first.click()
    assert live.page.locator(".xe-buffer.on").count() >= 1
    rows.filter(has_text="%reduce_fusion").last.click()
    live.wait(".xe-answer b")
    live.keep("buffers")
    assert live.page.locator(".xe-answer b").inner_text() in (
        "live-ranges-overlap",
        "sizes-differ",
        "different-places",
    )
    live.close()


def test_the_graph_in_the_users_own_colours(browser: Any, session: Any, tmp_path: Path) -> None:
    live = Live(browser, xe.explore(session, colour=session.last_profile["median_us"]), tmp_path)
    assert "median_us" in live.page.locator(".xe-legend").inner_text()
    fills = set(
        live.page.evaluate(
            "[...document.querySelectorAll('.xe-node.box > .head')].map(e => e.style.fill)"
        )
    )
    assert len(fills - {""}) >= 3
    live.page.locator(".xe-tools select").select_option(label="colour: kind")
    assert "elementwise" in live.page.locator(".xe-legend").inner_text()
    assert live.page.locator(".xe-node.heat").count() == 0
    live.close()
    named = own_column(session, {"o": 3.0, "%ex": 1})
    assert named.values == {session.passes.find("o"): 3.0, session.passes.find("ex"): 1.0}
    with pytest.raises(ValueError, match="numbered rows with instructions"):
        own_column(session, session.last_profile["median_us"][:2])


def test_all_paths_between_two_instructions(browser: Any, session: Any, tmp_path: Path) -> None:
    live = Live(browser, xe.explore(session, step=0), tmp_path)
    for name in ("m", "d"):
        live.page.evaluate(
            f"document.querySelector('.xe').explorer.select({session.passes.find(name)}, 'graph')"
        )
        live.press("p")
    live.page.wait_for_function(
        "() => document.querySelector('.xe-count').textContent.includes('all paths')"
    )
    names = set(live.page.locator(".xe-graph .xe-canvas text.n").all_text_contents())
    assert {"%m", "%mb", "%s", "%ex", "%d"} <= names and not {"%q", "%w", "%x", "%db"} & names
    live.press("Escape", "Escape", "Escape")
    assert live.page.locator(".xe-canvas text.n", has_text="%w").count() == 1
    live.close()


def test_help_under_the_pointer(browser: Any, session: Any, tmp_path: Path) -> None:
    live = Live(browser, xe.explore(session), tmp_path)
    for pane, word in (
        ("hlo-after", "reduce"),
        ("assembly", "retq?"),
        ("llvm-ir-optimized", "getelementptr"),
    ):
        box = live.page.evaluate(
            """async ([pane, word]) => {
              const list = document.querySelector(`.xe-pane[data-pane="${pane}"] .xe-lines`);
              for (let top = 0; top <= list.scrollHeight; top += 400) {
               list.scrollTop = top; // lines are there where they are looked at
               await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
               for (const line of list.querySelectorAll(".xe-line code")) {
                const at = line.textContent.search(new RegExp(`(^|\\\\W)${word}\\\\b`));
                if (at < 0) continue;
                line.scrollIntoView({ block: "center" });
                const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
                for (let n = walk.nextNode(); n; n = walk.nextNode()) {
                  const k = n.data.search(new RegExp(`(^|\\\\W)${word}\\\\b`));
                  if (k < 0) continue;
                  const range = document.createRange();
                  range.setStart(n, k + 2); range.setEnd(n, k + 4);
                  const r = range.getBoundingClientRect();
                  return [r.x + r.width / 2, r.y + r.height / 2];
                }
               }
              }
              return null;
            }""",
            [pane, word],
        )
        assert box is not None, pane
        live.page.mouse.move(*box)
        live.page.mouse.move(box[0] + 1, box[1])
        tip = live.page.locator(".xe-tip", has_text=re.compile(word))
        tip.wait_for(state="visible")
        assert len(tip.inner_text()) > len(word) + 10
        live.page.mouse.move(5, 5)
    live.close()
