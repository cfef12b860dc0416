"""Data about a selection: its tensor, its callers, costs of passes, and the items of a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.explorer.measures.advice import session_advice
from xla_explorer.explorer.page.source import ExplorerSource
from xla_explorer.explorer.questions.pass_table import COST_COLUMNS, cost_rows, opcode_rows
from xla_explorer.explorer.questions.search import instruction_item, searched
from xla_explorer.explorer.questions.tensor_values import MOST_FLOPS_ON_A_CLICK, tensor_value
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.metadata import parse_metadata

if TYPE_CHECKING:
    from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses

MOST_COSTED = 200_000
"""Instructions of all changed steps up to which a page counts work and traffic of each."""


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


def advice_data(session: Compilation) -> list[list[Any]]:
    """Return the advice: sentence, upper bound of the gain in us per run, source line."""
    return (
        [[a.sentence, a.gain_us, a.line] for a in session_advice(session).advice]
        if session.error is None
        else []
    )


def callers_data(passes: RecordedPasses[RecordedPass]) -> dict[str, Any]:
    """Return stack frames as [file, function, line, index of the caller or -1], and their users.

    The users are the instructions of both ends, with their innermost frames.
    """
    frames: list[list[Any]] = []
    at: dict[tuple[str, str, int, int], int] = {}
    of: dict[str, int] = {}
    tables = passes[0].module.frames
    for module in (passes[0].module, passes.module):
        for i in module.instructions():
            found = parse_metadata(i.metadata)
            if not found.stack_frame_id or tables is None:
                continue
            parent = -1
            for file, function, line in reversed(tables.stack(found.stack_frame_id)):
                place = (file, function, line, parent)
                if place not in at:
                    at[place] = len(frames)
                    frames.append(list(place))
                parent = at[place]
            if parent >= 0:
                of[str(i.id)] = parent
    return {"frames": frames, "of": of}


def pass_costs(
    passes: RecordedPasses[RecordedPass], flame: Sequence[Any], *, live: bool = False
) -> dict[str, Any]:
    """Return the passes that changed the module, with costs, opcodes and the flame graph."""
    shown = [p for p in passes if p.changed or p.number == 0]
    columns, opcodes = opcode_rows(passes, change=True)
    rows, left_out = [], ""
    if live or sum([p.instructions for p in shown]) <= MOST_COSTED:
        rows = cost_rows(passes)
    else:
        left_out = "bytes and flops left out for size: session.passes.costs() has them"
        grown = [(p, p.instructions - p.instructions_before) for p in shown]
        rows = [
            [p.number, p.name, p.seconds * 1e3, p.instructions, by, 0, 0, 0, 0, p.rewrites, 0]
            for p, by in grown
        ]
    return {
        "columns": COST_COLUMNS,
        "rows": rows,
        "opcodes": {"columns": columns, "rows": opcodes},
        "left_out": left_out,
        "flame": flame,
    }


def _stack_lines(frames: Sequence[Sequence[Any]], frame: int) -> str:
    """Return the lines of a stack, the innermost first: `linear.py:287 model.py:12`."""
    found = []
    while frame >= 0:
        file, _, line, caller = frames[frame]
        found.append(f"{file}:{line}")
        frame = caller
    return " ".join(found)


def search_items(source: ExplorerSource, step: int) -> Iterator[dict[str, Any]]:
    """Yield the items of a search: a step's instructions, the decisions, the passes."""
    columns = {column.title: column.values for column in source.reports.columns()}
    times = columns.get("measured time") or columns.get("predicted time") or {}
    moved = columns.get("bytes moved", {})
    lines = {row.instruction: row.line for row in source.timings()}
    callers = source.reports.callers()
    for key, frame in callers[
        "of"
    ].items():  # JAX locates instructions by stack frames, not in the printed line
        lines[int(key)] = _stack_lines(callers["frames"], frame)
    steps = source.steps()
    for text, key, *_ in source.text(step):
        item = instruction_item(text, key) if key is not None else None
        if item is not None and key is not None:
            yield {
                **item,
                "line": item["line"] or lines.get(key, ""),
                "time": times.get(key),
                "bytes": moved.get(key),
                "step": step,
            }
    for d in source.decisions():
        cost = d.facts.get(
            "refusal_costs_at_most_microseconds", d.facts.get("refusal_costs_microseconds")
        )
        decided = steps[d.step].name if d.step is not None and d.step < len(steps) else ""
        yield {"what": "decision", "id": d.subjects[0] if d.subjects else None, "name": " → ".join(d.about), "kind": d.kind,
               "verdict": d.verdict, "reason": d.code, "text": d.message, "pass": decided, "time": cost, "step": d.step}  # fmt: skip
    for s in steps:
        state = "changed" if s.changed else "did nothing" if s.index else ""
        yield {"what": "pass", "name": s.name, "pass": s.name, "text": state, "step": s.index}


def found_items(source: ExplorerSource, query: str, step: int) -> list[dict[str, Any]]:
    """Return the items that meet a query."""
    return [dict(item) for item in searched(query, search_items(source, step))]
