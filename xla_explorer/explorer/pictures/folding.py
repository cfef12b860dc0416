"""Folding: constants, tuples and their elements become text on their users before drawing.

A constant (also broadcast or converted) becomes an operand written into the user's label. A
get-tuple-element becomes an edge, the final tuple "-> out k" marks on its operands. No layout makes
a graph as readable as this does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from xla_explorer.explorer.pictures.picture import (
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)

PASSED_THROUGH = frozenset({"broadcast", "bitcast", "reshape", "convert", "copy"})
_MAY_FOLD = PASSED_THROUGH | {"get-tuple-element", "tuple"}  # and constants
LONGEST_CONSTANT = 12
SMALL = 1_000
"""Nodes of a picture that is folded anew, not compared with the one before."""
NON_COMPUTE = PASSED_THROUGH | {
    "parameter",
    "constant",
    "transpose",
    "tuple",
    "get-tuple-element",
    "iota",
}
"""Opcodes that compute nothing: they name a fusion only if it has no others."""


class FoldedRows:
    """A cache of folded rows by the rows that they were made of."""

    def __init__(self) -> None:
        self._edges: dict[tuple[int, int], tuple[PictureEdge, PictureEdge]] = {}
        self._nodes: dict[
            tuple[int, tuple[str, ...], tuple[int, ...]], tuple[PictureNode, PictureNode]
        ] = {}
        self.last: tuple[PictureGraph, PictureGraph] | None = None
        """The large picture that was folded last, and its result."""

    def edge_from(self, edge: PictureEdge, source: int) -> PictureEdge:
        """Return the edge with another source."""
        place = id(edge), source
        if place not in self._edges:
            self._edges[place] = edge, PictureEdge(source, *edge[1:])
        return self._edges[place][1]

    def with_marks(
        self, node: PictureNode, constants: tuple[str, ...], positions: tuple[int, ...]
    ) -> PictureNode:
        """Return the node with the constants that it reads and its positions in the result."""
        place = id(node), constants, positions
        if place not in self._nodes:
            self._nodes[place] = node, _with_marks(node, constants, positions)
        return self._nodes[place][1]


def fold_picture(graph: PictureGraph, known: FoldedRows | None = None) -> PictureGraph:
    """Return `graph` without constants, get-tuple-element and the final tuple; `aliases` maps them.

    The text of a constant is its `argument`, else "const". An instruction stays drawn if the
    picture or a box would be empty without it. Fusion boxes whose label is "fusion" are named by
    their operations. known: rows of earlier pictures.
    """
    known = known or FoldedRows()
    if known.last is not None and graph.same_rows(known.last[0]):
        return known.last[1].called(graph.title)
    folded = _folded(graph, known)
    if len(graph.nodes) > SMALL:
        known.last = graph, folded
    return folded


def _folded(graph: PictureGraph, known: FoldedRows) -> PictureGraph:
    graph = join_fusion_parameters(graph, known)
    links = _Links(graph)
    while True:
        text = _constant_texts(links)
        replaced_by = _tuple_element_sources(links)
        roots = _droppable_roots(links)
        returned = {operand for root in roots for operand in links.operands[root]}
        folded = {
            key: _real_users(key, links.users, text)
            for key in text
            if key not in returned and links.users[key]
        }
        hidden = folded.keys() | roots | replaced_by.keys()
        left = {node.group for node in graph.nodes if node.id not in hidden}
        emptied = {node.id for node in graph.nodes if node.group not in left}
        if not emptied:
            break
        links.held |= emptied  # they would leave a box, or the picture, empty: draw them
    aliases = dict(graph.aliases)
    aliases |= {key: readers[0] for key, readers in folded.items() if readers}
    aliases |= replaced_by
    marks: dict[int, list[int]] = defaultdict(list)
    for root in roots:
        sources = [replaced_by.get(operand, operand) for operand in links.operands[root]]
        for position, source in enumerate(sources):
            marks[source].append(position)
        aliases[root] = sources[0]
    marked = marks.keys() | {user for key in folded for user in links.users[key]}
    nodes = [
        known.with_marks(
            node,
            tuple([text[o] for o in links.operands[node.id] if o in folded]),
            tuple(marks.get(node.id, ())),
        )
        if node.id in marked
        else node
        for node in graph.nodes
        if node.id not in hidden
    ]
    edges = [
        known.edge_from(edge, replaced_by[edge.source]) if edge.source in replaced_by else edge
        for edge in graph.edges
        if edge.source not in folded and edge.target not in hidden
    ]
    return PictureGraph(
        nodes,
        edges,
        [
            group._replace(detail=group.detail + _output_mark(marks[group.instruction]))
            if group.instruction is not None and group.instruction in marks
            else group
            for group in _named_fusions(graph.groups, graph.nodes)
        ],
        title=graph.title,
        aliases=aliases,
        alias_opcodes=graph.alias_opcodes
        | {node.id: node.opcode for node in graph.nodes if node.id in aliases},
        hidden=graph.hidden,
        note=graph.note,
    )


class _Links:
    """Foldable nodes with their data operands and users; other nodes with their foldable operands.

    held: nodes that must stay drawn, such as the ends of control edges.
    """

    def __init__(self, graph: PictureGraph) -> None:
        self.nodes = [
            node for node in graph.nodes if node.opcode in _MAY_FOLD or node.kind == "constant"
        ]
        foldable = {node.id for node in self.nodes}
        operands = self.operands = defaultdict[int, list[int]](list)
        users = self.users = defaultdict[int, list[int]](list)
        self.held: set[int] = set()
        self.drawn = {node.id for node in graph.nodes}
        self.boxes = {group.instruction for group in graph.groups if group.instruction is not None}
        for source, target, kind, _, _ in graph.edges:
            if kind == "data":
                if source in foldable:
                    users[source].append(target)
                    operands[target].append(source)
                elif target in foldable:
                    operands[target].append(source)
            elif kind == "control":
                self.held.update((source, target))


def _named_fusions(
    groups: tuple[PictureGroup, ...], nodes: tuple[PictureNode, ...]
) -> list[PictureGroup]:
    """Name each fusion by its first three operations: "subtract, exponential, sum over 1"."""
    words: dict[str, list[str]] = defaultdict(list)
    others: dict[str, list[str]] = defaultdict(list)
    count: dict[str, int] = defaultdict(int)
    for node in nodes:
        if node.group is None:
            continue
        count[node.group] += 1
        word = node.label if node.kind == "reduction" else node.opcode
        listed = others[node.group] if word in NON_COMPUTE else words[node.group]
        if word not in listed:
            listed.append(word)
    named = []
    for group in groups:
        found = words[group.id] or others[group.id]
        if group.kind == "fusion" and group.label == "fusion" and found:
            label = ", ".join(found[:3]) + (f" +{len(found) - 3}" if len(found) > 3 else "")
            detail = " · ".join(filter(None, [f"fusion of {count[group.id]}", group.detail]))
            group = group._replace(label=label, detail=detail)
        named.append(group)
    return named


def join_fusion_parameters(graph: PictureGraph, known: FoldedRows) -> PictureGraph:
    """Return `graph` with the parameters inside fusion boxes replaced by the fusion's operands.

    Edges then end at the operations inside the box. The data edges into a fusion's instruction must
    come in operand order, one per operand, and a parameter's `argument` must be its number. A box
    that does not fit this, or would be empty, stays unchanged.
    """
    fusions = {
        group.id: group
        for group in graph.groups
        if group.kind == "fusion" and group.instruction is not None
    }
    if not fusions:
        return graph
    boxes = {group.instruction for group in fusions.values()}
    reads: dict[int, list[int]] = defaultdict(list)
    for source, target, kind, _, _ in graph.edges:
        if target in boxes and kind == "data":
            reads[target].append(source)
    inside: dict[str, list[PictureNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.group in fusions:
            inside[node.group].append(node)
    replaced_by: dict[int, int] = {}
    joined: set[int] = set()
    for key, nodes in inside.items():
        instruction = fusions[key].instruction
        if instruction is None or all(node.kind == "parameter" for node in nodes):
            continue
        operands = reads[instruction]
        numbers = {node.id: node.argument for node in nodes if node.kind == "parameter"}
        if numbers and all(
            number.isdecimal() and int(number) < len(operands) for number in numbers.values()
        ):
            replaced_by |= {
                parameter: operands[int(number)] for parameter, number in numbers.items()
            }
            joined.add(instruction)
    if not replaced_by:
        return graph

    def outermost(key: int) -> int:
        while key in replaced_by:  # a fusion in a fusion: its operand may be a parameter again
            key = replaced_by[key]
        return key

    edges = [
        known.edge_from(edge, outermost(edge.source)) if edge.source in replaced_by else edge
        for edge in graph.edges
        if edge.target not in joined or edge.kind != "data"  # replaced by the edges into the box
    ]
    aliases = {**graph.aliases, **{key: outermost(key) for key in replaced_by}}
    nodes = [node for node in graph.nodes if node.id not in replaced_by]
    opcodes = graph.alias_opcodes | dict.fromkeys(replaced_by, "parameter")
    return PictureGraph(
        nodes,
        edges,
        graph.groups,
        title=graph.title,
        aliases=aliases,
        alias_opcodes=opcodes,
        hidden=graph.hidden,
        note=graph.note,
    )


def _constant_texts(links: _Links) -> dict[int, str]:
    text: dict[int, str] = {}
    for node in links.nodes:
        if node.id in links.held or not links.users[node.id]:
            continue
        if node.kind == "constant":
            value = node.argument or "const"
            text[node.id] = (
                value if len(value) <= LONGEST_CONSTANT else value[: LONGEST_CONSTANT - 1] + "…"
            )
        elif (
            node.opcode in PASSED_THROUGH
            and len(links.operands[node.id]) == 1
            and links.operands[node.id][0] in text
        ):
            text[node.id] = text[links.operands[node.id][0]]
    # A constant stays drawn if its reader is a box (an operand of a fusion): no node shows its
    # text.
    for key in [key for key in text if any(user not in links.drawn for user in links.users[key])]:
        del text[key]
    for node in links.nodes:
        if node.id in text and node.kind != "constant" and links.operands[node.id][0] not in text:
            del text[node.id]
    return text


def _real_users(key: int, users: dict[int, list[int]], text: dict[int, str]) -> list[int]:
    """Return the drawn users; those of a folded broadcast count as its own."""
    found: list[int] = []
    pending = list(users[key])
    while pending:
        user = pending.pop(0)
        if user in text:
            pending.extend(users[user])
        else:
            found.append(user)
    return found


def _tuple_element_sources(links: _Links) -> dict[int, int]:
    """Return the drawn instruction that replaces each folded get-tuple-element."""
    elements = [node.id for node in links.nodes if node.opcode == "get-tuple-element"]
    folded = {
        key
        for key in elements
        if len(links.operands[key]) == 1 and key not in links.held and links.users[key]
    }
    # An element that stays drawn shows its index into its operand, so the operand is drawn too.
    drawn = [key for key in elements if key not in folded]
    while drawn:
        for operand in links.operands[drawn.pop()]:
            if operand in folded:
                folded.remove(operand)
                drawn.append(operand)
    source: dict[int, int] = {}
    for key in elements:
        if key in folded:
            operand = links.operands[key][0]
            source[key] = source.get(operand, operand)
    return source


def _droppable_roots(links: _Links) -> set[int]:
    """Return the outermost tuples that only return values computed elsewhere."""
    return {
        node.id
        for node in links.nodes
        if node.opcode == "tuple"
        and node.group is None
        and links.operands[node.id]
        and not links.users[node.id]
        and node.id not in links.held
        and all(
            operand in links.drawn or operand in links.boxes for operand in links.operands[node.id]
        )
    }


def _output_mark(positions: Sequence[int]) -> str:
    return f" → out {positions[0]}" if len(positions) == 1 else f" → {len(positions)} outputs"


def _with_marks(
    node: PictureNode, constants: Sequence[str], positions: Sequence[int]
) -> PictureNode:
    label, detail = node.label, node.detail
    if constants and node.kind not in ("reduction", "control-flow", "fusion"):
        label = f"{label} · {' '.join(constants[:2])}"
    if positions:
        detail += _output_mark(positions)
    return (
        node
        if label == node.label and detail == node.detail
        else node._replace(label=label, detail=detail)
    )
