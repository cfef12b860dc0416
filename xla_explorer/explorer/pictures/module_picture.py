"""From a snapshot to the neutral picture: nodes, edges, boxes; the neighbourhood that fits when the module is large."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.explorer.pictures.blocks import Path, block_details
from xla_explorer.explorer.pictures.folding import PASSED_THROUGH, FoldedRows, fold_picture
from xla_explorer.explorer.pictures.layers import scope_key
from xla_explorer.explorer.pictures.node_labels import (
    REDUCING,
    WITH_ARGUMENT,
    argument_text,
    node_kind,
    node_label,
    tooltip_lines,
)
from xla_explorer.explorer.pictures.picture import (
    EdgeKind,
    GroupKind,
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)
from xla_explorer.explorer.pictures.scopes import scope_paths
from xla_explorer.hlo.computation import ComputationRecord
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.module import ModuleSnapshot

BUDGET = 300
"""Nodes of a budgeted picture."""
IN_OUTLINE = 60
"""Nodes of the inside of an instruction that is drawn open beside closed blocks."""
MOST_BETWEEN = 1_000
MANY_USERS = 16
"""A neighbourhood does not go on to the users of what has more: they have little to do with each other."""
WHOLE = 3000
"""Modules of at most so many instructions are drawn whole; of larger ones the outermost blocks, each as one node until it is opened."""
_NO_STAND_IN = frozenset(
    {
        "parameter",
        "constant",
        "get-tuple-element",
        "tuple",
        "broadcast",
        "bitcast",
        "reshape",
        "convert",
        "copy",
    }
)
"""What folding may take away does not stand for a block."""
_ENTERED = frozenset({"fusion", "while", "conditional", "call"})
_ROLES = {"while": ("condition", "body"), "call": ("called",)}

RefusedEdges = Mapping[tuple[int, int], str]


class DrawnInside(NamedTuple):
    """A computation without boxes inside of it, as it is drawn in a box.

    calls: the computations that labels of its nodes speak about.
    """

    computation: ComputationRecord
    calls: list[tuple[int, ComputationRecord | None]]
    nodes: list[PictureNode]
    edges: list[PictureEdge]


class DrawnRecords:
    """Nodes and edges of the pictures of one compile, by record: successive snapshots share records, so most of a picture is there when the
    one before was drawn.
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, str | None, int, bool], PictureNode] = {}
        self.edges: dict[int, list[PictureEdge]] = {}
        self.bare: dict[int, tuple[PictureNode, list[PictureEdge]]] = {}
        """The node and the edges of a record in a bare picture, where they depend on nothing but the record and the sizes of operands."""
        self.folded = FoldedRows()
        self.records: dict[int, InstructionRecord] = {}
        """Held, so that their Python ids, which are the keys, stay theirs."""
        self.sizes: dict[int, int] = {}
        """Bytes of the results of the instructions that were drawn last."""
        self._sized: dict[int, ComputationRecord] = {}
        """By its id the record of a computation whose sizes were looked at last."""
        self._decided: dict[tuple[int, int, EdgeKind, str], PictureEdge] = {}
        self.insides: dict[tuple[int, str, bool], DrawnInside] = {}
        self._blocks: tuple[ComputationRecord, dict[int, Path], dict[Path, str]] | None = None

    def note_sizes(self, computation: ComputationRecord) -> None:
        """Edges are as wide as what flows along them: those out of instructions that have another size now are forgotten."""
        if self._sized.get(computation.id) is computation:
            return
        self._sized[computation.id] = computation
        sizes = {r.id: r.shape.byte_size for r in computation.instructions}
        resized = {key for key, size in sizes.items() if self.sizes.get(key, size) != size}
        if resized:
            stale = [
                key
                for key, edges in self.edges.items()
                if not resized.isdisjoint([edge.source for edge in edges])
            ]
            for key in stale:
                del self.edges[key]
                self.bare.pop(key, None)
        self.sizes.update(sizes)

    def decided(self, producer: int, consumer: int, kind: EdgeKind, label: str) -> PictureEdge:
        """The edge of a decision about a fusion."""
        ends = producer, consumer, kind, label
        if ends not in self._decided:
            self._decided[ends] = PictureEdge(producer, consumer, kind, 0, label)
        return self._decided[ends]

    def blocks(self, top: ComputationRecord) -> tuple[dict[int, Path], dict[Path, str]]:
        """The block of each instruction, and what each block holds; those of the computation that was asked for last are kept."""
        if self._blocks is None or self._blocks[0] is not top:
            paths = scope_paths(top.instructions)
            self._blocks = top, paths, block_details(top.instructions, paths)
        return self._blocks[1:]


class _Drawing:
    """One picture being made."""

    def __init__(
        self,
        snapshot: ModuleSnapshot,
        refused: RefusedEdges,
        accepted: Iterable[tuple[int, int]],
        bare: bool,
        known: DrawnRecords,
    ) -> None:
        self.bare, self.known = bare, known
        self.computations = {c.id: c for c in snapshot.computations}
        self.refused, self.accepted = refused, accepted
        self.nodes: list[PictureNode] = []
        self.edges: list[PictureEdge] = []
        self.groups: list[PictureGroup] = []
        self.drawn_computations: set[int] = set()
        self.hidden = 0
        self.scopes: dict[int, Path] = {}
        self.drawn_scopes: set[Path] = set()
        self.details: dict[Path, str] = {}
        self.stand_ins: dict[int, int] = {}
        """Of the instructions in closed blocks those that stand for their blocks in the picture."""
        self.sizes: dict[tuple[int, int], int] = {}
        self.closed: dict[str, tuple[int, int]] = {}
        """Of closed blocks how many instructions are not drawn, and how many of them the pass touched."""

    def scope(self, record: InstructionRecord) -> str | None:
        """The box of the instruction's scope, made with those around it when it is the first in it."""
        path = self.scopes.get(record.id)
        if path is None:
            return None
        for depth in range(1, len(path) + 1):
            part = path[:depth]
            if part not in self.drawn_scopes:
                self.drawn_scopes.add(part)
                parent = scope_key(part[:-1]) if depth > 1 else None
                key = scope_key(part)
                hidden, touched = self.closed.get(key, (0, 0))
                self.groups.append(
                    PictureGroup(
                        key,
                        part[-1],
                        self.details.get(part, ""),
                        "scope",
                        parent,
                        hidden=hidden,
                        touched=touched,
                    )
                )
                if hidden:
                    return key  # a closed block: what is inside has no boxes
        return scope_key(path)

    def close(
        self, top: ComputationRecord, opened: Collection[str], touched: Collection[int]
    ) -> set[int]:
        """Close every block of `top` that is not `opened`, the outermost first.

        Returns the instructions that are drawn.
        """
        members: dict[str, list[InstructionRecord]] = {}
        keep: set[int] = set()
        closed_at: dict[Path, str | None] = {}
        for record in top.instructions:
            path = self.scopes.get(record.id, ())
            if path not in closed_at:
                keys = [scope_key(path[: depth + 1]) for depth in range(len(path))]
                closed_at[path] = next((key for key in keys if key not in opened), None)
            closed = closed_at[path]
            if closed is None:
                keep.add(record.id)
            else:
                members.setdefault(closed, []).append(record)
        for key, inside in members.items():
            stands = next(
                (r for r in reversed(inside) if r.opcode.name not in _NO_STAND_IN), inside[-1]
            ).id
            keep.add(stands)
            self.stand_ins |= dict.fromkeys([r.id for r in inside], stands)
            self.closed[key] = (len(inside), len([r for r in inside if r.id in touched]))
        return keep

    def size(self, record: InstructionRecord, depth: int = 0) -> int:
        """Nodes that an instruction takes with its inside open."""
        if record.opcode.name not in _ENTERED or depth > 6:
            return 1
        return 1 + sum(
            [self.inside_size(key, depth) for key in record.called if key in self.computations]
        )

    def inside_size(self, computation: int, depth: int) -> int:
        """Nodes that the instructions of a called computation take."""
        place = (computation, depth)
        if place not in self.sizes:
            records = self.computations[computation].instructions
            self.sizes[place] = len(records) + sum(
                [self.size(r, depth + 1) - 1 for r in records if r.called]
            )
        return self.sizes[place]

    def inside(self, computation: ComputationRecord, group: str, room: int) -> None:
        """Draw all of a computation in a box, as it was drawn for the snapshot before where both have it."""
        place = (id(computation), group, self.bare)
        found = self.known.insides.get(place)
        if found is not None and all(
            self.computations.get(key) is called for key, called in found.calls
        ):
            self.nodes += found.nodes
            self.edges += found.edges
            return
        nodes, edges = len(self.nodes), len(self.edges)
        self.computation(computation, group, None, room)
        if not any(r.opcode.name in _ENTERED for r in computation.instructions):
            calls = [
                (key, self.computations.get(key))
                for r in computation.instructions
                for key in r.called
            ]
            self.known.insides[place] = DrawnInside(
                computation, calls, self.nodes[nodes:], self.edges[edges:]
            )

    def computation(
        self, computation: ComputationRecord, group: str | None, keep: set[int] | None, room: int
    ) -> None:
        """Draw the instructions of a computation that are in `keep` (None: all)."""
        self.known.note_sizes(computation)
        sizes = self.known.sizes
        if group is None and self.stand_ins:
            self.lifted(computation, sizes)
        records: Sequence[InstructionRecord] = computation.instructions
        if keep is not None:
            records = [r for r in records if r.id in keep]
            self.hidden += self.inside_size(computation.id, -1) - sum(
                [self.size(r) for r in records]
            )
        whole = self.bare and group is None and keep is None
        for record in records:
            if whole and (drawn := self.known.bare.get(id(record))) is not None:
                self.nodes.append(drawn[0])
                self.edges += drawn[1]
                continue
            if record.id in self.stand_ins:
                self.instruction(record, self.scope(record), 0)
                continue
            self.instruction(record, self.scope(record) if group is None else group, room)
            edges = self.known.edges.get(id(record))
            if edges is None:
                edges = self.known.edges[id(record)] = [
                    PictureEdge(o, record.id, "data", sizes[o]) for o in record.operands
                ]
                self.known.records[id(record)] = record
            if keep is not None:
                edges = [
                    edge
                    for edge in edges
                    if edge.source in keep and edge.source not in self.stand_ins
                ]
            self.edges += edges
            for before in record.control_predecessors:
                self.edges.append(PictureEdge(before, record.id, "control"))
            if whole and not (record.called or record.control_predecessors):
                self.known.bare[id(record)] = self.nodes[-1], edges

    def lifted(self, computation: ComputationRecord, sizes: Mapping[int, int]) -> None:
        """The edges that begin or end in a closed block, one for each two ends.

        Constants, which are text in what reads them, have none.
        """
        widest: dict[tuple[int, int], int] = {}
        stands, texts = self.stand_ins, set[int]()
        for record in computation.instructions:
            name = record.opcode.name
            if name == "constant" or (name in PASSED_THROUGH and texts.issuperset(record.operands)):
                texts.add(record.id)
            target = stands.get(record.id)
            for operand in record.operands:
                source = stands.get(operand)
                if (
                    operand not in texts
                    and (source is not None or target is not None)
                    and source != target
                ):
                    ends = (
                        operand if source is None else source,
                        record.id if target is None else target,
                    )
                    widest[ends] = max(widest.get(ends, 0), sizes[operand])
        self.edges += [PictureEdge(a, b, "data", size) for (a, b), size in widest.items()]

    def instruction(self, record: InstructionRecord, group: str | None, room: int) -> None:
        """A node, or a box with its inside."""
        name = record.opcode.name
        inside = (
            [self.computations[key] for key in record.called if key in self.computations]
            if name in _ENTERED
            else []
        )
        enter = inside and all(
            c.instructions and c.id not in self.drawn_computations for c in inside
        )
        if enter and self.size(record) <= room:
            key = f"g{record.id}"
            kind: GroupKind = "fusion" if name == "fusion" else "control-flow"
            detail = record.shape.text_without_layout
            self.groups.append(
                PictureGroup(key, name, detail, kind, group, record.id, record.name, name)
            )
            for number, computation in enumerate(inside):
                self.drawn_computations.add(computation.id)
                home = key
                if name != "fusion":
                    role = (
                        _ROLES[name][number]
                        if name in _ROLES and number < len(_ROLES[name])
                        else f"branch {number}"
                    )
                    home = f"{key}.{number}"
                    self.groups.append(
                        PictureGroup(home, role, "", "computation", key, None, computation.name)
                    )
                self.inside(computation, home, room)
            return
        hidden = 0
        if inside:
            hidden = self.size(record) - 1
            self.hidden += hidden
        place = (id(record), group, hidden, self.bare)
        node = self.known.nodes.get(place)
        if (
            node is None or name in REDUCING
        ):  # its label says what the computation that it calls does
            node = self.known.nodes[place] = PictureNode(
                record.id,
                node_label(record, self.computations),
                record.shape.text_without_layout,
                node_kind(record),
                group,
                record.name,
                () if self.bare else tooltip_lines(record, hidden),
                name,
                argument_text(record) if name in WITH_ARGUMENT else "",
            )
            self.known.records[id(record)] = record
        self.nodes.append(node)

    def decisions(self) -> None:
        """Edges of accepted and refused fusions whose two ends are drawn."""
        found: list[tuple[int, int, EdgeKind, str]] = [
            (a, b, "fusion-accepted", "") for a, b in self.accepted
        ]
        found += [(a, b, "fusion-refused", code) for (a, b), code in self.refused.items()]
        drawn = {node.id for node in self.nodes} | {group.instruction for group in self.groups}
        for producer, consumer, kind, label in found:
            if producer in drawn and consumer in drawn and producer != consumer:
                self.edges.append(self.known.decided(producer, consumer, kind, label))


def snapshot_picture(
    snapshot: ModuleSnapshot,
    *,
    computation: str | None = None,
    around: Sequence[int] = (),
    radius: int | None = None,
    budget: int | None = None,
    between: tuple[int, int] | None = None,
    refused: RefusedEdges | None = None,
    accepted: Iterable[tuple[int, int]] = (),
    title: str = "",
    fold: bool = True,
    bare: bool = False,
    known: DrawnRecords | None = None,
    opened: Collection[str] = (),
    show: Sequence[int] = (),
    touched: Collection[int] = (),
) -> PictureGraph:
    """The picture of a module, or of one of its computations.

    around: instruction ids to grow from; with a radius only what is at most so many edges away is drawn, else the nearest `budget`
    nodes. budget: None draws modules of up to `WHOLE` instructions whole, larger ones with `BUDGET` nodes. between: only what lies on
    a path between two instructions, in either direction, at most `MOST_BETWEEN`. refused: (producer,
    consumer) -> reason code. bare: without boxes of scopes and without tooltips. known: what was drawn of
    other snapshots of the compile. opened: of a module of more than `WHOLE` instructions the blocks that are open, by their ids, and those
    around the instructions `show`. touched: what the pass added or changed, counted in closed blocks. KeyError when there is no such
    computation.
    """
    drawing = _Drawing(snapshot, refused or {}, accepted, bare, known or DrawnRecords())
    top = _top(snapshot, computation, between or around)
    total = snapshot.instruction_count()
    if budget is None:
        budget = max(total, 1) if total <= WHOLE else BUDGET
    keep = None
    if between is not None:
        keep = _between(top, *between, drawing)
        budget = max(budget, len(keep))
    elif radius is not None or (around and drawing.inside_size(top.id, -1) > budget):
        keep = _neighbourhood(top, around, radius, budget, drawing)
    elif not bare:
        drawing.scopes, drawing.details = drawing.known.blocks(top)
        if drawing.inside_size(top.id, -1) > budget:
            budget = min(budget, IN_OUTLINE)
            keep = drawing.close(top, {*opened, *_blocks_of(top, show, drawing)}, touched)
    drawing.computation(top, None, keep, budget)
    drawing.decisions()
    note = ""
    if keep is not None:
        note = f"{len(keep)} of {len(top.instructions)} instructions of %{top.name} drawn; xe.graph(module, around=NAME) draws elsewhere"
        if drawing.stand_ins:
            note = f"{len(drawing.stand_ins)} of {len(top.instructions)} instructions of %{top.name} in {len(drawing.closed)} closed blocks"
    picture = PictureGraph(
        drawing.nodes,
        drawing.edges,
        drawing.groups,
        title=title or snapshot.name,
        hidden=drawing.hidden,
        note=note,
    )
    return fold_picture(picture, drawing.known.folded) if fold else picture


def block_groups(
    top: ComputationRecord, known: DrawnRecords
) -> tuple[list[PictureGroup], dict[int, int]]:
    """The boxes of the blocks of a computation, outer ones first, and the place in that list of the box of each instruction. known: as of
    `snapshot_picture`.
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


def _blocks_of(top: ComputationRecord, show: Sequence[int], drawing: _Drawing) -> set[str]:
    """The blocks around some instructions, those inside of fusions too."""
    inside = _holders(top, drawing) if any(key not in drawing.scopes for key in show) else {}
    paths = [drawing.scopes.get(inside.get(key, key), ()) for key in show]
    return {scope_key(path[: depth + 1]) for path in paths for depth in range(len(path))}


def _top(
    snapshot: ModuleSnapshot, computation: str | None, around: Sequence[int]
) -> ComputationRecord:
    if computation is not None:
        for record in snapshot.computations:
            if record.name == computation.lstrip("%"):
                return record
        raise KeyError(f"no computation is named %{computation}")
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


def _holders(top: ComputationRecord, drawing: _Drawing) -> dict[int, int]:
    """The instruction of `top` that holds an instruction of a called computation."""
    calls = [
        (r.id, key)
        for r in top.instructions
        if r.opcode.name in _ENTERED
        for key in r.called
        if key in drawing.computations
    ]
    return {
        member.id: holder
        for holder, key in calls
        for member in drawing.computations[key].instructions
    }


def _between(top: ComputationRecord, first: int, second: int, drawing: _Drawing) -> set[int]:
    """What both one end reaches along uses and the other along operands; the two ends alone when there is no path."""
    records = {r.id: r for r in top.instructions}
    users, inside = _users(top), _holders(top, drawing)
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


def _neighbourhood(
    top: ComputationRecord,
    around: Sequence[int],
    radius: int | None,
    budget: int,
    drawing: _Drawing,
) -> set[int]:
    """Instructions of `top` nearest to the given ones (those inside a fusion count as the fusion), else to the root."""
    records = {r.id: r for r in top.instructions}
    users, inside = _users(top), _holders(top, drawing)
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
        size = min(drawing.size(records[key]), budget // 4 + 1)
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
