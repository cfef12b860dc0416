"""The tab Devices of a saved page: mesh, shards, propagation, collectives, step and memory."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path"),
]
MLP = """HloModule mlp
ENTRY main {
  x = f32[64,128] parameter(0)
  w1 = f32[128,256] parameter(1)
  h = f32[64,256] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[64,256] tanh(h)
}"""


def test_the_views_of_a_saved_page(browser: Any, tmp_path: Path) -> None:
    session = xe.compile(
        MLP,
        backend="interpreter",
        mesh={"data": 2, "model": 4},
        shardings={"x": ("data", None), "w1": ("model", None)},
    )
    page_file = session.save(tmp_path / "devices.html")
    page = browser.new_page(viewport={"width": 900, "height": 900})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{page_file.as_uri()}#tab=devices")
    page.wait_for_selector(".xe-devices .xe-device")
    assert page.locator(".xe-device").count() == 8
    assert page.locator(".xe-devices table tbody tr").count() == 1
    colours = page.evaluate(
        "[...document.querySelectorAll('.xe-device')].map(box => box.style.fill)"
    )
    assert len(set(colours)) == 2  # two groups over the axis of four
    text = page.inner_text(".xe-devices")
    assert "what to change" in text and "annotate %w1" in text
    assert "one colour: a group of %all-reduce" in text
    assert page.locator(".xe-slot.xe-exposed").count() == 1
    page.click("text=data down")
    assert "one colour: devices that differ along data only" in page.inner_text(".xe-devices")
    colours = page.evaluate(
        "[...document.querySelectorAll('.xe-device')].map(box => box.style.fill)"
    )
    assert colours[:4] == colours[4:] and len(set(colours)) == 4  # devices along `data` alike
    page.click("text=step ›")
    assert "2 of" in page.inner_text(".xe-devices")
    page.select_option(".xe-devices select", "%w1")
    assert "dimension 0 over model" in page.inner_text(".xe-devices")
    page.click("text='what if' >> nth=-1")
    page.wait_for_selector("text=session.devices.what_if")
    page.click("text=partition by real XLA too")
    page.wait_for_selector("text=session.devices.compare_partitioning")
    assert "the largest 6 of 6 values" in page.inner_text(".xe-memory-keys")
    assert not problems
    page.close()


def test_a_program_of_one_device_has_no_such_tab(browser: Any, tmp_path: Path) -> None:
    page_file = xe.compile(MLP, backend="interpreter").save(tmp_path / "one.html")
    page = browser.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_selector(".xe[data-ready]")
    assert page.locator("[data-tab=buffers]").count() == 1
    assert page.locator("[data-tab=devices]").count() == 0
    page.close()
