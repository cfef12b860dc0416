"""The answer to `why_not`: a decision, the meaning of its code, and the checklist."""

from __future__ import annotations

from xla_explorer.compiler.decisions.kinds import meaning_of, section_of
from xla_explorer.compiler.decisions.reason_code import ReasonCode
from xla_explorer.explorer.display.blocks import Blocks, Listing, Sentence, Table, drawn, printed
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.questions.decisions import add_cost
from xla_explorer.explorer.questions.refusal_costs import RefusalCost
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.reason import Check, Reason


class Answer(Report):
    """The answer to `why_not`.

    Attributes
    ----------
    decision : Decision
        The decision. Its fields `kind`, `verdict`, `refused`, `subjects`, `reason`, `code`,
        `message`, `step` and `checklist` are attributes of the answer too. `producer` and
        `consumer` are its first and last subject, without %; `facts` has its numbers with those of
        the reason and of the cost.
    recorded : bool
        True if the compile recorded the decision, False if a pass was run again for the answer.
    source : str
        The same in words, with the pass.
    cost : RefusalCost or None
        The cost of the refusal by the cost model.
    """

    def __init__(
        self, decision: Decision, source: str, *, recorded: bool, cost: RefusalCost | None = None
    ) -> None:
        decision = add_cost(decision, cost)
        self.kind, self.verdict, self.refused = decision.kind, decision.verdict, decision.refused
        self.producer, self.consumer, self.subjects = (
            decision.names[0],
            decision.names[-1],
            decision.about,
        )
        self.code, self.message, self.facts = decision.code, decision.message, decision.facts
        self.step, self.recorded, self.source, self.checklist, self.cost = (
            decision.step,
            recorded,
            source,
            decision.checklist,
            cost,
        )
        self._decision = decision

    @property
    def decision(self) -> Decision:
        """The decision as a value."""
        return self._decision

    @property
    def reason(self) -> Reason | None:
        """The reason of a refusal, and of some accepted decisions."""
        return self._decision.reason

    @property
    def meaning(self) -> ReasonCode | None:
        """The general meaning of the code, with an example and a remedy; None without a code."""
        return meaning_of(self.kind, self.code) if self.code else None

    def _sentence(self) -> str:
        return f"{self.code}: {self.message}" if self.code else self.message

    def _head(self) -> str:
        return f"{self.kind} of {' into '.join(self.subjects)}: {self.verdict} ({self.source})"

    def blocks(self) -> Blocks:
        """Yield the reason, the general meaning of its code, and the checklist."""
        known = [self._sentence()] if self.message else []
        general = []
        if self.meaning is not None:
            page = f"{PAGE_OF_REASONS}#{section_of(self.kind, self.code)}"
            general = [
                f"in general: {self.meaning.sentence}",
                f"remedy: {self.meaning.remedy}",
                f"all codes: {page}",
            ]
        cost = [str(self.cost)] if self.cost is not None else []
        checks = [
            f"{_WORDS[check.ok]} {': '.join(filter(None, (check.name, _check_text(check))))}"
            for check in self.checklist
        ]
        yield printed(Listing(self._head(), [*known, *general, *cost, *checks]))
        yield drawn(
            Sentence("; ".join([" — ".join([self._head(), *known]), *general, *cost]), bold=True)
        )
        yield drawn(self.records())

    def records(self) -> Table:
        """Return the checklist: a mark, the condition, the measured value, where it is written."""
        return Table(
            ["holds", "condition", "measured", "written_at"],
            [(_MARKS[c.ok], c.name, _check_text(c), c.place) for c in self.checklist],
        )


PAGE_OF_REASONS = "notebooks/fusion_reasons.md"
_WORDS = {True: "ok ", False: "no ", None: "-- "}
_MARKS = {True: "✓", False: "✗", None: "·"}


def _check_text(check: Check) -> str:
    return "; ".join(filter(None, (check.value, check.message)))
