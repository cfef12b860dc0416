"""`applicable`: the rewrite rules whose pattern fits an instruction, each with what it would do or why it will not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.compiler.rewriting import Rule
from xla_explorer.compiler.rewriting.removal import compatible_replacement, control_targets
from xla_explorer.explorer.display.display import table_html, table_text
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.questions.rule_book import rule_book, rules
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.module import HloModule, ModuleSnapshot

if TYPE_CHECKING:
    import pandas

_COLUMNS = ["rule", "applies", "code", "message", "becomes", "sentence", "place"]


class ApplicableRule(NamedTuple):
    """rule: its name. reason: why it will not act, None when it would. becomes: what would take the instruction's place, as HLO.
    sentence, place: what the rule says of itself, and where it is written."""

    rule: str
    reason: Reason | None
    becomes: str
    sentence: str
    place: str


class ApplicableRules:
    """The answer: rules (ApplicableRule) in the order in which the driver tries them. instruction: its HLO. where: the step asked."""

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
        raise KeyError(f"the pattern of {rule!r} does not fit; fitting: {', '.join([r.rule for r in self.rules]) or 'none'}")

    def __iter__(self) -> Any:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def to_frame(self) -> pandas.DataFrame:
        """A row a rule: rule, applies, code and message of the reason, becomes, sentence, place."""
        return wide_frame([dict(zip(_COLUMNS, row, strict=True)) for row in self._rows()], _COLUMNS)

    def _rows(self) -> list[tuple[Any, ...]]:
        return [
            (r.rule, r.reason is None, r.reason.code if r.reason else "", r.reason.message if r.reason else "", *r[2:]) for r in self.rules
        ]

    @cleaned
    def __str__(self) -> str:
        head = f"{self.instruction}\n{self.where}: "
        if not self.rules:
            return head + "no rule's pattern fits"
        rows = [(r.rule, "yes" if r.reason is None else "no", str(r.reason) if r.reason else r.becomes) for r in self.rules]
        table = table_text(["rule", "applies", "why not, or result"], rows)
        return f"{head}{len(self.names)} of {len(rows)} fitting rules would act\n{table}"

    __repr__ = __str__

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = [("✓" if row[1] else "✗", row[0], row[4] if row[1] else f"{row[2]}: {row[3]}", row[5]) for row in self._rows()]
        columns = ["", "rule", "result, or why not", "says"]
        return {"text/plain": str(self), "text/html": table_html(str(self).split("\n")[1], columns, rows)}


def applicable(passes: RecordedPasses[RecordedPass], instruction: int, step: int | None = None) -> ApplicableRules:
    """Ask every rule about an instruction, in the module after pass `step` (0: as written; default: the last in which it was there).

    Each rule that nothing refuses is tried on a copy, so the answer is what it would really do.
    """
    where, snapshot = _snapshot_with(passes, instruction, step)
    layouts_fixed = any(p.name == "layout-assignment" and p.number <= where for p in passes)
    module = HloModule.from_snapshot(snapshot)
    i = module.find(instruction)
    book, found = rule_book(), []
    for rule in rules().values():
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
            reason, becomes = _tried(rule, snapshot, instruction)
        found.append(ApplicableRule(rule.name, reason, becomes, *book.get(rule.name, ("", ""))))
    name = f"after pass {where}, {passes[where].name}" if where else "as written"
    return ApplicableRules(str(i), name, found)


def _snapshot_with(passes: RecordedPasses[RecordedPass], instruction: int, step: int | None) -> tuple[int, ModuleSnapshot]:
    steps = range(passes.last, -1, -1) if step is None else [step]
    for number in steps:
        snapshot = passes[number].snapshot
        if any(r.id == instruction for c in snapshot.computations for r in c.instructions):
            return number, snapshot
    raise KeyError(f"%{passes.lineage.records[instruction].name} was not there after {step} passes")


def _tried(rule: Rule, snapshot: ModuleSnapshot, instruction: int) -> tuple[Reason | None, str]:
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
