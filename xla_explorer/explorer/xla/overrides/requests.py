"""Requests of a user about real XLA's program, as data that a file can hold."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from xla_explorer.compiler.pipeline.default_pipelines import as_pipeline
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest

VERSION: Final = 1
_FIELDS: Final = ("fuse", "forbid", "rules", "passes", "schedule_order", "when", "flags", "jaxlib")
_VALUES: Final = (bool, int, float, str)
_FLAG: Final = re.compile(r"xla_[a-z0-9_]+\Z")


@dataclass(frozen=True)
class Requests:
    """The changes to XLA's program that a user requests.

    fuse, forbid: pairs (producer, consumer) of instruction names. rules: rewrite rules. passes: a
    pipeline, or None. schedule_order: names of instructions in the order to use. when: a pattern of
    module names, such as `jit_step*`. flags: of XLA, which act in a new process that reads them
    from a file. jaxlib: the version that they are for; XLA ends a process that has unknown flags.
    """

    fuse: tuple[tuple[str, str], ...] = ()
    forbid: tuple[tuple[str, str], ...] = ()
    rules: tuple[Rule, ...] = ()
    passes: PassPipeline | None = None
    schedule_order: tuple[str, ...] = ()
    when: str = "*"
    flags: tuple[tuple[str, Any], ...] = ()
    jaxlib: str = ""

    def concern(self, name: str) -> bool:
        """Return True if `when` matches the name of a module."""
        return fnmatch.fnmatchcase(name, self.when)

    def by_name(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return (word, names) of each request that names instructions."""
        rows: list[tuple[str, tuple[str, ...]]] = [("fuse", pair) for pair in self.fuse]
        rows += [("forbid", pair) for pair in self.forbid]
        return [*rows, *([("schedule_order", self.schedule_order)] if self.schedule_order else [])]

    def to_data(self) -> dict[str, Any]:
        """Return the requests as JSON data."""
        return {
            "version": VERSION,
            "fuse": [list(pair) for pair in self.fuse],
            "forbid": [list(pair) for pair in self.forbid],
            "rules": [rule.name for rule in self.rules],
            "passes": str(self.passes) if self.passes is not None else None,
            "schedule_order": list(self.schedule_order),
            "when": self.when,
            "flags": dict(self.flags),
            "jaxlib": self.jaxlib,
        }


def make_requests(
    fuse: Iterable[Sequence[Any]] = (),
    forbid: Iterable[Sequence[Any]] = (),
    rules: Iterable[Rule | str] = (),
    passes: Any = None,
    schedule_order: Iterable[Any] = (),
    when: str = "*",
    flags: Mapping[str, Any] | None = None,
    jaxlib: str = "",
) -> Requests:
    """Check the arguments of `xe.xla.overrides`. XlaExplorerError names the wrong one."""
    if not isinstance(when, str):
        raise XlaExplorerError(
            f"when must be a pattern of module names, got {type(when).__name__}",
            'write when="jit_step*"',
        )
    made = Requests(
        _pairs("fuse", fuse),
        _pairs("forbid", forbid),
        tuple([_rule(one) for one in ([rules] if isinstance(rules, (str, Rule)) else rules)]),
        as_pipeline(passes) if passes is not None else None,
        tuple([_name(one) for one in schedule_order]),
        when,
        tuple([_flag(*one) for one in (flags or {}).items()]),
        str(jaxlib),
    )
    both = set(made.fuse) & set(made.forbid)
    if both:
        producer, consumer = sorted(both)[0]
        raise XlaExplorerError(
            f"%{producer} and %{consumer} stand under fuse and under forbid",
            "keep one of the two",
        )
    return made


def read_requests(path: str | Path) -> Requests:
    """Read a file that `XlaOverrides.save` wrote. XlaExplorerError names file and field."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise XlaExplorerError(
            f"cannot read the overrides {path}: {problem.strerror}", "check the path"
        ) from problem
    except ValueError as problem:
        raise XlaExplorerError(
            f"the overrides {path} are not JSON: {problem}",
            "write the file with .save() of xe.xla.overrides(...)",
        ) from problem
    if not isinstance(data, Mapping) or data.get("version") != VERSION:
        raise XlaExplorerError(
            f"the overrides {path} must be a JSON object with version {VERSION}",
            "write the file with .save() of xe.xla.overrides(...)",
        )
    unknown = sorted(set(data) - {*_FIELDS, "version"})
    if unknown:
        raise XlaExplorerError(
            f"the overrides {path} have the unknown field {unknown[0]!r}",
            f"its fields are {', '.join(_FIELDS)}",
        )
    return make_requests(**{name: data[name] for name in _FIELDS if name in data})


def _pairs(word: str, pairs: Iterable[Sequence[Any]]) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise XlaExplorerError(
                f"{word} must list pairs (producer, consumer), got {pair!r}"[:200],
                f'write {word}=[("add.1", "multiply.2")]',
            )
        found.append((_name(pair[0]), _name(pair[1])))
    return tuple(found)


def _flag(name: Any, value: Any) -> tuple[str, Any]:
    if not isinstance(name, str) or _FLAG.match(name) is None or not isinstance(value, _VALUES):
        raise XlaExplorerError(
            f"flags must map names to a number, a text or true, got {name!r}: {value!r}"[:200],
            'write "flags": {"xla_cpu_use_fusion_emitters": false}',
        )
    return name, value


def _name(given: Any) -> str:
    """Return the name of an instruction without its %."""
    name = getattr(given, "name", given)
    if not isinstance(name, str) or not name:
        raise XlaExplorerError(
            f"an instruction is named by a text, got {type(given).__name__}",
            'write a name of the module that XLA prints, such as "add.1"',
        )
    return name.removeprefix("%")


def _rule(given: Rule | str) -> Rule:
    if isinstance(given, Rule):
        return given
    known = declared_rules()
    if given not in known:
        near = nearest(str(given), known)
        raise XlaExplorerError(
            f"the rule {given!r} is not known",
            f"did you mean {' or '.join(near)}?" if near else "declare one with @xe.rule",
        )
    return known[given]
