"""Two compiles side by side as rows with units, the most important first."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.explorer.comparisons.comparison import Comparison
from xla_explorer.explorer.page.reports import ComparisonRow


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
