"""The glossary: sorted entries, each with its source, and the contributors' terms."""

from __future__ import annotations

import re
from pathlib import Path

from xla_explorer.compiler.codegen.nest.schedule_text import DIRECTIVES

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^(\S.*)\n  (.+(?:\n  .+)*)$", TEXT.partition(":::{glossary}\n")[2], re.M)


def test_entries_are_sorted_and_unique() -> None:
    terms = [term.casefold() for term, _ in ENTRIES]
    assert len(terms) > 100
    assert terms == sorted(set(terms))


def test_every_entry_names_its_source_or_says_why_none_fits() -> None:
    without = [
        term
        for term, text in ENTRIES
        if not re.search(r"\. Source: (?:none fits: \S.{10,}|(?!none)\S.{3,})\.$", text)
    ]
    assert without == []


def test_each_definition_is_short() -> None:
    definitions = {term: text.partition(" Source: ")[0] for term, text in ENTRIES}
    sentences = {
        s: term for term, text in definitions.items() for s in re.split(r"(?<=[.;:]) ", text)
    }
    assert {s: term for s, term in sentences.items() if len(s.split()) > 25} == {}


def test_the_terms_for_contributors_are_explained() -> None:
    page = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = page[page.index("| write | not |") :].split("\n\n")[0].splitlines()[2:]
    cells = [re.sub(r"\(.*?\)", "", row.split("|")[1]) for row in rows]
    terms = [term.strip().removeprefix("a ") for cell in cells for term in re.split("[,;]", cell)]
    every = re.sub(r"\s+", " ", TEXT).casefold()
    assert [term for term in terms if term.removesuffix(" value").casefold() not in every] == []


def test_every_directive_has_its_term() -> None:
    assert [name for name in DIRECTIVES if f"`{name}`" not in TEXT] == []
