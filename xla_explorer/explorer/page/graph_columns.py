"""Numbers by which the graph can be coloured: times, bytes, and a user's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xla_explorer.explorer.code.program import kernel_table
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM, costs_of
from xla_explorer.explorer.measures.profiling import measured_kernels
from xla_explorer.explorer.page.rows import Column
from xla_explorer.explorer.sessions.compilation import Compilation


def graph_columns(session: Compilation) -> list[Column]:
    """Return predicted times and bytes, and measured times if there are any."""
    measured = {key: us for key, (us, _) in measured_kernels(session).items()}
    costs = costs_of(session)
    model = {cost.instruction.id: cost.nanoseconds / 1e3 for cost in costs}
    moved = {cost.instruction.id: cost.times * cost.cost.bytes_accessed for cost in costs}
    found = [Column("measured time", "us", measured)] if measured else []
    if costs:
        found += [Column("predicted time", "us", model), Column("bytes moved", "bytes", moved)]
    if measured:
        off = {key: us / model[key] for key, us in measured.items() if model.get(key)}
        found.append(Column("measured / predicted", "", off))
    return found


def own_column(session: Compilation | None, given: Any) -> Column:
    """Return the user's numbers as a column.

    `given`: a mapping of names or ids to numbers, a Series with such an index, or a column of
    `session.profile` or `session.kernels()`. ValueError if they cannot be matched to instructions.
    """
    if session is None:
        raise ValueError("this source has no instructions to colour")
    title = str(getattr(given, "name", None) or "your numbers")
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(given, Mapping):
        pairs = given.items()
    elif hasattr(given, "index") and hasattr(given, "tolist"):
        keys = given.index.tolist()
        if keys == list(range(len(keys))):
            keys = _row_instructions(session, len(keys))
        pairs = zip(keys, given.tolist(), strict=True)
    else:
        raise ValueError(
            f"cannot colour by a {type(given).__name__}: give a mapping of instructions to numbers, or a column"
        )
    values = {}
    for key, value in pairs:
        if key is None or key != key or key == WHOLE_PROGRAM or value is None or value != value:
            continue
        found = session.passes.find(int(key) if isinstance(key, float) else key)
        values[found] = float(value)
    unit = next((word for word in ("us", "bytes") if title.endswith(word)), "")
    return Column(title, unit, values)


def _row_instructions(session: Compilation, count: int) -> list[Any]:
    """Return the instructions of the session's table with this number of rows."""
    for frame in (session.last_profile, kernel_table(session)):
        if frame is not None and len(frame) == count:
            return list(frame["instruction"].tolist())
    raise ValueError(
        f"cannot match {count} numbered rows with instructions: use instruction names as the index of the column"
    )
