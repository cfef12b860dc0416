"""A rule tried on a module: where it matches, where it nearly matches, and what it would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xla_explorer.compiler.rewriting import Rule
from xla_explorer.compiler.rewriting.near_misses import fit
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table, printed
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.questions.applicable import tried
from xla_explorer.hlo.module import HloModule, ModuleSnapshot

_COLUMNS = ["outcome", "instruction", "becomes, or why not", "hlo"]
MOST_NEAR = 20
"""Near misses that are shown, the nearest first."""


class RuleMatch(NamedTuple):
    """outcome: `rewrites`, `refused` (the pattern fits, a guard or the build says no) or `near` (the root fits, something below does not).
    becomes: what would take its place. why: why not. fits, nodes: how much of the pattern fits.
    """

    outcome: str
    instruction: str
    becomes: str
    why: str
    fits: int
    nodes: int
    hlo: str


class RuleTrial(Report):
    """The answer: `rule` (its name), `matches` (RuleMatch, what it rewrites first), `instructions` (how many were asked), `where`."""

    def __init__(
        self, rule: str, pattern: str, where: str, matches: Sequence[RuleMatch], instructions: int
    ) -> None:
        self.rule, self.pattern, self.where, self.matches, self.instructions = (
            rule,
            pattern,
            where,
            tuple(matches),
            instructions,
        )

    def __iter__(self) -> Iterator[RuleMatch]:
        return iter(self.matches)

    def of(self, outcome: str) -> list[RuleMatch]:
        """The matches of one outcome."""
        return [match for match in self.matches if match.outcome == outcome]

    def headline(self) -> str:
        """How often it would act, would be refused, and nearly fits."""
        counts = ", ".join([f"{said} {len(self.of(word))}" for word, said in _SAID.items()])
        return f"{self.rule} {self.where}, {self.instructions} instructions: {counts}"

    def records(self) -> Table:
        """A row a match: outcome, instruction, becomes, why, fits, nodes, hlo."""
        return Table(list(RuleMatch._fields), [tuple(match) for match in self.matches])

    def blocks(self) -> Blocks:
        """What it would do, what refuses it, and the nearest misses."""
        yield printed(Sentence(self.pattern))
        near = self.of("near")
        shown = [match for match in self.matches if match.outcome != "near"] + near[:MOST_NEAR]
        marks = [
            _MARK[m.outcome] + (f" {m.fits} of {m.nodes}" if m.outcome == "near" else "")
            for m in shown
        ]
        rows = [
            (mark, m.instruction, m.becomes or m.why, m.hlo)
            for mark, m in zip(marks, shown, strict=True)
        ]
        left = len(near) - MOST_NEAR
        yield Table(
            _COLUMNS, rows, "", f"{left} further near misses: .to_frame()" if left > 0 else ""
        )


_SAID = {"rewrites": "rewritten", "refused": "refused", "near": "nearly"}
_MARK = {"rewrites": "✓ rewrites", "refused": "✗ refused", "near": "~ near"}


def rule_trial(rule: Rule, snapshot: ModuleSnapshot, where: str) -> RuleTrial:
    """Ask a rule about every instruction.

    Each match is built on a copy, so the answer is what it would really do there; one that an
    earlier match would change is asked as the module is now.
    """
    module = HloModule.from_snapshot(snapshot)
    found, count = [], 0
    for i in module.instructions():
        count += 1
        if rule.pattern.opcodes and i.opcode not in rule.pattern.opcodes:
            continue
        captures = rule.match(i)
        near = fit(rule.pattern, i)
        outcome, becomes, why = (
            "near",
            "",
            near.why or "captures of one name are different instructions",
        )
        if captures is not None:
            reason = rule.refusal(i, captures)
            if reason is None:
                reason, becomes = tried(rule, snapshot, i.id)
            outcome, why = ("rewrites", "") if reason is None else ("refused", str(reason))
        elif near.nodes == 1:
            continue  # a pattern of one node: everything of that opcode would be near
        found.append(RuleMatch(outcome, f"%{i.name}", becomes, why, near.fits, near.nodes, str(i)))
    order = list(_SAID)
    found.sort(key=lambda match: (order.index(match.outcome), -match.fits))
    return RuleTrial(rule.name, str(rule.pattern), where, found, count)
