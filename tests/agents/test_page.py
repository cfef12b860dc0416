"""The how-to page of agents and the list for language models say what is there."""

from __future__ import annotations

import re
from pathlib import Path

from notebooks.book.llms import llms_text
from tests.agents.test_tools import TEXT
from xla_explorer.agents import tools as tools
from xla_explorer.agents.folders import Folders
from xla_explorer.agents.registry import answered
from xla_explorer.agents.workspace import Workspace

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def test_the_transcript_is_what_the_tools_answer(tmp_path: Path) -> None:
    page = (NOTEBOOKS / "how_to" / "agents.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (tmp_path / "step.hlo").write_text(TEXT)
    work = Workspace(Folders([tmp_path]))
    found = ""
    for call in blocks[:2]:
        name, _, inner = call.strip().rstrip(")").partition("(")
        pairs = re.findall(r'(\w+)=(?:"([^"]*)"|(\d+))', inner)
        found = answered(work, name, {key: text or int(number) for key, text, number in pairs})
    assert found.startswith(blocks[2].rstrip("\n"))


def test_llms_txt_lists_the_pages() -> None:
    rows = re.findall(r"^- \[([^\]]+)\]\(([\w/]+)\.html\): ?(.*)$", llms_text(), re.MULTILINE)
    pages = {page for _, page, _ in rows}
    assert {"how_to/agents", "how_to/same", "explanation/fusion"} <= pages
    assert all((NOTEBOOKS / f"{page}.md").exists() for page in pages)
    assert len([sentence for _, _, sentence in rows if sentence]) >= len(rows) - 3
