"""The page for contributors: its links lead somewhere, and it has the twenty pairs and the terms it promises."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / ".github" / "CONTRIBUTING.md"
TEXT = PAGE.read_text(encoding="utf-8")


def _rows(heading: str) -> list[list[str]]:
    """The cells of the first table that begins with this cell, without its rule."""
    lines = TEXT[TEXT.index(f"| {heading} |") :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_link_leads_to_a_file_and_a_heading_that_exist() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(links) >= 6
    for link in links:
        path, _, heading = link.partition("#")
        target = (PAGE.parent / path).resolve()
        assert target.is_file(), link
        titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert not heading or heading in [title.lower().replace(" ", "-") for title in titles], link


def test_twenty_pairs_of_style_of_which_no_later_one_is_mannered() -> None:
    pairs = _rows("before")
    assert len(pairs) == 20 and len({before for before, _ in pairs}) == 20
    for before, after in pairs:
        assert before != after and not re.search(r"\bis no\b|\bnobody\b|\bwish\b|\bis none\b", after)


def test_the_glossary_has_the_terms_of_the_field() -> None:
    terms = " ".join(term for term, _ in _rows("write"))
    for term in ("implicit GEMM", "split-K", "load vectorisation", "divergence analysis", "identity element", "skinny product"):
        assert term in terms
