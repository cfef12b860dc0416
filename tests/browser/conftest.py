"""Fixtures of the browser tests: one Chromium, and one page of one JupyterLab per worker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.lab_process import Lab, opened_lab
from tests.browser.pages import Pages
from xla_explorer.backends.cpu.cpu_executable import CpuExecutable
from xla_explorer.backends.interfaces.executable import ProfileResult

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Start a headless Chromium that reuses pages.

    The files that use it skip where there is none.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Pages(started)
        started.close()


@pytest.fixture(scope="package", autouse=True)
def steady_times() -> Iterator[pytest.MonkeyPatch]:
    """Give each kernel a fixed time, so that bars depend on no machine and no load.

    `measured_times` turns real measurements on.
    """
    measure = CpuExecutable.profile

    def profile(self: CpuExecutable, arrays: list[Any], repeats: int = 20) -> ProfileResult:
        measured = measure(self, arrays, repeats)
        kernels = [
            timing._replace(samples_us=(3.0 + 2 * k,) * repeats)
            for k, timing in enumerate(measured.kernels)
        ]
        together = sum([timing.samples_us[0] * timing.calls for timing in kernels])
        return measured._replace(total_us=(together,) * repeats, kernels=tuple(kernels))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CpuExecutable, "profile", profile)
        yield patch


@pytest.fixture
def measured_times(steady_times: pytest.MonkeyPatch) -> Iterator[None]:
    """Use measured times, for a test of programs that differ by far."""
    steady = CpuExecutable.profile
    steady_times.undo()
    yield
    steady_times.setattr(CpuExecutable, "profile", steady)


@pytest.fixture(scope="package")
def light_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Start a JupyterLab in its light theme.

    Its starts, and those of its kernels, are what takes long.
    """
    server = Lab(tmp_path_factory.mktemp("lab"), "JupyterLab Light")
    yield server
    server.stop()


@pytest.fixture(scope="package")
def light_page(light_lab: Lab, browser: Any) -> Iterator[Any]:
    """Load a page of it once: each test opens its document there.

    `problems` is what went wrong in it since the last test.
    """
    page = opened_lab(browser, light_lab)
    yield page
    page.close()
