"""Write `notebooks/reference/`: a page for each public name and each table of the package."""

from __future__ import annotations

import shutil
from pathlib import Path

from notebooks.book.gallery import write_gallery
from notebooks.book.names import name_pages
from notebooks.book.registries import REGISTRIES

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
SAVED = "saved"  # its folder of pages that Sphinx copies as they are


def reference_pages() -> dict[str, str]:
    """Return the text of each page by its file name, including the index."""
    names = name_pages()
    tables = {f"{registry.page}.md": registry.text() for registry in REGISTRIES}
    first = [
        "# Reference",
        "",
        "Generated from the package when the book is built: from its docstrings and from the tables of the compiler.",
        "",
        *_toctree("Names", [name for name in names if name.endswith(".rst") and "/" not in name]),
        *_toctree("Tables", [*tables, "../fusion_reasons", "../opcode_status"]),
    ]
    return {**names, **tables, "index.md": "\n".join(first)}


def _toctree(caption: str, files: list[str]) -> list[str]:
    names = [file.rsplit(".", 1)[0] if file.endswith((".md", ".rst")) else file for file in files]
    return ["```{toctree}", f":caption: {caption}", ":maxdepth: 1", "", *names, "```", ""]


def write_reference(folder: Path = REFERENCE) -> dict[str, str]:
    """Write changed pages, remove obsolete ones, and return all."""
    pages = {**reference_pages(), "gallery.md": write_gallery(folder / SAVED)}
    for path in sorted(folder.rglob("*"), reverse=True):
        if SAVED in path.parts:
            continue
        if path.is_file() and path.relative_to(folder).as_posix() not in pages:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return pages
