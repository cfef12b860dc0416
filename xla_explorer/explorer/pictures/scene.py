"""The scene of a static picture: open and closed boxes, the region within the budget, positions.

Boxes that a reader opens and closes, and positions kept from step to step, are in the browser:
assets/graph/scene.js.

An element is one drawn thing: a node, a closed box (drawn as one node) or an open box (a picture of
its own, placed as one node). Scopes dissolve when open: their nodes join the graph around them.
Elements are keyed by node id or group id.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xla_explorer.explorer.pictures.layered_layout import GAP_Y, PITCH, layered_layout
from xla_explorer.explorer.pictures.picture import (
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)

BUDGET = 200
OPEN_ALL = 60
"""Elements up to which all boxes are open; larger pictures start with closed fusions."""
MANY_USERS = 16
BOX_HEAD = 20.0
BOX_FOOT = 8.0
BOX_PAD = 12.0
LABEL_ROOM = 30.0
"""Pixels that a node is wider than its text: slanted and rounded outlines are narrower below."""
LOOSE = 14.0
"""Pixels more at head and foot of a box that holds boxes: those exceed their rows."""
LABEL_LENGTH, NAME_LENGTH, DETAIL_LENGTH = 30, 26, 36
EDGE_RANK = {"control": 0, "data": 1, "fusion-accepted": 2, "fusion-refused": 3, "own": 4}

Key = int | str


@dataclass(frozen=True, slots=True)
class SceneOptions:
    """The reader's options: the instruction in `focus`, at most `budget` elements."""

    focus: int | None = None
    budget: int = BUDGET


@dataclass(slots=True)
class SceneNode:
    """A placed element; `x` is its middle, `y` its top.

    `members` are the instruction ids that it represents. The inside of an open box begins `inset`
    below its top.
    """

    key: Key
    kind: str
    label: str
    name: str
    detail: str
    lines: tuple[str, ...]
    members: list[int]
    group: str | None
    above: int = 0
    below: int = 0
    width: float = 0.0
    height: float = 0.0
    x: float = 0.0
    y: float = 0.0
    box: Scene | None = None
    inset: float = BOX_HEAD


@dataclass(slots=True)
class SceneEdge:
    """An edge between two elements of one scene, by index; `points` is x, y, x, y ..."""

    source: int
    target: int
    kind: str
    weight_bytes: int
    label: str
    points: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Scene:
    """One level of the picture, from (left, top) on.

    `hidden` counts the elements of this level beyond the budget.
    """

    nodes: list[SceneNode]
    edges: list[SceneEdge]
    left: float
    top: float
    width: float
    height: float
    hidden: int


def build_scene(graph: PictureGraph, options: SceneOptions | None = None) -> Scene:
    """Return the placed picture of `graph`."""
    options = options or SceneOptions()
    return _level(_Tree(graph, options), None, options)


def open_groups(graph: PictureGraph, options: SceneOptions) -> set[str]:
    """Return the open boxes: all of a small picture, else the deepest scopes within the budget."""
    parent = {group.id: group for group in graph.groups}
    depth: dict[str, int] = {}
    for group in graph.groups:
        level, at = 1, group
        while at.parent is not None and at.parent in parent:
            level, at = level + 1, parent[at.parent]
        depth[group.id] = level
    scopes = {group.id for group in graph.groups if group.kind == "scope"}
    chosen = set(depth)
    if _elements(graph, chosen) > OPEN_ALL:
        for limit in (99, 4, 3, 2):
            chosen = {key for key in scopes if depth[key] < limit}
            if _elements(graph, chosen) <= options.budget:
                break
        else:
            chosen = set()
    return chosen


def _elements(graph: PictureGraph, opened: set[str]) -> int:
    """Count the elements that are drawn with these boxes open."""
    parent = {group.id: group.parent for group in graph.groups}
    outermost: dict[str, str | None] = {}
    seen: set[Key] = set()
    for node in graph.nodes:
        if node.group is not None and node.group not in outermost:
            outermost[node.group] = _outermost_closed(node.group, parent, opened)
        closed = outermost[node.group] if node.group is not None else None
        seen.add(node.id if closed is None else closed)
    return len(seen)


def _outermost_closed(group: str, parent: dict[str, str | None], opened: set[str]) -> str | None:
    closed, at = None, group if group in parent else None
    while at is not None:
        if at not in opened:
            closed = at
        at = parent[at]
    return closed


class _Tree:
    """The elements of each level, the element of each node, and the edges of each level."""

    def __init__(self, graph: PictureGraph, options: SceneOptions) -> None:
        self.groups: dict[str, PictureGroup] = {group.id: group for group in graph.groups}
        self.parent: dict[str, str | None] = {group.id: group.parent for group in graph.groups}
        self.opened = open_groups(graph, options)
        self.nodes: dict[int, PictureNode] = {node.id: node for node in graph.nodes}
        self.level: dict[Key | None, list[Key]] = {}
        self.members: dict[Key, list[int]] = {}
        self.path_of_id: dict[int, list[Key]] = {}
        for group in graph.groups:
            if group.instruction is not None:
                self.path_of_id[group.instruction] = self._path(group.id)
        for node in graph.nodes:
            path = self._path(node.group)
            if not path or (isinstance(path[-1], str) and path[-1] in self.opened):
                path = [*path, node.id]
            self.path_of_id[node.id] = path
            container: Key | None = None
            for key in path:
                if key not in self.members:
                    self.members[key] = []
                    self.level.setdefault(container, []).append(key)
                    group_of_key = self.groups.get(key) if isinstance(key, str) else None
                    if group_of_key is not None and group_of_key.instruction is not None:
                        self.members[key].append(group_of_key.instruction)
                self.members[key].append(node.id)
                container = key
        self.edges: dict[Key | None, dict[tuple[Key, Key], tuple[str, int, str]]] = {}
        # An accepted fusion colours the data edge that is still drawn; one whose data edge is
        # inside the fusion is left out.
        for edge in sorted(graph.edges, key=lambda e: e.kind == "fusion-accepted"):
            self._lift(edge)

    def _lift(self, edge: PictureEdge) -> None:
        """Add an edge to the innermost level at which its two ends are different elements."""
        a, b = self.path_of_id.get(edge.source), self.path_of_id.get(edge.target)
        if a is None or b is None:
            return
        k = 0
        while k < len(a) and k < len(b) and a[k] == b[k]:
            k += 1
        if k == len(a) or k == len(b):
            return  # inside one closed box, or between a box and its own member
        if a[k] not in self.members or b[k] not in self.members:
            return  # a box without elements in the picture
        box = self.groups.get(str(a[k - 1])) if k and isinstance(a[k - 1], str) else None
        if edge.kind == "fusion-refused" and box is not None and box.kind == "fusion":
            return  # a later pass fused both: inside one kernel no fusion is refused
        ends, level = (a[k], b[k]), self.edges.setdefault(a[k - 1] if k else None, {})
        if edge.kind == "fusion-accepted" and ends not in level:
            return
        kind, size, label = level.get(ends, ("control", 0, ""))
        if {edge.kind, kind} == {"own", "fusion-refused"}:  # neither hides the other
            refused, own = (label, edge.label) if edge.kind == "own" else (edge.label, label)
            kind, label = "own", " · ".join(filter(None, (refused, own)))
        elif EDGE_RANK[edge.kind] >= EDGE_RANK[kind]:
            kind, label = edge.kind, edge.label or label
        level[ends] = (kind, max(size, edge.weight_bytes), label)

    def _path(self, group: str | None) -> list[Key]:
        """Return the elements from the outermost level down to `group`, without scopes.

        The path ends at the first closed box.
        """
        chain: list[str] = []
        while group is not None and group in self.groups:
            chain.append(group)
            group = self.parent[group]
        path: list[Key] = []
        for key in reversed(chain):
            if key not in self.opened:
                return [*path, key]
            if self.groups[key].kind != "scope":
                path.append(key)
        return path


def _level(tree: _Tree, container: Key | None, options: SceneOptions) -> Scene:
    keys = tree.level.get(container, [])
    index = {key: k for k, key in enumerate(keys)}
    links = [(index[a], index[b], *rest) for (a, b), rest in tree.edges.get(container, {}).items()]
    ups: list[list[int]] = [[] for _ in keys]
    downs: list[list[int]] = [[] for _ in keys]
    for a, b, *_ in links:
        ups[b].append(a)
        downs[a].append(b)
    shown = _neighbourhood(ups, downs, _start(tree, keys, downs, options.focus), options.budget)
    visible = [k for k in range(len(keys)) if shown[k]]
    nodes = []
    for k in visible:
        node = _element(tree, keys[k])
        node.above = sum(not shown[u] for u in ups[k])
        node.below = sum(not shown[u] for u in downs[k])
        _measure(node, tree, options)
        nodes.append(node)
    fresh = {k: n for n, k in enumerate(visible)}
    edges = [
        SceneEdge(fresh[a], fresh[b], kind, size, label)
        for a, b, kind, size, label in links
        if shown[a] and shown[b]
    ]
    return _placed(nodes, edges, len(keys) - len(nodes))


def _start(tree: _Tree, keys: list[Key], downs: list[list[int]], focus: int | None) -> list[int]:
    """Return where a neighbourhood grows from: the focus, else the elements without readers."""
    if focus is not None:
        path = tree.path_of_id.get(focus, [])
        for k, key in enumerate(keys):
            if key in path:
                return [k]
    return [k for k in range(len(keys) - 1, -1, -1) if not downs[k]]


def _neighbourhood(
    ups: list[list[int]], downs: list[list[int]], start: list[int], budget: int
) -> list[bool]:
    """Mark rings of operands and users around `start` until the budget is spent.

    Users of an element with more than `MANY_USERS` are skipped. The rings grow from one start at a
    time, so that the drawn part is connected.
    """
    count = len(ups)
    if count <= budget:
        return [True] * count
    shown, left = [False] * count, budget
    for seed in start:
        if left <= 0:
            break
        if shown[seed]:
            continue
        shown[seed] = True
        left -= 1
        ring = [seed]
        while ring and left > 0:
            after: list[int] = []
            for k in ring:
                for near in (ups[k], downs[k] if len(downs[k]) <= MANY_USERS else []):
                    for u in near:
                        if left > 0 and not shown[u]:
                            shown[u] = True
                            left -= 1
                            after.append(u)
            ring = after
    return shown


def cut(text: str, length: int) -> str:
    """Return at most `length` code points of the text, with an ellipsis if it is longer."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _element(tree: _Tree, key: Key) -> SceneNode:
    members = tree.members[key]
    if isinstance(key, int):
        n = tree.nodes[key]
        return SceneNode(
            key,
            n.kind,
            cut(n.label, LABEL_LENGTH),
            cut(n.name, NAME_LENGTH),
            cut(n.detail, DETAIL_LENGTH),
            n.lines,
            members,
            None,
        )
    g = tree.groups[key]
    return SceneNode(
        key,
        g.kind,
        cut(g.label, LABEL_LENGTH),
        cut(g.name, NAME_LENGTH),
        cut(g.detail, DETAIL_LENGTH),
        (),
        members,
        key,
    )


def _measure(node: SceneNode, tree: _Tree, options: SceneOptions) -> None:
    if node.group is not None and node.group in tree.opened:
        node.box = _level(tree, node.group, options)
        head = 7.5 * (len(node.label) + len(node.name) + 4) + 16
        node.width = max(head, node.box.width + 2 * BOX_PAD)
        loose = node.kind == "computation" or any(
            inner.kind == "fusion" and inner.box for inner in node.box.nodes
        )
        node.inset = BOX_HEAD + LOOSE if loose else BOX_HEAD
        node.height = node.box.height + node.inset + (BOX_FOOT + LOOSE if loose else BOX_FOOT)
        return
    node.width = max(
        48.0, LABEL_ROOM + max(7.2 * len(node.label), 6.0 * len(node.name), 5.8 * len(node.detail))
    )
    node.height = 48.0 if node.name else 36.0


def _placed(nodes: list[SceneNode], edges: list[SceneEdge], hidden: int) -> Scene:
    links = [(edge.source, edge.target) for edge in edges]
    layout = layered_layout(
        [node.width for node in nodes],
        [node.height for node in nodes],
        [_row_span(node) for node in nodes],
        links,
    )
    for k, node in enumerate(nodes):
        node.x, node.y = layout.x[k], layout.y[k]
    for k, edge in enumerate(edges):
        edge.points = layout.lines[k]
    return Scene(
        nodes, edges, layout.left, layout.top, layout.right - layout.left, layout.height, hidden
    )


def _row_span(node: SceneNode) -> int:
    """Return the rows of the grid that an element takes.

    An open box takes those of its inside: head and foot lie in the gaps, unless the box holds
    boxes.
    """
    if node.box is None:
        return 1
    return max(1, round((node.box.height + GAP_Y) / PITCH)) + (1 if node.inset > BOX_HEAD else 0)
