"""The book: its contents list every page, its tables every row; its checks find faults."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import xla_explorer as xe
from notebooks.book.checks import broken_links, loaded_from_elsewhere
from notebooks.book.registries import REGISTRIES, commands, plain
from tests.api.public_api import names
from xla_explorer.backends.llvm.object_cache import CACHES
from xla_explorer.compiler.decisions.kinds import KINDS
from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.explorer.environment import VARIABLES
from xla_explorer.explorer.sessions.file_formats import FORMATS
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.pjrt.plugin_options import PREFIX, PluginOptions

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
ROWS: dict[str, Iterable[str]] = {
    "passes": {cls.name for cls in registered_passes().values()},
    "rules": declared_rules(),
    "decisions": KINDS,
    "opcodes": OPCODES,
    "element_types": PRIMITIVE_TYPES,
    "commands": [f"xla-explorer {name}" for name in commands()],
    "environment": [
        *VARIABLES,
        *[PREFIX + field.name.upper() for field in dataclasses.fields(PluginOptions)],
    ],
    "files": FORMATS,
    "caches": CACHES,
    "options": [name for name in dir(xe.options) if name != "set"],
}


def test_every_registry_is_asked() -> None:
    assert {registry.page for registry in REGISTRIES} == set(ROWS)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.page)
def test_every_row_has_an_entry_with_a_text(registry: object) -> None:
    text = registry.text()
    entries = dict(re.findall(r"^## `(.+)`\n\n(.+)$", text, re.MULTILINE))
    assert set(ROWS[registry.page]) <= set(entries)
    assert [name for name, first in entries.items() if not first.strip()] == []


def _listed(page: Path) -> list[Path]:
    """Return the pages in the contents of a page."""
    found = []
    for block in re.findall(
        r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        for line in block.splitlines():
            name = re.sub(r"^.*<(.+)>$", r"\1", line.strip())
            if name and not name.startswith(":"):
                found.append((page.parent / name).resolve())
    return found


def test_every_page_is_in_the_contents() -> None:
    pages = [
        path
        for path in NOTEBOOKS.rglob("*")
        if path.suffix in (".md", ".ipynb")
        and "book" not in path.parts
        and "reference" not in path.parts
    ]
    every = [name for path in pages if path.suffix == ".md" for name in _listed(path)]
    listed = set(every)
    assert [name for name in listed if every.count(name) > 1] == []
    made = {path for path in listed if "reference" in path.parts}  # when the book is built
    tops = {
        NOTEBOOKS / "index",
        NOTEBOOKS / "fusion_reasons",
        NOTEBOOKS / "opcode_status",
    }  # the last two by the reference
    there = {path.with_suffix("") for path in pages}
    assert there - listed - tops == set()
    assert listed - there - made == set()


def test_a_page_for_each_public_name() -> None:
    pytest.importorskip(
        "numpydoc", reason="numpydoc is not installed: the reference of names is not made"
    )
    from notebooks.book.member_examples import EXAMPLES, WITHOUT
    from notebooks.book.names import GROUPS, documentation_of, name_pages

    pages = name_pages()
    text = "\n".join(pages.values())
    # The members of `session.passes[k]` name it as their module: without it they have no anchor.
    described = set(re.findall(r"^\.\. py:\w+:: ([\w.]+)", text, re.MULTILINE))
    described |= {
        f"{module}.{name}"
        for name, module in re.findall(
            r"^\.\. py:\w+:: (\w+).*\n   :module: (.+)$", text, re.MULTILINE
        )
    }
    assert [name for name, _ in names() if name not in GROUPS and name not in described] == []
    documented = {name for name, thing in names() if ">>> " in documentation_of(thing)}
    assert [
        name for name, _ in names() if name not in {*documented, *EXAMPLES, *GROUPS, *WITHOUT}
    ] == []
    assert set(EXAMPLES) - {name for name, _ in names()} == set()
    assert ":Parameters:" in pages["xe/xe.compile.rst"] and ">>> " in pages["xe/xe.compile.rst"]


# IPython calls it; its arguments are those of another function.
WITHOUT_PARAMETERS = {"xe.load_ipython_extension", "session.passes[k].picture"}


def test_every_public_call_describes_its_parameters_in_a_section() -> None:
    missing = set()
    for name, thing in names():
        if inspect.isroutine(thing) and set(inspect.signature(thing).parameters) - {"self"}:
            if "Parameters\n----------" not in (inspect.getdoc(thing) or ""):
                missing.add(name)
    assert missing == WITHOUT_PARAMETERS


def test_prose_is_no_markup_outside_of_code() -> None:
    assert plain("a_b `*x*` <c> $d") == r"a\_b `*x*` \<c\> \$d"


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#there">good</a><a href="b.html#not">bad</a><a href="c.html">bad</a>'
    )
    (tmp_path / "b.html").write_text(
        '<h2 id="there">B</h2><a href="https://example.org/">outside</a>'
    )
    followed, broken = broken_links(tmp_path)
    assert followed == 3
    assert sorted(broken) == ["a.html: nothing is at b.html#not", "a.html: nothing is at c.html"]


def test_what_is_loaded_from_a_network_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<script src="https://cdn.example.org/x.js"></script><link rel="canonical" href="https://example.org/a"><img src="b.png">'
    )
    (tmp_path / "a.css").write_text("@import url(//example.org/font.css);")
    assert len(loaded_from_elsewhere(tmp_path)) == 2


def test_every_variable_that_the_package_reads_is_in_the_table() -> None:
    package = Path(xe.__file__).parent
    texts = [
        path.read_text(encoding="utf-8")
        for path in package.rglob("*.py")
        if path.name != "environment.py"
    ]
    read = {name for text in texts for name in re.findall(r"XLA_EXPLORER_[A-Z_]*[A-Z]", text)} - {
        PREFIX.rstrip("_")
    }
    options = {PREFIX + field.name.upper() for field in dataclasses.fields(PluginOptions)}
    assert read - set(VARIABLES) - options == set()
    assert {name for name in VARIABLES if name.startswith("XLA_EXPLORER_")} - read == set()
