"""The items of a search: a step's instructions, the decisions, the passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xla_explorer.explorer.page.view import ExplorerSource
from xla_explorer.explorer.questions.search import instruction_item, searched


def found_items(source: ExplorerSource, query: str, step: int) -> list[dict[str, Any]]:
    """Return the items that meet a query."""
    return [dict(item) for item in searched(query, search_items(source, step))]


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
    view = source.view()
    columns = {column.title: column.values for column in view.columns()}
    times = columns.get("measured time") or columns.get("predicted time") or {}
    moved = columns.get("bytes moved", {})
    lines = {row.instruction: row.line for row in source.timings()}
    callers = view.callers()
    # JAX locates instructions by stack frames, not in the printed line.
    for key, frame in callers["of"].items():
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
