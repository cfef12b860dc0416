"""A journey, recorded: a module of thousands of instructions, two operations that were not fused, why, and what it costs.

Each line of `ACTIONS` is one thing that a person does. XLA_EXPLORER_SCREENSHOTS names a folder for a picture after each.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_page import open_live

import xla_explorer as xe

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser test runs")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path: the journey is NOT made in a browser"),
]
LAYERS = 150


def model_text() -> str:
    """A chain of softmax layers with a product of matrices in each, written out as a tracer would unroll it."""
    lines = ["  x0 = f32[32,64] parameter(0)", "  w = f32[64,64] parameter(1)", "  low = f32[] constant(-inf)", "  zero = f32[] constant(0)",
             "  half = f32[] constant(0.5)"]
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
    reducers = "".join([f"{name} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] {op}(a, b)\n}}\n" for name, op in (("max", "maximum"), ("add", "add"))])
    return "HloModule model\n" + reducers + "ENTRY main {\n" + "\n".join(lines) + "\n}\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


def test_why_two_operations_were_not_fused_and_what_it_costs(browser: Any, tmp_path: Path) -> None:
    session = xe.compile(model_text())
    assert session.source.instruction_count() > 2_000
    page = browser.new_page(viewport={"width": 1440, "height": 950})
    errors: list[str] = []
    requests: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: requests.append(request.url))
    open_live(page, xe.explore(session), tmp_path)
    started = time.perf_counter()
    actions: list[str] = []

    def done(what: str, wait: str) -> None:
        actions.append(what)
        page.locator(wait).first.wait_for(timeout=60_000)
        folder = os.environ.get("XLA_EXPLORER_SCREENSHOTS")
        if folder:
            page.screenshot(path=str(Path(folder) / f"journey_{len(actions)}.png"))

    page.keyboard.press("/")
    page.keyboard.type("exp77")
    done("search for the exponential of layer 77", ".xe-found > div")
    page.keyboard.press("Enter")
    done("choose it", ".xe-why .xe-links button.refused")
    text = page.locator(".xe-why-body").inner_text()
    assert "%exp77" in text and "✗ %exp77 → " in text
    page.locator(".xe-why .xe-links button.refused").first.click()
    done("open the refused fusion", ".xe-verdict.refused")
    page.wait_for_timeout(300)
    why = page.locator(".xe-why-body").inner_text()
    assert "would-duplicate-expensive" in why and "in 2 kernels takes" in why
    assert "unfused" in why and "µs" in why  # what the model expects of both ways
    page.locator(".xe-why .xe-act", has_text="force it and compare").click()
    done("force it and compare", ".xe-compared")
    rows = {row.split("\t")[0]: row.split("\t")[1:] for row in page.locator(".xe-compared tbody tr").all_inner_texts()}
    print(f"{len(actions)} actions in {time.perf_counter() - started:.1f} s: {'; '.join(actions)}")
    for what in ("kernels", "bytes read and written (estimate)", "predicted time, cost model", "median time"):
        print(f"  {what}: now {rows[what][0]}, before {rows[what][1]}  {rows[what][2]}")
    assert rows["kernels"][0] != "–" and "s" in rows["median time"][0]
    page.locator(".xe-compare .xe-act").click()
    done("back to the compile as it was", ".xe[data-ready]")
    assert len(actions) < 10 and errors == [] and len(requests) == 1
    page.close()
