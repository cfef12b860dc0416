"""Write slides of a course notebook as one page without external files.

`python notebooks/slides.py NOTEBOOK -o PAGE.html`. `--tag NOTEBOOK ...` writes Jupyter's slide
types into notebooks: headings begin slides, other texts begin slides below them.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import nbconvert
import nbformat

STYLE = """
body { margin: 0; }
section { display: none; box-sizing: border-box; min-height: 100vh; padding: 4vh 6vw; font-size: 1.25em; }
section.now { display: block; }
section pre { font-size: 0.85em; }
aside { border-top: 1px solid #858585; margin-top: 3vh; }
body:not(.notes) aside { display: none; }
#place { position: fixed; right: 1em; bottom: 0.6em; color: #757575; font: 14px system-ui, sans-serif; }
.jp-InputPrompt, .jp-OutputPrompt { display: none !important; }
@media print { section { display: block; page-break-after: always; min-height: 0; } #place { display: none; } }
"""
SCRIPT = """
const slides = [...document.querySelectorAll("section")];
let at = 0;
function show(number) {
  at = Math.max(0, Math.min(slides.length - 1, number));
  slides.forEach((slide, k) => slide.classList.toggle("now", k === at));
  document.getElementById("place").textContent = `${at + 1} / ${slides.length}`;
  history.replaceState(null, "", `#${at + 1}`);
  scrollTo(0, 0);
}
addEventListener("keydown", (event) => {
  if (["ArrowRight", "PageDown", " "].includes(event.key)) show(at + 1);
  else if (["ArrowLeft", "PageUp"].includes(event.key)) show(at - 1);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (event.key === "n") document.body.classList.toggle("notes");
  else return;
  event.preventDefault();
});
show((parseInt(location.hash.slice(1)) || 1) - 1);
"""


def slide_type(cell: Any, first_code: bool) -> str:
    """Return Jupyter's slide type of a cell."""
    tags = cell.metadata.get("tags", ())
    if cell.cell_type == "code":
        return (
            "skip"
            if first_code or "check" in tags
            else "subslide"
            if cell.source.startswith("xe.explore(")
            else "-"
        )
    if cell.source.startswith("## Going further"):
        return "notes"
    return "slide" if cell.source.startswith("#") else "subslide"


def tag(notebook: Any) -> Any:
    """Add slide types to the notebook and return it."""
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in notebook.cells:
        kind = slide_type(cell, bool(codes) and cell is codes[0])
        cell.metadata.pop("slideshow", None)
        if kind != "-":
            cell.metadata["slideshow"] = {"slide_type": kind}
    return notebook


def page(notebook: Any, title: str) -> str:
    """Return one HTML page with a section for each slide."""
    exporter = nbconvert.HTMLExporter(
        mathjax_url="", require_js_url="", jquery_url="", embed_images=True
    )
    groups: list[tuple[list[Any], list[Any]]] = []
    for cell in notebook.cells:
        kind = cell.metadata.get("slideshow", {}).get("slide_type", "-")
        if kind == "skip":
            continue
        if kind in ("slide", "subslide") or not groups:
            groups.append(([], []))
        groups[-1][kind == "notes"].append(cell)
    head, sections = "", []
    for shown, notes in groups:
        parts = []
        for cells in (shown, notes):
            part = nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)
            html, _ = exporter.from_notebook_node(part)
            head = head or html.partition("<head>")[2].partition("</head>")[0]
            found = re.search(r"<main>(.*)</main>", html, re.DOTALL)
            parts.append(found.group(1) if found else "")
        sections.append(
            f"<section>{parts[0]}{f'<aside>{parts[1]}</aside>' if notes else ''}</section>"
        )
    head = re.sub(r"<script\b.*?</script>|<title>.*?</title>", "", head, flags=re.DOTALL)
    return (
        f'<!doctype html><html lang="en"><head>{head}<title>{title}</title><style>{STYLE}</style></head><body class="jp-Notebook">'
        f'{"".join(sections)}<div id="place"></div><script>{SCRIPT}</script></body></html>'
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="the page (default: beside the notebook)")
    parser.add_argument(
        "--tag", action="store_true", help="write slide types into the notebooks instead"
    )
    given = parser.parse_args()
    if given.output and len(given.notebooks) > 1:
        parser.error("-o takes one notebook")
    for path in given.notebooks:
        notebook = nbformat.read(path, 4)
        if given.tag:
            nbformat.write(tag(notebook), path)
        else:
            target = given.output or path.with_suffix(".html")
            tagged = any("slideshow" in cell.metadata for cell in notebook.cells)
            target.write_text(
                page(notebook if tagged else tag(notebook), path.stem), encoding="utf-8"
            )
            print(target)


if __name__ == "__main__":
    main()
