"""`applicable`: the rewrite rules whose pattern fits an instruction, each with what it would do or why it will not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.rewriting import Rule
from xla_explorer.compiler.rewriting.declared import known_rules
from xla_explorer.compiler.rewriting.removal import compatible_replacement, control_targets
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table, printed
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.questions.rule_book import rule_book
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Check, Reason, refuse
from xla_explorer.hlo.module import HloModule, ModuleSnapshot

_COLUMNS = ["rule", "applies", "code", "message", "becomes", "sentence", "place"]


class ApplicableRule(NamedTuple):
    """rule: its name.

    reason: why it will not act, None when it would. becomes: what would take the instruction's
    place, as HLO. sentence, place: what the rule says of itself, and where it is written. checks:
    what its guards say.
    """

    rule: str
    reason: Reason | None
    becomes: str
    sentence: str
    place: str
    checks: tuple[Check, ...] = ()


class ApplicableRules(Report):
    """The answer: rules (ApplicableRule) in the order in which the driver tries them.

    instruction: its HLO. where: the step asked.
    """

    def __init__(self, instruction: str, where: str, found: Sequence[ApplicableRule]) -> None:
        self.instruction, self.where, self.rules = instruction, where, tuple(found)

    @property
    def names(self) -> list[str]:
        """The rules that would act; the first of them does."""
        return [r.rule for r in self.rules if r.reason is None]

    def __getitem__(self, rule: str) -> ApplicableRule:
        """The row of a rule. KeyError when its pattern does not fit."""
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
        """A row a rule: rule, applies, code and message of the reason, becomes, sentence, place."""
        why = [(r.reason.code, r.reason.message) if r.reason else ("", "") for r in self.rules]
        rows = [
            (r.rule, r.reason is None, *told, r.becomes, r.sentence, r.place)
            for r, told in zip(self.rules, why, strict=True)
        ]
        return Table(_COLUMNS, rows)

    def blocks(self) -> Blocks:
        """What each rule would do, or why it will not."""
        yield printed(Sentence(self.instruction))
        if not self.rules:
            yield Sentence(f"{self.where}: no rule's pattern fits")
            return
        title = f"{self.where}: {len(self.names)} of {len(self.rules)} fitting rules would act"
        rows = [
            ("✗" if r.reason else "✓", r.rule, str(r.reason) if r.reason else r.becomes, r.sentence)
            for r in self.rules
        ]
        yield Table(["", "rule", "result, or why not", "says"], rows, title)


def applicable(
    passes: RecordedPasses[RecordedPass], instruction: int, step: int | None = None
) -> ApplicableRules:
    """Ask every rule about an instruction, in the module after pass `step` (0: as written; default: the last in which it was there).

    Each rule that nothing refuses is tried on a copy, so the answer is what it would really do.
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
        "leave out the pass: the last module with the instruction is asked",
    )


def tried(rule: Rule, snapshot: ModuleSnapshot, instruction: int) -> tuple[Reason | None, str]:
    """What a rule whose pattern fits makes of an instruction of a copy: (why nothing, or None; the instruction in its place as HLO)."""
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
