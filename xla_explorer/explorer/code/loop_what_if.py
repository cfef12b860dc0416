"""Other schedules of a kernel: nests, estimates, and legal and refused next directives."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.nest.ir import BoundAxis, For
from xla_explorer.compiler.codegen.nest.schedule_text import (
    ScheduleError,
    parse_directives,
)
from xla_explorer.compiler.codegen.nest.text import nest_lines
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule, schedule_of
from xla_explorer.explorer.code.loop_rows import LoopChoice, LoopTry
from xla_explorer.explorer.display import TextLine
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.indexing import Axis

MOST_CHOICES = 120
"""Directives that are checked at once: each proves every access of the nest that it would make."""
_FACTORS = (64, 32, 16, 8, 4, 2)
_OF_A_DEVICE = {"gpu": ("block", "thread", "warp")}


def loop_try(session: Compilation, kernel: str | int, text: str, run: bool = False) -> LoopTry:
    """Return the plain nest of a kernel with the directives of a text, up to the first illegal one.

    run: also compile and run the kernel alone. ScheduleError for a kernel without a nest.
    """
    now = schedule_of(session, kernel)
    made, problem = _as_far_as_legal(now, text)
    lines = tuple([TextLine(line.text, line.origin) for line in nest_lines(made.nest)])
    expected = made.estimate()
    reason = problem.reason if problem is not None else None
    code = reason.code if reason is not None else "not-a-schedule" if problem is not None else ""
    sentences: tuple[str, ...] = ()
    if run and problem is None:
        try:
            ran = made.run(repeats=9)
            sentences = (ran.headline(), f"values: {ran.values}", *getattr(ran, "findings", ()))
        except XlaExplorerError as failed:
            sentences = (f"not run: {failed.message}",)
    return LoopTry(
        str(made), code, problem.message if problem is not None else "", problem.hint or "" if problem is not None else "", lines,
        expected.nanoseconds, expected.limit, now.estimate().nanoseconds, tuple(choices_of(made)), sentences, expected.where,
    )  # fmt: skip


def _as_far_as_legal(now: KernelSchedule, text: str) -> tuple[KernelSchedule, ScheduleError | None]:
    if text == str(now):
        return now, None  # a policy has directives that a user cannot write
    made = now.plain()
    try:
        for directive in parse_directives(text):
            made = made.then(directive)
    except ScheduleError as problem:
        return made, problem
    return made, None


def choices_of(schedule: KernelSchedule) -> Iterator[LoopChoice]:
    """Yield the possible next directives; refused ones have a Reason."""
    axes = list(schedule.nest.axes().values())
    texts = [
        text
        for number, bound in enumerate(axes)
        for text in _texts(bound, axes[number + 1 :], schedule.session.backend)
    ]
    for axis, text in texts[:MOST_CHOICES]:
        (directive,) = parse_directives(text)
        reason = schedule.why_not(directive)
        yield LoopChoice(
            axis,
            text,
            reason.code if reason is not None else "",
            reason.message if reason is not None else "",
        )


def _texts(
    bound: BoundAxis | For, inside: list[BoundAxis | For], backend: str
) -> Iterator[tuple[str, str]]:
    axis: Axis = bound.axis
    name = axis.name
    factor = next(
        (f for f in _FACTORS if f < axis.extent and axis.extent % f == 0),
        next((f for f in _FACTORS if f < axis.extent), 2),
    )
    tails = ("", ",cut", ",overlap") if axis.extent % factor else ("",)
    for tail in tails:
        yield name, f"split{{{name},{factor}{tail}}}"
    for kind in ("unroll", *_OF_A_DEVICE.get(backend, ("vectorize",))):
        yield name, f"{kind}{{{name}}}"
    if backend not in _OF_A_DEVICE:
        yield name, f"parallel{{{name},2}}"
    for other in inside[:1]:
        yield name, f"reorder{{{name},{other.axis.name}}}"
        yield name, f"collapse{{{name},{other.axis.name}}}"
