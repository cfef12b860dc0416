"""Write `llms.txt`, the list of the book's pages for language models, when the book is built.

Each page has its title and its first sentence. The format is that of llmstxt.org.
"""

from __future__ import annotations

import re
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[1]
FILE = NOTEBOOKS / "reference" / "saved" / "llms.txt"
"""In the folder whose files Sphinx copies to the root of the book."""
_PARTS = (("How to", "how_to"), ("Explanations", "explanation"))
_HEAD = """# xla_explorer

> An interactive explorer of an XLA-like compiler in Python: HLO, StableHLO or a JAX function in,
> every pass and fusion decision explained, LLVM IR and PTX beside it, executed and timed.

Agents ask it by tools: `xla-explorer mcp FOLDER` serves the Model Context Protocol, `xla-explorer
mcp --skill` prints how to use it. One question from a shell: `xla-explorer ask FILE "decisions()"`.
"""


def llms_text() -> str:
    """Return the text of `llms.txt`."""
    parts = [_HEAD]
    for title, folder in _PARTS:
        pages = sorted((NOTEBOOKS / folder).glob("*.md"))
        rows = [_row(page, f"{folder}/{page.stem}") for page in pages if page.stem != "index"]
        parts.append("\n".join([f"## {title}\n", *rows, ""]))
    return "\n".join(parts)


def _row(page: Path, name: str) -> str:
    text = re.sub(r"\A---\n.*?\n---\n", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    body = text[title.end() :] if title is not None else text
    paragraph = next(
        (one for one in body.split("\n\n") if re.match(r"\s*[A-Za-z`*\[]", one)), ""
    ).replace("\n", " ")
    sentence = re.match(r"(.+?[.:])(?:\s|$)", paragraph.strip())
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence.group(1) if sentence else "")
    return f"- [{title.group(1) if title else page.stem}]({name}.html): {plain}"


def write_llms() -> None:
    """Write the file."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(llms_text(), encoding="utf-8")
