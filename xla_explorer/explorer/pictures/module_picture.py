"""From a snapshot to the neutral picture: nodes, edges and boxes of the region that fits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile

from xla_explorer.explorer.pictures.blocks import Path
from xla_explorer.explorer.pictures.drawing import (
    NO_DECISIONS,
    REMOVED_BY_FOLDING,
    Drawing,
    FusionEdges,
)
from xla_explorer.explorer.pictures.drawn_records import DrawnRecords
from xla_explorer.explorer.pictures.folding import fold_picture
from xla_explorer.explorer.pictures.layers import scope_key
from xla_explorer.explorer.pictures.picture import PictureGraph, PictureGroup
from xla_explorer.explorer.pictures.region import (
    EVERYTHING,
    Region,
    drawn_computation,
    holders,
    instructions_between,
    neighbourhood,
)
from xla_explorer.hlo.computation import ComputationRecord
from xla_explorer.hlo.module import ModuleSnapshot

BUDGET = 300
"""Nodes of a picture of a module of more than `WHOLE` instructions, unless the region has a budget.
"""
IN_OUTLINE = 60
"""Nodes of the inside of an instruction that is drawn open among closed blocks."""
WHOLE = 3000
"""Larger modules are drawn as their outermost blocks, each a node until a reader opens it."""


def snapshot_picture(
    snapshot: ModuleSnapshot,
    region: Region = EVERYTHING,
    *,
    fusions: FusionEdges = NO_DECISIONS,
    touched: Collection[int] = (),
    title: str = "",
    bare: bool = False,
    known: DrawnRecords | None = None,
) -> PictureGraph:
    """Return the picture of a module, or of a region of it.

    Parameters
    ----------
    region
        The part that is drawn.
    fusions
        Fusion decisions that are drawn as edges.
    touched
        Instructions that the pass added or changed; closed blocks count theirs.
    title
        The name of the module by default.
    bare
        Without boxes of scopes and without tooltips.
    known
        Nodes and edges drawn for other snapshots of the compile.

    Raises
    ------
    KeyError
        The module has no computation of the region's name.
    """
    drawing = Drawing(snapshot, fusions, bare, known or DrawnRecords())
    top = drawn_computation(snapshot, region)
    total = snapshot.instruction_count()
    budget = region.budget
    if budget is None:
        budget = max(total, 1) if total <= WHOLE else BUDGET
    keep = None
    if region.between is not None:
        keep = instructions_between(top, *region.between, drawing)
        budget = max(budget, len(keep))
    elif region.radius is not None or (region.around and drawing.count_inside(top.id, -1) > budget):
        keep = neighbourhood(top, region.around, region.radius, budget, drawing)
    elif not bare:
        drawing.scopes, drawing.details = drawing.known.blocks(top)
        if drawing.count_inside(top.id, -1) > budget:
            budget = min(budget, IN_OUTLINE)
            chosen = sole_blocks(top, drawing) if region.opened is None else region.opened
            opened = {*chosen, *_blocks_of(top, region.show, drawing)}
            keep = drawing.close_blocks(top, opened, touched)
    drawing.draw_computation(top, None, keep, budget)
    drawing.draw_decisions()
    note, all_of_it = "", f"{len(top.instructions)} instructions of %{top.name}"
    if drawing.representatives:
        closed = f"{len(drawing.closed)} closed blocks"
        note = f"{len(drawing.representatives)} of {all_of_it} in {closed}"
    elif keep is not None:
        note = f"{len(keep)} of {all_of_it} drawn; xe.graph(module, around=NAME) draws elsewhere"
    picture = PictureGraph(
        drawing.nodes,
        drawing.edges,
        drawing.groups,
        title=title or snapshot.name,
        hidden=drawing.hidden,
        note=note,
    )
    return fold_picture(picture, drawing.known.folded)


def block_groups(
    top: ComputationRecord, known: DrawnRecords
) -> tuple[list[PictureGroup], dict[int, int]]:
    """Return the boxes of a computation's blocks, outer ones first, and each instruction's box.

    A box is an index into the list. known: as in `snapshot_picture`.
    """
    paths, details = known.blocks(top)
    places: dict[Path, int] = {}
    for path in dict.fromkeys(paths.values()):
        for depth in range(1, len(path) + 1):
            places.setdefault(path[:depth], len(places))
    groups = [
        PictureGroup(
            scope_key(path),
            path[-1],
            details[path],
            "scope",
            scope_key(path[:-1]) if len(path) > 1 else None,
        )
        for path in places
    ]
    return groups, {key: places[path] for key, path in paths.items()}


def sole_blocks(top: ComputationRecord, drawing: Drawing) -> list[str]:
    """Return the outermost blocks that hold all nodes of the program.

    Closed, they would be the only node of the picture.
    """
    paths = {
        drawing.scopes.get(record.id, ())
        for record in top.instructions
        if record.opcode.name not in REMOVED_BY_FOLDING
    }
    common = next(iter(paths), ())
    for path in paths:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(common, path, strict=False))
        common = tuple([part for part, _ in same])
    return [scope_key(common[: depth + 1]) for depth in range(len(common))]


def _blocks_of(top: ComputationRecord, show: Sequence[int], drawing: Drawing) -> set[str]:
    """Return the blocks around some instructions, those inside fusions included."""
    inside = holders(top, drawing) if any(key not in drawing.scopes for key in show) else {}
    paths = [drawing.scopes.get(inside.get(key, key), ()) for key in show]
    return {scope_key(path[: depth + 1]) for path in paths for depth in range(len(path))}
