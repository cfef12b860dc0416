"""Repeat the decisions of a pass with all their conditions, also for given instructions.

Every decision through `PassContext.decide` can be repeated: the pass runs again on the module
before it, and records every predicate of every decision. A pass that can answer for instructions
that its run never reached has a method `evaluate`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from xla_explorer.compiler.decisions.recorded import decision, decision_of
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import ForeignPass, HloPass
from xla_explorer.compiler.pipeline.trace import PassStep, PassTrace
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import (
    Check,
    Predicate,
    Reason,
    checklist,
    first_refusal,
    refuse,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@runtime_checkable
class Explains(Protocol):
    """A pass that answers for instructions that its run never reached.

    Attributes
    ----------
    kinds : tuple of str
        The kinds of decision that it makes.
    """

    kinds: ClassVar[tuple[str, ...]]

    def evaluate(
        self, kind: str, subjects: tuple[HloInstruction, ...], context: PassContext
    ) -> Decision | None:
        """Return the pass's decision for the subjects in their present module; None without one."""
        ...


def kinds_of(hlo_pass: HloPass | type[Any]) -> tuple[str, ...]:
    """Return the decision kinds of a pass: its `kinds`, else its name."""
    return getattr(hlo_pass, "kinds", (hlo_pass.name,))


def steps_of_kind(trace: PassTrace, kind: str) -> list[PassStep]:
    """Return the steps whose pass decides `kind` and whose module before is recorded, in order."""
    return [
        step for step in trace.steps if step.before is not None and kind in kinds_of(step.hlo_pass)
    ]


def answering(hlo_pass: Any) -> Any:
    """Return the pass that answers questions: itself, or a foreign pass's counterpart (or None)."""
    return hlo_pass.own if isinstance(hlo_pass, ForeignPass) else hlo_pass


def decided_again(trace: PassTrace, step: PassStep) -> list[Decision]:
    """Run a step's pass again on the module before it; return its decisions with checklists.

    The decisions are cached.
    """
    found = trace.repeated_decisions.get(step.index)
    if found is None:
        assert step.before is not None
        journal, control = Journal("decisions"), trace.control
        overrides = PassControl(
            control.force, control.forbid, control.skipped_rules, control.rewrite_limit
        )
        context = PassContext(journal, overrides, trace.target)
        context.checklists = True
        context.actions = sum([earlier.actions for earlier in trace.steps[: step.index]])
        context.acting = step.name
        step.hlo_pass.run(HloModule.from_snapshot(step.before), context)
        found = trace.repeated_decisions[step.index] = [
            decision_of(event, step.number) for event in journal.events if event.is_decision
        ]
    return found


def with_checklists(trace: PassTrace, step: PassStep) -> dict[int, Decision]:
    """Return a step's recorded decisions by sequence number, with checklists from a second run."""
    events = [event for event in trace.events_of(step) if event.is_decision]
    recorded = [decision_of(event, step.number) for event in events]
    again = decided_again(trace, step) if events and step.before is not None else []
    # In a module made from a snapshot, the users of a value may have another order.
    by_subject: dict[Any, deque[Decision]] = {}
    for other in again:
        by_subject.setdefault(_said(other), deque()).append(other)
    if Counter(map(_said, recorded)) != Counter(map(_said, again)):
        return {
            event.sequence: d for event, d in zip(events, recorded, strict=True)
        }  # the run depended on more than the module
    return {
        event.sequence: d._replace(checklist=by_subject[_said(d)].popleft().checklist)
        for event, d in zip(events, recorded, strict=True)
    }


def _said(decision: Decision) -> tuple[str, str, tuple[str, ...]]:
    return decision.kind, decision.verdict, decision.names


def evaluated_decision(
    kind: str, subjects: Sequence[HloInstruction], predicates: Sequence[Predicate], candidate: Any
) -> Decision:
    """Return the predicates' answer for a candidate as a decision that no run made."""
    return unrecorded_decision(
        kind, subjects, first_refusal(predicates, candidate), checklist(predicates, candidate)
    )


def unrecorded_decision(
    kind: str,
    subjects: Sequence[HloInstruction],
    reason: Reason | None,
    checks: tuple[Check, ...] = (),
) -> Decision:
    """Return an answer as a decision that no run made."""
    ids, names = tuple([i.id for i in subjects]), tuple([i.name for i in subjects])
    return decision(kind, reason is None, ids, names, reason, None, None, checks)


def not_an_operand(kind: str, producer: HloInstruction, consumer: HloInstruction) -> Decision:
    """Return the refusal for a consumer that does not read the producer."""
    read = ", ".join([f"%{o.name}" for o in consumer.operands]) or "nothing"
    reason = refuse(
        "not-an-operand", f"%{consumer.name} does not read %{producer.name}; it reads {read}"
    )
    return unrecorded_decision(kind, (producer, consumer), reason)
