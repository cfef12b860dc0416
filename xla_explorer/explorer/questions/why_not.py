"""`why_not`: why a decision was accepted or refused, of every kind that the compiler records.

A recorded decision comes first, with the checklist that its pass gives when it runs once more on
the module before it. Without a record the pass itself explains the decision
(`compiler.pipeline.explaining`); no policy is named here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS, KINDS_OF_CODE, RULE
from xla_explorer.compiler.decisions.recorded import decision as as_decision
from xla_explorer.compiler.decisions.recorded import decision_of
from xla_explorer.compiler.pipeline import PassContext, PassStep, registered_passes
from xla_explorer.compiler.pipeline.explaining import (
    Explains,
    answering,
    decided_again,
    kinds_of,
    steps_of_kind,
    with_checklists,
)
from xla_explorer.compiler.pipeline.pass_interface import ForeignPass
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.explorer.questions.answer import Answer
from xla_explorer.explorer.questions.decisions import NamesAt, check_kind, refusal_costs
from xla_explorer.explorer.questions.refusal_costs import RefusalCosts
from xla_explorer.explorer.rules.applicable import ApplicableRule, applicable
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event, Level
from xla_explorer.foundation.kept import kept
from xla_explorer.foundation.reason import Check, Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def _checks_of(rule: ApplicableRule) -> tuple[Check, ...]:
    """Return the guards of a rule, and whether its replacement is legal."""
    refused = rule.reason is not None and all(check.ok for check in rule.checks)
    message, code = (
        (rule.reason.message, rule.reason.code) if rule.reason is not None and refused else ("", "")
    )
    built = None if rule.reason is not None and not refused else not refused
    return (
        *rule.checks,
        Check(
            "replacement-is-built",
            built,
            rule.becomes or "nothing is built",
            message,
            code,
            rule.place,
        ),
    )


def why_not(
    passes: RecordedPasses[RecordedPass],
    kind: str,
    subjects: Sequence[str | int | HloInstruction],
    further: Iterable[Decision] = (),
) -> Answer:
    """Return why a decision of a kind about some instructions was accepted or refused.

    UnknownKindError, and XlaExplorerError for instructions that never existed, each with near
    names.

    Parameters
    ----------
    further
        Decisions that are not in the journal.
    """
    further = tuple(further)
    if kind != RULE and kind not in declared_rules():
        check_kind(passes.record, kind, {decision.kind for decision in further})
    if not subjects:
        raise XlaExplorerError(
            f"why_not({kind!r}) needs the instructions of the decision",
            f'why_not({kind!r}, "%name")',
        )
    return answer(Known(passes), kind, tuple([_name(passes, given) for given in subjects]), further)


def answer(
    known: Known, kind: str, names: tuple[str, ...], further: Sequence[Decision] = ()
) -> Answer:
    """Return the answer for instructions that exist or existed, by name."""
    question = _Question(known, kind, names, further)
    found = question.find_recorded() or question.check_rule() or question.find_for_successors()
    return (
        found
        or question.explain_removed()
        or question.decide_again()
        or question.explain_by_pass()
        or question.explain_undecided()
    )


def _name(passes: RecordedPasses[RecordedPass], given: str | int | HloInstruction) -> str:
    key = passes.find(given)
    record = passes.lineage.records.get(
        key
    )  # with the journal off, only the ends of the compile are known
    return record.name if record is not None else passes.module.find(key).name


class Known:
    """Indexes of one compile, each made at its first use: a thousand questions cost one index."""

    def __init__(self, passes: RecordedPasses[RecordedPass]) -> None:
        self.passes, self.record, self.lineage = passes, passes.record, passes.lineage

    @kept
    def last(self, kind: str) -> dict[tuple[str, ...], Event]:
        """Return the last recorded event of a kind by the names of its subjects."""
        events = self.record.journal.events if self.record.journal is not None else []
        found = [
            e
            for e in events
            if (e.is_rewrite if kind == RULE else e.by == kind and (e.is_decision or e.is_rewrite))
        ]
        return {e.names: e for e in found}

    @kept
    def steps(self, kind: str) -> list[PassStep]:
        """Return the steps of passes that take decisions of the kind."""
        return steps_of_kind(self.record, kind)

    @kept
    def instructions_before(self, step: PassStep | None) -> dict[str, HloInstruction]:
        """Return the instructions before a step, by name; without a step, those of the result."""
        before = step.before if step is not None else None
        module = HloModule.from_snapshot(before) if before is not None else self.record.module
        return {i.name: i for i in module.instructions()}

    @kept
    def fusions_before(self, step: PassStep | None) -> dict[str, str]:
        """Return the fusion of each fused instruction before a step, by name."""
        fusions = [i for i in self.instructions_before(step).values() if i.opcode.name == "fusion"]
        return {j.name: i.name for i in fusions for j in i.called[0].instructions.values()}

    @kept
    def decisions_with_checks(self, step: PassStep) -> dict[int, Decision]:
        """Return the recorded decisions of a step with their checklists, by event number."""
        return with_checklists(self.record, step)

    @cached_property
    def costs(self) -> RefusalCosts:
        """The costs of refusals."""
        return refusal_costs(self.record, self.lineage)


class _Question:
    """One question; the first of its methods with an answer gives it."""

    def __init__(
        self, known: Known, kind: str, names: tuple[str, ...], further: Sequence[Decision] = ()
    ) -> None:
        self.known, self.kind, self.names, self.further = known, kind, names, further
        self.passes, self.record, self.lineage = known.passes, known.record, known.lineage

    # -- what the compile recorded -----------------------------------------------------------------
    def find_recorded(self) -> Answer | None:
        """Return the recorded decision."""
        for decision in self.further:
            if decision.kind == self.kind and decision.names == self.names:
                by = decision.facts.get("decided", "recorded by code generation")
                return Answer(decision, str(by), recorded=True)
        event, kernel = self._find_decision(self.known.last(self.kind))
        if event is None:
            return None
        number = self.lineage.step_of(event)
        step = self.record.numbered(number)
        decision = decision_of(event, number)
        if (
            event.is_decision
            and step is not None
            and step.before is not None
            and step.error is None
        ):
            decision = self.known.decisions_with_checks(step).get(event.sequence, decision)
        where = (
            f"recorded in pass {number}, {self.record.name_of(number)}"
            if number
            else "recorded after the passes"
        )
        where = "recorded of the module as written" if number == 0 else where
        return self._answer(decision, where + self._part_of(kernel), recorded=True)

    def _find_decision(self, last: Mapping[tuple[str, ...], Event | Decision]) -> tuple[Any, str]:
        """Return the last decision about the subjects, and the kernel that the second was part of.

        Fusions grow from their roots: once %b is inside the kernel of %c, fusing %a into %b is
        decided as %a into %c. Among several such kernels a refusal comes first.
        """
        if self.names in last:
            return last[self.names], ""
        if len(self.names) == 1:
            alone = self.names * 2  # an instruction recorded as its own value too
            leaving_out = self.kind not in FUSION_KINDS
            fitting = [
                one
                for names, one in last.items()
                if names == alone or (leaving_out and alone[0] in names)
            ]
            return fitting[-1] if fitting else None, ""
        if len(self.names) != 2 or not self._reads(*self.names):
            return None, ""
        producer, consumer = self.names
        kernels = [
            names[1]
            for names, one in last.items()
            if len(names) == 2 and names[0] == consumer and one.verdict == "accepted"
        ]
        inside = [
            (last[producer, kernel], kernel) for kernel in kernels if (producer, kernel) in last
        ]
        return min(inside, key=lambda pair: pair[0].verdict == "accepted", default=(None, ""))

    def _part_of(self, kernel: str) -> str:
        return f", for the kernel of %{kernel}, which %{self.names[1]} is part of" if kernel else ""

    def check_rule(self) -> Answer | None:
        """Return the result of a rule for an instruction to which it was never applied."""
        if self.kind != RULE and self.kind not in declared_rules():
            return None
        searched = applicable(self.passes, self.passes.find(self.names[0]))
        for rule in sorted(searched.rules, key=lambda rule: rule.reason is None):
            if self.kind in (RULE, rule.rule):
                return self._answer(
                    self._decision(rule.reason, _checks_of(rule)),
                    f"checked again {searched.where}",
                    recorded=False,
                )
        whose = "every rule" if self.kind == RULE else self.kind
        reason = refuse(
            "pattern-does-not-fit", f"the pattern of {whose} does not fit {searched.instruction}"
        )
        return self._answer(
            self._decision(reason), f"checked again {searched.where}", recorded=False
        )

    # -- the module before the pass ----------------------------------------------------------------
    @cached_property
    def _step(self) -> PassStep | None:
        """The first pass that takes decisions of the kind."""
        return next(iter(self.known.steps(self.kind)), None)

    @property
    def _present(self) -> dict[str, HloInstruction]:
        """The instructions before that pass; without such a pass, those of the result."""
        return self.known.instructions_before(self._step)

    def _reads(self, producer: str, consumer: str) -> bool:
        i = self._present.get(consumer)
        return i is not None and any(o.name == producer for o in i.operands)

    def _kernel_of(self, name: str) -> str:
        """Return the fusion around an instruction before the pass; the name without one."""
        return (
            self.known.fusions_before(self._step).get(name, name)
            if self.kind in FUSION_KINDS and len(self.names) == 2
            else name
        )

    def find_for_successors(self) -> Answer | None:
        """Return the answer for the instructions that had replaced the subjects before the pass."""
        present = NamesAt(self.lineage, {name: i.id for name, i in self._present.items()})
        now = tuple([self._kernel_of(present[name]) for name in self.names])
        if (
            now == self.names
            or any(name not in self._present for name in now)
            or len(set(now)) < len(now)
        ):
            return None
        successors = _Question(self.known, self.kind, now, self.further)
        answer = (
            successors.find_recorded()
            or successors.decide_again()
            or successors.explain_by_pass()
            or successors.explain_undecided()
        )
        same = self.known.fusions_before(self._step)
        words = {True: "was inside", False: "had become"}
        renamed = [
            f"%{old} {words[same.get(old) == new]} %{new}"
            for old, new in zip(self.names, now, strict=True)
            if old != new
        ]
        answer.source += f"; {' and '.join(renamed)} by then"
        return answer

    def explain_removed(self) -> Answer | None:
        """Return which pass removed an instruction before the decision.

        XlaExplorerError for an instruction that was made after it.
        """
        what = (
            "fusion"
            if self.kind == "fusion"
            else self._step.name
            if self._step is not None
            else self.kind
        )
        for name in self.names:
            key = self.passes.find(name)
            if name in self._present or any(i.id == key for i in self._present.values()):
                continue
            number = self.lineage.removed_in(key)
            if number is None or (self._step is not None and number > self._step.number):
                if self._step is None:
                    continue
                about = " into ".join([f"%{name}" for name in self.names])
                raise XlaExplorerError(
                    f"%{name} did not exist before {what}, and no decision about {about} was recorded",
                    f"session.passes.history({name!r}) has its origin",
                )
            by = self.record.name_of(number)
            successors = [
                self.lineage.records[k].name
                for k in self.lineage.successors(key)[1:]
                if k in self.lineage.records
            ]
            message = f"%{name} ({self.lineage.records[key].opcode.name}) was removed before {what}, by {by} in pass {number}"
            if successors:
                message += (
                    f"; replaced by {', then '.join(['%' + successor for successor in successors])}"
                )
            facts = {"pass": by, "step": number, "replaced_by": tuple(successors)}
            code = "removed-before-fusion" if what == "fusion" else "removed-before-the-pass"
            return self._answer(
                self._decision(Reason(code, message, facts)),
                "from the history of the instruction",
                recorded=False,
            )
        return None

    # -- decided again -----------------------------------------------------------------------------
    def decide_again(self) -> Answer | None:
        """Return the decision of another run of the passes, if the compile recorded none."""
        if self.record.journal is not None and self.record.journal.level >= Level.DECISIONS:
            return None  # it would be recorded
        for step in self.known.steps(self.kind):
            if isinstance(step.hlo_pass, ForeignPass):
                continue
            found, kernel = self._find_decision(
                {d.names: d for d in decided_again(self.record, step) if d.kind == self.kind}
            )
            if found is not None:
                source = f"decided again: {step.name} ran once more on the module before it"
                return self._answer(found, source + self._part_of(kernel), recorded=False)
        return None

    def explain_by_pass(self) -> Answer | None:
        """Return the pass's explanation for instructions that its run did not reach."""
        hlo_pass: Any = (
            answering(self._step.hlo_pass) if self._step is not None else _pass_for(self.kind)
        )
        if not isinstance(hlo_pass, Explains) or any(
            name not in self._present for name in self.names
        ):
            return None
        subjects = tuple([self._present[name] for name in self.names])
        found = hlo_pass.evaluate(self.kind, subjects, PassContext(target=self.record.target))
        where = (
            f"the module before {self._step.name}"
            if self._step is not None
            else "the result, which no such pass has seen"
        )
        return (
            self._answer(
                found,
                f"explained by the pass on {where}, as if the consumer stood alone",
                recorded=False,
            )
            if found is not None
            else None
        )

    def explain_undecided(self) -> Answer:
        """Return that nothing was decided, and what the passes of the kind did decide about."""
        about = " and ".join([f"%{name}" for name in self.names])
        if self._step is not None and isinstance(self._step.hlo_pass, ForeignPass):
            message = f"XLA's pass {self._step.name} writes no decisions into a dump, and its replay has none about {about}"
        elif self._step is not None:
            message = (
                f"the pass {self._step.name} decided nothing of the kind {self.kind} about {about}"
            )
        elif self.kind in KINDS_OF_CODE:
            message = f"code generation decided nothing of the kind {self.kind} about {about}"
        else:
            message = f"no pass of this compile decides about {self.kind}: nothing was decided about {about}"
        decided = list(
            dict.fromkeys(
                [
                    " and ".join(decision_of(e, None).about)
                    for e in self.known.last(self.kind).values()
                ]
            )
        )
        if decided:
            message += f"; it decided about {', '.join(decided[:8])}" + (
                f" and {len(decided) - 8} more" if len(decided) > 8 else ""
            )
        reason = refuse("never-decided", message, decisions=len(decided))
        return self._answer(self._decision(reason), "nothing was recorded", recorded=False)

    def _decision(self, reason: Reason | None, checks: tuple[Check, ...] = ()) -> Decision:
        ids = tuple([self.passes.find(name) for name in self.names])
        return as_decision(self.kind, reason is None, ids, self.names, reason, None, None, checks)

    def _answer(self, decision: Decision, source: str, *, recorded: bool) -> Answer:
        cost = self.known.costs.of(decision)
        return Answer(decision._replace(names=self.names), source, recorded=recorded, cost=cost)


def _pass_for(kind: str) -> Any:
    """Return a pass that takes decisions of a kind, the one of that name if it exists."""
    known = registered_passes()
    found = known.get(kind) or next(
        (cls for cls in known.values() if kind in getattr(cls, "kinds", ())), None
    )
    return found() if found is not None and kind in kinds_of(found) else None
