"""Folding: instructions that say little become text on their users before anything is drawn.

Constants (also broadcast or converted ones) become an operand written into the user's label, get-tuple-element
becomes an edge, the final tuple becomes "-> out k" marks on what it returns. This does more for a readable graph than
any layout can.
"""

from __future__ import annotations

from collections import defaultdict

from xla_explorer.explorer.views.picture import PictureEdge, PictureGraph, PictureNode

PASSED_THROUGH = frozenset({"broadcast", "bitcast", "reshape", "convert", "copy"})
LONGEST_CONSTANT = 12


def fold_picture(graph: PictureGraph) -> PictureGraph:
    """`graph` with constants, get-tuple-element and the final tuple folded away; `aliases` says into what.

    A constant is folded when its node has kind "constant"; its text is the part of its label after "constant", else
    "const". A node is taken for a get-tuple-element, tuple or broadcast by the first word of its label. What would
    leave a box or the whole picture empty stays drawn.
    """
    graph = join_fusion_parameters(graph)
    operands: dict[int, list[int]] = defaultdict(list)
    users: dict[int, list[int]] = defaultdict(list)
    held: set[int] = set()
    for edge in graph.edges:
        if edge.kind == "data":
            operands[edge.target].append(edge.source)
            users[edge.source].append(edge.target)
        else:
            held.update((edge.source, edge.target))
    at = {node.id: node for node in graph.nodes}
    text = _constant_texts(graph, operands, users, held)
    stands_for = _tuple_element_sources(graph, operands, users, held)
    roots = _droppable_roots(graph, operands, users, held)
    returned = {operand for root in roots for operand in operands[root]}
    folded = {
        key
        for key in text
        if key not in returned and users[key] and all(user in at for user in _real_users(key, users, text))
    }
    aliases = dict(graph.aliases)
    for key in folded:
        readers = _real_users(key, users, text)
        if readers:
            aliases[key] = readers[0]
    for key, source in stands_for.items():
        aliases[key] = source
    marks: dict[int, list[int]] = defaultdict(list)
    for root in roots:
        for position, operand in enumerate(operands[root]):
            marks[stands_for.get(operand, operand)].append(position)
        if operands[root]:
            aliases[root] = stands_for.get(operands[root][0], operands[root][0])
    gone = folded | roots | set(stands_for)
    emptied = {node.group for node in graph.nodes if node.group} - {n.group for n in graph.nodes if n.id not in gone}
    if len(gone) == len(graph.nodes) or emptied:
        return graph
    nodes = [
        _with_marks(node, [text[o] for o in operands[node.id] if o in folded], marks.get(node.id, []))
        for node in graph.nodes
        if node.id not in gone
    ]
    edges = [
        PictureEdge(stands_for.get(e.source, e.source), e.target, e.kind, e.weight_bytes, e.label)
        for e in graph.edges
        if e.source not in folded and e.target not in gone
    ]
    return PictureGraph(
        nodes, edges, graph.groups, title=graph.title, aliases=aliases, hidden=graph.hidden, note=graph.note
    )


def join_fusion_parameters(graph: PictureGraph) -> PictureGraph:
    """`graph` with the parameters inside fusion boxes replaced by what the fusion reads.

    Edges then run straight into the box, and the box holds what is computed only.

    The data edges into a fusion's instruction must come in operand order, one per operand, and a parameter's label must
    be "parameter k". A box that does not fit this, or would be left empty, stays as it is.
    """
    reads: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        if edge.kind == "data":
            reads[edge.target].append(edge.source)
    fusions = {group.id: group for group in graph.groups if group.kind == "fusion" and group.instruction is not None}
    inside: dict[str, list[PictureNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.group in fusions:
            inside[node.group].append(node)
    stands_for: dict[int, int] = {}
    joined: set[int] = set()
    for key, nodes in inside.items():
        instruction = fusions[key].instruction
        if instruction is None or all(node.kind == "parameter" for node in nodes):
            continue
        operands = reads[instruction]
        numbers = {node.id: node.label.removeprefix("parameter ") for node in nodes if node.kind == "parameter"}
        if numbers and all(number.isdecimal() and int(number) < len(operands) for number in numbers.values()):
            stands_for |= {parameter: operands[int(number)] for parameter, number in numbers.items()}
            joined.add(instruction)
    if not stands_for:
        return graph

    def outermost(key: int) -> int:
        while key in stands_for:  # a fusion in a fusion: its operand may be a parameter again
            key = stands_for[key]
        return key

    edges = []
    for edge in graph.edges:
        if edge.kind == "data" and edge.target in joined:
            continue  # replaced by the edges into the box
        edges.append(edge._replace(source=outermost(edge.source)) if edge.source in stands_for else edge)
    aliases = {**graph.aliases, **{key: outermost(key) for key in stands_for}}
    nodes = [node for node in graph.nodes if node.id not in stands_for]
    return PictureGraph(
        nodes, edges, graph.groups, title=graph.title, aliases=aliases, hidden=graph.hidden, note=graph.note
    )


def _first_word(node: PictureNode) -> str:
    return node.label.split(" ", 1)[0]


def _constant_texts(
    graph: PictureGraph, operands: dict[int, list[int]], users: dict[int, list[int]], held: set[int]
) -> dict[int, str]:
    text: dict[int, str] = {}
    for node in graph.nodes:
        if node.id in held or not users[node.id]:
            continue
        if node.kind == "constant":
            value = node.label.removeprefix("constant").strip() or "const"
            text[node.id] = value if len(value) <= LONGEST_CONSTANT else value[: LONGEST_CONSTANT - 1] + "…"
        elif _first_word(node) in PASSED_THROUGH and len(operands[node.id]) == 1 and operands[node.id][0] in text:
            text[node.id] = text[operands[node.id][0]]
    # A constant whose reader is a box (a fusion operand) would vanish without a trace: nothing there carries its text.
    drawn = {node.id for node in graph.nodes}
    for key in [key for key in text if any(user not in drawn for user in users[key])]:
        del text[key]
    for node in graph.nodes:
        if node.id in text and node.kind != "constant" and operands[node.id][0] not in text:
            del text[node.id]
    return text


def _real_users(key: int, users: dict[int, list[int]], text: dict[int, str]) -> list[int]:
    """The drawn users, looking through folded broadcasts."""
    found: list[int] = []
    pending = list(users[key])
    while pending:
        user = pending.pop(0)
        if user in text:
            pending.extend(users[user])
        else:
            found.append(user)
    return found


def _tuple_element_sources(
    graph: PictureGraph, operands: dict[int, list[int]], users: dict[int, list[int]], held: set[int]
) -> dict[int, int]:
    source: dict[int, int] = {}
    for node in graph.nodes:
        if _first_word(node) == "get-tuple-element" and len(operands[node.id]) == 1 and node.id not in held:
            operand = operands[node.id][0]
            if users[node.id]:
                source[node.id] = source.get(operand, operand)
    return source


def _droppable_roots(
    graph: PictureGraph, operands: dict[int, list[int]], users: dict[int, list[int]], held: set[int]
) -> set[int]:
    """The tuples that only return what others computed, at the outermost level."""
    drawn = {node.id for node in graph.nodes}
    return {
        node.id
        for node in graph.nodes
        if _first_word(node) == "tuple"
        and node.group is None
        and operands[node.id]
        and not users[node.id]
        and node.id not in held
        and all(operand in drawn for operand in operands[node.id])
    }


def _with_marks(node: PictureNode, constants: list[str], positions: list[int]) -> PictureNode:
    label, detail = node.label, node.detail
    if constants and node.kind not in ("reduction", "control-flow", "fusion"):
        label = f"{label} · {' '.join(constants[:2])}"
    if positions:
        detail += f" → out {positions[0]}" if len(positions) == 1 else f" → {len(positions)} outputs"
    return node if label == node.label and detail == node.detail else node._replace(label=label, detail=detail)
