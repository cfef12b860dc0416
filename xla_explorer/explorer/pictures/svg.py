"""Pictures as SVG text with presentation attributes only: no style block, no script, no ids.

GitHub, nbviewer, nbconvert and print keep these attributes. Shapes and labels carry the meaning and
the Okabe-Ito colours repeat it. Fills carry dark text and can be read on light and dark pages;
lines on the bare page are a mid grey. Each node has a title.
"""

from __future__ import annotations

import math

from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.explorer.pictures.scene import (
    Scene,
    SceneEdge,
    SceneNode,
    SceneOptions,
    build_scene,
)

# kind: (fill, outline). The widget uses the dark table on dark themes; a static picture must be
# readable on both.
COLOURS: dict[str, tuple[str, str]] = {
    "elementwise": ("#d8ecf9", "#2f86bd"),
    "data-movement": ("#d3efe5", "#008a65"),
    "reduction": ("#fbe6bd", "#b87900"),
    "contraction": ("#fad9c4", "#c45100"),
    "control-flow": ("#f4dfea", "#a84f80"),
    "library-call": ("#cfe0f1", "#0066a1"),
    "parameter": ("#e9e9e9", "#757575"),
    "constant": ("#f2f2f2", "#8a8a8a"),
    "collective": ("#fbf5b8", "#8f8300"),
    "custom": ("#e4dcf3", "#6a4fa3"),
    "fusion": ("#f1edda", "#6b6440"),
    "computation": ("#ececf3", "#64648a"),
    "scope": ("#e6e5f4", "#5d58a8"),
}
DARK_COLOURS: dict[str, tuple[str, str]] = {
    "elementwise": ("#16384c", "#56b4e9"),
    "data-movement": ("#0c3a30", "#18b78f"),
    "reduction": ("#463208", "#e69f00"),
    "contraction": ("#4d2410", "#ee7d3b"),
    "control-flow": ("#452738", "#cc79a7"),
    "library-call": ("#12304a", "#4aa3df"),
    "parameter": ("#333", "#999"),
    "constant": ("#2a2a2a", "#888"),
    "collective": ("#3d3a08", "#d6cc2e"),
    "custom": ("#33284a", "#a58be0"),
    "fusion": ("#34311f", "#b9ae78"),
    "computation": ("#2b2b38", "#9a9ac8"),
    "scope": ("#2b2a44", "#9a95e0"),
}
GREY = "#858585"
REFUSED, ACCEPTED, OWN = "#c45100", "#008a65", "#a84f80"
FONT = "system-ui,sans-serif"
_MARGIN = 12.0  # pixels around a scene that belong to the picture
_SHORT = 36.0  # pixels; a label (14 high) would cover a shorter line


def picture_svg(
    graph: PictureGraph,
    *,
    budget: int = 300,
    focus: int | None = None,
    legend: bool = True,
    font: str = FONT,
) -> str:
    """Return one SVG document of `graph`, of at most `budget` elements.

    They grow from `focus`, or from the outputs. Lines below the picture count what is hidden.
    """
    scene = build_scene(graph, SceneOptions(focus=focus, budget=budget))
    notes = []
    if scene.hidden:
        notes.append(
            f"{scene.hidden} of {len(scene.nodes) + scene.hidden} elements not drawn (nearest to "
            "the outputs shown)"
        )
    if graph.hidden:
        notes.append(f"{graph.hidden} instructions left out")
    if graph.note:
        notes.append(graph.note)
    text = scene_svg(scene, graph.title, notes=notes, legend=legend)
    return text if font == FONT else text.replace(f'"{FONT}"', f'"{escape(font)}"')


def scene_svg(scene: Scene, title: str, *, notes: list[str], legend: bool) -> str:
    """Return a placed scene as a document, with a legend of its kinds and lines of notes."""
    body = scene_body(scene)
    bottom = scene.height + 16
    width = max(scene.width, 120.0)
    below = ""
    if legend and scene.nodes:
        below, bottom, width = _legend(scene, scene.left, bottom, width)
    for note in notes:
        bottom += 16
        below += _text(scene.left, bottom, 11, 400, note, anchor="start", fill=GREY)
        width = max(width, 6.0 * len(note))
    box = f"{_n(scene.left - 16)} -16 {_n(width + 32)} {_n(bottom + 24)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{_n(width + 32)}" '
        f'height="{_n(bottom + 24)}" '
        f'role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>{body}{below}</svg>'
    )


def scene_body(scene: Scene) -> str:
    """Return the elements of a scene: edges under nodes under edge labels."""
    return (
        "".join(_edge(edge) for edge in scene.edges)
        + "".join(_node(node) for node in scene.nodes)
        + "".join(_edge_label(edge, x, y) for edge, x, y in label_places(scene))
    )


def _n(value: float) -> str:
    """Return a number with at most one decimal."""
    tenths = math.floor(value * 10 + 0.5)
    return str(tenths // 10) if tenths % 10 == 0 else repr(tenths / 10)


def outline(kind: str, w: float, h: float) -> str:
    """Return the path of a kind's shape, such as a hexagon for a contraction."""
    match kind:
        case "contraction":
            return f"M9 0H{_n(w - 9)}L{_n(w)} {_n(h / 2)}L{_n(w - 9)} {_n(h)}H9L0 {_n(h / 2)}Z"
        case "reduction":
            return f"M0 0H{_n(w)}L{_n(w - 10)} {_n(h)}H10Z"
        case "data-movement":
            return f"M9 0H{_n(w)}L{_n(w - 9)} {_n(h)}H0Z"
        case "control-flow":
            return f"M8 0H{_n(w - 8)}L{_n(w)} 8V{_n(h - 8)}L{_n(w - 8)} {_n(h)}H8L0 {_n(h - 8)}V8Z"
        case "collective":
            return f"M0 0H{_n(w)}L{_n(w - 9)} {_n(h / 2)}L{_n(w)} {_n(h)}H0L9 {_n(h / 2)}Z"
    r = {"parameter": h / 2, "constant": 0.0}.get(kind, 4.0)
    if r == 0:
        return f"M0 0H{_n(w)}V{_n(h)}H0Z"
    arc = f"A{_n(r)} {_n(r)} 0 0 1"
    return (
        f"M{_n(r)} 0H{_n(w - r)}{arc} {_n(w)} {_n(r)}V{_n(h - r)}{arc} {_n(w - r)} {_n(h)}"
        f"H{_n(r)}{arc} 0 {_n(h - r)}V{_n(r)}{arc} {_n(r)} 0Z"
    )


def _text(
    x: float,
    y: float,
    size: float,
    weight: int,
    text: str,
    *,
    anchor: str = "middle",
    fill: str = "#1c1c1c",
) -> str:
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-family="{FONT}" font-size="{size}" '
        f'font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>'
    )


def _edge(edge: SceneEdge) -> str:
    p = edge.points
    d = f"M{_n(p[0])} {_n(p[1])}"
    for k in range(2, len(p), 2):
        if p[k] == p[k - 2]:
            d += f"V{_n(p[k + 1])}"
        else:
            middle = (p[k - 1] + p[k + 1]) / 2
            d += f"C{_n(p[k - 2])} {_n(middle)} {_n(p[k])} {_n(middle)} {_n(p[k])} {_n(p[k + 1])}"
    x, y = p[-2], p[-1]
    colour = {"fusion-refused": REFUSED, "fusion-accepted": ACCEPTED, "own": OWN}.get(
        edge.kind, GREY
    )
    dash = {"fusion-refused": ' stroke-dasharray="6 4"', "control": ' stroke-dasharray="2 3"'}.get(
        edge.kind, ""
    )
    width = 1 + min(3.0, math.floor(math.log2(max(edge.weight_bytes, 1)) / 8))
    title = f"<title>{escape(edge.label)}</title>" if edge.label else ""
    return (
        f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{_n(width)}" '
        f'stroke-opacity=".8"{dash}>'
        f"{title}</path>"
        f'<path d="M{_n(x - 3)} {_n(y - 6)}L{_n(x)} {_n(y)}L{_n(x + 3)} {_n(y - 6)}Z" '
        f'fill="{colour}"/>'
    )


def label_places(scene: Scene) -> list[tuple[SceneEdge, float, float]]:
    """Return the positions of edge labels, each on a piece of its line near the middle.

    If the piece is so short that the label would cover it, the label is beside it. A label overlaps
    no node and no other label; without room it is left out, and the edge has it as its title.
    """
    placed: list[tuple[SceneEdge, float, float]] = []
    taken: list[tuple[float, float, float]] = []
    written = _written_places(scene) if any(edge.label for edge in scene.edges) else []
    for edge in scene.edges:
        if not edge.label:
            continue
        p = edge.points
        middle, half = len(p) // 4 * 2, _label_width(edge.label) / 2
        places: list[tuple[int, int, float, float]] = []
        for k in range(2, len(p), 2):
            height = p[k + 1] - p[k - 1]
            reach = abs(p[k] - p[k - 2])
            hides = height < _SHORT and reach < 2 * half + _SHORT
            for part in (0.5,) if p[k] != p[k - 2] or height < 60 else (0.5, 0.25, 0.75):
                x, y = p[k - 2] + (p[k] - p[k - 2]) * part, p[k - 1] + height * part
                places += [
                    (abs(side), abs(k - middle), x + side * (reach / 2 + half + 6), y)
                    for side in ((1, -1) if hides else (0, 1, -1))
                ]
        for _, _, x, y in sorted(places, key=lambda place: place[:2]):
            if x - half < scene.left - _MARGIN or x + half > scene.left + scene.width + _MARGIN:
                continue
            if any(
                x + half > x0 and x - half < x1 and y + 7 > y0 and y - 7 < y1
                for x0, y0, x1, y1 in written
            ):
                continue
            if all(
                abs(x - other_x) >= half + other_half or abs(y - other_y) >= 15
                for other_x, other_y, other_half in taken
            ):
                taken.append((x, y, half))
                placed.append((edge, x, y))
                break
    return placed


def _written_places(
    scene: Scene, dx: float = 0.0, dy: float = 0.0
) -> list[tuple[float, float, float, float]]:
    """Return left, top, right and bottom of the nodes of a scene and of the heads of its boxes."""
    found = []
    for n in scene.nodes:
        left, top = n.x + dx - n.width / 2, n.y + dy
        found.append((left, top, left + n.width, top + (18 if n.box is not None else n.height)))
        if n.box is not None:
            found += _written_places(
                n.box, left + (n.width - n.box.width) / 2 - n.box.left, top + n.inset - n.box.top
            )
    return found


def _label_width(label: str) -> float:
    return 5.4 * len(label) + 10


def _edge_label(edge: SceneEdge, x: float, y: float) -> str:
    colour = {"fusion-refused": REFUSED, "fusion-accepted": ACCEPTED, "own": OWN}.get(
        edge.kind, GREY
    )
    width = _label_width(edge.label)
    return (
        f'<rect x="{_n(x - width / 2)}" y="{_n(y - 7)}" width="{_n(width)}" height="14" rx="3" '
        'fill="#fff6ef" '
        f'stroke="{colour}" stroke-width=".8"/>'
        + _text(x, y + 3.5, 9.5, 400, edge.label, fill="#5c2a08")
    )


def _node(node: SceneNode) -> str:
    w, h = node.width, node.height
    fill, line = COLOURS.get(node.kind, COLOURS["custom"])
    title = "\n".join(
        [
            " ".join(filter(None, [f"%{node.name}" if node.name else "", node.label, node.detail])),
            *node.lines,
        ]
    )
    out = (
        f'<g transform="translate({_n(node.x - w / 2)} '
        f'{_n(node.y)})"><title>{escape(title)}</title>'
    )
    path = outline("" if node.box is not None else node.kind, w, h)
    if node.box is not None:
        out += (
            f'<path d="{path}" fill="{fill}" fill-opacity=".25" stroke="{line}" '
            'stroke-width="1.2"/>'
        )
        head = f"M4 0H{_n(w - 4)}A4 4 0 0 1 {_n(w)} 4V18H0V4A4 4 0 0 1 4 0Z"
        out += f'<path d="{head}" fill="{fill}" stroke="{line}" stroke-width="1.2"/>'
        words = " · ".join(filter(None, [f"%{node.name}" if node.name else "", node.label]))
        out += _text(w / 2, 13, 10.5, 600, words)
        shift = (w - node.box.width) / 2 - node.box.left
        out += (
            f'<g transform="translate({_n(shift)} '
            f'{_n(node.inset - node.box.top)})">{scene_body(node.box)}</g>'
        )
    else:
        if node.kind in ("scope", "computation"):
            out += f'<path d="{path}" transform="translate(4 4)" fill="{fill}" stroke="{line}"/>'
        out += f'<path d="{path}" fill="{fill}" stroke="{line}" stroke-width="1.2"/>'
        if node.kind in ("library-call", "fusion"):
            out += f'<path d="M4 0V{_n(h)}M{_n(w - 4)} 0V{_n(h)}" fill="none" stroke="{line}"/>'
        out += _text(w / 2, 15, 11.5, 600, node.label)
        at = 28
        if node.name:
            out += _text(w / 2, at, 9.5, 400, f"%{node.name}", fill="#444")
            at = 40
        out += _text(w / 2, at, 9.5, 400, node.detail)
    if node.above:
        out += _more(w / 2, -7, node.above)
    if node.below:
        out += _more(w / 2, h + 7, node.below)
    return out + "</g>"


def _more(x: float, y: float, count: int) -> str:
    return (
        f'<rect x="{_n(x - 15)}" y="{_n(y - 6)}" width="30" height="12" rx="6" fill="#fff" '
        f'stroke="{GREY}" '
        f'stroke-dasharray="2 2"/>' + _text(x, y + 3.5, 9, 400, f"+{count}", fill="#444")
    )


def _kinds(scene: Scene) -> set[str]:
    found = {node.kind for node in scene.nodes}
    for node in scene.nodes:
        if node.box is not None:
            found |= _kinds(node.box)
    return found


def _edge_kinds(scene: Scene) -> set[str]:
    found = {edge.kind for edge in scene.edges}
    for node in scene.nodes:
        if node.box is not None:
            found |= _edge_kinds(node.box)
    return found


def _legend(scene: Scene, left: float, top: float, width: float) -> tuple[str, float, float]:
    """Return the legend: shapes with their names, in rows as wide as the picture or 480."""
    room = max(width, 480.0)
    out, x, y, widest = "", left, top, width
    present = _kinds(scene)
    for kind, (fill, line) in COLOURS.items():
        if kind not in present:
            continue
        step = 34 + 6.0 * len(kind) + 12
        if x + step > left + room:
            x, y = left, y + 20
        sample = f'<path d="{outline(kind, 26, 14)}" fill="{fill}" stroke="{line}"/>'
        out += f'<g transform="translate({_n(x)} {_n(y)})">{sample}</g>'
        out += _text(x + 31, y + 11, 10.5, 400, kind, anchor="start", fill=GREY)
        x += step
        widest = max(widest, x - left)
    for kind, name, colour, dashes, width in (
        ("fusion-refused", "fusion refused", REFUSED, ' stroke-dasharray="6 4"', 130), ("own", "own edge", OWN, "", 100),
    ):  # fmt: skip
        if kind in _edge_kinds(scene):
            if x + width + 10 > left + room:
                x, y = left, y + 20
            out += f'<path d="M{_n(x)} {_n(y + 7)}h26" stroke="{colour}" stroke-width="2"{dashes}/>'
            out += _text(x + 31, y + 11, 10.5, 400, name, anchor="start", fill=GREY)
            widest = max(widest, x + width - left)
            x += width + 10
    return out, y + 18, widest
