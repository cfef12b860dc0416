"""A recorded journey: two operations that were not fused, the reason, and its cost.

The module has hundreds of instructions, nightly thousands.

XLA_EXPLORER_SCREENSHOTS names a folder for a picture after each.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, settled
from tests.support.corpora import SHARED

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the journey is NOT made in a browser"
    ),
]
LAYERS = 24


def model_text() -> str:
    """Return a chain of softmax layers with matrix products, unrolled as by a tracer."""
    lines = [
        "  x0 = f32[32,64] parameter(0)",
        "  w = f32[64,64] parameter(1)",
        "  low = f32[] constant(-inf)",
        "  zero = f32[] constant(0)",
        "  half = f32[] constant(0.5)",
    ]
    for k in range(LAYERS):
        scope = f'metadata={{op_name="jit(f)/layer_{k}/softmax"}}'
        lines += [
            f"  y{k} = f32[32,64] dot(x{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, {scope}",
            f"  hb{k} = f32[32,64] broadcast(half), dimensions={{}}, {scope}",
            f"  h{k} = f32[32,64] multiply(y{k}, hb{k}), {scope}",
            f"  m{k} = f32[32] reduce(h{k}, low), dimensions={{1}}, to_apply=max, {scope}",
            f"  mb{k} = f32[32,64] broadcast(m{k}), dimensions={{0}}, {scope}",
            f"  sub{k} = f32[32,64] subtract(h{k}, mb{k}), {scope}",
            f"  exp{k} = f32[32,64] exponential(sub{k}), {scope}",
            f"  d{k} = f32[32] reduce(exp{k}, zero), dimensions={{1}}, to_apply=add, {scope}",
            f"  db{k} = f32[32,64] broadcast(d{k}), dimensions={{0}}, {scope}",
            f"  q{k} = f32[32,64] divide(exp{k}, db{k}), {scope}",
            f"  t{k} = f32[32,64] tanh(q{k}), {scope}",
            f"  a{k} = f32[32,64] add(t{k}, h{k}), {scope}",
            f"  n{k} = f32[32,64] negate(a{k}), {scope}",
            f"  x{k + 1} = f32[32,64] maximum(n{k}, q{k}), {scope}",
        ]
    lines.append(f"  ROOT out = f32[32,64] add(x{LAYERS}, x{LAYERS})")
    reducers = "".join(
        [
            f"{name} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] {op}(a, b)\n}}\n"
            for name, op in (("max", "maximum"), ("add", "add"))
        ]
    )
    return "HloModule model\n" + reducers + "ENTRY main {\n" + "\n".join(lines) + "\n}\n"


class Journey:
    """A page with a widget and the actions on it, each of which a person can do."""

    def __init__(self, browser: Any, widget: Any, folder: Path, name: str, opened: str) -> None:
        self.page = browser.new_page(viewport={"width": 1440, "height": 950})
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.actions: list[str] = []
        self.name = name
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        self.page.on(
            "request",
            lambda request: request.url.startswith("blob:") or self.requests.append(request.url),
        )  # a worker is none
        open_live(self.page, widget, folder)
        self.done(opened, ".xe[data-ready]")

    def done(self, what: str, wait: str) -> None:
        self.actions.append(what)
        self.page.locator(wait).first.wait_for(timeout=60_000)
        folder = os.environ.get("XLA_EXPLORER_SCREENSHOTS")
        if folder:
            self.page.wait_for_timeout(400)
            self.page.screenshot(path=str(Path(folder) / f"{self.name}_{len(self.actions)}.png"))

    def why(self) -> str:
        settled(self.page)
        return str(self.page.locator(".xe-why-body").inner_text())

    def find(self, name: str) -> None:
        self.page.keyboard.press("/")
        self.page.keyboard.type(name)
        self.done(f"search for {name}", ".xe-found > div")
        self.page.keyboard.press("Enter")
        self.done("choose it", ".xe-why .xe-links button.refused")

    def force_and_compare(self) -> dict[str, list[str]]:
        """Return the comparison's rows: quantity -> [now, before, change]."""
        self.page.locator(".xe-why .xe-act", has_text="force it and compare").click()
        self.done("force it and compare", ".xe[data-ready] .xe-compared")
        return {
            row.split("\t")[0]: row.split("\t")[1:]
            for row in self.page.locator(".xe-compared tbody tr").all_inner_texts()
        }

    def end(self, started: float) -> None:
        self.page.locator(".xe-compare .xe-act").click()
        self.done("back to the compile as it was", ".xe[data-ready]")
        print(
            f"{len(self.actions)} actions in {time.perf_counter() - started:.1f} s: {'; '.join(self.actions)}"
        )
        assert len(self.actions) < 10 and self.errors == [] and len(self.requests) == 1
        self.page.close()


@pytest.mark.long
def test_why_two_operations_were_not_fused_and_what_it_costs(browser: Any, tmp_path: Path) -> None:
    started = time.perf_counter()
    session = xe.compile(model_text())
    assert session.source.instruction_count() > 300
    journey = Journey(browser, xe.explore(session), tmp_path, "journey", "compile and open it")
    journey.find("exp21")
    text = journey.why()
    assert "%exp21" in text and "✗ %exp21 → " in text
    journey.page.locator(".xe-why .xe-links button.refused").first.click()
    journey.done("open the refused fusion", ".xe-verdict.refused")
    why = journey.why()
    assert "would-duplicate-expensive" in why and "in 2 kernels takes" in why
    assert len(journey.actions) <= 4  # to open it, then at most three
    assert (
        "unfused" in why and "µs" in why and "refusal costs" in why
    )  # what the model expects of both ways
    rows = journey.force_and_compare()
    for what in (
        "kernels",
        "bytes read and written (estimate)",
        "predicted time, cost model",
        "median time",
    ):
        print(f"  {what}: now {rows[what][0]}, before {rows[what][1]}  {rows[what][2]}")
    assert rows["kernels"][0] != "–" and "s" in rows["median time"][0]
    journey.end(started)


WORKLOADS = SHARED / "perf" / "dev" / "workloads"


def _dump(folder: Path, text: str) -> bool:
    """Write a dump of the module as XLA does, with real XLA's result if jaxlib is installed."""
    folder.mkdir()
    (folder / "module_0001.jit_f.before_optimizations.txt").write_text(text, encoding="utf-8")
    if importlib.util.find_spec("jaxlib") is None:
        return False
    after = xe.compile(text, backend="xla").module.to_text()
    (folder / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(after, encoding="utf-8")
    return True


@pytest.mark.slow
def test_the_same_on_a_dump_of_a_model_of_48_layers(browser: Any, tmp_path: Path) -> None:
    path = WORKLOADS / "c_tf48_unrolled_d64.hlo.gz"
    if not path.exists():
        pytest.skip(
            "the reference workloads are not beside the checkout: the journey is NOT made on the dump of a real model"
        )
    with_xla = _dump(tmp_path / "dump", gzip.decompress(path.read_bytes()).decode())
    started = time.perf_counter()
    session = xe.load(tmp_path / "dump").compile()
    assert session.source.instruction_count() > 5_000
    widget = xe.explore(session)
    journey = Journey(browser, widget, tmp_path, "dump", "load the dump, compile it, open it")
    journey.page.keyboard.press("d")
    journey.done(
        "open the decisions: those that cost most come first", ".xe-decisions tbody tr.refused"
    )
    costs = journey.page.locator(".xe-decisions tbody tr").first.inner_text()
    assert "µs" in costs or "ns" in costs
    journey.page.locator(".xe-decisions tbody tr.refused").first.click()
    journey.done("open the most expensive refusal", ".xe-verdict.refused")
    why = journey.why()
    assert "refusal costs" in why and ("XLA" in why) == with_xla, why
    rows = journey.force_and_compare()
    page = journey.page
    print("  " + " | ".join(page.locator(".xe-override").all_inner_texts()))
    for what in ("kernels", "bytes read and written (estimate)", "predicted time, cost model"):
        print(f"  {what}: now {rows[what][0]}, before {rows[what][1]}  {rows[what][2]}")
    assert page.locator(".xe-override").count() == 1
    journey.end(started)
