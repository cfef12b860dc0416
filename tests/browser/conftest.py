"""What the browser tests share: one Chromium, and one JupyterLab, for all of them that a worker runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.lab_process import Lab

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A Chromium that shows nothing on a screen. The files that use it skip where there is none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="package")
def light_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab in its light theme. Its starts, and those of its kernels, are what takes long."""
    server = Lab(tmp_path_factory.mktemp("lab"), "JupyterLab Light")
    yield server
    server.stop()
