"""Write `xla_explorer/README.md`, the map of the code, and its picture, from docstrings.

`python tests/architecture/code_map.py` renews both. A room is a folder of `xla_explorer`; its table
has a row for each folder in it.
"""

from __future__ import annotations

import ast
import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.architecture.test_layers import LEVEL, PACKAGE  # noqa: E402

README = PACKAGE / "README.md"
PICTURE = ROOT / "notebooks" / "images" / "rooms.svg"
_START = re.compile(r"Start\s+reading\s+at\s+`([^`]+)`\.")
_HEAD = """# The map

Eleven rooms, in the order in which a program walks through them. A room imports only rooms above it in the picture;
`tests/architecture` checks every import, those inside functions included.

![The rooms, from foundation at the bottom to the command line at the top](../notebooks/images/rooms.svg)

`__init__.py` is the facade: a table of public names, each imported from its room on first use, so that
`import xla_explorer` loads neither LLVM, pandas nor Jupyter. `plugin.py` has the stable imports of extensions.

This page is made of the packages' docstrings: `python tests/architecture/code_map.py`. How to add an opcode, a pass, a
backend or a tab of the explorer: `.github/CONTRIBUTING.md`.
"""


def package_docstring(folder: Path) -> str:
    """Return the docstring of a package."""
    return ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""


def summary(folder: Path) -> str:
    """Return the first line of a package's docstring."""
    return package_docstring(folder).split("\n", 1)[0]


def folders(room: Path) -> list[Path]:
    """List the packages that lie directly in a room."""
    return sorted(path.parent for path in room.glob("*/__init__.py"))


def rooms() -> list[Path]:
    """List the rooms, from the lowest level to the highest."""
    return [PACKAGE / name for name in sorted(LEVEL, key=lambda name: LEVEL[name])]


def start(room: Path) -> str:
    """Return the file at which to start reading a room, relative to it."""
    found = _START.search(package_docstring(room))
    return found[1] if found else ""


def render() -> str:
    """Return the text of the map."""
    lines = [_HEAD]
    for room in rooms():
        lines += [f"## {room.name}/", "", f"{summary(room)} Start reading at `{start(room)}`.", ""]
        rows = [f"|`{folder.name}/`|{summary(folder)}|" for folder in folders(room)]
        if rows:
            lines += ["|folder|what is in it|", "|---|---|", *rows, ""]
    return "\n".join(lines).rstrip() + "\n"


def picture() -> str:
    """Return the picture of the rooms as SVG: a row per level, the highest at the top."""
    width, height, gap = 720, 44, 10
    levels = sorted(set(LEVEL.values()), reverse=True)
    parts = []
    for row, level in enumerate(levels):
        names = [name for name, own in LEVEL.items() if own == level]
        each = (width - gap * (len(names) + 1)) / len(names)
        for column, name in enumerate(names):
            x, y = gap + column * (each + gap), gap + row * (height + gap)
            parts.append(
                f'<rect x="{x:g}" y="{y}" width="{each:g}" height="{height}" rx="6" fill="#e8f0fe" stroke="#3367d6"/>'
            )
            parts.append(
                f'<text x="{x + each / 2:g}" y="{y + 27}" text-anchor="middle" fill="#1a1a1a">{escape(name)}</text>'
            )
    total = gap + len(levels) * (height + gap)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" font-family="sans-serif" font-size="16">'
    title = "<title>Each room imports only rooms of the rows below it</title>"
    return (
        "\n".join(
            [
                head,
                title,
                f'<rect width="{width}" height="{total}" fill="#ffffff"/>',
                *parts,
                "</svg>",
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    README.write_text(render(), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"{README.relative_to(ROOT)}: {len(render().split())} words")
