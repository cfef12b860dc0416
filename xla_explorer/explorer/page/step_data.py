"""The data of steps, rewrites, tensors and code panes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.explorer.code.compile_flame import flame_of_passes, flame_of_session
from xla_explorer.explorer.code.kernel_rows import kernel_rows
from xla_explorer.explorer.display.code_pane import CodePane, TextLine
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.page.json_data import LineData, PaneData, text_lines
from xla_explorer.explorer.page.pools import PackedColumn, column
from xla_explorer.explorer.pictures.layers import Layer, layers_of
from xla_explorer.explorer.pictures.module_picture import block_groups
from xla_explorer.explorer.pictures.picture import PictureGroup
from xla_explorer.explorer.pictures.scopes import scope_boxes
from xla_explorer.explorer.questions.pass_table import COST_COLUMNS, cost_rows, opcode_rows
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep
from xla_explorer.explorer.questions.tensor_values import MOST_FLOPS_ON_A_CLICK, tensor_value
from xla_explorer.explorer.rules.rule_times import clock_rules
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses, pass_of_step
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.kept import kept
from xla_explorer.hlo.analysis.cost import module_cost

TEXT_APART = 2_000
"""Instructions of a step; the text of a larger one is sent after its picture, for a fast picture.
"""
MOST_COSTED = 200_000
"""Instructions of all changed steps up to which a page counts work and traffic of each."""


def changes(passes: RecordedPasses[RecordedPass] | None, step: int) -> list[PackedColumn] | None:
    """Return the ids that a step added and changed; None if unknown."""
    found = None if passes is None else pass_of_step(passes, step).known_diff
    return None if found is None else [column(sorted(ids)) for ids in (found.added, found.changed)]


def compile_flame(
    passes: RecordedPasses[RecordedPass], session: Compilation | None, *, again: bool = False
) -> list[Any]:
    """Return the flame graph of the compile.

    again: with the rules, and LLVM's passes, which takes another run of both.
    """
    if session is not None:
        return flame_of_session(session, rules=again, llvm=again).data()
    return flame_of_passes(passes, clock_rules(passes) if again else None).data()


def pass_costs(
    passes: RecordedPasses[RecordedPass], flame: Sequence[Any], *, live: bool
) -> dict[str, Any]:
    """Return the passes that changed the module, with costs, opcodes and the flame graph."""
    columns, opcodes = opcode_rows(passes, change=True)
    size = sum([p.instructions for p in passes if p.changed or p.number == 0])
    found: dict[str, Any] = {"columns": COST_COLUMNS, "rows": [], "left_out": "", "flame": flame}
    found["opcodes"] = {"columns": columns, "rows": opcodes}
    if live or size <= MOST_COSTED:
        found["rows"] = cost_rows(passes)
    else:
        found["left_out"] = "bytes and flops left out for size: session.passes.costs() has them"
        found["rows"] = cost_rows(passes, counted=False)
    return found


def tensor_data(passes: RecordedPasses[RecordedPass], key: int, step: int) -> dict[str, Any]:
    """Return the tensor of an instruction after a step, on random arguments.

    ValueError if that would take long.
    """
    flops = module_cost(passes[0].module).flops
    name = passes.lineage.records[key].name if key in passes.lineage.records else key
    if flops > MOST_FLOPS_ON_A_CLICK:
        raise ValueError(
            f'{flops:.1e} flops take the evaluator too long here: in a cell, session.passes.value("%{name}", *arrays)'
        )
    found = tensor_value(passes, key, min(step, passes.last), ())
    return {
        "head": found.headline(),
        "facts": [[key, plain(value)] for key, value in found.facts().items()],
        "histogram": [list(row) for row in found.histogram()],
        "first": found.first(),
    }


def whole_blocks(
    passes: RecordedPasses[RecordedPass], step: int
) -> tuple[list[PictureGroup], dict[int, int]]:
    """Return the blocks of a step as boxes, and the index of each instruction's block."""
    snapshot = pass_of_step(passes, step).snapshot
    entry = next(c for c in snapshot.computations if c.id == snapshot.entry)
    with collector_paused():
        return block_groups(entry, passes.drawn)


@kept
def kernel_layers(session: Compilation) -> list[tuple[Layer, ...]]:
    """Return the graph's blocks around each kernel, from the outside in."""
    blocks, place = whole_blocks(session.passes, session.passes.last)
    paths = [tuple(block.id.removeprefix("s:").split("/")) for block in blocks]
    return [
        layers_of(
            paths[place[row.instruction]]
            if row.instruction in place
            else scope_boxes(tuple(filter(None, row.scope.split("/"))))
        )
        for row in kernel_rows(session)
    ]


def pane_data(
    panes: Sequence[CodePane], *, with_lines: bool = True, live: bool = True
) -> list[PaneData]:
    """Return the code panes as JSON data.

    live: the notebook's process answers later requests; else a costly pane has the call that makes
    it.
    """
    found = []
    for p in panes:
        lines: list[LineData] | None = None
        if p.costly:
            lines = None if live else text_lines([TextLine(p.costly)])
        elif with_lines:
            lines = text_lines(p.lines)
        found.append(
            PaneData(
                name=p.name,
                producer=p.producer,
                note=p.note,
                lines=lines,
                packed=None,
                costly=bool(p.costly),
                sections=list(p.sections),
            )
        )
    return found


def rewrite_data(step: RewriteStep) -> dict[str, Any]:
    """Return one rewrite: lines and pictures before and after."""
    return {
        "before": text_lines(step.before),
        "after": text_lines(step.after),
        "picture_before": step.picture_before.to_json(),
        "picture_after": step.picture_after.to_json(),
        "added": list(step.added),
        "removed": list(step.removed),
        "changed": list(step.changed),
    }
