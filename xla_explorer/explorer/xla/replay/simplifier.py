"""XLA's algebraic simplifier: rewritten instructions, with the rule of ours that agrees.

A rewritten instruction is gone, or reads other operands. Both results are matched by meaning first,
then by names, which XLA passes on: a replacement with the same opcode keeps the name. An
instruction that no rule names is gone because its user was rewritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xla_explorer.compiler.pipeline import PassTrace, optimize
from xla_explorer.explorer.questions.decisions import decision_events
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.analysis.module_matching import match_modules
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT

PASS: Final = "algsimp"
_LATE: Final = "after_layout_assignment"
"""Part of the names of pipelines after layout assignment, which must keep layouts."""
GONE, CHANGED, KEPT = "rewritten", "other operands", "not rewritten"


class ReplayedSimplifier(Replay):
    """The instructions that XLA's simplifier or ours changed, each with our rule.

    Attributes
    ----------
    rules : dict
        Our rule -> the number of XLA's rewrites that it explains.
    """

    def __init__(self, rows: Sequence[ReplayRow], steps: int) -> None:
        place = f"{PASS}, {steps} times" if steps != 1 else PASS
        super().__init__(
            "simplifier", rows, place, None, "instructions that XLA or our rules rewrote"
        )
        self.rules: dict[str, int] = dict(
            Counter([row.code for row in rows if row.agrees and row.code]).most_common()
        )

    def headline(self) -> str:
        """Return the agreement, and how many rules explain how many rewrites."""
        return (
            f"{super().headline()}; {len(self.rules)} of our rules explain "
            f"{sum(self.rules.values())} rewrites"
        )


def replayed_simplifier(steps: Sequence[RecordedPass]) -> ReplayedSimplifier:
    """Return the rewrites of every run of XLA's pass in a dump."""
    return ReplayedSimplifier([row for step in steps for row in _rows(step)], len(steps))


def replayed_rules(step: RecordedPass) -> RecordedPasses[RecordedPass]:
    """Run our rules on the module before a run of XLA's simplifier; ids are kept."""
    options = [
        "as_xla=true",
        "rewrite_no_op_bitcast_convert_to_bitcast=true",
        *["is_layout_sensitive=true"] * (_LATE in step.pipeline),
    ]
    module = step.before.clone()
    for i in _dead_no_ops(
        module
    ):  # XLA visits unused instructions first; their operand may then have a single user
        i.parent.remove(i)
    return RecordedPasses(optimize(module, f"{PASS}{{{','.join(options)}}}"), RecordedPass)


def agreement_by_name(step: RecordedPass, ours: RecordedPasses[RecordedPass]) -> dict[str, bool]:
    """Return, for each instruction that our rules rewrote, whether XLA rewrote it too."""
    made, theirs = _both_outcomes(step.before, ours.record, step.module)
    return {name: theirs[name] != KEPT for name, outcome in made.items() if outcome != KEPT}


def _rows(step: RecordedPass) -> Iterator[ReplayRow]:
    before, trace = step.before, replayed_rules(step).record
    rules: dict[str, str] = {}
    for event in decision_events(trace, "rule"):
        if event.acted and event.names:
            rules.setdefault(event.names[0].lstrip("%"), event.by)
    ours, theirs = _both_outcomes(before, trace, step.module)
    dead = _dead(before)
    for i in before.instructions():
        here, there = ours[i.name], theirs[i.name]
        if KEPT == here == there or i in dead:
            continue
        agrees = (here == KEPT) == (there == KEPT)
        rule = rules.get(i.name, "")
        by = (
            f"by our rule {rule}"
            if rule
            else "because its user was rewritten"
            if GONE in (here, there)
            else "because an operand was rewritten"
        )
        verb = f"XLA: {there}, ours: {here}" if here != there else there
        yield ReplayRow(
            i.name,
            "",
            here,
            there,
            agrees,
            rule,
            f"%{i.name} ({i.opcode.name}) {verb}, {by}",
            i.shape.byte_size,
            (i.id,),
        )


def _both_outcomes(
    before: HloModule, trace: PassTrace, theirs: HloModule
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the outcome of each instruction by our rules, and by XLA's."""
    ours, theirs = _names_kept(before, trace), _own_names(before, theirs)
    return _outcomes(before, ours, {i: i.id for i in ours.instructions()}), _outcomes(
        before, theirs, _identities(before, ours, theirs)
    )


def _dead(module: HloModule) -> set[HloInstruction]:
    """Return the instructions without users.

    XLA's rules rewrite them and leave them to the next pass; ours remove them.
    """
    found: set[HloInstruction] = set()
    for computation in module.computations.values():
        for i in reversed(computation.post_order()):
            if (
                i is not computation.root
                and not has_side_effect(i)
                and i.opcode.name != "parameter"
                and found.issuperset(i.users)
            ):
                found.add(i)
    return found


def _dead_no_ops(module: HloModule) -> list[HloInstruction]:
    """Return unused reshapes and transposes without effect; XLA replaces them by their operand."""
    return [i for i in _dead(module) if i.opcode.name in ("reshape", "transpose") and not i.users and i.shape == i.operands[0].shape
            and i.attributes.get("dimensions", ()) in ((), tuple(range(i.shape.rank)))]  # fmt: skip


def _own_names(before: HloModule, theirs: HloModule) -> HloModule:
    """Return XLA's result with the name restored that a dead no-op of the same opcode passed on."""
    after = theirs.clone()
    later = {i.name: i for i in after.instructions()}
    for i in _dead_no_ops(before):
        operand = i.operands[0]
        if i.opcode is operand.opcode and i.name in later and operand.name not in later:
            later[i.name].name = operand.name
    return after


def _names_kept(before: HloModule, trace: PassTrace) -> HloModule:
    """Return our result with XLA's names: a replacement with the same opcode keeps the name."""
    after = trace.module.clone()
    opcodes = {i.id: i.opcode.name for module in (after, before) for i in module.instructions()}
    names: dict[int, str] = {}
    for event in trace.journal.events if trace.journal is not None else ():
        if event.is_rewrite and event.acted and len(event.subjects) > 1:
            (old, new), written = event.subjects, event.names
            kinds = [
                opcodes.get(number) or name.lstrip("%").partition(".")[0]
                for number, name in zip((old, new), written, strict=True)
            ]
            if kinds[0] == kinds[1]:
                names[new] = names.get(old, written[0].lstrip("%"))
    for i in after.instructions():
        i.name = names.get(i.id, i.name)
    return after


def _identities(before: HloModule, ours: HloModule, theirs: HloModule) -> dict[HloInstruction, int]:
    """Return an id for each instruction of XLA's result.

    It is the id of the same instruction in ours, else of the instruction before with its name.
    """
    matching = match_modules(theirs, ours, by_name=False)
    found = {
        a: b.id
        for a, b in matching.left_to_right.items()
        if matching.evidence[a] == "meaning" or a.name == b.name
    }
    taken, earlier = set(found.values()), {i.name: i for i in before.instructions()}
    for number, i in enumerate(theirs.instructions(), 1):
        if i not in found:
            same = earlier.get(i.name)
            found[i] = (
                same.id
                if same is not None and same.opcode is i.opcode and same.id not in taken
                else -number
            )
    return found


def _same_constant(one: HloInstruction, other: HloInstruction) -> bool:
    """Return True for equal constants: which of them is read does not matter."""
    return (
        one.opcode is other.opcode is CONSTANT
        and one.shape == other.shape
        and one.payload == other.payload
    )


def _outcomes(
    before: HloModule, after: HloModule, identities: Mapping[HloInstruction, int]
) -> dict[str, str]:
    """Return the outcome of each instruction of a module."""
    dead = _dead(after)
    later = {identities[i]: i for i in after.instructions() if i not in dead}
    found = {}
    for i in before.instructions():
        now = later.get(i.id)
        if now is None or now.opcode is not i.opcode:
            found[i.name] = GONE
            continue
        operands = list(zip(now.operands, i.operands, strict=False))
        reads_the_same = len(now.operands) == len(i.operands) and all(
            identities[o] == p.id or _same_constant(o, p) for o, p in operands
        )
        found[i.name] = (
            KEPT if reads_the_same and now.shape.dimensions == i.shape.dimensions else CHANGED
        )
    return found
