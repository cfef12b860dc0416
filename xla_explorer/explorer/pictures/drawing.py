"""One picture while it is made: instructions become nodes, called computations become boxes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.explorer.pictures.blocks import Path
from xla_explorer.explorer.pictures.drawn_records import DrawnInside, DrawnRecords
from xla_explorer.explorer.pictures.folding import PASSED_THROUGH
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
    PictureGroup,
    PictureNode,
)
from xla_explorer.hlo.computation import ComputationRecord
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.module import ModuleSnapshot

REMOVED_BY_FOLDING = frozenset(
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
"""Opcodes that folding may remove: they do not represent a closed block."""
ENTERED = frozenset({"fusion", "while", "conditional", "call"})
"""Opcodes that are drawn as boxes around the computations that they call."""
_ROLES = {"while": ("condition", "body"), "call": ("called",)}


class FusionEdges(NamedTuple):
    """Fusion decisions to draw: refused (producer, consumer) -> code; accepted pairs."""

    refused: Mapping[tuple[int, int], str] = {}
    accepted: Iterable[tuple[int, int]] = ()


NO_DECISIONS = FusionEdges()


class Drawing:
    """One picture being made."""

    def __init__(
        self,
        snapshot: ModuleSnapshot,
        fusions: FusionEdges,
        bare: bool,
        known: DrawnRecords,
    ) -> None:
        self.bare, self.known, self.fusions = bare, known, fusions
        self.computations = {c.id: c for c in snapshot.computations}
        self.nodes: list[PictureNode] = []
        self.edges: list[PictureEdge] = []
        self.groups: list[PictureGroup] = []
        self.drawn_computations: set[int] = set()
        self.hidden = 0
        self.scopes: dict[int, Path] = {}
        self.drawn_scopes: set[Path] = set()
        self.details: dict[Path, str] = {}
        self.representatives: dict[int, int] = {}
        """The instruction that is drawn for its closed block, for each instruction in such a block.
        """
        self.sizes: dict[tuple[int, int], int] = {}
        self.closed: dict[str, tuple[int, int]] = {}
        """For each closed block: instructions that are not drawn, and how many of them the pass
        touched."""

    def scope_box(self, record: InstructionRecord) -> str | None:
        """Return the box of the instruction's scope; make it and its outer boxes if new."""
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
                    return key  # a closed block: its inside has no boxes
        return scope_key(path)

    def close_blocks(
        self, top: ComputationRecord, opened: Collection[str], touched: Collection[int]
    ) -> set[int]:
        """Close every block of `top` outside `opened`; return the drawn instructions."""
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
            representative = next(
                (r for r in reversed(inside) if r.opcode.name not in REMOVED_BY_FOLDING),
                inside[-1],
            ).id
            keep.add(representative)
            self.representatives |= dict.fromkeys([r.id for r in inside], representative)
            self.closed[key] = (len(inside), len([r for r in inside if r.id in touched]))
        return keep

    def count_nodes(self, record: InstructionRecord, depth: int = 0) -> int:
        """Return the number of nodes of an instruction whose box is open."""
        if record.opcode.name not in ENTERED or depth > 6:
            return 1
        return 1 + sum(
            [self.count_inside(key, depth) for key in record.called if key in self.computations]
        )

    def count_inside(self, computation: int, depth: int) -> int:
        """Return the number of nodes of a called computation."""
        place = (computation, depth)
        if place not in self.sizes:
            records = self.computations[computation].instructions
            self.sizes[place] = len(records) + sum(
                [self.count_nodes(r, depth + 1) - 1 for r in records if r.called]
            )
        return self.sizes[place]

    def draw_inside(self, computation: ComputationRecord, group: str, room: int) -> None:
        """Draw a computation in a box; reuse the nodes of an earlier equal snapshot."""
        place = (id(computation), group, self.bare)
        found = self.known.insides.get(place)
        if found is not None and all(
            self.computations.get(key) is called for key, called in found.calls
        ):
            self.nodes += found.nodes
            self.edges += found.edges
            return
        nodes, edges = len(self.nodes), len(self.edges)
        self.draw_computation(computation, group, None, room)
        if not any(r.opcode.name in ENTERED for r in computation.instructions):
            calls = [
                (key, self.computations.get(key))
                for r in computation.instructions
                for key in r.called
            ]
            self.known.insides[place] = DrawnInside(
                computation, calls, self.nodes[nodes:], self.edges[edges:]
            )

    def draw_computation(
        self, computation: ComputationRecord, group: str | None, keep: set[int] | None, room: int
    ) -> None:
        """Draw the instructions of a computation that are in `keep` (None: all)."""
        self.known.note_sizes(computation)
        sizes = self.known.sizes
        if group is None and self.representatives:
            self.draw_lifted_edges(computation, sizes)
        records: Sequence[InstructionRecord] = computation.instructions
        if keep is not None:
            records = [r for r in records if r.id in keep]
            self.hidden += self.count_inside(computation.id, -1) - sum(
                [self.count_nodes(r) for r in records]
            )
        whole = self.bare and group is None and keep is None
        for record in records:
            if whole and (drawn := self.known.bare.get(id(record))) is not None:
                self.nodes.append(drawn[0])
                self.edges += drawn[1]
                continue
            if record.id in self.representatives:
                self.draw_instruction(record, self.scope_box(record), 0)
                continue
            self.draw_instruction(record, self.scope_box(record) if group is None else group, room)
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
                    if edge.source in keep and edge.source not in self.representatives
                ]
            self.edges += edges
            for before in record.control_predecessors:
                self.edges.append(PictureEdge(before, record.id, "control"))
            if whole and not (record.called or record.control_predecessors):
                self.known.bare[id(record)] = self.nodes[-1], edges

    def draw_lifted_edges(self, computation: ComputationRecord, sizes: Mapping[int, int]) -> None:
        """Draw the edges that begin or end in a closed block, one for each pair of ends.

        Constants are text in their readers and have no edges.
        """
        widest: dict[tuple[int, int], int] = {}
        of_block, texts = self.representatives, set[int]()
        for record in computation.instructions:
            name = record.opcode.name
            if name == "constant" or (name in PASSED_THROUGH and texts.issuperset(record.operands)):
                texts.add(record.id)
            target = of_block.get(record.id)
            for operand in record.operands:
                source = of_block.get(operand)
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

    def draw_instruction(self, record: InstructionRecord, group: str | None, room: int) -> None:
        """Draw an instruction as a node, or as a box around the computations that it calls."""
        name = record.opcode.name
        inside = (
            [self.computations[key] for key in record.called if key in self.computations]
            if name in ENTERED
            else []
        )
        enter = inside and all(
            c.instructions and c.id not in self.drawn_computations for c in inside
        )
        if enter and self.count_nodes(record) <= room:
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
                self.draw_inside(computation, home, room)
            return
        hidden = 0
        if inside:
            hidden = self.count_nodes(record) - 1
            self.hidden += hidden
        place = (id(record), group, hidden, self.bare)
        node = self.known.nodes.get(place)
        if node is None or name in REDUCING:  # the label depends on the called computation
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

    def draw_decisions(self) -> None:
        """Draw accepted and refused fusions whose two ends are drawn."""
        found: list[tuple[int, int, EdgeKind, str]] = [
            (a, b, "fusion-accepted", "") for a, b in self.fusions.accepted
        ]
        found += [(a, b, "fusion-refused", code) for (a, b), code in self.fusions.refused.items()]
        drawn = {node.id for node in self.nodes} | {group.instruction for group in self.groups}
        for producer, consumer, kind, label in found:
            if producer in drawn and consumer in drawn and producer != consumer:
                self.edges.append(self.known.decided(producer, consumer, kind, label))
