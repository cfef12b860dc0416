"""The saved page in Firefox: it opens, every tab is shown, a step and a selection work, no errors.

Firefox is driven by WebDriver BiDi, which it speaks itself: playwright needs its own build of it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
websocket = pytest.importorskip("tornado.websocket", reason="tornado is not installed")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.skipif(
        FIREFOX is None, reason="no Firefox on the path: the page is tested in Chromium only"
    ),
]
_PATIENCE = 120  # seconds for an answer

_TABS = """async () => {
  const app = document.querySelector(".xe").explorer, shown = [];
  for (const tab of document.querySelectorAll("[role=tab]")) {
    app.setTab(tab.dataset.tab);
    await new Promise(done => setTimeout(done, 200));
    const panel = document.querySelector("[role=tabpanel]:not([hidden])");
    shown.push([tab.dataset.tab, panel.dataset.panel, panel.textContent.length > 0]);
  }
  return shown;
}"""
_STEP = """async () => {
  const app = document.querySelector(".xe").explorer;
  await app.go(1);
  const id = app.now.text.find(line => line[1] !== null)[1];
  await app.select(id, "test");
  return [app.nowStep, app.selected === id, document.querySelector(".xe-why").textContent.length > 20];
}"""
_READY = """() => new Promise(done => {
  const look = () => document.querySelector(".xe[data-ready]") ? done(true) : setTimeout(look, 50);
  look();
})"""


class Firefox:
    """A connection to one page. Errors of its scripts are kept."""

    def __init__(self, connection: Any) -> None:
        self._connection, self._numbers = connection, itertools.count(1)
        self.errors: list[str] = []

    async def send(self, method: str, **parameters: Any) -> Any:
        """Return the result of a command."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        await self._connection.write_message(json.dumps(message))
        while True:
            text = await asyncio.wait_for(self._connection.read_message(), _PATIENCE)
            answer = json.loads(text)
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.errors.append(answer["params"]["text"])
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                return answer["result"]

    async def call(self, context: str, function: str) -> Any:
        """Return the JSON value of a function of the page."""
        result = await self.send(
            "script.callFunction",
            functionDeclaration=f"async () => JSON.stringify(await ({function})())",
            target={"context": context},
            awaitPromise=True,
        )
        assert result["type"] == "success", result
        return json.loads(result["result"]["value"])


@contextmanager
def _started(profile: Path) -> Iterator[str]:
    """Start Firefox and yield the address of its BiDi server."""
    command = [FIREFOX, "--headless", "--remote-debugging-port=0", "--profile", str(profile)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "BiDi listening on " in line:
                    yield line.split("BiDi listening on ")[1].strip()
                    break
        finally:
            process.kill()


async def _visit(server: str, address: str) -> tuple[Any, Any, list[str]]:
    connection = await websocket.websocket_connect(f"{server}/session")
    firefox = Firefox(connection)
    await firefox.send("session.new", capabilities={})
    await firefox.send("session.subscribe", events=["log.entryAdded"])
    context = (await firefox.send("browsingContext.getTree"))["contexts"][0]["context"]
    await firefox.send("browsingContext.navigate", context=context, url=address, wait="complete")
    await firefox.call(context, _READY)
    tabs = await firefox.call(context, _TABS)
    step = await firefox.call(context, _STEP)
    connection.close()
    return tabs, step, firefox.errors


def test_the_page_works_in_firefox(tmp_path: Path) -> None:
    page = xe.compile(xe.example("attention"), threads=1).save(tmp_path / "page.html")
    profile = tmp_path / "profile"
    profile.mkdir()
    # In a thread of its own: playwright, in tests before, leaves a running loop in this one.
    with _started(profile) as server, ThreadPoolExecutor(1) as thread:
        visit = thread.submit(asyncio.run, _visit(server, page.as_uri()))
        tabs, step, errors = visit.result()
    assert len(tabs) >= 8
    assert [wanted for wanted, shown, has_text in tabs if wanted != shown or not has_text] == []
    assert step == [1, True, True]
    assert errors == []
