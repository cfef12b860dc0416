"""The documentation of public names: numpydoc sections with every parameter, running examples."""

from __future__ import annotations

import ast
import doctest
import inspect
import itertools
import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
import xla_explorer.hlo
import xla_explorer.plugin  # `xe.plugin`

# Requirements of examples beyond the base installation.
NEEDS = {"from_jax": "jax", "jit": "jax"}
PACKAGE = Path(xe.__file__).parent
SECTIONS = (
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "See Also",
    "Notes",
    "References",
    "Examples",
)


def _documented() -> list[str]:
    names = [*xe.__all__, *[f"hlo.{name}" for name in xla_explorer.hlo.__all__], "plugin.Journal"]
    return [
        name
        for name in names
        if name not in ("__version__", "load_ipython_extension") and _is_own(attrgetter(name)(xe))
    ]


def _is_own(thing: Any) -> bool:
    return (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith(
        "xla_explorer"
    )


def sections(documentation: str) -> dict[str, list[str]]:
    """Return the lines of each section by its title; those in front of the first by ''."""
    found: dict[str, list[str]] = {"": []}
    lines = documentation.splitlines()
    title = ""
    for k, line in enumerate(lines):
        if line in SECTIONS and k + 1 < len(lines) and lines[k + 1] == "-" * len(line):
            title = line
            assert title not in found, f"two sections {title}"
            found[title] = []
        elif not (title and not found[title] and set(line) == {"-"}):
            found[title].append(line)
    return found


NAMES = _documented()


@pytest.mark.parametrize("name", NAMES)
def test_sections(name: str) -> None:
    thing = attrgetter(name)(xe)
    found = sections(inspect.getdoc(thing) or "")
    summary = found[""][0]
    assert (summary.endswith((".", "`.")) and summary[0].isupper()) or summary.startswith("`"), (
        summary
    )
    assert ">>> " in "\n".join(found.get("Examples", ())), "an example is wanted"
    headings = [line for line in found.get("Parameters", ()) if line and not line.startswith(" ")]
    named = [part.strip() for line in headings for part in line.split(" : ")[0].split(",")]
    if inspect.isfunction(thing):
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        signature = inspect.signature(thing)
        given = [
            marks.get(parameter.kind, "") + parameter.name
            for parameter in signature.parameters.values()
        ]
        assert named == given or sorted(named) == sorted(given), (
            f"documented {named}, the signature has {given}"
        )
        assert signature.return_annotation in ("None", None) or {"Returns", "Yields"} & set(
            found
        ), "what it returns is wanted"
    elif not issubclass(thing, BaseException):
        own = set(inspect.signature(thing).parameters)
        assert set(named) <= own, f"{sorted(set(named) - own)} is not in the signature"


@pytest.mark.parametrize("name", NAMES)
def test_the_example_runs(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, runs_here: None
) -> None:
    if name in NEEDS:
        pytest.importorskip(
            NEEDS[name],
            reason=f"{NEEDS[name]} is not installed: the example of xe.{name} is not run",
        )
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(
        inspect.getdoc(attrgetter(name)(xe)) or "", {}, f"xe.{name}", None, None
    )
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
        example, out=told.append
    )
    assert example.examples and not told, "".join(told)


@pytest.mark.parametrize(
    "broken", ["Parameters\n----------\nx\n    A.\n\nParameters\n----------\ny\n    B."]
)
def test_a_section_is_there_once(broken: str) -> None:
    with pytest.raises(AssertionError, match="two sections"):
        sections(broken)


def test_no_docstring_breaks_off_in_the_middle_of_a_sentence() -> None:
    """A docstring has no line of one or two words whose sentence goes on in the next line.

    A re-wrap once left sentences in such pieces.
    """
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        quoted = re.findall(r'^ *r?"""(.*?)"""|"""(?:.*?)"""', text, re.MULTILINE | re.DOTALL)
        if any(
            _breaks(inspect.cleandoc(documentation)) for documentation in quoted
        ):  # reading every file as Python would take seconds
            nodes = [
                node
                for node in ast.walk(ast.parse(text))
                if isinstance(
                    node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
                )
            ]
            assert [
                found for node in nodes for found in _breaks(ast.get_docstring(node) or "")
            ] == [], path.relative_to(PACKAGE)


def _breaks(documentation: str) -> list[tuple[str, str]]:
    """Return the pairs of lines between which a sentence of the documentation breaks off.

    Rows of a table, between lines of `=`, are no sentences.
    """
    documentation = re.sub(r"^=+  =.*^=+  =+$", "", documentation, flags=re.MULTILINE | re.DOTALL)
    return [
        pair
        for pair in itertools.pairwise(documentation.split("\nExamples\n---")[0].splitlines())
        if broken(*pair)
    ]


def broken(this: str, following: str) -> bool:
    """Return True if a line of prose ends early, although the next word had room in it."""
    if (
        this[:1] in ("", " ", "@", ">", "-", ".")
        or following[:1] in ("", " ", "-", "=", "*", "|", ">")
        or this in SECTIONS
        or "  " in this
    ):
        return False
    return (
        not this.endswith((".", ":", ";", ")", "|"))
        and len(this) + 1 + len(following.split()[0]) <= 60
    )


def test_a_broken_sentence_is_found() -> None:
    assert broken("constant", "with one value for all elements") and not broken(
        "opcodes match in either order.", "Next."
    )
