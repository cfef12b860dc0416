"""Compile with overrides for a view, compare the results in rows with units, and measure them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.explorer.code.kernel_rows import BOUND_KNOWN
from xla_explorer.explorer.comparisons.comparison import Comparison, compare_sessions
from xla_explorer.explorer.measures.profiling import profile
from xla_explorer.explorer.page.rows import (
    ChangedDecision,
    ComparisonRow,
    ComparisonTable,
    OverrideRow,
)
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.questions.overrides import overrides_of
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError

OverrideKey = tuple[str, ...]
"""A forced or forbidden decision: its kind, and the names of its subjects."""
MEASURED_RUNS = 10
LONGEST_COMPARED = 20_000
"""Instructions; larger modules are compared without a run, since numpy would take minutes."""


class _Measure(NamedTuple):
    """The title and unit of a row of a comparison."""

    title: str
    unit: str = ""
    less_is_better: bool | None = None


_SPREAD = "iqr us"
MEASURES = {
    "kernels": _Measure("kernels", "", True),
    "bytes read and written (estimate)": _Measure(
        "bytes read and written (estimate)", "bytes", True
    ),
    "predicted us (cost model)": _Measure("predicted time, cost model", "us", True),
    "median us": _Measure("median time", "us", True),
    _SPREAD: _Measure("iqr time", "us"),
    "backend": _Measure("backend"),
    "passes": _Measure("passes"),
    "instructions": _Measure("instructions"),
    "launches a run": _Measure("launches a run", "", True),
    "flops (estimate)": _Measure("flops (estimate)"),
    "compile ms": _Measure("compile time", "ms"),
    "arena bytes": _Measure("arena bytes", "bytes", True),
    "n": _Measure("n"),
    "largest error against the evaluator": _Measure("largest error against the evaluator", "error"),
}
"""The rows of `Comparison`, the most important first."""


def comparison_rows(comparison: Comparison) -> tuple[ComparisonRow, ...]:
    """Return the rows of a comparison, the most important first; measured ones have a spread."""
    given = {what: (now, before) for what, now, before in comparison.rows}
    spread = max(given.get(_SPREAD, (0.0,)))
    order = [
        *[what for what in MEASURES if what in given],
        *[what for what in given if what not in MEASURES],
    ]
    found = []
    for what in order:
        measure, (now, before) = MEASURES.get(what) or _Measure(what), given[what]
        found.append(
            ComparisonRow(
                measure.title,
                measure.unit,
                measure.less_is_better,
                now,
                before,
                spread if what == "median us" else None,
            )
        )
    return tuple(found)


def measure(session: Compilation | None) -> None:
    """Time the kernels of a session on random arguments. ValueError if that could take long."""
    if session is None:
        raise ValueError("this view has no program to run")
    if session.backend not in BOUND_KNOWN or session.source.instruction_count() > LONGEST_COMPARED:
        raise ValueError("measuring could take long: run session.profile() in a cell")
    profile(session, (), MEASURED_RUNS)


def what_if(
    session: Compilation, force: Sequence[OverrideKey], forbid: Sequence[OverrideKey]
) -> tuple[Compilation, ComparisonTable]:
    """Compile again with overrides, and compare times, costs and decisions."""
    other = overridden(session, force=force, forbid=forbid)
    comparison, note = _compared(other, session)
    requests = [
        (word, *one) for word, some in (("force", force), ("forbid", forbid)) for one in some
    ]
    title = ", ".join(
        [
            f"{word} {kind} of {' → '.join(['%' + name for name in names])}"
            for word, kind, *names in requests
        ]
    )
    new = overrides_of(other)[len(session.requested) :]
    return other, ComparisonTable(
        title,
        comparison_rows(comparison),
        tuple([ChangedDecision(*row) for row in comparison.changed_decisions[:200]]),
        note,
        tuple([OverrideRow(str(one), one.granted) for one in new]),
    )


def _compared(other: Compilation, session: Compilation) -> tuple[Comparison, str]:
    """Return a comparison, with runs of both if they are short, and why they did not run."""
    if other.source.instruction_count() > LONGEST_COMPARED:
        note = "not run: the module is long; .compare() of the new session runs it"
        return compare_sessions(other, session), note
    try:
        arguments = random_arguments(other.source)
        comparison = compare_sessions(other, session, arguments, repeats=10)
        if other.backend in BOUND_KNOWN:  # an emulator takes long
            profile(other, arguments, MEASURED_RUNS)
    except XlaExplorerError as problem:
        return compare_sessions(other, session), f"not run: {problem.message}"
    return comparison, ""
