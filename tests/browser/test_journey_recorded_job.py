"""A recorded journey from a job's folder (dump and profile of XLA) to the first reason."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_open import cluster_folder
from tests.support.pace import wall_seconds
from xla_explorer.cli.opening import PageServer
from xla_explorer.explorer.recorded_modules import RecordedModules

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


def test_from_the_folder_of_a_job_to_its_slowest_kernel(browser: Any, tmp_path: Path) -> None:
    started = time.perf_counter()
    requests: list[str] = []
    errors: list[str] = []
    with PageServer(RecordedModules(cluster_folder(tmp_path / "job", modules=200))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.on("request", lambda request: requests.append(request.url))
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(server.address)  # 1: open the folder; the list stands by time
            assert page.locator("tbody tr").first.inner_text().startswith("jit_f")
            assert page.locator("tbody tr").count() == 200
            page.locator("tbody a").first.click()  # 2: the module that took longest
            page.locator(".xe[data-ready]").first.wait_for(timeout=30_000)
            assert "compiled by XLA" in page.locator(".xe-head").first.inner_text()
            page.get_by_role(
                "tab", name="kernels"
            ).first.click()  # 3: its kernels, with XLA's times
            row = page.locator("#explorer tbody tr:visible", has_text="%e").first
            row.wait_for(timeout=10_000)
            assert "10" in row.inner_text(), "10 us, as the profile says"
            row.click()  # 4: why it is there
            page.locator(".xe-why-body", has_text="%e").wait_for()
            text = page.content()
            page.close()
        finally:
            server.shutdown()
            thread.join()
    assert errors == [] and str(tmp_path) not in text
    assert all(
        url.startswith(server.address) or url.startswith(("data:", "blob:")) for url in requests
    ), requests
    assert time.perf_counter() - started < wall_seconds(30)
