"""`Decision`: what was decided, about what, and why. The same value from the journal to the screen."""

from __future__ import annotations

from collections.abc import Mapping
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
        Ids of instructions in the order that the kind implies; of a fusion the producer first.
    names : tuple of str
        Their names at that time, without %.
    reason : Reason or None
        Why it was refused; of some accepted decisions, what spoke for them.
    facts : mapping
        The numbers, with the unit in the key.
    step : int or None
        The number of the pass, 1 for the first, 0 for the module as written; None after the last pass.
    checklist : tuple of Check
        All that must hold, as it was when the decision was made. Empty where that was not recorded.
    """

    kind: str
    verdict: Verdict
    subjects: tuple[int, ...]
    names: tuple[str, ...]
    reason: Reason | None = None
    facts: Mapping[str, Any] = {}
    step: int | None = None
    checklist: tuple[Check, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the answer was no."""
        return self.verdict == "refused"

    @property
    def code(self) -> str:
        """The code of the reason; empty without one."""
        return self.reason.code if self.reason is not None else ""

    @property
    def message(self) -> str:
        """The sentence of the reason; empty without one."""
        return self.reason.message if self.reason is not None else ""

    @property
    def about(self) -> tuple[str, ...]:
        """The names with %, each once: an instruction may stand for itself and for its value."""
        return tuple([f"%{name}" for name in dict.fromkeys(self.names)])

    @cleaned
    def __str__(self) -> str:
        tail = f": {self.reason}" if self.reason is not None else ""
        return f"{self.kind} of {' and '.join(self.about)} {self.verdict}{tail}"


def verdict_of(accepted: bool) -> Verdict:
    """The word for it."""
    return "accepted" if accepted else "refused"
