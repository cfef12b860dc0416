"""A cache of drawn nodes and edges: successive snapshots share most of their records."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.explorer.pictures.blocks import Path, block_details
from xla_explorer.explorer.pictures.folding import FoldedRows
from xla_explorer.explorer.pictures.picture import EdgeKind, PictureEdge, PictureNode
from xla_explorer.explorer.pictures.scopes import scope_paths
from xla_explorer.hlo.computation import ComputationRecord
from xla_explorer.hlo.instruction import InstructionRecord


class DrawnInside(NamedTuple):
    """A called computation as it is drawn in a box, without boxes inside of it.

    calls: the computations that its nodes call; their labels depend on them.
    """

    computation: ComputationRecord
    calls: list[tuple[int, ComputationRecord | None]]
    nodes: list[PictureNode]
    edges: list[PictureEdge]


class DrawnRecords:
    """Nodes and edges of the pictures of one compile, by record."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, str | None, int, bool], PictureNode] = {}
        self.edges: dict[int, list[PictureEdge]] = {}
        self.bare: dict[int, tuple[PictureNode, list[PictureEdge]]] = {}
        """Node and edges of a record in a bare picture, if they depend on the record and operand
        sizes alone."""
        self.folded = FoldedRows()
        self.records: dict[int, InstructionRecord] = {}
        """Keeps the records alive: their Python ids are the keys of the other tables."""
        self.sizes: dict[int, int] = {}
        """Bytes of the results of the instructions that were drawn last."""
        self._sized: dict[int, ComputationRecord] = {}
        """The record of each computation, by id, whose sizes are in `sizes`."""
        self._decided: dict[tuple[int, int, EdgeKind, str], PictureEdge] = {}
        self.insides: dict[tuple[int, str, bool], DrawnInside] = {}
        self._blocks: tuple[ComputationRecord, dict[int, Path], dict[Path, str]] | None = None

    def __reduce__(self) -> tuple[type[DrawnRecords], tuple[()]]:
        """Return an empty cache: the Python ids of records mean nothing to another process."""
        return DrawnRecords, ()

    def note_sizes(self, computation: ComputationRecord) -> None:
        """Record the result sizes of a computation; drop edges whose width has changed."""
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
        """Return the edge of a fusion decision, the same object for equal arguments."""
        ends = producer, consumer, kind, label
        if ends not in self._decided:
            self._decided[ends] = PictureEdge(producer, consumer, kind, 0, label)
        return self._decided[ends]

    def blocks(self, top: ComputationRecord) -> tuple[dict[int, Path], dict[Path, str]]:
        """Return each instruction's block and each block's text; cache those of the last call."""
        if self._blocks is None or self._blocks[0] is not top:
            paths = scope_paths(top.instructions)
            self._blocks = top, paths, block_details(top.instructions, paths)
        return self._blocks[1:]
