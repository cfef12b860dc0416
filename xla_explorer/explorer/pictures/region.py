"""The part of a module that a picture shows: a neighbourhood, or paths between instructions."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.explorer.pictures.drawing import ENTERED, Drawing
from xla_explorer.hlo.computation import ComputationRecord
from xla_explorer.hlo.module import ModuleSnapshot, UnknownInstructionError

MOST_BETWEEN = 1_000
"""Instructions drawn between two."""
MANY_USERS = 16
"""Users of an instruction with more of them are not followed: they have little in common."""


class Region(NamedTuple):
    """The part of a module that is drawn.

    Attributes
    ----------
    computation : str, optional
        The computation to draw; the entry, or the one that holds `around`, by default.
    around : sequence of int
        Instruction ids from which a neighbourhood grows.
    radius : int, optional
        The most edges between `around` and what is drawn; without one the nearest `budget` nodes.
    between : (int, int), optional
        Two instructions: only the paths between them are drawn, in either direction, at most
        `MOST_BETWEEN` instructions.
    budget : int, optional
        The most nodes. By default modules of up to `WHOLE` instructions are drawn whole and larger
        ones with `BUDGET` nodes.
    opened : collection of str, optional
        The ids of the open blocks of a module of more than `WHOLE` instructions. By default a
        block that holds the whole program.
    show : sequence of int
        Instructions whose blocks are open too.
    """

    computation: str | None = None
    around: Sequence[int] = ()
    radius: int | None = None
    between: tuple[int, int] | None = None
    budget: int | None = None
    opened: Collection[str] | None = None
    show: Sequence[int] = ()


EVERYTHING = Region()


def drawn_computation(snapshot: ModuleSnapshot, region: Region) -> ComputationRecord:
    """Return the computation that a region is part of."""
    if region.computation is not None:
        for record in snapshot.computations:
            if record.name == region.computation.lstrip("%"):
                return record
        raise UnknownInstructionError(
            f"no computation is named %{region.computation}", "module.computations has the names"
        )
    around = region.between or region.around
    entry = next(c for c in snapshot.computations if c.id == snapshot.entry)
    if around:
        here = {r.id for r in entry.instructions}
        if not here.intersection(around):
            wanted = set(around)
            fused = {
                r.called[0]
                for c in snapshot.computations
                for r in c.instructions
                if r.opcode.name == "fusion" and r.called
            }
            for record in snapshot.computations:
                if record.id not in fused and any(r.id in wanted for r in record.instructions):
                    return record
    return entry


def _users(top: ComputationRecord) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for record in top.instructions:
        for operand in record.operands:
            users.setdefault(operand, []).append(record.id)
    return users


def holders(top: ComputationRecord, drawing: Drawing) -> dict[int, int]:
    """Return the instruction of `top` that calls the computation of each inner instruction."""
    calls = [
        (r.id, key)
        for r in top.instructions
        if r.opcode.name in ENTERED
        for key in r.called
        if key in drawing.computations
    ]
    return {
        member.id: holder
        for holder, key in calls
        for member in drawing.computations[key].instructions
    }


def instructions_between(
    top: ComputationRecord, first: int, second: int, drawing: Drawing
) -> set[int]:
    """Return the instructions on the paths between two of `top`; without a path the two alone."""
    records = {r.id: r for r in top.instructions}
    users, inside = _users(top), holders(top, drawing)
    ends = [key if key in records else inside.get(key, -1) for key in (first, second)]
    operands = {key: list(record.operands) for key, record in records.items()}
    for a, b in (ends, ends[::-1]):
        path = _reach(a, users) & _reach(b, operands)
        if b in path:
            return path if len(path) <= MOST_BETWEEN else set(sorted(path)[:MOST_BETWEEN]) | {a, b}
    return {key for key in ends if key in records}


def _reach(start: int, links: Mapping[int, Sequence[int]]) -> set[int]:
    found, work = {start}, [start]
    while work:
        for key in links.get(work.pop(), ()):
            if key not in found:
                found.add(key)
                work.append(key)
    return found


def neighbourhood(
    top: ComputationRecord,
    around: Sequence[int],
    radius: int | None,
    budget: int,
    drawing: Drawing,
) -> set[int]:
    """Return the instructions of `top` nearest to `around`, or to the root.

    An instruction inside a fusion counts as the fusion.
    """
    records = {r.id: r for r in top.instructions}
    users, inside = _users(top), holders(top, drawing)
    start = list(
        dict.fromkeys(
            [
                found
                for key in around
                if (found := key if key in records else inside.get(key, -1)) >= 0
            ]
        )
    )
    queue = deque([(key, 0) for key in start or [top.root]])
    seen = {key for key, _ in queue}
    keep: set[int] = set()
    used = 0
    while queue:
        key, distance = queue.popleft()
        size = min(drawing.count_nodes(records[key]), budget // 4 + 1)
        if radius is None and used + size > budget:
            if used >= budget - 8:
                break
            continue
        keep.add(key)
        used += size
        if radius is not None and distance >= radius:
            continue
        readers = users.get(key, ())
        for other in (
            *records[key].operands,
            *(readers if len(readers) <= MANY_USERS or distance == 0 else ()),
        ):
            if other not in seen:
                seen.add(other)
                queue.append((other, distance + 1))
    return keep
