"""Passes answer for themselves: which kinds of decision a pass makes, and what it says of given instructions.

Every decision that goes through `PassContext.decide` can be asked again: the pass runs once more on the module before it, with every
predicate of every decision recorded. A pass that can answer about instructions that its run never came to has a method `ask`.
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
    """A pass that answers about instructions that its run never came to.

    Attributes
    ----------
    kinds : tuple of str
        The kinds of decision that it makes.
    """

    kinds: ClassVar[tuple[str, ...]]

    def ask(
        self, kind: str, subjects: tuple[HloInstruction, ...], context: PassContext
    ) -> Decision | None:
        """What it would say of them in their module as it is; None where it has nothing to say."""
        ...


def kinds_of(hlo_pass: HloPass | type[Any]) -> tuple[str, ...]:
    """The kinds of decision that a pass makes: its `kinds`, else its name."""
    return getattr(hlo_pass, "kinds", (hlo_pass.name,))


def steps_of_kind(trace: PassTrace, kind: str) -> list[PassStep]:
    """The steps of passes that decide about that, in order, of which the module before is known."""
    return [
        step for step in trace.steps if step.before is not None and kind in kinds_of(step.hlo_pass)
    ]


def answering(hlo_pass: Any) -> Any:
    """The pass that answers questions: itself, or ours by the same policy for a pass of another compiler (None without)."""
    return hlo_pass.own if isinstance(hlo_pass, ForeignPass) else hlo_pass


def decided_again(trace: PassTrace, step: PassStep) -> list[Decision]:
    """What the pass of a step decides when it runs once more on the module before it, each decision with its checklist. Asked once."""
    found = trace.asked_again.get(step.index)
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
        found = trace.asked_again[step.index] = [
            decision_of(event, step.number) for event in journal.events if event.is_decision
        ]
    return found


def with_checklists(trace: PassTrace, step: PassStep) -> dict[int, Decision]:
    """The recorded decisions of a step by the sequence number of their events, with the checklists that running it again gives."""
    events = [event for event in trace.events_of(step) if event.is_decision]
    recorded = [decision_of(event, step.number) for event in events]
    again = decided_again(trace, step) if events and step.before is not None else []
    # The readers of a value may stand in another order in a module that was made from its snapshot.
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


def weighed(
    kind: str, subjects: Sequence[HloInstruction], predicates: Sequence[Predicate], candidate: Any
) -> Decision:
    """What the predicates say of a candidate, as a decision that no run made."""
    return told(
        kind, subjects, first_refusal(predicates, candidate), checklist(predicates, candidate)
    )


def told(
    kind: str,
    subjects: Sequence[HloInstruction],
    reason: Reason | None,
    checks: tuple[Check, ...] = (),
) -> Decision:
    """An answer as a decision that no run made."""
    ids, names = tuple([i.id for i in subjects]), tuple([i.name for i in subjects])
    return decision(kind, reason is None, ids, names, reason, None, None, checks)


def not_an_operand(kind: str, producer: HloInstruction, consumer: HloInstruction) -> Decision:
    """The refusal of two of which the second does not read the first."""
    read = ", ".join([f"%{o.name}" for o in consumer.operands]) or "nothing"
    reason = refuse(
        "not-an-operand", f"%{consumer.name} does not read %{producer.name}; it reads {read}"
    )
    return told(kind, (producer, consumer), reason)
