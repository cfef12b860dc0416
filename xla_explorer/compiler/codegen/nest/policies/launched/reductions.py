"""GPU schedules of reductions: row reduction, column reduction, or a kernel per group of results.

A new policy for reductions is a further attempt in `reducing_schedule`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from xla_explorer.compiler.codegen.nest.ir import LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.nest.policies.launched.columns import column_schedule
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import elementwise_schedule
from xla_explorer.compiler.codegen.nest.policies.launched.merging import with_merged_sweeps
from xla_explorer.compiler.codegen.nest.policies.launched.rows import row_schedule
from xla_explorer.compiler.codegen.nest.policies.launched.splitting import (
    groups_of_results,
    one_after_the_other,
)
from xla_explorer.compiler.codegen.nest.policies.launched.transposes import transpose_schedule
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason


def reducing_schedule(
    nest: LoopNest, architecture: LaunchArchitecture, tuning: Tuning
) -> Schedule | Reason:
    """Return the schedule of a reduction.

    Attempts, in this order: a row reduction of contiguous rows, a column reduction, a row reduction
    of strided rows, a kernel for each group of results.
    """
    merged = with_merged_sweeps(nest, tuning)
    if merged is not None:
        made = reducing_schedule(merged.nest, architecture, tuning)
        if not isinstance(made, Reason):
            return (
                made
                if made.following is not None
                else replace(made, start=nest, directives=(*merged.directives, *made.directives))
            )
    refused: Reason | None = None
    for policy in (row_schedule, column_schedule, partial(row_schedule, contiguous_only=False)):
        made = policy(nest, architecture, tuning)
        if not isinstance(made, Reason):
            return made
        refused = refused or made
    assert refused is not None
    groups = groups_of_results(nest)
    found = (
        [reducing_schedule(group, architecture, tuning) for group in groups]
        if len(groups) > 1
        else []
    )
    if all(isinstance(made, Reason) for made in found):
        return refused
    schedules = []
    for group, made in zip(groups, found, strict=True):
        one = (
            elementwise_schedule(group, architecture, tuning) if isinstance(made, Reason) else made
        )
        if isinstance(one, Reason):
            return refused
        schedules.append(one)
    return one_after_the_other(schedules)


def schedules_of(
    nest: LoopNest, architecture: LaunchArchitecture, tuning: Tuning
) -> Iterator[Schedule]:
    """Yield the schedule of each policy that accepts a nest and needs only one kernel launch."""
    reduces = any(isinstance(s, Reduce) for s, _ in walk(nest.body))
    for policy in (reducing_schedule if reduces else transpose_schedule, elementwise_schedule):
        made = policy(nest, architecture, tuning)
        if not isinstance(made, Reason) and made.following is None:
            yield made
