"""Old attributes of `Trace`, with what replaces them; they go with the next release."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

from xla_explorer.foundation.renamed import Renamed


def _old_graph(passes: Any, index: int = -1, around: Any = None, radius: int = 2) -> Any:
    return passes[passes.record.step_at(index).number if passes.record.steps else 0].graph(
        around, radius
    )


def _old_text_diff(passes: Any, index: int, context_lines: int = 3) -> Any:
    return passes[passes.record.step_at(index).number].text_diff(context_lines)


_FIRST = "where 1 is the first pass"
OLD_TRACE_NAMES = {
    **{
        name: Renamed(f"passes.{name}", attrgetter(f"passes.{name}"))
        for name in (
            "applicable",
            "changed",
            "error",
            "find",
            "history",
            "hot_rules",
            "journal",
            "lineage",
            "seconds",
        )
    },
    "at": Renamed(f"passes[k].module, {_FIRST}", lambda trace: trace.passes.record.at),
    "changed_ids": Renamed(
        "passes[k].known_diff", lambda trace: lambda step: trace.passes[step].known_diff
    ),
    "lines": Renamed("passes[k].lines", lambda trace: lambda step: trace.passes[step].lines),
    "picture": Renamed(
        "passes[k].picture()",
        lambda trace: lambda step, **options: trace.passes[step].picture(**options),
    ),
    "snapshot": Renamed(
        "passes[k].snapshot", lambda trace: lambda step: trace.passes[step].snapshot
    ),
    "before": Renamed(f"passes[k].before, {_FIRST}", lambda trace: trace.passes.record.before),
    "diff": Renamed(f"passes[k].diff, {_FIRST}", lambda trace: trace.passes.record.diff),
    "explorer_source": Renamed("explore()", lambda trace: trace._explorer_source_()),
    "graph": Renamed(
        f"passes[k].graph(), {_FIRST}", lambda trace: partial(_old_graph, trace.passes)
    ),
    "step": Renamed("passes.named(name).step", lambda trace: trace.passes.record.step),
    "text_diff": Renamed(
        f"passes[k].text_diff(), {_FIRST}", lambda trace: partial(_old_text_diff, trace.passes)
    ),
    "to_frame": Renamed(
        "passes.to_frame(), whose first row is the module as written",
        lambda trace: trace.passes.record.to_frame,
    ),
}
