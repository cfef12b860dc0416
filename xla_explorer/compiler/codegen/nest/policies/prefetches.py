"""Software prefetches: rows at data-dependent addresses, and tiles of large arrays."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.directives import Prefetch
from xla_explorer.compiler.codegen.nest.ir import Compute, For, Load, LoopNest
from xla_explorer.compiler.codegen.nest.plan import Plan
from xla_explorer.compiler.codegen.nest.policies.base import (
    accesses,
    calls_functions,
    statements_of,
)
from xla_explorer.hlo.analysis.indexing import RuntimeValue

TILE = 1 / 16  # of L1, for the widest result: the tile and its operands stay there
MOST_ARRAYS = 2  # read along a large result; more do not gain from tiles
MOST_COMPUTED = 8  # operations an element; more hide the memory latency
MOST_LINES, FEWEST_LINES = 16, 2  # of a row
LINES_AHEAD = 96  # about the lines that arrive during one memory latency


class PrefetchTile(NamedTuple):
    """A tile of arrays that are prefetched one after the other.

    DRAM then stays in one row of its chips for a while.
    """

    elements: int
    arrays: tuple[str, ...]


def prefetched_tile(plan: Plan, loop: For) -> PrefetchTile | None:
    """Return the prefetch tile of a memory-bound loop, or None.

    Few arrays are read along the loop, little is computed, and results exceed the caches.
    """
    results = [a.shape for a in plan.nest.arrays if a.written]
    types = [shape.element_type for shape in results]
    if any(shape.byte_size < plan.tuning.streamed_bytes for shape in results) or any(
        t.is_complex or t.bits not in (32, 64) for t in types
    ):
        return None
    elements = int(TILE * plan.tuning.first_cache.bytes) // max([t.bytes for t in types])
    statements = statements_of(loop.body)
    found = [s for s, _ in accesses(plan.nest, loop.body) if s.place]
    along = (
        {s.array: None for s in found if isinstance(s, Load)}
        if len({s.place for s in found}) == 1
        else {}
    )
    little = (
        not calls_functions(statements)
        and sum([isinstance(s, Compute) for s in statements]) <= MOST_COMPUTED
    )
    return (
        PrefetchTile(elements, tuple(along))
        if little and loop.axis.extent > elements and 0 < len(along) <= MOST_ARRAYS
        else None
    )


def _rows(nest: LoopNest) -> tuple[str, str, int] | None:
    """Return (loop, array, bytes of a row) of a kernel that copies rows by index, or None."""
    if any(isinstance(s, Compute) for s, _ in nest.statements()):
        return None
    loaded = {f"%{s.id}" for s, _ in nest.statements() if isinstance(s, Load)}
    for s, around in nest.statements():
        if not isinstance(s, Load):
            continue
        offset = nest.offset_of(s)
        found = [
            atom
            for atom in offset.atoms()
            if isinstance(atom, RuntimeValue) and atom.source in loaded
        ]
        loops = [x.axis for x in around if isinstance(x, For)]
        inside = [axis for axis in loops if offset.coefficient(axis)]
        if len(found) == 1 and inside and loops[0] not in inside:
            return (
                loops[0].name,
                s.array,
                math.prod([axis.extent for axis in inside]) * s.element.bytes,
            )
    return None


def rows_bytes(nest: LoopNest) -> int:
    """Return the bytes of an array whose rows are copied by index, or 0."""
    rows = _rows(nest)
    array = nest.array(rows[1]) if rows is not None else None
    return array.shape.byte_size if array is not None else 0


def rows_ahead(row_bytes: int) -> int:
    """Return the prefetch distance in rows, 0 for rows below two lines."""
    lines = -(-row_bytes // LINE_BYTES)
    return max(LINES_AHEAD // min(lines, MOST_LINES), 1) if lines >= FEWEST_LINES else 0


def prefetch_rows(plan: Plan) -> None:
    """Prefetch rows at data-dependent addresses.

    The hardware cannot predict them, but their indices can be loaded ahead.
    """
    rows = _rows(plan.nest)
    if rows is None:
        return
    loop, array, bytes_ = rows
    ahead = rows_ahead(bytes_)
    directive = Prefetch(loop, array, ahead)
    if (
        ahead
        and plan.nest.axes()[loop].axis.extent > ahead
        and directive.reads_contiguously(plan.nest) is None
    ):
        plan.do(directive)
