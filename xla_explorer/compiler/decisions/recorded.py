"""Conversion of recorded events, reasons and checks to `Decision`; the only place that does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_explorer.compiler.decisions.kinds import KINDS, accepted_sentence
from xla_explorer.foundation.decision import Decision, each_once, verdict_of
from xla_explorer.foundation.journal import Event
from xla_explorer.foundation.measured import number
from xla_explorer.foundation.reason import Check, Reason


def decision(
    kind: str,
    accepted: bool,
    subjects: tuple[int, ...],
    names: tuple[str, ...],
    reason: Reason | None,
    facts: Mapping[str, Any] | None = None,
    step: int | None = None,
    checklist: tuple[Check, ...] = (),
) -> Decision:
    """Return a decision with the reason's message, or without one the sentence of a yes."""
    subjects, names = each_once(subjects, names)
    facts = facts or {}
    if reason is not None:
        code, message, facts = reason.code, reason.message, {**facts, **reason.facts}
    else:
        code, message = "", accepted_sentence(kind, names, facts) if accepted else ""
    return Decision(
        kind, verdict_of(accepted), subjects, names, code, message, facts, step, checklist
    )


def decision_of(event: Event, step: int | None) -> Decision:
    """Return a recorded decision or rewrite. step: the number of its pass."""
    found = decision(
        event.by,
        event.acted,
        event.subjects,
        event.names,
        event.reason,
        event.facts,
        step,
        event.checklist,
    )._replace(forceable=event.forceable)
    if event.is_rewrite and event.acted and event.reason is None:
        return found._replace(message=" becomes ".join([f"%{name}" for name in event.names[:2]]))
    return found


def code_check(
    kind: str, accepted: bool, reason: Reason | None, facts: Mapping[str, Any], place: str
) -> tuple[Check, ...]:
    """Return the one check by which code generation decides a kind.

    Its value is the decision's numbers. place: the source line that decides.
    """
    numbers = {**facts, **(reason.facts if reason is not None else {})}
    numbers_text = [
        f"{key.replace('_', ' ')} {number(v) if isinstance(v, int | float) else v}"
        for key, v in numbers.items()
        if not _is_long(v)
    ]
    value = ", ".join(numbers_text[:5]) or (reason.message if reason is not None else "")
    message, code = (
        (reason.message, reason.code) if reason is not None and not accepted else ("", "")
    )
    return (Check(KINDS[kind].check, accepted, value, message, code, place),)


def _is_long(value: Any) -> bool:
    return isinstance(value, list | tuple | dict) or (isinstance(value, str) and len(value) > 40)
