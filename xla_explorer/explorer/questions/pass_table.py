"""Passes as tables: opcodes after each pass; work, traffic and rules of each pass."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.tables.rows import PassCost, columns_of
from xla_explorer.hlo.analysis.cost import module_cost

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses

COST_COLUMNS = columns_of(PassCost)


def opcode_rows(
    passes: RecordedPasses[RecordedPass], *, change: bool
) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows: a row per opcode, a column per pass that changed the module.

    The first column of counts is the module as written. change: differences to the column before.
    """
    shown = [p for p in passes if p.changed or p.number == 0]
    counts = [Counter([record.opcode.name for record in p.snapshot.records()]) for p in shown]
    names = sorted(
        {name for count in counts for name in count},
        key=lambda name: (-max([c[name] for c in counts]), name),
    )
    rows: list[list[Any]] = []
    for name in names:
        row = [count[name] for count in counts]
        rows.append([name, *([row[0], *[b - a for a, b in pairwise(row)]] if change else row)])
    return ["opcode", *[f"{p.number} {p.name}" for p in shown]], rows


def opcode_table(passes: RecordedPasses[RecordedPass], *, change: bool) -> pandas.DataFrame:
    """Return `opcode_rows` as a DataFrame with the columns opcode, `step_0_as_written`, ..."""
    (opcode, *passes_shown), rows = opcode_rows(passes, change=change)
    return wide_frame(rows, [opcode, *[f"step {shown}" for shown in passes_shown]])


def cost_rows(passes: RecordedPasses[RecordedPass], *, counted: bool = True) -> list[list[Any]]:
    """Return a row per pass that changed the module, with the columns COST_COLUMNS.

    Work and traffic of the module after the pass are estimates of the cost model; 0 if not counted.
    """
    rows: list[list[Any]] = []
    before: tuple[int, float, float] | None = None
    for p in passes:
        if not (p.changed or p.number == 0):
            continue
        now = (p.instructions, 0.0, 0.0)
        if counted:
            cost = module_cost(p.module)
            now = (p.instructions, cost.bytes_accessed, cost.flops + cost.transcendentals)
        rules = [event for event in p.events if event.is_rewrite]
        old = before or now
        row: list[Any] = [p.number, p.name, p.seconds * 1e3]
        for value, last in zip(now, old, strict=True):
            row += [int(value), int(value - last)]
        rows.append([*row, p.rewrites, len(rules)])
        before = now
    return rows


def cost_table(passes: RecordedPasses[RecordedPass]) -> pandas.DataFrame:
    """Return `cost_rows` as a DataFrame."""
    return wide_frame(cost_rows(passes), COST_COLUMNS)
