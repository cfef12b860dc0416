"""The time of each rewrite rule, from another run of the passes with a clock around every rule."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import PassControl, optimize
from xla_explorer.compiler.rewriting import Rule
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.compiler.rewriting.rule import BuildResult, Captures
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.rules.rule_book import rule_book
from xla_explorer.explorer.tables.rows import RuleCost, columns_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses

COLUMNS = columns_of(RuleCost)


class RuleTime:
    """The time of one rule in one pass.

    tried: instructions given to its matcher. fitted: those that the pattern matches. made: those
    that it replaced.
    """

    __slots__ = ("fitted", "made", "seconds", "tried")

    def __init__(self) -> None:
        self.seconds, self.tried, self.fitted, self.made = 0.0, 0, 0, 0


class _Timed:
    """A rule with a clock, with the interface that the driver calls."""

    __slots__ = ("_row", "_rule", "name")

    def __init__(self, rule: Rule, row: RuleTime) -> None:
        self._rule, self._row, self.name = rule, row, rule.name

    def _clocked(self, call: Callable[..., Any], *given: Any) -> Any:
        started = time.perf_counter()
        found = call(*given)
        self._row.seconds += time.perf_counter() - started
        return found

    def match(self, i: HloInstruction) -> Captures | None:
        found: Captures | None = self._clocked(self._rule.match, i)
        self._row.tried += 1
        self._row.fitted += found is not None
        return found

    def refusal(self, i: HloInstruction, captures: Captures) -> Reason | None:
        found: Reason | None = self._clocked(self._rule.refusal, i, captures)
        return found

    def build(
        self, computation: HloComputation, i: HloInstruction, captures: Captures
    ) -> BuildResult:
        found: BuildResult = self._clocked(self._rule.build, computation, i, captures)
        self._row.made += isinstance(found, HloInstruction)
        return found


class RuleClock:
    """Measures the times of rules, by pass and rule; `passes` has the whole time of each pass."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], RuleTime] = {}
        self.passes: dict[str, float] = {}
        self.now = ""
        self._made: dict[tuple[str, int], _Timed] = {}

    def begins(self, name: str) -> None:
        """Record the name of the pass that begins."""
        self.now = name

    def timed(self, rule: Rule) -> _Timed:
        """Return the rule with its clock, for the pass that runs."""
        key = (self.now, id(rule))
        if key not in self._made:
            # A matcher is compiled once per process: that time does not belong to this module.
            rule.source  # noqa: B018
            self._made[key] = _Timed(rule, self.rows.setdefault((self.now, rule.name), RuleTime()))
        return self._made[key]

    def run(self, module: HloModule, passes: RecordedPasses[RecordedPass]) -> None:
        """Run the passes of a compile on a copy of a module."""
        control: PassControl = copy.copy(passes.record.control)
        control.on_pass, control.timed = self.begins, self.timed
        trace = optimize(
            module,
            passes.pipeline,
            "passes",
            target=passes.record.target,
            control=control,
            keep_errors=True,
        )
        for step in trace.steps:
            self.passes[step.name] = self.passes.get(step.name, 0.0) + step.seconds


def clock_rules(passes: RecordedPasses[RecordedPass]) -> RuleClock:
    """Return the times of the rules of a compile."""
    clock = RuleClock()
    clock.run(passes[0].module, passes)
    return clock


def rule_times(
    passes: RecordedPasses[RecordedPass], others: Iterable[HloModule], *, idle: bool
) -> pandas.DataFrame:
    """Return the times of rules as a table: see `Passes.rule_times`."""
    sums: dict[tuple[str, str], list[Any]] = {}
    for module in (passes[0].module, *others):
        clock = RuleClock()
        clock.run(module, passes)
        for (name, rule), row in clock.rows.items():
            found = sums.setdefault((rule, name), [0.0, 0, 0, 0, 0])
            for k, value in enumerate(
                (row.seconds * 1e3, row.tried, row.fitted, row.made, int(row.made > 0))
            ):
                found[k] += value
    whole = sum([found[0] for found in sums.values()]) or 1.0
    book = rule_book()
    rows = [
        [rule, name, v[0], v[0] / whole, *v[1:], *book.get(rule, ("", ""))]
        for (rule, name), v in sums.items()
    ]
    if idle:
        tried = {rule for rule, _ in sums}
        rows += [
            [rule, "", 0.0, 0.0, 0, 0, 0, 0, *book[rule]]
            for rule in declared_rules()
            if rule not in tried
        ]
    return wide_frame(sorted(rows, key=lambda row: -row[2]), COLUMNS)
