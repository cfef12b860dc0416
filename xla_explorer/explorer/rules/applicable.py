"""`applicable`: the rewrite rules whose pattern matches an instruction, each with its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.rewriting import Rule
from xla_explorer.compiler.rewriting.declared import known_rules
from xla_explorer.compiler.rewriting.removal import compatible_replacement, control_targets
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table, printed
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.rules.rule_book import rule_book
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Check, Reason, refuse
from xla_explorer.hlo.module import HloModule, ModuleSnapshot

_COLUMNS = ["rule", "applies", "code", "reason", "becomes", "sentence", "place"]


class ApplicableRule(NamedTuple):
    """A rule whose pattern matches.

    Attributes
    ----------
    rule : str
        The name of the rule.
    reason : Reason, optional
        The reason why it does not apply; None if it does.
    becomes : str
        The replacement of the instruction, as HLO.
    sentence, place : str
        The summary of the rule, and the file and line where it is written.
    checks : tuple of Check
        The results of its guards.
    """

    rule: str
    reason: Reason | None
    becomes: str
    sentence: str
    place: str
    checks: tuple[Check, ...] = ()


class ApplicableRules(Report):
    """The rules whose pattern matches an instruction, in the order in which the driver tries them.

    Attributes
    ----------
    instruction : str
        The instruction as HLO.
    where : str
        The step whose module was searched.
    rules : list of ApplicableRule
        The rules.
    """

    def __init__(self, instruction: str, where: str, found: Sequence[ApplicableRule]) -> None:
        self.instruction, self.where, self.rules = instruction, where, tuple(found)

    @property
    def names(self) -> list[str]:
        """The names of the rules that apply; the driver takes the first."""
        return [r.rule for r in self.rules if r.reason is None]

    def __getitem__(self, rule: str) -> ApplicableRule:
        """Return the row of a rule. KeyError if its pattern does not match."""
        for row in self.rules:
            if row.rule == rule:
                return row
        raise KeyError(
            f"the pattern of {rule!r} does not fit; fitting: {', '.join([r.rule for r in self.rules]) or 'none'}"
        )

    def __iter__(self) -> Any:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def records(self) -> Table:
        """Return a row for each rule: rule, applies, code, reason, becomes, sentence, place."""
        why = [(r.reason.code, r.reason.message) if r.reason else ("", "") for r in self.rules]
        rows = [
            (r.rule, r.reason is None, *refusal, r.becomes, r.sentence, r.place)
            for r, refusal in zip(self.rules, why, strict=True)
        ]
        return Table(_COLUMNS, rows)

    def blocks(self) -> Blocks:
        """Yield each rule with its result, or the reason why it does not apply."""
        yield printed(Sentence(self.instruction))
        if not self.rules:
            yield Sentence(f"{self.where}: no rule's pattern fits")
            return
        title = f"{self.where}: {len(self.names)} of {len(self.rules)} fitting rules would act"
        rows = [
            ("✗" if r.reason else "✓", r.rule, r.becomes, str(r.reason or ""), r.sentence)
            for r in self.rules
        ]
        yield Table(["verdict", "rule", "becomes", "reason", "sentence"], rows, title)


def applicable(
    passes: RecordedPasses[RecordedPass], instruction: int, step: int | None = None
) -> ApplicableRules:
    """Return the rules whose pattern matches an instruction, in the module after pass `step`.

    Each rule whose guards hold is applied to a copy, so the answer is its real result. step: 0 is
    the module as written; by default the last module that has the instruction.
    """
    where, snapshot = _snapshot_with(passes, instruction, step)
    layouts_fixed = any(p.name == "layout-assignment" and p.number <= where for p in passes)
    module = HloModule.from_snapshot(snapshot)
    i = module.find(instruction)
    book, found = rule_book(), []
    for rule in known_rules().values():
        if i.opcode not in rule.pattern.opcodes:
            continue
        captures = rule.match(i)
        if captures is None:
            continue
        reason, becomes = rule.refusal(i, captures), ""
        if reason is None and rule.layout == ("insensitive" if layouts_fixed else "sensitive"):
            word = "before" if layouts_fixed else "after"
            reason = refuse("other-layout-mode", f"{rule.name} holds {word} layout assignment only")
        if reason is None:
            reason, becomes = tried(rule, snapshot, instruction)
        sentence, place = book.get(rule.name, (rule.summary, ""))
        found.append(
            ApplicableRule(rule.name, reason, becomes, sentence, place, rule.checklist(i, captures))
        )
    name = f"after pass {where}, {passes[where].name}" if where else "as written"
    return ApplicableRules(str(i), name, found)


def _snapshot_with(
    passes: RecordedPasses[RecordedPass], instruction: int, step: int | None
) -> tuple[int, ModuleSnapshot]:
    steps = range(passes.last, -1, -1) if step is None else [step]
    for number in steps:
        snapshot = passes[number].snapshot
        if any(r.id == instruction for c in snapshot.computations for r in c.instructions):
            return number, snapshot
    name = passes.lineage.records[instruction].name
    raise XlaExplorerError(
        f"%{name} is not in the module after pass {step}",
        "leave out the pass: the last module with the instruction is searched",
    )


def tried(rule: Rule, snapshot: ModuleSnapshot, instruction: int) -> tuple[Reason | None, str]:
    """Apply a matching rule to a copy; return why not, and the new instruction as HLO."""
    module = HloModule.from_snapshot(snapshot)
    i = module.find(instruction)
    captures = rule.match(i)
    assert captures is not None
    result = rule.build(i.parent, i, captures)
    if isinstance(result, Reason):
        return result, ""
    if result is None or result is i:
        return refuse("nothing-to-build", f"{rule.name} finds nothing to do here"), ""
    return compatible_replacement(i, result, control_targets(i.parent)), str(result)
