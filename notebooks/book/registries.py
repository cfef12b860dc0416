"""The tables of the package as pages: passes, rules, decisions, opcodes, commands and others.

Each registry reads the table of the package when the book is built; nothing is listed here.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import os
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import xla_explorer as xe
from xla_explorer.backends.llvm.object_cache import CACHES
from xla_explorer.cli.main import make_parser
from xla_explorer.compiler.decisions.kinds import KINDS
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.explorer.environment import VARIABLES
from xla_explorer.explorer.rules.rule_book import rule_book
from xla_explorer.explorer.sessions.file_formats import FORMATS
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.pjrt.plugin_options import PREFIX, PluginOptions


class Entry(NamedTuple):
    """One row of a registry.

    Attributes
    ----------
    name : str
        As in programs.
    text : str
        A description, in Markdown.
    facts : tuple of (str, str)
        Titles and texts in Markdown; pairs with an empty text are skipped.
    code : str
        A code block; empty for none.
    language : str
        Of the code.
    """

    name: str
    text: str
    facts: tuple[tuple[str, str], ...] = ()
    code: str = ""
    language: str = "text"

    def markdown(self) -> list[str]:
        """Return the section of the entry."""
        lines = [f"## `{self.name}`", "", self.text, ""]
        lines += [f"- {title}: {text}" for title, text in self.facts if text]
        return [
            *lines,
            "",
            *([f"```{self.language}", self.code.rstrip(), "```", ""] if self.code else []),
        ]


class Registry(NamedTuple):
    """A table of the package, with its page, title, introduction and rows."""

    page: str
    title: str
    introduction: str
    entries: Callable[[], Iterable[Entry]]

    def text(self) -> str:
        """Return the page in Markdown."""
        lines = [f"# {self.title}", "", self.introduction, ""]
        for entry in self.entries():
            lines += entry.markdown()
        return "\n".join(lines)


def plain(text: str) -> str:
    """Return prose as Markdown, with markup outside of backticks escaped."""
    parts = re.split(r"(``.*?``|`[^`]*`)", " ".join(text.split()))
    parts[::2] = [re.sub(r"([*_<>$\[\]{}|#\\])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def code(*names: object) -> str:
    """Return names as code, separated by commas."""
    return ", ".join([f"`{name}`" for name in names])


def _passes() -> Iterable[Entry]:
    for row in xe.passes().itertuples(index=False):
        name, also, options, summary = row
        known = tuple(part for part in options.split(", ") if part)
        yield Entry(
            name,
            plain(summary),
            (("other names", code(*also.split(", ")) if also else ""), ("options", code(*known))),
        )


def _rules() -> Iterable[Entry]:
    book = rule_book()
    for name, rule in sorted(declared_rules().items()):
        facts = (
            ("exactness", str(rule.exactness)),
            ("checked on", plain(rule.tried)),
            ("layouts", rule.layout),
            ("written in", code(book[name][1])),
        )
        yield Entry(
            name,
            plain(rule.summary),
            facts,
            f"{rule.before.strip()}\n\n// becomes\n\n{rule.after.strip()}",
            "hlo",
        )


def _decisions() -> Iterable[Entry]:
    for kind, row in KINDS.items():
        count = (
            f"{len(row.reasons)}: {code(*row.reasons)}"
            if row.reasons
            else "none: recorded, never refused"
        )
        decided = "code generation" if row.by_code else "a pass"
        yield Entry(
            kind,
            plain(row.question),
            (
                ("decided by", decided),
                ("codes", count),
                ("shown by", code(f'session.decisions("{kind}")')),
            ),
        )


def _opcodes() -> Iterable[Entry]:
    for name, row in OPCODES.items():
        operands = "any number" if row.arity is None else str(row.arity)
        traits = "; ".join(sorted(plain(trait.value) for trait in row.traits))
        own = [attribute for attribute in row.attributes if attribute not in row.required]
        facts = (
            ("family", row.family.value),
            ("operands", operands),
            ("required attributes", code(*row.required)),
            ("other attributes", code(*own)),
            ("calls", code(*row.called)),
            ("traits", traits),
            ("the result's shape may be left out in text", "yes" if row.infers_in_text else ""),
            ("source", plain(row.source)),
        )
        yield Entry(name, plain(row.summary), facts)


def _element_types() -> Iterable[Entry]:
    for name, row in PRIMITIVE_TYPES.items():
        held = f"`{row.dtype}`" if row.is_array_type else ""
        yield Entry(
            name,
            f"{row.kind.value.capitalize()}, {row.bits} bits.",
            (("numpy's element type", held), ("in Python", f"`xe.{name}[2, 3]` is a shape")),
        )


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command of `xla-explorer`."""
    action = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)


def _commands() -> Iterable[Entry]:
    action = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"  # the same page on every terminal
    try:
        helps = {name: parser.format_help() for name, parser in commands().items()}
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    for name, text in helps.items():
        yield Entry(f"xla-explorer {name}", plain(summaries[name].capitalize()) + ".", (), text)


def _environment() -> Iterable[Entry]:
    for name, row in VARIABLES.items():
        yield Entry(
            name, f"Says {row.meaning}.", (("values", row.values), ("without it", row.default))
        )
    documented = dict(
        re.findall(
            r"^(\w+) : .*\n((?:    .*\n?)+)", inspect.getdoc(PluginOptions) or "", re.MULTILINE
        )
    )
    for field in dataclasses.fields(PluginOptions):
        facts = (
            ("without it", code(field.default) if field.default not in ("", None) else ""),
            ("in Python", code(f"pjrt.options.{field.name}")),
        )
        yield Entry(
            PREFIX + field.name.upper(),
            f"For the plugin of JAX. {plain(documented[field.name])}",
            facts,
        )


def _files() -> Iterable[Entry]:
    for name, row in FORMATS.items():
        yield Entry(
            name,
            f"Holds {row.holds}.",
            (
                ("names end in", code(*row.suffixes)),
                ("read by", row.read_by),
                ("written by", row.written_by),
            ),
        )


def _caches() -> Iterable[Entry]:
    for name, row in CACHES.items():
        yield Entry(
            name,
            f"Holds {row.holds}.",
            (("at most", f"{row.max_bytes >> 20} MiB" if row.max_bytes else "a few KiB"),),
        )


def _options() -> Iterable[Entry]:
    for name, _, meaning in xe.options.records().rows:
        yield Entry(name, plain(f"{meaning}."), (("set with", code(f"xe.options.{name} = ...")),))


REGISTRIES = (
    Registry(
        "passes",
        "Passes",
        'Every registered pass. `xe.passes()` returns this table. Pipelines name passes: `xe.compile(module, passes="algsimp,cse,dce")`.',
        _passes,
    ),
    Registry(
        "rules",
        "Rewrite rules",
        "Every rule, with a program before and after it. `session.override(skip_rules=[NAME])` skips a rule; "
        "`session.passes.hot_rules()` counts applied rules.",
        _rules,
    ),
    Registry(
        "decisions",
        "Kinds of decision",
        "Every kind of decision that is recorded. [The codes of all decisions](../fusion_reasons.md) explains the codes.",
        _decisions,
    ),
    Registry(
        "opcodes",
        "Opcodes",
        "Every opcode. [The status of all opcodes](../opcode_status.md) shows which backends support each.",
        _opcodes,
    ),
    Registry(
        "element_types",
        "Element types",
        "Every element type of HLO. Types of less than 8 bits are stored in one byte per element.",
        _element_types,
    ),
    Registry(
        "commands",
        "Commands",
        "`xla-explorer COMMAND --help` prints the same. Exit codes: 0 success, 1 failure, 2 invalid input, with one diagnostic on stderr.",
        _commands,
    ),
    Registry(
        "environment",
        "Environment variables",
        "Every variable that the package reads. `xla-explorer doctor` reports misspelt ones.",
        _environment,
    ),
    Registry("files", "File formats", "The file formats that are read and written.", _files),
    Registry(
        "caches",
        "Caches",
        "Files kept between processes, in `xla_explorer` under `$XDG_CACHE_HOME` (`~/.cache`), `~/Library/Caches` or "
        "`%LOCALAPPDATA%`. The folder is private to the user, shared by processes, and may be deleted at any time. "
        "`XLA_EXPLORER_CACHE=off`, or `cache=False` of a call, disables caching.",
        _caches,
    ),
    Registry(
        "options",
        "Options",
        "The defaults of every compilation: `xe.options`.",
        _options,
    ),
)
