"""What is asked for before its turn: rows that lie anywhere, and tiles of arrays that are read side by side."""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.directives import Prefetch
from xla_explorer.compiler.codegen.nest.ir import Compute, For, Load, LoopNest
from xla_explorer.compiler.codegen.nest.policies.base import (
    Plan,
    accesses,
    calls_functions,
    statements_of,
)
from xla_explorer.hlo.analysis.indexing import RuntimeValue

TILE_BYTES = 2048  # of the widest result: the tile and what it is computed from stay in the first-level cache
ARRAYS_ASKED_FOR = (
    2  # that are read along a large result; more do not gain by being asked for one after the other
)
MOST_COMPUTED = 8  # operations an element; more of them hide the way to memory
MOST_LINES, FEWEST_LINES = 16, 2  # of a row
LINES_AHEAD = 96  # about as many as arrive while memory answers once


class PrefetchTile(NamedTuple):
    """arrays: that are asked for one after the other, so many elements of each: memory reads one row of its chips for a while."""

    elements: int
    arrays: tuple[str, ...]


def tile_asked_for(plan: Plan, loop: For) -> PrefetchTile | None:
    """The tile of a loop that waits for memory: few arrays are read along it, little is computed, and its results leave the caches."""
    results = [a.shape for a in plan.nest.arrays if a.written]
    types = [shape.element_type for shape in results]
    if any(shape.byte_size < plan.tuning.streamed_bytes for shape in results) or any(
        t.is_complex or t.bits not in (32, 64) for t in types
    ):
        return None
    elements = TILE_BYTES // max([t.bytes for t in types])
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
        if little and loop.axis.extent > elements and 0 < len(along) <= ARRAYS_ASKED_FOR
        else None
    )


def _rows(nest: LoopNest) -> tuple[str, str, int] | None:
    """(loop, array, bytes of a row) of a kernel that copies rows by index."""
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
    """Bytes of the array whose rows are copied by index; 0 where none is."""
    rows = _rows(nest)
    array = nest.array(rows[1]) if rows is not None else None
    return array.shape.byte_size if array is not None else 0


def rows_ahead(row_bytes: int) -> int:
    """How many rows before its turn a row that lies anywhere is asked for; 0 for what is less than two lines."""
    lines = -(-row_bytes // LINE_BYTES)
    return max(LINES_AHEAD // min(lines, MOST_LINES), 1) if lines >= FEWEST_LINES else 0


def ask_for_rows(plan: Plan) -> None:
    """The hardware cannot foresee rows that lie anywhere, but their indices can be read ahead."""
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
