"""Take the picture of the README and screenshots of the book: `python -m notebooks.book.pictures`.

Without arguments it writes `notebooks/images/explorer.png`, a saved page with one refused fusion
selected. `--of build/book FOLDER` takes pages of the book in two widths and two themes, for review.
Both need Chromium and playwright (extra `test`).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import xla_explorer as xe

PICTURE = Path(__file__).resolve().parents[1] / "images" / "explorer.png"
MOST_BYTES = 350_000
REFUSED = "recomputed-per-element"
PAGES = ("index", "tutorials", "how_to/not_fused", "how_to/slow_step", "00_tour", "06_fusion_legality", "reference/index",
         "reference/xe/xe.compile", "reference/rules", "glossary", "reference/gallery")  # fmt: skip


def _browser(playwright: Any) -> Any:
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium") or None, args=["--no-sandbox"]
    )


def take_picture(path: Path = PICTURE) -> list[Path]:
    """Write a screenshot of the saved page of attention, with the checklist of a refused fusion."""
    session = xe.compile(xe.example("attention"), threads=1)  # times vary less than with two
    session.profile(*xe.random_arguments(session.module), repeats=50)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        address = session.save(Path(scratch) / "page.html").as_uri()
        browser = _browser(playwright)
        page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
        page.goto(address)
        page.wait_for_selector(".xe[data-ready]")
        page.locator("tr", has_text=REFUSED).get_by_role("button", name="why").first.click()
        page.wait_for_timeout(800)
        path.parent.mkdir(exist_ok=True)
        page.screenshot(path=str(path))
        browser.close()
    assert path.stat().st_size < MOST_BYTES, f"{path} has {path.stat().st_size} bytes"
    return [path]


def take_pages(book: Path, folder: Path) -> list[Path]:
    """Write screenshots of pages at 400 and 1200 pixels, light and dark; report wide pages."""
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
    parser.add_argument("--of", type=Path, metavar="BOOK", help="take pages of this built book")
    parser.add_argument(
        "target", type=Path, nargs="?", default=PICTURE, help="the picture, or the folder of pages"
    )
    given = parser.parse_args()
    for path in take_pages(given.of, given.target) if given.of else take_picture(given.target):
        print(path, path.stat().st_size, "bytes")
