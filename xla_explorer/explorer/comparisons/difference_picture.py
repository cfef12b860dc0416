"""Two modules without common history as one picture: marked differences and their neighbours."""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.explorer.pictures.node_labels import node_kind
from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph, PictureNode
from xla_explorer.hlo.instruction import HloInstruction

MARKS = {"changed": "● ", "moved": "↷ ", "only left": "− ", "only right": "+ ", "same": ""}
MOST_NODES = 300


def difference_picture(
    statuses: Iterable[tuple[HloInstruction | None, HloInstruction | None, str, str]], title: str
) -> PictureGraph:
    """Return one picture of both sides: the differences with operands and users, up to MOST_NODES.

    A pair is one node. statuses: (left, right, status, differing properties) of each instruction or
    pair. An edge of the left side alone is dashed.
    """
    pairs = list(statuses)
    key_of: dict[HloInstruction, int] = {}
    for key, (left, right, _, _) in enumerate(pairs):
        key_of |= {i: key for i in (left, right) if i is not None}
    edges: dict[tuple[int, int], bool] = {}  # True if the right side has it
    for left, right, _, _ in pairs:
        for side, is_right in ((left, False), (right, True)):
            for operand in side.operands if side is not None else ():
                if operand in key_of and side is not None:
                    ends = (key_of[operand], key_of[side])
                    edges[ends] = edges.get(ends, False) or is_right
    differ = {key for key, (_, _, status, _) in enumerate(pairs) if status != "same"}
    near = {end for ends in edges if differ & set(ends) for end in ends} - differ
    shown = [*sorted(differ), *sorted(near)][:MOST_NODES]
    nodes = [_node(key, *pairs[key]) for key in sorted(shown)]
    kept = set(shown)
    drawn = [
        PictureEdge(a, b, "data" if is_right else "control")
        for (a, b), is_right in edges.items()
        if {a, b} <= kept
    ]
    hidden = len(pairs) - len(nodes)
    note = "+ only right, − only left, ● changed, ↷ moved; dashed: an edge of the left side alone"
    return PictureGraph(nodes, drawn, title=title, hidden=hidden, note=note)


def _node(
    key: int, left: HloInstruction | None, right: HloInstruction | None, status: str, what: str
) -> PictureNode:
    one = right if right is not None else left
    assert one is not None
    name = (
        one.name
        if left is None or right is None or left.name == right.name
        else f"{left.name} → {right.name}"
    )
    detail = (
        one.shape.text_without_layout
        if not what
        else what.split(":")[0] + ": " + one.shape.text_without_layout
    )
    lines = tuple(what.split("; ")) if what else ()
    return PictureNode(
        key,
        f"{MARKS[status]}{one.opcode.name}",
        detail,
        node_kind(one.record()),
        None,
        name,
        lines,
        one.opcode.name,
    )
