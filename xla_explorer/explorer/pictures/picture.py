"""The neutral picture: plain data that depends neither on HLO nor on an output format.

A picture is a directed graph of nodes (one per instruction), edges (data, control, fusion
decisions) and boxes (fusions, called computations, metadata scopes). All outputs are drawn from it:
the static SVG, the DOT text, the exported page and the notebook widget. The element types are named
tuples: cheap to make per instruction, and JSON rows as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.visible_text import cleaned

NodeKind = Literal[
    "elementwise",
    "data-movement",
    "reduction",
    "contraction",
    "control-flow",
    "library-call",
    "parameter",
    "constant",
    "collective",
    "custom",
    "fusion",
]
EdgeKind = Literal["data", "control", "fusion-accepted", "fusion-refused", "own"]
GroupKind = Literal["fusion", "computation", "control-flow", "scope"]

NODE_KINDS: tuple[str, ...] = get_args(NodeKind)


class PictureNode(NamedTuple):
    """One drawn instruction.

    Attributes
    ----------
    id : int
        The instruction's id. Ids are never reused, so they link the steps of a pipeline and every
        pane.
    label, detail : str
        The bold first line ("add", "sum over 1") and the second ("f32[128,256]").
    kind : str
        One of `NODE_KINDS`; sets colour and shape.
    group : str, optional
        The id of the innermost box that holds the node.
    name : str
        The HLO name without the percent sign.
    lines : tuple of str
        Further lines of the tooltip.
    opcode : str
        The HLO opcode.
    argument : str
        The text in parentheses of a parameter (its number) or a scalar constant (its value).
    """

    id: int
    label: str
    detail: str = ""
    kind: NodeKind = "elementwise"
    group: str | None = None
    name: str = ""
    lines: tuple[str, ...] = ()
    opcode: str = ""
    argument: str = ""


class PictureEdge(NamedTuple):
    """An edge from `source` to `target`: node ids, or the `instruction` of a box at which it ends.

    `weight_bytes` is the size of the value and sets the width. `label` is the reason code of a
    refused fusion, or the label of a user's edge.
    """

    source: int
    target: int
    kind: EdgeKind = "data"
    weight_bytes: int = 0
    label: str = ""


class PictureGroup(NamedTuple):
    """A box: a fusion, a called computation, the frame of a while, or a metadata scope.

    A box holds at least one node, directly or in an inner box.

    Attributes
    ----------
    instruction, name, opcode
        Id, HLO name and opcode of the fusion or the while; empty for a scope.
    hidden : int
        For a closed block of a large module: the instructions for which its one node is drawn.
    touched : int
        How many of the hidden instructions the pass added or changed.
    """

    id: str
    label: str
    detail: str = ""
    kind: GroupKind = "fusion"
    parent: str | None = None
    instruction: int | None = None
    name: str = ""
    opcode: str = ""
    hidden: int = 0
    touched: int = 0


class PictureFormatError(XlaExplorerError, ValueError):
    """A file suffix or direction that pictures do not support."""


class PictureData(TypedDict):
    """A picture as JSON data.

    Nodes, edges and groups are rows in the order of their fields. A row of `aliases` is the id of
    an instruction that is not drawn, the id drawn for it, and its opcode.
    """

    title: str
    nodes: list[list[Any]]
    edges: list[list[Any]]
    groups: list[list[Any]]
    aliases: list[list[Any]]
    hidden: int
    note: str


class PictureGraph:
    """Nodes in program order, edges and boxes, and a count of the instructions left out.

    `aliases` maps the id of an instruction that is not drawn, such as a folded constant, to the id
    drawn for it. `alias_opcodes` maps it to its opcode. `hidden` counts the instructions left out;
    `note` names them and the call that draws them.
    """

    __slots__ = ("alias_opcodes", "aliases", "edges", "groups", "hidden", "nodes", "note", "title")

    def __init__(
        self,
        nodes: Iterable[PictureNode],
        edges: Iterable[PictureEdge] = (),
        groups: Iterable[PictureGroup] = (),
        *,
        title: str = "",
        aliases: Mapping[int, int] | None = None,
        alias_opcodes: Mapping[int, str] | None = None,
        hidden: int = 0,
        note: str = "",
    ) -> None:
        self.nodes: tuple[PictureNode, ...] = tuple(nodes)
        self.edges: tuple[PictureEdge, ...] = tuple(edges)
        self.groups: tuple[PictureGroup, ...] = tuple(groups)
        self.title = title
        self.aliases: dict[int, int] = dict(aliases or {})
        self.alias_opcodes: dict[int, str] = dict(alias_opcodes or {})
        self.hidden = hidden
        self.note = note

    def same_rows(self, other: PictureGraph) -> bool:
        """Return True if both differ at most in their titles; fast if they share rows."""
        names = [name for name in self.__slots__ if name != "title"]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def called(self, title: str) -> PictureGraph:
        """Return a copy with another title."""
        found = copy(self)
        found.title = title
        return found

    @cleaned
    def __repr__(self) -> str:
        boxes = f", {len(self.groups)} boxes" if self.groups else ""
        return (
            f"<PictureGraph {self.title!r}: {number_of(len(self.nodes), 'node')}, "
            f"{number_of(len(self.edges), 'edge')}{boxes}>"
        )

    def to_json(self) -> PictureData:
        """Return the picture as JSON data."""
        return PictureData(
            title=self.title,
            nodes=[[*node[:6], list(node.lines), *node[7:]] for node in self.nodes],
            edges=[list(edge) for edge in self.edges],
            groups=[list(group) for group in self.groups],
            aliases=self.alias_rows(),
            hidden=self.hidden,
            note=self.note,
        )

    def alias_rows(self) -> list[list[Any]]:
        """Return id, drawn id and opcode of each instruction that is not drawn."""
        return [
            [folded, drawn, self.alias_opcodes.get(folded, "")]
            for folded, drawn in self.aliases.items()
        ]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PictureGraph:
        """Return the picture of data that `to_json` made."""
        return cls(
            (PictureNode._make((*row[:6], tuple(row[6]), *row[7:])) for row in data["nodes"]),
            (PictureEdge(*row) for row in data["edges"]),
            (PictureGroup(*row) for row in data["groups"]),
            title=data["title"],
            aliases={folded: drawn for folded, drawn, _ in data["aliases"]},
            alias_opcodes={folded: opcode for folded, _, opcode in data["aliases"]},
            hidden=data["hidden"],
            note=data["note"],
        )
