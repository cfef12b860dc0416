"""Twenty screenshots of the explorer: `python -m tests.browser.screenshots FOLDER [NUMBER ...]`.

Run it before and after a change of the front end; what the pictures have in common is the program,
the window and what is pressed. Then `python -m tests.browser.screenshots --compare BEFORE AFTER`
says of each how much of it differs, and where; what differs is looked at. Times differ from run to
run.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import TimeoutError, sync_playwright

import xla_explorer as xe
from tests.browser.lab_process import Lab
from tests.browser.live_page import open_live
from tests.browser.test_legible import CHROMIUM, layers_text

SELECT = "name => { const a = document.querySelector('.xe').explorer; a.select([...a.now.names].find(([, n]) => n === name)[0], 'search'); }"
FUSION = "() => { const a = document.querySelector('.xe').explorer; a.select(a.now.picture.groups.find(g => g.kind === 'fusion').instruction, 'search'); }"
GO = "name => { const a = document.querySelector('.xe').explorer; return a.go(a.store.steps.find(s => s.name === name && s.changed).index); }"
DECISION = """verdict => { const a = document.querySelector('.xe').explorer;
  a.showDecision(a.store.decisions.find(d => d.kind === 'fusion' && d.verdict === verdict && d.checklist.length).index, true); }"""
MODE = "() => { const s = document.querySelector('.xe-text select'); s.value = 'side by side'; s.onchange(); }"

Act = Callable[[Any], object]


def press(*keys: str) -> Act:
    """Press keys one by one, each settled before the next."""

    def act(page: Any) -> None:
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(200)

    return act


def run(script: str, *argument: Any) -> Act:
    """Run a script in the page."""
    return lambda page: page.evaluate(script, *argument)


def both(*acts: Act) -> Act:
    """One after the other."""
    return lambda page: [act(page) for act in acts]


def click(selector: str) -> Act:
    """Click the first element that matches."""
    return lambda page: page.locator(selector).first.click()


def compare(page: Any) -> None:
    """Forbid an accepted fusion; the comparison is shown."""
    run(DECISION, "accepted")(page)
    page.locator(".xe-why .xe-act", has_text="forbid it and compare").click()
    page.wait_for_selector(".xe-compared", timeout=60_000)


def llvm(page: Any) -> None:
    """Go through LLVM's passes of the first kernel."""
    press("k")(page)
    page.locator(".xe-kernels tbody tr .xe-act").first.click()
    page.wait_for_function(
        "() => document.querySelector('.xe').explorer.store.steps.at(-1).level === 'llvm'",
        timeout=60_000,
    )
    page.wait_for_timeout(500)


# name: (page: small, large, or live; width; theme, what is done)
SHOTS: dict[str, tuple[str, int, str, Act]] = {
    "01_graph": ("small", 1440, "light", press("g")),
    "02_decisions": ("small", 1440, "light", press("d")),
    "03_times": ("small", 1440, "light", press("k")),
    "04_text": ("small", 1440, "light", both(run(GO, "fusion"), press("t"))),
    "05_code": ("small", 1440, "light", both(run(SELECT, "e0"), press("g"))),
    "06_llvm": ("live", 1440, "light", llvm),
    "07_timeline": ("small", 1440, "light", both(press("[", "["), click(".xe-timeline .xe-skip"))),
    "08_buffers": ("small", 1440, "light", press("b")),
    "09_compare": ("live", 1440, "light", compare),
    "10_checks": ("small", 1440, "light", run(DECISION, "refused")),
    "11_dark_graph": ("small", 1440, "dark", press("g")),
    "12_dark_decisions": ("small", 1440, "dark", both(press("d"), run(DECISION, "refused"))),
    "13_narrow_graph": ("small", 900, "light", press("g")),
    "14_narrow_decisions": ("small", 900, "light", press("d")),
    "15_large": ("large", 1440, "light", press("g")),
    "16_fusion_selected": ("small", 1440, "light", run(FUSION)),
    "17_diff_side_by_side": (
        "small",
        1440,
        "light",
        both(run(GO, "fusion"), press("t"), run(MODE)),
    ),
    "18_rules_and_roofline": (
        "small",
        1440,
        "light",
        both(press("i"), click(".xe-times .xe-pane-chips button:has-text('roofline')")),
    ),
}
LAB = {"19_lab_light": "JupyterLab Light", "20_lab_dark": "JupyterLab Dark"}
CELL = (
    "import xla_explorer as xe\nsession = xe.compile('''{text}''', threads=1)\nxe.explore(session)"
)


def _page(browser: Any, width: int, theme: str) -> Any:
    return browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)


def _in_lab(browser: Any, folder: Path, theme: str, file: Path) -> None:
    lab = Lab(folder / file.stem, theme)
    cell = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "id": "a",
        "source": CELL.format(text=layers_text(1)),
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    (lab.work / "shot.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    )
    try:
        page = browser.new_page(viewport={"width": 1500, "height": 1000}, color_scheme="light")
        page.goto(lab.address_of("tree/shot.ipynb"))
        page.wait_for_selector(
            ".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=90_000
        )
        for _ in range(3):  # a cell that is run before the kernel answers is lost
            page.wait_for_timeout(2_500)
            page.locator(".jp-Notebook .jp-Cell").first.click()
            page.keyboard.press("Control+Enter")
            try:
                page.locator(".xe[data-ready]").first.wait_for(timeout=30_000)
                break
            except TimeoutError:
                continue
        page.locator(".xe").first.scroll_into_view_if_needed()
        page.wait_for_timeout(1_500)
        page.screenshot(path=str(file))
        page.close()
    finally:
        lab.stop()


def take(browser: Any, folder: Path, wanted: list[str]) -> None:
    """Write the screenshots with these numbers, or all."""
    folder.mkdir(parents=True, exist_ok=True)
    is_wanted = lambda name: not wanted or name[:2] in wanted  # noqa: E731
    with tempfile.TemporaryDirectory() as kept:
        sessions = {}
        for size, count in (("small", 1), ("large", 550)):
            if size == "small" or any(
                is_wanted(name) for name, shot in SHOTS.items() if shot[0] == size
            ):
                sessions[size] = xe.compile(layers_text(count), threads=1)
        small = sessions["small"]
        small.profile(np.ones((16, 32), np.float32), np.ones((32, 32), np.float32), repeats=2)
        for size, session in sessions.items():
            session.save(Path(kept) / f"{size}.html")
        for name, (kind, width, theme, act) in SHOTS.items():
            if not is_wanted(name):
                continue
            page = _page(browser, width, theme)
            if kind == "live":
                open_live(page, xe.explore(small), Path(kept))
            else:
                page.goto((Path(kept) / f"{kind}.html").as_uri())
                page.wait_for_selector(".xe[data-ready]", timeout=120_000)
            try:
                act(page)
            except Exception as problem:  # the picture shows how far it came
                print(f"{name}: {problem}")
            page.wait_for_timeout(500)
            page.screenshot(path=str(folder / f"{name}.png"))
            page.close()
        for name, theme in LAB.items():
            if is_wanted(name):
                _in_lab(browser, Path(kept), theme, folder / f"{name}.png")


DIFFERENCE = """async ([a, b]) => {
  const pixels = async text => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64," + text)).blob()),
      pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
    pen.drawImage(image, 0, 0);
    return pen.getImageData(0, 0, image.width, image.height);
  };
  const [p, q] = [await pixels(a), await pixels(b)];
  if (p.width !== q.width || p.height !== q.height) return null;
  let count = 0, [left, top, right, bottom] = [p.width, p.height, 0, 0];
  for (let k = 0; k < p.data.length; k += 4)
    if ([0, 1, 2].some(c => Math.abs(p.data[k + c] - q.data[k + c]) > 16)) {
      const [x, y] = [(k / 4) % p.width, Math.floor(k / 4 / p.width)];
      count++;
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
    }
  return [count / (p.width * p.height), left, top, right, bottom];
}"""


def differences(browser: Any, before: Path, after: Path) -> dict[str, list[float] | None]:
    """Return the differing pixels' share and box per screenshot; None if sizes differ."""
    found = {}
    page = browser.new_page()
    for file in sorted(before.glob("*.png")):
        if (after / file.name).exists():
            pair = [
                base64.b64encode((folder / file.name).read_bytes()).decode()
                for folder in (before, after)
            ]
            found[file.stem] = page.evaluate(DIFFERENCE, pair)
    page.close()
    return found


def main(arguments: list[str]) -> None:
    """Take the screenshots that the module's docstring lists."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        if arguments[0] != "--compare":
            take(browser, Path(arguments[0]), arguments[1:])
        else:
            for shot, one in differences(browser, Path(arguments[1]), Path(arguments[2])).items():
                share, *box = one or [1.0]
                print(
                    f"{shot:28} {share:7.2%}",
                    f"in {box}" if share and box else "" if box else "of another size",
                )
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
