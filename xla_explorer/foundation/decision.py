"""`Decision`: a decision with its subjects and its reason, from the journal to the screen."""

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
        The kind of decision: `fusion`, `layout`, `launch`; for a rewrite rule, its name.
    verdict : {"accepted", "refused"}
        The outcome.
    subjects : tuple of int
        Ids of instructions in the order that the kind implies, each once.
        Of a fusion the producer comes first.
    names : tuple of str
        Their names at that time, without %.
    code : str
        The stable code of a refusal, or of the argument for some accepted decisions; else empty.
    message : str
        One sentence with names and numbers.
    facts : mapping
        The numbers, with the unit in the key.
    step : int or None
        The number of the pass, from 1; 0 for the module as written, None after the last pass.
    checklist : tuple of Check
        All conditions, as evaluated for the decision; empty if they were not recorded.
    forceable : bool
        True if all mandatory conditions hold and only the cost model refuses.
        An override can then force it.
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
        """True if the decision was refused."""
        return self.verdict == "refused"

    @property
    def reason(self) -> Reason | None:
        """Code, message and facts as one value; None without a code."""
        return Reason(self.code, self.message, dict(self.facts)) if self.code else None

    @property
    def about(self) -> tuple[str, ...]:
        """Names with %."""
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
    """Return the verdict as a word."""
    return "accepted" if accepted else "refused"


def each_once(
    subjects: Sequence[int], names: Sequence[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return subjects and names without repetitions.

    An instruction may be listed both as itself and as its value.
    """
    return tuple(dict.fromkeys(subjects)), tuple(dict.fromkeys(names))
