"""Takes the pictures of README.md and screenshots of the book: `python -m notebooks.book.pictures`, or `... --of build/book FOLDER`.

The first writes `notebooks/images`, four pictures of an explorer's page. The second takes pages of the book as they look on a telephone and
on a screen, light and dark, for a person to look at. Both need Chromium and playwright (extra `test`).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import xla_explorer as xe

IMAGES = Path(__file__).resolve().parents[1] / "images"
MOST_BYTES = 100_000
_FIRST_REFUSED = """() => { const a = document.querySelector('.xe').explorer;
  a.showDecision(a.store.decisions.find(d => d.kind === 'fusion' && d.verdict === 'refused' && d.checklist.length).index, true); }"""
_AT_FUSION = """() => { const a = document.querySelector('.xe').explorer;
  return a.go(a.store.steps.find(s => s.name === 'fusion' && s.changed).index); }"""


def _press(key: str) -> Callable[[Any], object]:
    return lambda page: page.keyboard.press(key)


# name -> what is done to the page before it is taken
PICTURES: dict[str, tuple[Callable[[Any], object], ...]] = {
    "graph": (lambda page: page.evaluate(_FIRST_REFUSED), _press("g")),
    "why": (_press("d"), lambda page: page.evaluate(_FIRST_REFUSED)),
    "pass": (lambda page: page.evaluate(_AT_FUSION), _press("t")),
    "times": (),
}
_STRIP = {"x": 184, "y": 84, "width": 580, "height": 160}
CLIPS = dict.fromkeys(PICTURES, _STRIP) | {"why": {"x": 330, "y": 210, "width": 670, "height": 185}}
PAGES = ("index", "tutorials", "how_to/not_fused", "how_to/slow_step", "00_tour", "06_fusion_legality", "reference/index",
         "reference/xe/xe.compile", "reference/rules", "glossary", "reference/gallery")  # fmt: skip


def _browser(playwright: Any) -> Any:
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium") or None, args=["--no-sandbox"]
    )


def take_pictures(folder: Path = IMAGES) -> list[Path]:
    """The four pictures, each below 100 kB: strips of the middle of the page, one with the pane that says why."""
    folder.mkdir(exist_ok=True)
    session = xe.compile(xe.example("attention"), journal="everything")
    session.profile(*xe.random_arguments(session.module), repeats=9)
    taken = []
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        address = session.save(Path(scratch) / "page.html").as_uri()
        browser = _browser(playwright)
        for name, acts in PICTURES.items():
            page = browser.new_page(
                viewport={"width": 1000, "height": 620},
                color_scheme="light",
                device_scale_factor=1.5,
            )
            page.goto(address)
            page.wait_for_selector(".xe[data-ready]")
            for act in acts:
                act(page)
                page.wait_for_timeout(800)
            path = folder / f"{name}.png"
            page.screenshot(path=str(path), clip=CLIPS[name])
            assert path.stat().st_size < MOST_BYTES, f"{path} has {path.stat().st_size} bytes"
            taken.append(path)
        browser.close()
    return taken


def take_pages(book: Path, folder: Path) -> list[Path]:
    """Pages of the book at 400 and 1200 pixels, light and dark; what is wider than its window is told."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = []
    with sync_playwright() as playwright:
        browser = _browser(playwright)
        for name in PAGES:
            for width in (400, 1200):
                for theme in ("light", "dark"):
                    page = browser.new_page(
                        viewport={"width": width, "height": 1000}, color_scheme=theme
                    )
                    page.goto((book / f"{name}.html").resolve().as_uri())
                    page.wait_for_timeout(300)
                    wide = page.evaluate("document.documentElement.scrollWidth") - width
                    if wide > 0:
                        print(f"{name} is {wide} pixels wider than {width}")
                    path = folder / f"{name.replace('/', '-')}_{width}_{theme}.png"
                    page.screenshot(path=str(path))
                    page.close()
                    taken.append(path)
        browser.close()
    return taken


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--of", type=Path, metavar="BOOK", help="take pages of the book that was built there"
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", default=IMAGES, help="where the pictures go"
    )
    given = parser.parse_args()
    for path in take_pages(given.of, given.folder) if given.of else take_pictures(given.folder):
        print(path, path.stat().st_size, "bytes")
