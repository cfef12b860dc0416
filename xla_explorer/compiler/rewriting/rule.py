"""Rewrite rules as data: pattern, guards, build function, name, summary, picture and claim.

The name of the build function, in kebab case, is the rule's public id. The docstring is the
sentence shown to people. `before` and `after` are the picture and a test. `exactness` is the claim
that a property test checks against the evaluator.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.matcher import Matcher, compile_pattern, may_match
from xla_explorer.compiler.rewriting.patterns import Pattern
from xla_explorer.compiler.rewriting.recorded_claims import claim_text
from xla_explorer.foundation.reason import Check, Predicate, Reason, check_name, checklist, place_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OpcodeSpec

Captures = tuple[HloInstruction, ...]
BuildResult = HloInstruction | Reason | None


class Rule:
    """One rewrite rule, made by the decorator `rule`.

    name: public id. summary: its sentence. pattern, exactness, before, after: as declared. guards:
    the checks by name, those of `within_range` last: without them a value may leave the range of
    its type. layout: `insensitive` or `sensitive` if the rule holds only before or only after
    layout assignment, else empty.
    """

    __slots__ = (
        "__weakref__",
        "_source",
        "_tried",
        "after",
        "before",
        "build",
        "checks",
        "exactness",
        "function",
        "guards",
        "layout",
        "match",
        "name",
        "pattern",
        "summary",
        "within_range",
    )

    def __init__(
        self,
        function: Callable[..., BuildResult],
        pattern: Pattern,
        exactness: Exactness,
        when: Iterable[Predicate],
        before: str,
        after: str,
        layout: str,
        within_range: Iterable[Predicate] = (),
    ) -> None:
        self.name = function.__name__.rstrip("_").replace("_", "-")
        self.summary = inspect.cleandoc(function.__doc__ or "")
        self.pattern, self.exactness, self.before, self.after, self.layout = (
            pattern,
            exactness,
            before,
            after,
            layout,
        )
        self.function = function
        self.within_range: tuple[Predicate, ...] = tuple(within_range)
        self.guards: tuple[Predicate, ...] = (*when, *self.within_range)
        # Compiled at the first match: most programs reach few of the rules, and compiling all takes
        # a tenth of a second.
        self.match: Matcher = self._compile_and_match
        self._source: str | None = None
        self._tried = ""
        captured = pattern.captures
        self.build: Callable[[HloComputation, HloInstruction, Captures], BuildResult] = _by_name(
            function, captured
        )
        self.checks: tuple[Callable[[HloInstruction, Captures], Reason | None], ...] = tuple(
            [_by_name(guard, captured, without_computation=True) for guard in self.guards]
        )

    def with_guards(self, *more: Predicate, within_range: bool = True) -> Rule:
        """Return the rule with more guards, and with or without those of `within_range`."""
        when = self.guards[: len(self.guards) - len(self.within_range)]
        kept = self.within_range if within_range else ()
        return Rule(
            self.function,
            self.pattern,
            self.exactness,
            (*when, *more),
            self.before,
            self.after,
            self.layout,
            kept,
        )

    def _compile_and_match(self, i: HloInstruction) -> Captures | None:
        self.match, self._source = compile_pattern(self.pattern)
        return self.match(i)

    @property
    def source(self) -> str:
        """The generated matcher, as Python."""
        if self._source is None:
            self.match, self._source = compile_pattern(self.pattern)
        return self._source

    @property
    def tried(self) -> str:
        """The values on which the claim was checked, in words; empty if it was not."""
        return self._tried or claim_text(self.name, str(self.exactness))

    @tried.setter
    def tried(self, words: str) -> None:
        self._tried = words

    def refusal(self, i: HloInstruction, captures: Captures) -> Reason | None:
        """Return the first guard's refusal of a match, else None."""
        for check in self.checks:
            reason = check(i, captures)
            if reason is not None:
                return reason
        return None

    def checklist(self, i: HloInstruction, captures: Captures) -> tuple[Check, ...]:
        """Return the check of every guard for a match.

        The value of a check is the guard's arguments: the instruction, or captures.
        """
        named = {"instruction": i, **dict(zip(self.pattern.captures, captures, strict=True))}
        found = [Check("pattern-fits", True, str(self.pattern), place=place_of(self.function))]
        for guard, check in zip(self.guards, self.checks, strict=True):
            looked_at = [
                named[name] for name in inspect.signature(guard).parameters if name in named
            ]
            value = "; ".join([described(one) for one in looked_at])
            (check_result,) = checklist((functools.partial(check, i, captures),))
            found.append(
                check_result._replace(name=check_name(guard), value=value, place=place_of(guard))
            )
        return tuple(found)

    def __repr__(self) -> str:
        return f"<rule {self.name}: {self.pattern}>"


def _by_name(
    function: Callable[..., Any], captured: tuple[str, ...], *, without_computation: bool = False
) -> Callable[..., Any]:
    """Bind parameters by name: `computation`, `instruction`, and captures."""
    given = {"instruction": "i", **{name: f"c[{number}]" for number, name in enumerate(captured)}}
    if not without_computation:
        given["computation"] = "computation"
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in given:
            arguments.append(given[parameter.name])
        elif parameter.default is parameter.empty:
            raise TypeError(
                f"{function.__name__} has the parameter {parameter.name!r}, which must be one of "
                f"{', '.join(given)}: "
                f"the pattern captures {', '.join(captured) or 'nothing'}"
            )
    head = "lambda i, c:" if without_computation else "lambda computation, i, c:"
    return _binding(f"{head} function({', '.join(arguments)})")(function)


@functools.cache
def _binding(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the binder of a function for a text; most rules share a few texts."""
    made: Callable[[Callable[..., Any]], Callable[..., Any]] = eval(f"lambda function: {text}")
    return made


def rule(
    pattern: Pattern,
    *,
    exactness: Exactness,
    before: str,
    after: str,
    when: Iterable[Predicate] = (),
    layout: str = "",
    within_range: Iterable[Predicate] = (),
) -> Callable[[Callable[..., BuildResult]], Rule]:
    """Declare a rewrite rule of the package.

    `xe.rule` documents the arguments and checks example and claim, as a test does here.
    within_range: guards that the option `fast_math` and replays of XLA's decisions leave out.
    """

    def declare(function: Callable[..., BuildResult]) -> Rule:
        return Rule(function, pattern, exactness, when, before, after, layout, within_range)

    return declare


def _newest_cells(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules.

    A rule that a notebook cell declares again replaces the older one in place.
    """
    found: dict[tuple[str, int], Rule] = {}
    for number, one in enumerate(rules):
        found[one.name, 0 if one.function.__module__ == "__main__" else number + 1] = one
    return list(found.values())


class RuleSet:
    """An immutable list of rules, indexed by root opcode and, on demand, by operand opcodes."""

    __slots__ = ("_by_signature", "by_opcode", "name", "rules")

    def __init__(self, name: str, rules: Iterable[Rule]) -> None:
        self.name = name
        self.rules: tuple[Rule, ...] = tuple(_newest_cells(rules))
        names = [r.name for r in self.rules]
        if len(set(names)) < len(names):
            twice = {n for n in names if names.count(n) > 1}
            raise ValueError(f"rule names must be unique; twice: {', '.join(sorted(twice))}")
        table: dict[OpcodeSpec, list[Rule]] = {}
        for r in self.rules:
            for row in r.pattern.opcodes:
                table.setdefault(row, []).append(r)
        self.by_opcode: dict[OpcodeSpec, tuple[Rule, ...]] = {
            row: tuple(found) for row, found in table.items()
        }
        self._by_signature: dict[Any, tuple[Rule, ...]] = {}

    def candidates(self, i: HloInstruction) -> tuple[Rule, ...]:
        """Return the rules that may match by the opcodes of root and operands, in order.

        No matcher accepts an omitted rule; most instructions have no candidates.
        """
        operands = i.operands
        count = len(operands)
        signature: Any
        if count == 2:
            signature = (i.opcode, operands[0].opcode, operands[1].opcode)
        elif count == 1:
            signature = (i.opcode, operands[0].opcode)
        elif count < 6:
            signature = (i.opcode, *[o.opcode for o in operands])
        else:
            return self.by_opcode.get(i.opcode, ())
        found = self._by_signature.get(signature)
        if found is None:
            rules = self.by_opcode.get(i.opcode, ())
            found = self._by_signature[signature] = tuple(
                [r for r in rules if may_match(r.pattern, signature[1:])]
            )
        return found

    @classmethod
    def of_modules(cls, name: str, *modules: types.ModuleType) -> RuleSet:
        """Return all rules declared in the given Python modules, in the order of declaration."""
        return cls(
            name,
            [
                value
                for module in modules
                for value in vars(module).values()
                if isinstance(value, Rule)
            ],
        )

    def prepare(self) -> None:
        """Compile all matchers now rather than each at its first use.

        For the algebraic rules this takes about a tenth of a second.
        """
        for r in self.rules:
            r.source  # noqa: B018  # compiles

    def where(self, keep: Callable[[Rule], bool]) -> RuleSet:
        """Return the rules that a predicate keeps."""
        return RuleSet(self.name, [r for r in self.rules if keep(r)])

    def __getitem__(self, name: str) -> Rule:
        for r in self.rules:
            if r.name == name:
                return r
        raise KeyError(f"no rule is called {name!r} in {self.name}")

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        return f"<RuleSet {self.name}: {len(self.rules)} rules>"
