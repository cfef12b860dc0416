"""Data of the tab of code side by side: kernels, columns, and the matching rows of a kernel.

Texts travel once, as panes; a row has runs of their lines: `[first, count]`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from xla_explorer.explorer.code.code_panes import code_panes, costly
from xla_explorer.explorer.code.control_flow import control_flow
from xla_explorer.explorer.code.llvm.llvm_views import inner_loops
from xla_explorer.explorer.code.side_by_side import (
    DEFAULT_STAGES,
    KernelCode,
    kernels_beside,
    stage_names,
)
from xla_explorer.explorer.code.stage_column import GPU_STAGES
from xla_explorer.explorer.code.stage_functions import CodeLine
from xla_explorer.explorer.display.code_pane import CodePane
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps, source_line
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.foundation.diagnostic import XlaExplorerError

LOOPS_SHOWN = ["loop", "instructions", "cycles", "ipc", "block_throughput", "bottleneck", "model"]
EMBEDDED_KERNELS, EMBEDDED_LINES = 60, 8_000
"""Limits of a page: the most expensive kernels, and lines of their code.

`session.side_by_side(kernel=NAME)` has the others."""


def summary(session: Compilation, rows: Iterable[Kernel], *, live: bool) -> dict[str, Any]:
    """Return the kernels, the longest first, and the columns, with those open at first.

    live: the notebook's process answers requests for single kernels.
    """
    times = {row.instruction: row.time_us for row in rows if row.instruction is not None}
    steps = sorted(program_steps(session), key=lambda step: -times.get(step.instruction, 0.0))
    panes = [pane for pane in code_panes(session) if not costly(session, pane)]
    cheap = {pane.name for pane in panes}
    stages = [name for name in stage_names(session) if live or (name in cheap and name != "loops")]
    first = [name for name in DEFAULT_STAGES if name in stages and name in cheap]
    first += [
        name
        for name in ("ptx", "assembly", "llvm-ir")
        if name in stages and name in cheap and name not in first
    ]
    ids = [step.instruction for step in steps]
    kernels = [
        [s.name, i, source_line(session, i), times.get(i), _computed(session, i)]
        for s, i in zip(steps, ids, strict=True)
    ]
    made: dict[str, Any] = {}
    if not live and stages:
        room = EMBEDDED_LINES
        shown = {pane.name: _numbers(pane) for pane in panes if pane.name in stages}
        for kernel in kernels_beside(session, steps[:EMBEDDED_KERNELS], stages):
            room -= sum([len(lines) for lines in kernel.code.values()])
            if room < 0:
                break
            made[str(kernel.instruction)] = {
                **kernel_data(kernel, stages),
                "beyond": _beyond(kernel, stages, shown),
            }
    return {"stages": stages, "open": first[:2], "kernels": kernels, "made": made}


def _numbers(pane: CodePane) -> set[int]:
    return {at if line.number is None else line.number for at, line in enumerate(pane.lines, 1)}


def _computed(session: Compilation, key: int) -> list[int]:
    i = session.module.find(key) if session.passes.lineage.records.get(key) is not None else None
    return list(i.called[0].instructions) if i is not None and i.opcode.name == "fusion" else []


def kernel_data(kernel: KernelCode, stages: Sequence[str]) -> dict[str, Any]:
    """Return the rows of a kernel: HLO line, instruction, and runs of lines for each stage."""
    rows = [[row.hlo, row.instruction, [_runs(cell) for cell in row.cells]] for row in kernel.rows]
    return {"stages": list(stages), "rows": rows, "notes": kernel.notes, "times": kernel.times}


def _beyond(
    kernel: KernelCode, stages: Sequence[str], shown: Mapping[str, Container[int]]
) -> dict[str, dict[str, str]]:
    """Return the lines of a kernel that the panes of a page leave out, by stage and number.

    shown: the numbers in the panes, by stage.
    """
    found: dict[str, dict[str, str]] = {}
    for place, stage in enumerate(stages):
        there = shown.get(stage, frozenset())
        lines = {
            str(line.number): line.text
            for row in kernel.rows
            for line in row.cells[place]
            if line.number not in there
        }
        if lines:
            found[stage] = lines
    return found


def one_kernel(session: Compilation, key: int, stages: Iterable[str]) -> dict[str, Any]:
    """Return `kernel_data` of a kernel by its instruction.

    ValueError if it is not a kernel, or a stage does not exist.
    """
    there = stage_names(session)
    wanted = [name for name in stages if name in there]
    steps = [step for step in program_steps(session) if step.instruction == key]
    if not steps:
        raise ValueError(f"{key} is not a kernel of this compile")
    return kernel_data(kernels_beside(session, steps[:1], wanted)[0], wanted)


def blocks_data(session: Compilation, key: int, stage: str) -> dict[str, Any]:
    """Return the basic blocks of a kernel in a stage as a picture.

    For assembly also llvm-mca's figures for its loops, or the reason why there are none.
    """
    steps = [step for step in program_steps(session) if step.instruction == key]
    if not steps:
        raise ValueError(f"{key} is not a kernel of this compile")
    flow = control_flow(session, f"%{steps[0].name}", stage)
    loops, note = [], ""
    if stage == "assembly":
        try:
            loops = inner_loops(session, steps[0].name)[LOOPS_SHOWN].astype(object).values.tolist()
        except XlaExplorerError as problem:
            note = problem.message
    first = [block.lines[0].number for block in flow.basic_blocks]
    return {
        "head": flow.headline(),
        "picture": flow.graph.to_json(),
        "first": first,
        "loops": loops,
        "note": note,
    }


def stage_text(session: Compilation, name: str) -> list[str]:
    """Return all lines of a column. ValueError for an unknown one."""
    if name not in stage_names(session):
        raise ValueError(f"the session has no stage {name!r}")
    if name in session.stages():
        return session.stage(name).text.split("\n")
    stage = session.gpu().stages().get(GPU_STAGES[name])
    return [] if stage is None else stage.text.split("\n")


def _runs(lines: Sequence[CodeLine]) -> list[list[int]]:
    runs: list[list[int]] = []
    for line in lines:
        if runs and line.number == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([line.number, 1])
    return runs
