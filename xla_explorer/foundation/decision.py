"""`Decision`: what was decided, about what, and why. The same value from the journal to the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from xla_explorer.foundation.reason import Check, Reason
from xla_explorer.foundation.visible_text import cleaned

Verdict = Literal["accepted", "refused"]


class Decision(NamedTuple):
    """One decision of a pass, of a rewrite rule or of code generation.

    Attributes
    ----------
    kind : str
        What was asked: `fusion`, `layout`, `launch`; of a rewrite rule, its name.
    verdict : {"accepted", "refused"}
        How it ended.
    subjects : tuple of int
        Ids of instructions in the order that the kind implies, each once; of a fusion the producer first.
    names : tuple of str
        Their names at that time, without %.
    code : str
        The stable code of why it was refused; of some accepted decisions, of what spoke for them. Empty without one.
    message : str
        One sentence with names and numbers.
    facts : mapping
        The numbers, with the unit in the key.
    step : int or None
        The number of the pass, 1 for the first, 0 for the module as written; None after the last pass.
    checklist : tuple of Check
        All that must hold, as it was when the decision was made. Empty where that was not recorded.
    forceable : bool
        Whether a refusal only weighed what is faster, so that an override turns it; what must hold did.
    """

    kind: str
    verdict: Verdict
    subjects: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    code: str = ""
    message: str = ""
    facts: Mapping[str, Any] = {}
    step: int | None = None
    checklist: tuple[Check, ...] = ()
    forceable: bool = False

    @property
    def refused(self) -> bool:
        """Whether the answer was no."""
        return self.verdict == "refused"

    @property
    def reason(self) -> Reason | None:
        """Code, message and facts as one value; None without a code."""
        return Reason(self.code, self.message, dict(self.facts)) if self.code else None

    @property
    def about(self) -> tuple[str, ...]:
        """The names with %."""
        return tuple([f"%{name}" for name in self.names])

    @cleaned
    def __str__(self) -> str:
        tail = (
            f": {self.code}: {self.message}"
            if self.code
            else f": {self.message}"
            if self.message
            else ""
        )
        return f"{self.kind} of {' and '.join(self.about)} {self.verdict}{tail}"


def verdict_of(accepted: bool) -> Verdict:
    """The word for it."""
    return "accepted" if accepted else "refused"


def each_once(
    subjects: Sequence[int], names: Sequence[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Subjects and names, each once: an instruction may stand for itself and for its value."""
    return tuple(dict.fromkeys(subjects)), tuple(dict.fromkeys(names))
