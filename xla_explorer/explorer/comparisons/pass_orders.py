"""Passes in other orders: pairs that commute on a module, and the cheapest order of some passes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.compiler.pipeline import PassPipeline, make_pass, optimize
from xla_explorer.compiler.target import Target
from xla_explorer.explorer.comparisons.structural_difference import structural_diff
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.explorer.sessions.progress import counted
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

_PAIRS = [
    "first",
    "second",
    "same",
    "instructions",
    "instructions_swapped",
    "bytes",
    "bytes_swapped",
    "flops",
    "flops_swapped",
    "error",
]
_ORDERS = ["order", "instructions", "bytes", "flops", "error"]
_COSTS = ("instructions", "bytes", "flops")


class _Result(NamedTuple):
    """The result of an order. costs: by _COSTS."""

    module: HloModule
    costs: tuple[float, float, float]
    error: str


def changing_names(passes: RecordedPasses[RecordedPass]) -> list[str]:
    """Return the names of the passes that changed the module, each once, in order."""
    return list(dict.fromkeys([one.name for one in passes[1:] if one.changed]))


def _require_own(names: Sequence[str]) -> None:
    """Raise XlaExplorerError for a pass that this compiler does not have.

    A dump of real XLA has no passes to run.
    """
    for name in names:
        try:
            make_pass(name)
        except LookupError as problem:
            raise XlaExplorerError(
                f"the pass {name} cannot run here: {problem}",
                "name passes of this compiler, such as commute('algsimp', 'cse')",
            ) from problem


def _run(module: HloModule, names: Sequence[str], target: Target | None) -> _Result:
    pipeline = PassPipeline("order", tuple([make_pass(name) for name in names]))
    trace = optimize(module, pipeline, "passes", target=target, verify=True, keep_errors=True)
    cost = module_cost(trace.module)
    counts = (
        trace.module.instruction_count(),
        int(cost.bytes_accessed),
        int(cost.flops + cost.transcendentals),
    )
    return _Result(trace.module, counts, str(trace.error or ""))


def commuting_passes(
    module: HloModule, names: Sequence[str], target: Target | None = None
) -> pandas.DataFrame:
    """Return which pairs of passes commute: see `Passes.commute`."""
    _require_own(names)
    rows: list[list[Any]] = []
    for first, second in counted(
        list(combinations(dict.fromkeys(names), 2)), "exchanging passes", noun="pairs"
    ):
        one, other = _run(module, (first, second), target), _run(module, (second, first), target)
        error = one.error or other.error
        same = not error and structural_diff(one.module, other.module).same
        rows.append(
            [
                first,
                second,
                same,
                *[cost for pair in zip(one.costs, other.costs, strict=True) for cost in pair],
                error,
            ]
        )
    return wide_frame(rows, _PAIRS)


def searched_orders(
    module: HloModule,
    names: Sequence[str],
    target: Target | None = None,
    *,
    trials: int = 40,
    by: str = "bytes",
) -> pandas.DataFrame:
    """Return orders of passes with their costs: see `Passes.search_order`."""
    _require_own(names)
    if by not in _COSTS:
        raise XlaExplorerError(
            f"orders cannot be compared by {by!r}", f"choose from: {', '.join(_COSTS)}"
        )
    wanted = _COSTS.index(by)
    tried: dict[tuple[str, ...], _Result] = {}

    def worth(order: tuple[str, ...]) -> tuple[bool, float]:
        if order not in tried:
            tried[order] = _run(module, order, target)
        return bool(tried[order].error), tried[order].costs[wanted]

    best = tuple(names)
    worth(best)
    while len(tried) < trials:
        others = [(*best[:k], best[k + 1], best[k], *best[k + 2 :]) for k in range(len(best) - 1)]
        fresh = [order for order in others if order not in tried][: trials - len(tried)]
        better = min(fresh, key=worth, default=best)
        if worth(better) >= worth(best):
            break
        best = better
    ranked = sorted(tried, key=worth)
    return wide_frame(
        [[",".join(order), *tried[order].costs, tried[order].error] for order in ranked], _ORDERS
    )
