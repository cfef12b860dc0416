"""XLA's algebraic simplifier: of each instruction that it rewrote, which of our rules says the same, and where only one of the two acts.

What a rewrite does to an instruction is read off names, which both simplifiers keep where they leave an instruction alone: it is gone, or
it reads other operands. An instruction that no rule names is gone because what read it was rewritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.explorer.questions.decisions import decision_events
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.hlo.module import HloModule

PASS: Final = "algsimp"
GONE, CHANGED, KEPT = "rewritten", "other operands", "not rewritten"


class ReplayedSimplifier(Replay):
    """The instructions that XLA's simplifier or ours changed, each with our rule.

    Attributes
    ----------
    rules : dict
        Rule of ours -> for how many instructions that XLA rewrote it says the same.
    """

    def __init__(self, rows: Sequence[ReplayRow], steps: int) -> None:
        place = f"{PASS}, {steps} times" if steps != 1 else PASS
        super().__init__("simplifier", rows, place, None, "instructions that XLA or our rules rewrote")
        self.rules: dict[str, int] = dict(Counter([row.code for row in rows if row.agrees and row.code]).most_common())

    def headline(self) -> str:
        """How well the rules agree, and how many of them acted."""
        return f"{super().headline()}; {len(self.rules)} of our rules explain {sum(self.rules.values())} rewrites"


def replayed_simplifier(steps: Sequence[RecordedPass]) -> ReplayedSimplifier:
    """Every run of XLA's pass in a dump."""
    return ReplayedSimplifier([row for step in steps for row in _rows(step)], len(steps))


def replayed_rules(step: RecordedPass) -> RecordedPasses[RecordedPass]:
    """Our rules on the module that a run of XLA's simplifier was given; its instructions keep their ids."""
    return RecordedPasses(optimize(step.before.clone(), PASS), RecordedPass)


def agreement_by_name(step: RecordedPass, ours: RecordedPasses[RecordedPass]) -> dict[str, bool]:
    """Instruction before the pass -> whether XLA rewrote it too, of those that our rules rewrote."""
    theirs, made = [_fates(step.before, after) for after in (step.module, ours.module)]
    return {name: theirs[name] != KEPT for name, fate in made.items() if fate != KEPT}


def _rows(step: RecordedPass) -> Iterator[ReplayRow]:
    before = step.before
    trace = replayed_rules(step).record
    rules: dict[str, str] = {}
    for event in decision_events(trace, "rule"):
        if event.acted and event.names:
            rules.setdefault(event.names[0].lstrip("%"), event.by)
    theirs, ours = [_fates(before, after) for after in (step.module, trace.module)]
    for i in before.instructions():
        here, there = ours[i.name], theirs[i.name]
        if KEPT == here == there:
            continue
        agrees = (here == KEPT) == (there == KEPT)
        rule = rules.get(i.name, "")
        by = f"by our rule {rule}" if rule else "as what reads it was rewritten" if GONE in (here, there) else "as an operand was rewritten"
        verb = f"XLA: {there}, ours: {here}" if here != there else there
        yield ReplayRow(i.name, "", here, there, agrees, rule, f"%{i.name} ({i.opcode.name}) {verb}, {by}", i.shape.byte_size, (i.id,))


def _fates(before: HloModule, after: HloModule) -> dict[str, str]:
    """What became of each instruction of a module."""
    later = {i.name: i for i in after.instructions()}
    found = {}
    for i in before.instructions():
        now = later.get(i.name)
        same = now is not None and now.opcode is i.opcode
        kept = now is not None and same and [o.name for o in now.operands] == [o.name for o in i.operands]
        found[i.name] = KEPT if kept else CHANGED if same else GONE
    return found
