"""A rule tried on a module: its matches, its near misses, and its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xla_explorer.compiler.rewriting import Rule
from xla_explorer.compiler.rewriting.near_misses import fit
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table, printed
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.rules.applicable import tried
from xla_explorer.hlo.module import HloModule, ModuleSnapshot

_COLUMNS = ["outcome", "instruction", "becomes", "reason", "hlo"]
MOST_NEAR = 20
"""Near misses that are shown, the nearest first."""


class RuleMatch(NamedTuple):
    """One instruction that a rule matches, or nearly.

    Attributes
    ----------
    outcome : str
        `rewrites`, `refused` (the pattern matches; a guard or the build refuses) or `near` (the
        root matches, an operand does not).
    becomes : str
        The replacement as HLO.
    reason : str
        The reason without one.
    fits, nodes : int
        Nodes of the pattern that match, and all of its nodes.
    """

    outcome: str
    instruction: str
    becomes: str
    reason: str
    fits: int
    nodes: int
    hlo: str


class RuleTrial(Report):
    """The matches of a rule in a module.

    Attributes
    ----------
    rule, where : str
        The name of the rule, and the step of the module.
    matches : list of RuleMatch
        The rewrites first, near misses last.
    instructions : int
        The number of instructions of the module.
    """

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
        """Return the matches of one outcome."""
        return [match for match in self.matches if match.outcome == outcome]

    def headline(self) -> str:
        """Return how often the rule applies, is refused, and nearly matches."""
        counts = ", ".join([f"{verb} {len(self.of(word))}" for word, verb in _VERBS.items()])
        return f"{self.rule} {self.where}, {self.instructions} instructions: {counts}"

    def records(self) -> Table:
        """Return a row per match: outcome, instruction, becomes, reason, fits, nodes, hlo."""
        return Table(list(RuleMatch._fields), [tuple(match) for match in self.matches])

    def blocks(self) -> Blocks:
        """Yield the rewrites, the refusals, and the nearest misses."""
        yield printed(Sentence(self.pattern))
        near = self.of("near")
        shown = [match for match in self.matches if match.outcome != "near"] + near[:MOST_NEAR]
        marks = [
            _MARK[m.outcome] + (f" {m.fits} of {m.nodes}" if m.outcome == "near" else "")
            for m in shown
        ]
        rows = [
            (mark, m.instruction, m.becomes, m.reason, m.hlo)
            for mark, m in zip(marks, shown, strict=True)
        ]
        left = len(near) - MOST_NEAR
        yield Table(
            _COLUMNS, rows, "", f"{left} further near misses: .to_frame()" if left > 0 else ""
        )


_VERBS = {"rewrites": "rewritten", "refused": "refused", "near": "nearly"}
_MARK = {"rewrites": "✓ rewrites", "refused": "✗ refused", "near": "~ near"}


def rule_trial(rule: Rule, snapshot: ModuleSnapshot, where: str) -> RuleTrial:
    """Try a rule on every instruction.

    Each match is built on a copy, so the answer is its real result. A match that an earlier one
    would change is tried on the unchanged module.
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
            continue  # for a pattern of one node every instruction of the opcode would be near
        found.append(RuleMatch(outcome, f"%{i.name}", becomes, why, near.fits, near.nodes, str(i)))
    order = list(_VERBS)
    found.sort(key=lambda match: (order.index(match.outcome), -match.fits))
    return RuleTrial(rule.name, str(rule.pattern), where, found, count)
