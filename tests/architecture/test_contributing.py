"""The page for contributors: its links, its pairs of sentences, its terms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / ".github" / "CONTRIBUTING.md"
TEXT = PAGE.read_text(encoding="utf-8")


def _rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table that begins with this cell, without its rule."""
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


def test_pairs_of_style_whose_second_sentence_is_plain() -> None:
    pairs = _rows("before")
    assert len(pairs) == 57 and len({before for before, _ in pairs}) == 57
    for before, after in pairs:
        assert before != after and not MANNERED.search(after), after
        assert not re.match(r"`(?:What|Where|Whose|It)\b", after), after
        assert len(after.split()) <= 25, after


def test_the_glossary_has_the_terms_of_the_field() -> None:
    terms = " ".join(term for term, _ in _rows("write"))
    for term in (
        "implicit GEMM",
        "split-K",
        "load vectorisation",
        "divergence analysis",
        "identity element",
        "skinny product",
    ):
        assert term in terms


# Rooms whose messages follow the page; the others are named here as they do.
PLAIN = ("foundation", "hlo", "frontends", "explorer", "course", "notebook", "pjrt", "cli")
MANNERED = re.compile(
    r"\b(?:is|are) no(?:ne)?\b|\bnobody\b|\bno one\b|\bwish(?:es|ed)?\b|\bin vain\b|\bbearer\b"
)


def _messages(path: Path) -> Iterator[str]:
    """Yield the texts of a file that contain a mannered phrase, except its documentation."""
    text = path.read_text(encoding="utf-8")
    if not MANNERED.search(text):
        return
    tree = ast.parse(text)
    described = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    documentation = {
        id(node.body[0].value)
        for node in described
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documentation
        ):
            yield node.value


@pytest.mark.parametrize("room", PLAIN)
def test_messages_are_in_plain_words(room: str) -> None:
    files = sorted((PAGE.parents[1] / "xla_explorer" / room).rglob("*.py"))
    found = {
        f"{path.name}: {text}"
        for path in files
        for text in _messages(path)
        if MANNERED.search(text)
    }
    found -= {"overrides.py: override.wish"}  # an old name, which goes with the next release
    assert files and not found, "say what must be, then what was found (see the page)"
