"""The longest task of a page's main thread, as a multiple of a fixed loop of JavaScript.

Both times are the thread's own, by Chromium's trace, so that a loaded machine changes neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

# 4 million turns of arithmetic in short calls, which are compiled to the end once they are warm: 5
# ms where a task of 50 ms is felt.
_LOOP = """times => {
  globalThis.turns ??= from => { let x = from; for (let k = 0; k < 1e4; k++) x = (x * 31 + k) & 0xffff; return x; };
  let x = 0;
  for (let k = 0; k < times; k++) x = turns(x);
  return x;
}"""


def _task_times(chromium: Any, page: Any, act: Callable[[], object]) -> list[float]:
    """Milliseconds of the tasks of the page's thread while `act` runs."""
    chromium.start_tracing(page=page, categories=["toplevel"])
    act()
    events = json.loads(chromium.stop_tracing())["traceEvents"]
    named = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    tasks = [
        e
        for e in events
        if "tdur" in e
        and "RunTask" in e["name"]
        and named.get((e["pid"], e["tid"])) == "CrRendererMain"
    ]
    of_page = max(
        {e["pid"] for e in tasks},
        key=lambda pid: sum([e["tdur"] for e in tasks if e["pid"] == pid]),
    )
    return [e["tdur"] / 1e3 for e in tasks if e["pid"] == of_page]


def longest_tasks(chromium: Any, path: Path, keys: str = "[[]]") -> dict[str, float]:
    """Return the longest main-thread tasks of a saved page: opening it, steps, loops.

    Each is the better of two rounds.
    """
    page = chromium.new_page(viewport={"width": 1440, "height": 900})

    def opened() -> None:
        page.goto("about:blank")
        page.goto(path.as_uri())
        page.wait_for_selector(".xe[data-ready]", timeout=120_000)
        page.wait_for_timeout(300)

    def stepped() -> None:
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(200)

    first = min([max(_task_times(chromium, page, opened)) for _ in range(2)])
    page.evaluate("() => document.querySelector('.xe').explorer.setTab('graph')")
    page.wait_for_timeout(300)
    steps = min([max(_task_times(chromium, page, stepped)) for _ in range(2)])
    page.evaluate(_LOOP, 4000)
    loops = _task_times(chromium, page, lambda: [page.evaluate(_LOOP, 400) for _ in range(5)])
    loop = min([ms for ms in loops if ms > 0.4 * max(loops)])
    page.close()
    return {"open": first / loop, "steps": steps / loop, "loop_ms": loop}
