"""Decisions as rows: what the journal recorded, and the same checks asked again on a snapshot."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import PassContext
from xla_explorer.compiler.transforms.fusion import InstructionFusion, PriorityFusion
from xla_explorer.compiler.transforms.fusion.reasons import REASONS_BY_KIND
from xla_explorer.explorer.display.display import table_html
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.questions.accepted_sentences import accepted_sentence
from xla_explorer.explorer.questions.decision_row import DecisionRow
from xla_explorer.explorer.questions.refusal_costs import RefusalCost, RefusalCosts
from xla_explorer.explorer.sessions.lineage import CONSTANT_VALUES, Lineage
from xla_explorer.foundation.decision import verdict_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event, Journal
from xla_explorer.foundation.reason import Check, Reason
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.pipeline import PassTrace
    from xla_explorer.compiler.pipeline.trace import PassStep

_FUSING = (InstructionFusion.name, PriorityFusion.name)
COLUMNS = ("verdict", "kind", "code", "message", "facts", "subjects", "pass", "step", "cost_us", "cost_bytes")
_KINDS = frozenset({
    "rule", "native-code", "layout", "share-buffer", "inlining", "constant-folding", "branch-removal", "loop-hoisting", "loop-removal",
    "latency-hiding", "reshape-is-bitcast", "stream-assignment", "parallel", "row-blocks", "loop-vectorization", "vector-width",
    "launch", "math", "constant-memory", CONSTANT_VALUES, *REASONS_BY_KIND,
})  # fmt: skip
"""Kinds that one may ask for even where this compile decided nothing of the kind; the names of its passes and what the journal has come
to them."""


def decision_events(trace: PassTrace, kind: str | None = None) -> list[Event]:
    """The journal's decisions of a kind (None: all kinds; "rule": rewrite rules)."""
    if trace.journal is None:
        return []
    if kind == "rule":
        return [e for e in trace.journal.events if e.is_rewrite]
    return [e for e in trace.journal.events if e.is_decision and (kind is None or e.by == kind)]


class UnknownKindError(XlaExplorerError, ValueError):
    """A kind of decision that there is not."""


def _check_kind(trace: PassTrace, kind: str | None, further: Sequence[dict[str, Any]]) -> None:
    if kind is None or kind in _KINDS or any(row["kind"] == kind for row in further):
        return
    recorded = {event.by for event in decision_events(trace)} | {step.name for step in trace.steps}
    if kind not in recorded:
        known = sorted(_KINDS | {event.by for event in decision_events(trace)})
        near = difflib.get_close_matches(kind, known, 3)
        hint = f"near: {', '.join(near)}" if near else f"kinds: {', '.join(known)}"
        raise UnknownKindError(f"there is no kind of decision {kind!r}", hint)


def refusal_costs(trace: PassTrace, lineage: Lineage) -> RefusalCosts:
    """What the trace's refused fusions cost."""
    step = _fusing_step(trace)
    before = step.before if step is not None else None
    return RefusalCosts(trace, before if before is not None else trace.module.snapshot(), lineage.records)


def decisions_frame(
    trace: PassTrace, lineage: Lineage, kind: str | None = None, further: Sequence[dict[str, Any]] = ()
) -> pandas.DataFrame:
    """One row a decision; columns `COLUMNS`. facts: dict; subjects: names with %, producer first.

    step: the number of the pass: `session.passes[step].module` is the module after it; 0 is the module as written. cost_us, cost_bytes:
    what a refusal costs in one run by the cost model (see `refusal_costs.py`; the facts say whether it is an upper bound, or why there is
    no estimate). UnknownKindError for kinds that there are not, with near ones.
    """
    _check_kind(trace, kind, further)
    costs = refusal_costs(trace, lineage)
    rows = []
    for event in decision_events(trace, kind):
        step = lineage.step_of(event)
        rows.append(
            {
                "verdict": verdict_of(event.acted),
                "kind": "rule" if kind == "rule" else event.by,
                "code": event.by if kind == "rule" and event.reason is None else event.reason.code if event.reason else "",
                "message": _message(event),
                "facts": _facts(event, cost := costs.of(event)),
                "subjects": tuple([f"%{name}" for name in event.names]),
                "pass": trace.name_of(step),
                "step": step,
                "cost_us": cost.microseconds if cost is not None else None,
                "cost_bytes": cost.size if cost is not None else None,
            }
        )
    rows += [row for row in further if kind is None or row["kind"] == kind]
    return wide_frame(rows, COLUMNS)


def _facts(event: Event, cost: RefusalCost | None = None) -> dict[str, Any]:
    return {**(event.facts or {}), **(event.reason.facts if event.reason else {}), **(cost.facts() if cost is not None else {})}


def _message(event: Event) -> str:
    if event.reason is not None:
        return event.reason.message
    if event.is_decision and event.acted:
        return accepted_sentence(event.by, event.names, event.facts)
    if event.is_rewrite:
        return f"%{event.names[0]}" + (f" becomes %{event.names[1]}" if len(event.names) > 1 else "")
    return ""


def checklists(trace: PassTrace, events: Sequence[Event]) -> dict[int, tuple[Check, ...]]:
    """Event sequence number -> the policy's checks, where asking producer and consumer alone gives what was decided."""
    before = {i.name: i for i in _before_fusion(trace).instructions()}
    found = {}
    for event in events:
        if event.by == "fusion" and len(event.names) > 1 and event.names[0] in before and event.names[1] in before:
            checks = _checks(trace, before[event.names[0]], before[event.names[1]])
            if checks and (not event.acted) != all(check.ok for check in checks):
                found[event.sequence] = tuple(checks)
    return found


def decision_rows(trace: PassTrace, lineage: Lineage, step: int | None = None, with_checks: int = 0) -> list[DecisionRow]:
    """The decisions as the views draw them; with their checklists when there are at most `with_checks`."""
    rows = []
    events = decision_events(trace)
    if not events:
        return []
    checks = checklists(trace, events) if 0 < len(events) <= with_checks else {}
    costs = refusal_costs(trace, lineage)
    for event in events:
        where = lineage.step_of(event)
        if step is not None and where != step:
            continue
        subjects, names = tuple(dict.fromkeys(event.subjects)), tuple(dict.fromkeys(event.names))
        rows.append(
            DecisionRow(
                event.by,
                verdict_of(event.acted),
                event.reason.code if event.reason else "",
                _message(event),
                _facts(event, costs.of(event)),
                subjects[0] if subjects else None,
                subjects[1] if len(subjects) > 1 else None,
                names[0] if names else "",
                names[1] if len(names) > 1 else "",
                trace.name_of(where),
                where,
                checks.get(event.sequence, ()),
            )
        )
    return rows


class Answer:
    """The answer to `why_not`.

    refused: whether the answer is no. code, message, facts: the reason, empty when nothing speaks against it. recorded: True when the
    compile itself decided this, False when the checks were asked again now. source: which of the two, in words. checklist: every
    check with its outcome. cost: what the refusal costs by the cost model, None where nothing was refused or the pair never met.
    """

    def __init__(
        self,
        kind: str,
        producer: str,
        consumer: str,
        *,
        refused: bool,
        code: str,
        message: str,
        facts: dict[str, Any],
        recorded: bool,
        source: str,
        checklist: Sequence[Check],
        cost: RefusalCost | None = None,
    ) -> None:
        self.kind, self.producer, self.consumer = kind, producer, consumer
        self.refused, self.code, self.message, self.facts = refused, code, message, facts
        self.recorded, self.source, self.checklist, self.cost = recorded, source, tuple(checklist), cost

    @cleaned
    def __str__(self) -> str:
        head = f"{self.kind} of %{self.producer} into %{self.consumer}: {'refused' if self.refused else 'accepted'}"
        lines = [f"{head} ({self.source})"]
        if self.code:
            lines.append(f"  {self.code}: {self.message}")
            if self.code in REASONS_BY_KIND["fusion"]:
                lines.append(f"  in general: {REASONS_BY_KIND['fusion'][self.code]}")
        if self.cost is not None:
            lines.append(f"  {self.cost}")
        lines += [
            f"  {'no ' if check.ok is False else 'ok '} {check.name}{': ' + check.message if check.message else ''}"
            for check in self.checklist
        ]
        return "\n".join(lines)

    __repr__ = __str__

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = [("✗" if c.ok is False else "✓", c.name, c.message) for c in self.checklist]
        head = str(self).split("\n")[0] + (f" — {self.code}: {self.message}" if self.code else "")
        if self.cost is not None:
            head += f"; {self.cost}"
        return {"text/plain": str(self), "text/html": table_html(head, ["", "must hold", "what it says"], rows)}


def why_not(trace: PassTrace, lineage: Lineage, kind: str, producer: str | int, consumer: str | int) -> Answer:
    """Why a decision went as it went: the recorded one, else the policy's checks on the snapshot before the first fusion."""
    if kind != "fusion":
        recorded = {e.by for e in decision_events(trace)}
        told = f"decisions({kind!r}) tells what was recorded" if kind in recorded else "why_not answers for 'fusion'"
        raise XlaExplorerError(f"no policy answers to {kind!r}", f"{told}; for buffers: session.buffers.why_not_shared")
    source, target = _name(lineage, producer), _name(lineage, consumer)
    module = _before_fusion(trace)
    before = {i.name: i for i in module.instructions()}
    checks = _checks(trace, before[source], before[target]) if source in before and target in before else []
    event, kernel = _decision(decision_events(trace, kind), module, source, target)
    if event is not None:
        refused = not event.acted
        step = lineage.step_of(event)
        if kernel or refused == all(check.ok for check in checks):
            # The consumer stood for a whole fusion, so asking the two alone does not give what was decided.
            checks = [_refusal(event.reason)] if event.reason is not None else []
        where = f"recorded in pass {step}, {trace.name_of(step)}" if step else "recorded"
        cost = refusal_costs(trace, lineage).of(event)
        return Answer(
            kind,
            source,
            target,
            refused=refused,
            code=event.reason.code if event.reason else "",
            message=event.reason.message if event.reason else "",
            facts=_facts(event, cost),
            recorded=True,
            source=where + _part_of(target, kernel),
            checklist=checks,
            cost=cost,
        )
    now_source, now_target = _present(lineage, source, before), _present(lineage, target, before)
    if (now_source, now_target) != (source, target) and now_source in before and now_target in before:
        answer = why_not(trace, lineage, kind, now_source, now_target)
        renamed = [f"%{old} had become %{new}" for old, new in ((source, now_source), (target, now_target)) if old != new]
        answer.source += f"; {' and '.join(renamed)} by then"
        return answer
    for name in (source, target):
        if name not in before:
            gone = _gone_before_fusion(trace, lineage, name)
            if gone is None:
                raise XlaExplorerError(
                    f"%{name} was not there before fusion and no decision about %{source} into %{target} was recorded",
                    f"session.history({name!r}) says where it came from",
                )
            return Answer(
                kind,
                source,
                target,
                refused=True,
                code="gone-before-fusion",
                message=gone[0],
                facts=gone[1],
                recorded=False,
                source="from the history of the instruction",
                checklist=(),
            )
    again, kernel = _planned_again(trace, source, target)
    if again is not None:
        reason, cost = again.reason, refusal_costs(trace, lineage).of(again)
        return Answer(
            kind,
            source,
            target,
            refused=reason is not None,
            code=reason.code if reason is not None else "",
            message=reason.message if reason is not None else "",
            facts=_facts(again, cost),
            recorded=False,
            source="asked again: the module before fusion planned anew" + _part_of(target, kernel),
            checklist=checks or ([_refusal(reason)] if reason is not None else []),
            cost=cost,
        )
    first, second = before[source], before[target]
    asked = "asked again on the module before fusion, as if the consumer stood alone"
    if first not in second.operands:
        read = ", ".join([f"%{o.name}" for o in second.operands]) or "nothing"
        return Answer(
            kind,
            source,
            target,
            refused=True,
            code="not-an-operand",
            message=f"%{target} does not read %{source}; it reads {read}",
            facts={},
            recorded=False,
            source=asked,
            checklist=(),
        )
    bad = next((c for c in checks if c.ok is False), None)
    return Answer(
        kind,
        source,
        target,
        refused=bad is not None,
        code=bad.code if bad else "",
        message=bad.message if bad else "",
        facts={},
        recorded=False,
        source=asked,
        checklist=checks,
    )


def _decision(events: Sequence[Event], module: HloModule, producer: str, consumer: str) -> tuple[Event | None, str]:
    """What was decided about a pair of the module, and the name of the kernel's root where the consumer was part of a kernel by then.

    Fusions grow from their roots: once %b is inside the kernel of %c, whether %a goes into %b is asked as %a into %c. Of several such
    kernels one that refused is told.
    """
    last = {event.names[:2]: event for event in events}
    if (producer, consumer) in last:
        return last[producer, consumer], ""
    if not any(i.name == consumer and producer in [o.name for o in i.operands] for i in module.instructions()):
        return None, ""
    kernels = [names[1] for names, event in last.items() if names[0] == consumer and len(names) > 1 and event.acted]
    found = [(last[producer, kernel], kernel) for kernel in kernels if (producer, kernel) in last]
    return min(found, key=lambda pair: pair[0].acted, default=(None, ""))


def _refusal(reason: Reason) -> Check:
    return Check(reason.code, False, reason.message, reason.code)


def _part_of(consumer: str, kernel: str) -> str:
    return f", for the kernel of %{kernel}, which %{consumer} is part of" if kernel else ""


def _planned_again(trace: PassTrace, producer: str, consumer: str) -> tuple[Event | None, str]:
    """What the backend's policy decides on the pair when it fuses the module again, with a journal of its own."""
    journal = Journal("decisions")
    step = _fusing_step(trace)
    again = step.hlo_pass if step is not None else InstructionFusion()
    again.run(_before_fusion(trace, copy=True), PassContext(journal, target=trace.target))
    decided = [e for e in journal.events if e.is_decision and e.by == "fusion"]
    return _decision(decided, _before_fusion(trace), producer, consumer)


def _checks(trace: PassTrace, producer: HloInstruction, consumer: HloInstruction) -> list[Check]:
    """The fusing pass's checks of the two; none where one does not read the other."""
    if producer not in consumer.operands:
        return []
    step = _fusing_step(trace)
    fusing = step.hlo_pass if step is not None else InstructionFusion()
    assert isinstance(fusing, InstructionFusion | PriorityFusion)
    return list(fusing.checklist(producer, consumer, PassContext(target=trace.target)))


def _name(lineage: Lineage, given: str | int) -> str:
    if isinstance(given, int):
        if given not in lineage.records:
            raise XlaExplorerError(f"no instruction ever had the id {given}")
        return lineage.records[given].name
    name = given.lstrip("%")
    if lineage.records and name not in lineage.ids_by_name:
        near = difflib.get_close_matches(name, list(lineage.ids_by_name), 3)
        raise XlaExplorerError(f"no instruction was ever named %{name}", f"near: {', '.join('%' + n for n in near)}" if near else "")
    return name


def _present(lineage: Lineage, name: str, before: dict[str, HloInstruction]) -> str:
    """The name of what stood in the place of an instruction before fusion; the name itself when nothing did."""
    if name in before or name not in lineage.ids_by_name:
        return name
    for key in lineage.successors(lineage.ids_by_name[name]):
        if key in lineage.records and lineage.records[key].name in before:
            return lineage.records[key].name
    return name


def names_at_fusion(trace: PassTrace, lineage: Lineage) -> Callable[[str], str]:
    """What gives the name before fusion of what came of an instruction; the name itself when nothing did."""
    before = {i.name: i for i in _before_fusion(trace).instructions()}
    return lambda name: _present(lineage, name, before)


def _gone_before_fusion(trace: PassTrace, lineage: Lineage, name: str) -> tuple[str, dict[str, Any]] | None:
    """What took an instruction away before any fusion, and the facts; None when it came later."""
    key = lineage.ids_by_name[name]
    step = lineage.removed_in(key)
    fusing = _fusing_step(trace)
    if step is None or (fusing is not None and step > fusing.number):
        return None
    by = trace.name_of(step)
    message = f"%{name} ({lineage.records[key].opcode.name}) was gone before fusion: {by} removed it in pass {step}"
    heirs = [lineage.records[k].name for k in lineage.successors(key)[1:] if k in lineage.records]
    if heirs:
        message += f", in its place came {', then '.join(['%' + heir for heir in heirs])}"
    return message, {"pass": by, "step": step, "replaced_by": tuple(heirs)}


def _fusing_step(trace: PassTrace) -> PassStep | None:
    return next((step for step in trace.steps if step.name in _FUSING and step.before is not None), None)


def _before_fusion(trace: PassTrace, *, copy: bool = False) -> HloModule:
    """The module before the first fusion, or as it is now. copy: always a module of its own."""
    step = _fusing_step(trace)
    if step is not None and step.before is not None:
        return HloModule.from_snapshot(step.before)
    return HloModule.from_snapshot(trace.module.snapshot()) if copy else trace.module
