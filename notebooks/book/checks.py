"""Checks of the built pages: links, files loaded from a network, executed cells."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from notebooks.book.course import EXECUTED, NOTEBOOKS

_LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
_LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest"}


class _Page(HTMLParser):
    """The ids, links and loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.loaded = set[str](), list[str](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids |= {value for key in ("id", "name") if (value := given.get(key))}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        address = given.get(_LOADED.get(tag, ""))
        if address and (tag != "link" or set((given.get("rel") or "").split()) & _LOADING_LINKS):
            self.loaded.append(address)


@cache
def _page(path: Path) -> _Page:
    return _Page(path.read_text(encoding="utf-8"))


def _pages(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.rglob("*.html") if "_static" not in path.relative_to(folder).parts
    )


def broken_links(folder: Path) -> tuple[int, list[str]]:
    """Return the number of links into this folder, and those without a target."""
    followed, broken = 0, list[str]()
    for path in _pages(folder):
        for address in {*_page(path).links, *_page(path).loaded}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            followed += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = target.is_file() and (
                not parts.fragment
                or target.suffix != ".html"
                or unquote(parts.fragment) in _page(target).ids
            )
            if not known and address not in ("#", "#top"):
                broken.append(f"{path.relative_to(folder)}: nothing is at {address}")
    return followed, broken


def loaded_from_elsewhere(folder: Path) -> list[str]:
    """Return the files that pages or style sheets load from a network."""
    found = []
    for path in _pages(folder):
        found += [
            f"{path.relative_to(folder)} loads {address}"
            for address in _page(path).loaded
            if re.match(r"(https?:)?//", address)
        ]
    for path in sorted(folder.rglob("*.css")):
        addresses = re.findall(
            r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')\s]+)""",
            path.read_text(encoding="utf-8"),
        )
        found += [f"{path.relative_to(folder)} loads {address}" for address in addresses]
    return found


def executed_cells() -> tuple[int, int]:
    """Return the numbers of cells and pages that are executed while the book is built."""
    counts = [
        len(re.findall(r"^ *```\{code-cell\}", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in sorted(NOTEBOOKS.rglob("*.md"))
    ]
    for stem in EXECUTED:
        cells = json.loads((NOTEBOOKS / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
        counts.append(sum(cell["cell_type"] == "code" and bool(cell["source"]) for cell in cells))
    return sum(counts), sum(map(bool, counts))
