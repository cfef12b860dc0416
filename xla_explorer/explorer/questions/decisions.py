"""The journal's decisions as rows of a table, and as `Decision` records for the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS, KINDS_OF_CODE, RULE
from xla_explorer.compiler.decisions.recorded import decision_of
from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.compiler.pipeline.explaining import kinds_of, steps_of_kind, with_checklists
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.questions.refusal_costs import RefusalCost, RefusalCosts
from xla_explorer.explorer.sessions.lineage import Lineage
from xla_explorer.explorer.tables.rows import DecisionRow, columns_of
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.pipeline import PassTrace


@cache
def _kinds_of_passes() -> frozenset[str]:
    return frozenset([kind for cls in registered_passes().values() for kind in kinds_of(cls)])


class UnknownKindError(XlaExplorerError, ValueError):
    """A kind of decision that does not exist."""


def is_kind(trace: PassTrace, kind: str) -> bool:
    """Return True if a pass or code generation decides on the kind, or the journal has it."""
    if (
        kind in KINDS_OF_CODE
        or kind in _kinds_of_passes()
        or kind in {step.name for step in trace.steps}
    ):
        return True
    return any(event.by == kind for event in decision_events(trace))


def check_kind(trace: PassTrace, kind: str, further: Collection[str] = ()) -> None:
    """Raise UnknownKindError, with near kinds, for a kind that nothing decides.

    further: kinds of decisions outside the journal.
    """
    if kind != RULE and kind not in further and not is_kind(trace, kind):
        recorded = {event.by for event in decision_events(trace)}
        known = sorted(
            {RULE}
            | KINDS_OF_CODE
            | recorded
            | {k for step in trace.steps for k in getattr(step.hlo_pass, "kinds", ())}
        )
        near = nearest(kind, [*known, *_kinds_of_passes()], 3)
        hint = f"near: {', '.join(dict.fromkeys(near))}" if near else f"kinds: {', '.join(known)}"
        raise UnknownKindError(f"the compiler has no kind of decision {kind!r}", hint)


def decision_events(trace: PassTrace, kind: str | None = None) -> list[Event]:
    """Return the journal's decisions of a kind; None is every kind.

    "fusion" is every pass that puts two instructions into one kernel, "rule" every rewrite rule.
    """
    if trace.journal is None:
        return []
    if kind == RULE:
        return [e for e in trace.journal.events if e.is_rewrite]
    kinds = FUSION_KINDS if kind == FUSION_KINDS[0] else (kind,)
    return [e for e in trace.journal.events if e.is_decision and (kind is None or e.by in kinds)]


def refusal_costs(trace: PassTrace, lineage: Lineage) -> RefusalCosts:
    """Return the costs of the trace's refused fusions."""
    before = next((step.before for step in steps_of_kind(trace, FUSION_KINDS[0])), None)
    return RefusalCosts(
        trace, before if before is not None else trace.module.snapshot(), lineage.records
    )


def decisions_frame(
    trace: PassTrace,
    lineage: Lineage,
    kind: str | None = None,
    further: Sequence[Decision] = (),
    backend: str = "",
) -> pandas.DataFrame:
    """Return a row for each decision, a `DecisionRow`.

    producer, consumer: the names of two subjects, with %; a single subject is the producer.
    subjects: all names. code: of a refusal. cost_us, cost_bytes: the cost of a refusal in one run
    by the cost model (see `refusal_costs.py`); the facts name an upper bound, or why there is no
    estimate. step: the number of the pass; `session.passes[step].module` is the module after it, 0
    is the module as written. facts: a dict.

    Parameters
    ----------
    further
        Decisions of the backend that are not in the journal.
    backend
        Its name, the `pass` of those decisions.

    Raises
    ------
    UnknownKindError
        The kind does not exist; with near ones.
    """
    if kind is not None:
        check_kind(trace, kind, {decision.kind for decision in further})
    costs = refusal_costs(trace, lineage)
    rows = [
        _row(decision_of(event, lineage.step_of(event)), trace, costs, event.is_rewrite)
        for event in decision_events(trace, kind)
    ]
    rows += [
        _row(d, trace, costs, False)._replace(pass_=backend)
        for d in further
        if kind is None or d.kind == kind
    ]
    return wide_frame(rows, columns_of(DecisionRow))


def _row(
    decision: Decision, trace: PassTrace, costs: RefusalCosts, is_rewrite: bool
) -> DecisionRow:
    cost = costs.of(decision)
    return DecisionRow(
        verdict=decision.verdict,
        kind=RULE if is_rewrite else decision.kind,
        producer=decision.about[0] if decision.about else "",
        consumer=decision.about[1] if len(decision.about) == 2 else "",
        code=decision.code or (decision.kind if is_rewrite else ""),
        cost_us=cost.microseconds if cost is not None else None,
        cost_bytes=cost.size if cost is not None else None,
        reason=decision.message,
        subjects=decision.about,
        pass_=trace.name_of(decision.step),
        step=decision.step,
        facts=add_cost(decision, cost).facts,
    )


def add_cost(decision: Decision, cost: RefusalCost | None) -> Decision:
    """Return the decision with the cost of its refusal among the facts."""
    return decision if cost is None else decision._replace(facts={**decision.facts, **cost.facts()})


_UNCHECKED: WeakKeyDictionary[Lineage, Sequence[Decision]] = WeakKeyDictionary()


def decisions_of(trace: PassTrace, lineage: Lineage, with_checks: int = 0) -> list[Decision]:
    """Return the recorded decisions with the costs of refusals.

    Each has a checklist if there are at most `with_checks` decisions.
    """
    events = decision_events(trace)
    if not events:
        return []
    if len(events) > with_checks:
        known = _UNCHECKED.get(lineage, ())
        if len(known) != len(events):  # code generation may have added to the journal since
            known = _UNCHECKED[lineage] = _add_costs(trace, lineage, {})
        return list(known)
    return _add_costs(trace, lineage, _checklists(trace))


def _add_costs(
    trace: PassTrace, lineage: Lineage, checked: Mapping[int, Decision]
) -> list[Decision]:
    costs = refusal_costs(trace, lineage)
    found = [
        checked.get(event.sequence) or decision_of(event, lineage.step_of(event))
        for event in decision_events(trace)
    ]
    return [add_cost(one, costs.of(one)) for one in found]


def _checklists(trace: PassTrace) -> dict[int, Decision]:
    """Return the recorded decisions by event, with checklists from another run of each pass."""
    found: dict[int, Decision] = {}
    for step in trace.steps:
        if step.before is not None and step.error is None:
            found.update(with_checklists(trace, step))
    return found


def names_before(trace: PassTrace, lineage: Lineage, kind: str) -> Mapping[str, str]:
    """Return the names of a compile as they are before the pass that decides on a kind."""
    step = next(iter(steps_of_kind(trace, kind)), None)
    module = (
        HloModule.from_snapshot(step.before)
        if step is not None and step.before is not None
        else trace.module
    )
    return NamesAt(lineage, {i.name: i.id for i in module.instructions()})


class NamesAt(dict[str, str]):
    """Any name of an instruction in the compile -> its name in one module.

    A name without a counterpart is returned unchanged. there: ids in the module by name.
    """

    def __init__(self, lineage: Lineage, there: Mapping[str, int]) -> None:
        super().__init__()
        self._lineage, self._there = lineage, there
        self._names = {key: name for name, key in there.items()}

    def __missing__(self, name: str) -> str:
        found = name
        if name not in self._there and name in self._lineage.ids_by_name:
            for key in self._lineage.successors(self._lineage.ids_by_name[name]):
                if key in self._names:
                    found = self._names[key]
                    break
        self[name] = found
        return found
