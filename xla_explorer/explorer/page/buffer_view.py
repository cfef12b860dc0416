"""The buffer assignment as the tab Buffers draws it."""

from __future__ import annotations

from itertools import combinations

from xla_explorer.explorer.measures.buffer_report import assigned_buffers, buffer_report
from xla_explorer.explorer.page.rows import BufferView, ScheduleMoment, SharingReason
from xla_explorer.explorer.sessions.compilation import Compilation

MOST_BUFFERS = 400
MOST_REASON_BUFFERS = 20
"""The largest buffers, whose pairs have their reasons in an exported page."""


def buffer_view(session: Compilation, *, with_reasons: bool) -> BufferView | None:
    """Return the buffers, those live at the peak first, up to `MOST_BUFFERS`; None without any.

    with_reasons: with the reason of each pair of the largest that does not share memory.
    """
    if assigned_buffers(session) is None:
        return None
    report = buffer_report(session)
    assignment = report.assignment
    memory = assignment.memory_by_position()
    top = max(range(len(memory)), key=lambda k: memory[k][2], default=None)
    rows = sorted(
        [row for row in report.rows() if row.size], key=lambda row: (not row.held, -row.size)
    )
    hidden = max(0, len(rows) - MOST_BUFFERS)
    kept = sorted(rows[:MOST_BUFFERS], key=lambda row: (row.start, row.offset))
    reasons: list[SharingReason] = []
    if with_reasons:
        names = [row.value for row in rows if row.kind == "arena"][:MOST_REASON_BUFFERS]
        for a, b in combinations(dict.fromkeys(names), 2):
            reason = sharing_reason(session, a, b)
            if reason.code:
                reasons.append(reason)
    return BufferView(
        tuple([row._replace(shared_with=row.shared_with[:20]) for row in kept]),
        assignment.arena_size,
        assignment.arena_lower_bound,
        tuple(
            [
                ScheduleMoment(i.id, i.name, position, live, report.line_of(i.id))
                for i, position, live in memory
            ]
        ),
        top if top is not None and memory[top][2] else None,
        hidden,
        tuple(reasons),
    )


def sharing_reason(session: Compilation, a: str, b: str) -> SharingReason:
    """Return why two values do not share memory; the code is empty if they do.

    ValueError without a buffer assignment.
    """
    if assigned_buffers(session) is None:
        raise ValueError("the backend assigned no buffers")
    try:
        reason = buffer_report(session).why_not_shared(a.split("{")[0], b.split("{")[0])
    except KeyError as problem:
        message = str(problem.args[0]) if problem.args else "one of them has no buffer of its own"
        return SharingReason(a, b, "unknown", message)
    if reason is None:
        return SharingReason(a, b, "", "")
    return SharingReason(a, b, reason.code, reason.message)
