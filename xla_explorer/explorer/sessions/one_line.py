"""A compile in one line: its `repr`."""

from __future__ import annotations

from typing import Any

from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.sessions.compilation import program_steps


def one_line(session: Any) -> str:
    """Return the source, the passes and the result of a compile in one line, or its failure."""
    changed = len([p for p in session.passes if p.changed])
    parts = [
        f"{session.passes.last} passes, {changed} changed it",
        (
            f"{session.source.instruction_count()} -> {session.module.instruction_count()} "
            "instructions"
        ),
    ]
    if steps := program_steps(session):
        parts.append(number_of(len(steps), "kernel"))
        slow = len([s for s in steps if s.runs_on == "evaluator"])
        if slow and session.backend != "interpreter":
            parts.append(f"{slow} on the evaluator")
    if session.seconds:  # a dump has no times
        parts.append(f"compiled in {sum(session.seconds.values()) * 1e3:.1f} ms")
    if session.base is not None and (refused := (overrides := session.overrides()).refused):
        parts.append(f"{len(refused)} of {len(overrides)} overrides not granted (.overrides())")
    if session.error is not None:
        parts.append(f"FAILED in {session.failed_phase}: {type(session.error).__name__}")
    return f"<Session {session.source.name} on {session.backend}: {', '.join(parts)}>"
