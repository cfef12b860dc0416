"""Changes of annotations that remove a collective, each tried with the cost model."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from xla_explorer.compiler.spmd.explanation.causes import Cause
from xla_explorer.compiler.spmd.explanation.collective_rows import Collective, PlacedProgram
from xla_explorer.explorer.display.quantities import byte_count
from xla_explorer.foundation.diagnostic import XlaExplorerError

Spec = tuple[str | tuple[str, ...] | None, ...]
Figures = Mapping[str, float]
_MOST = 4  # changes that are tried


def changes_for(
    placed: PlacedProgram,
    one: Collective,
    before: Figures,
    tried_with: Callable[[dict[str, Spec]], Figures],
) -> list[str]:
    """Return changes of arguments' annotations that make the step send fewer bytes.

    Each sentence has the bytes and the peak memory before and after. tried_with: returns the
    figures under other annotations.
    """
    tried: dict[tuple[str, Spec], None] = {}
    for cause in one.causes:
        tried.update(dict.fromkeys(_candidates(placed, one, cause)))
    found: list[tuple[float, str]] = []
    for name, spec in list(tried)[:_MOST]:
        try:
            after = tried_with({name: spec})
        except XlaExplorerError:  # the sharding does not fit the argument
            continue
        if after["sent_bytes"] < before["sent_bytes"]:
            text = (
                f"annotate {name} with {_text(spec)}: a device sends"
                f" {byte_count(after['sent_bytes'])} instead of {byte_count(before['sent_bytes'])}"
                f" and holds {byte_count(after['peak_bytes'])} instead of"
                f" {byte_count(before['peak_bytes'])}"
            )
            found.append((after["sent_bytes"], text))
    return [text for _, text in sorted(found)]


def _candidates(placed: PlacedProgram, one: Collective, cause: Cause) -> Iterator[tuple[str, Spec]]:
    """Yield arguments with shardings under which the collective may be gone."""
    arguments = {f"%{v.instruction.name}" for v in placed.program.report.graph.arguments}
    target = read_spec(cause.target)
    if cause.value in arguments and target is not None:
        yield cause.value, target
    axes = {axis.split(":")[0] for axis in one.axes}
    for note in cause.annotations:
        if note.value not in arguments:
            continue
        (row, *_) = placed.program.report.rows_of(note.value)
        spec = read_spec(placed.spec(row))
        if spec is not None:
            yield note.value, tuple([None if _uses(part, axes) else part for part in spec])


def _uses(part: str | tuple[str, ...] | None, axes: set[str]) -> bool:
    names = (part,) if isinstance(part, str) else part or ()
    return any(name in axes for name in names)


def read_spec(text: str) -> Spec | None:
    """Return `P('x', None)` as a tuple; None for other texts and for parts of axes."""
    if not text.startswith("P(") or ":" in text:
        return None
    found = ast.literal_eval(text[1:]) if text != "P()" else ()
    return found if isinstance(found, tuple) else (found,)


def _text(spec: Spec) -> str:
    return f"P({', '.join(map(repr, spec))})"
