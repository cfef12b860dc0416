"""A real JupyterLab with folders of its own, for browser tests."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "tour"
EXTENSION = ROOT / "extensions" / "jupyterlab" / "labextension"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _settings(folder: Path, theme: str) -> None:
    """Set the theme, no news, and every cell rendered."""
    wanted = {
        "@jupyterlab/apputils-extension/notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        },
        "@jupyterlab/apputils-extension/themes": {"theme": theme},
        "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    }
    for name, values in wanted.items():
        path = folder / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


class Lab:
    """A running JupyterLab with folders of its own."""

    def __init__(self, folder: Path, theme: str) -> None:
        work = folder / "work"
        work.mkdir(parents=True)
        self.work = work
        shutil.copyfile(ROOT / "notebooks" / "00_tour.ipynb", work / "00_tour.ipynb")
        # The extension of this checkout, before any that is installed.
        installed = folder / "share" / "labextensions" / "xla-explorer"
        shutil.copytree(EXTENSION, installed)
        shutil.copyfile(
            ROOT / "notebooks" / "00_tour.ipynb", installed / "static" / "00_tour.ipynb"
        )
        _settings(folder / "settings", theme)
        environment = dict(
            os.environ,
            JUPYTER_CONFIG_DIR=str(folder / "config"),
            JUPYTER_PATH=str(folder / "share"),
            JUPYTER_DATA_DIR=str(folder / "data"),
            JUPYTER_RUNTIME_DIR=str(folder / "runtime"),
            IPYTHONDIR=str(folder / "ipython"),
            JUPYTERLAB_SETTINGS_DIR=str(folder / "settings"),
            JUPYTERLAB_WORKSPACES_DIR=str(folder / "workspaces"),
            PYTHONPATH=os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        )
        self.port = _free_port()
        command = [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            f"--port={self.port}",
            "--ip=127.0.0.1",
        ]
        command += [
            f"--IdentityProvider.token={TOKEN}",
            "--ServerApp.allow_root=True",
            f"--ServerApp.root_dir={work}",
        ]
        command += [
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.news_url=",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ]
        self.log = open(folder / "log.txt", "w")  # closed in stop()
        self.process = subprocess.Popen(
            command, env=environment, stdout=self.log, stderr=subprocess.STDOUT
        )
        self._wait(folder / "log.txt")

    def _wait(self, log: Path) -> None:
        deadline = (
            time.monotonic() + 150
        )  # it is there after 2 s; on a machine with other work, a minute later
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api?token={TOKEN}", timeout=2)
                return
            except OSError:
                time.sleep(0.1)
        pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")

    @property
    def address(self) -> str:
        return self.address_of("tree/00_tour.ipynb")

    def address_of(self, place: str) -> str:
        return f"http://127.0.0.1:{self.port}/lab/{place}?token={TOKEN}&reset"

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


SHOWN = ".lm-DockPanel-widget:not(.lm-mod-hidden)"  # the document in front; those of other tests stay behind it


def opened_lab(browser: Any, server: Lab) -> Any:
    """Open a JupyterLab page with its launcher; `problems` collects errors and outside requests."""
    # The browser prefers light: what counts is JupyterLab's own theme.
    page = browser.new_page(viewport={"width": 1500, "height": 1000}, color_scheme="light")
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on(
        "console",
        lambda m: (
            page.problems.append(m.text) if m.type == "error" and "xla-explorer" in m.text else None
        ),
    )
    page.on(
        "request",
        lambda r: (
            page.problems.append(r.url)
            if r.url.startswith("http") and "127.0.0.1" not in r.url
            else None
        ),
    )
    page.goto(server.address_of(""))
    page.wait_for_selector(".jp-LauncherCard", timeout=60_000)
    return page


def run_command(page: Any, command: str, **arguments: str) -> None:
    """Run a command of JupyterLab, as a menu or a key would."""
    page.evaluate(
        "([command, given]) => { void window.jupyterapp.commands.execute(command, given); }",
        [command, arguments],
    )
