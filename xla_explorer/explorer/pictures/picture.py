"""The neutral picture: what a view draws, as plain data that knows neither HLO nor any output format.

A picture is a directed graph of nodes (one per instruction), edges (data, control, fusion
decisions) and boxes (fusions, called computations, metadata scopes). Everything that draws reads
this one model: the static SVG, the DOT text, the exported page and the notebook widget. The element
types are named tuples: cheap to make per instruction, and JSON rows as they are.
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

    `id` is the instruction's integer id (ids are never reused, so they link the steps of a pipeline and every pane).
    `label` is the bold first line ("add", "sum over 1"), `detail` the second ("f32[128,256]"), `name` the HLO name
    without the percent sign, `group` the id of the innermost box that holds the node, `lines` more lines for the
    tooltip. `opcode` is the HLO opcode, `argument` what a parameter (its number) or a scalar constant (its value) has
    between the parentheses.
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
    """An edge from `source` to `target`: node ids, or the `instruction` of a group (then it ends at the box).

    `weight_bytes` is the size of what flows along it and sets the width; `label` is the reason code of a refused
    fusion, and the word at an edge of the user's own.
    """

    source: int
    target: int
    kind: EdgeKind = "data"
    weight_bytes: int = 0
    label: str = ""


class PictureGroup(NamedTuple):
    """A box: a fusion, a called computation, the frame of a while, or a metadata scope.

    `instruction` is the id of the instruction that the box stands for (the fusion, the while) and `name` its HLO
    name, `opcode` its opcode; scopes have none of them. A group holds at least one node, directly or through a child group; an instruction
    whose inside is not drawn is a plain node instead. hidden: of how many instructions only one is in the picture, which stands for all
    (a closed block of a large module); touched: how many of them the pass added or changed.
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
    """A file whose suffix names no form of a picture."""


class PictureData(TypedDict):
    """A picture as JSON data: each node, edge and group a row in the order of the fields of its type, each alias its id, the id that stands
    for it, and its opcode.
    """

    title: str
    nodes: list[list[Any]]
    edges: list[list[Any]]
    groups: list[list[Any]]
    aliases: list[list[Any]]
    hidden: int
    note: str


class PictureGraph:
    """Nodes in program order, edges and boxes, with what was left out said in words.

    `aliases` maps the id of an instruction that is not drawn (a constant folded into its user, say) to the id that
    stands for it, `alias_opcodes` to its opcode. `hidden` counts instructions that the producer of the picture left
    out, `note` says which and how to see them.
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
        """Whether both differ at most in their titles; quick where they share rows."""
        names = [name for name in self.__slots__ if name != "title"]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def called(self, title: str) -> PictureGraph:
        """This picture under another title."""
        found = copy(self)
        found.title = title
        return found

    @cleaned
    def __repr__(self) -> str:
        boxes = f", {len(self.groups)} boxes" if self.groups else ""
        return f"<PictureGraph {self.title!r}: {number_of(len(self.nodes), 'node')}, {number_of(len(self.edges), 'edge')}{boxes}>"

    def to_json(self) -> PictureData:
        """The picture as JSON data."""
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
        """For each instruction that is not drawn its id, the id that stands for it, and its opcode."""
        return [
            [gone, drawn, self.alias_opcodes.get(gone, "")] for gone, drawn in self.aliases.items()
        ]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PictureGraph:
        """The inverse of `to_json`."""
        return cls(
            (PictureNode._make((*row[:6], tuple(row[6]), *row[7:])) for row in data["nodes"]),
            (PictureEdge(*row) for row in data["edges"]),
            (PictureGroup(*row) for row in data["groups"]),
            title=data["title"],
            aliases={gone: drawn for gone, drawn, _ in data["aliases"]},
            alias_opcodes={gone: opcode for gone, _, opcode in data["aliases"]},
            hidden=data["hidden"],
            note=data["note"],
        )
