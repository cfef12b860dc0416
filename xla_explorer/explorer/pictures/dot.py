"""Pictures as Graphviz DOT text, and their drawing by the `dot` program if it is installed."""

from __future__ import annotations

import math
import re
import shutil
import subprocess

from xla_explorer.explorer.pictures.picture import (
    PictureEdge,
    PictureGraph,
    PictureGroup,
    PictureNode,
)
from xla_explorer.explorer.pictures.svg import ACCEPTED, COLOURS, GREY, OWN, REFUSED

SHAPES = {
    "elementwise": "box",
    "data-movement": "parallelogram",
    "reduction": "invtrapezium",
    "contraction": "hexagon",
    "control-flow": "octagon",
    "library-call": "box3d",
    "parameter": "ellipse",
    "constant": "plain",
    "collective": "cds",
    "custom": "component",
    "fusion": "tab",
}
_CONTROL = re.compile("[\\x00-\\x1f\\x7f\\ud800-\\udfff]")


def _quoted(*lines: str) -> str:
    r"""Return a DOT string: quotes and backslashes escaped, one \\n between lines."""
    clean = [
        _CONTROL.sub("\ufffd", line).replace("\\", "\\\\").replace('"', '\\"')
        for line in lines
        if line
    ]
    return '"' + "\\n".join(clean) + '"'


def picture_dot(graph: PictureGraph) -> str:
    """Return the picture as DOT text: boxes are clusters, shapes show the kinds.

    A refused fusion is a dashed edge with its reason code.
    """
    inside: dict[str | None, list[PictureNode]] = {}
    known = {group.id for group in graph.groups}
    for node in graph.nodes:
        inside.setdefault(node.group if node.group in known else None, []).append(node)
    children: dict[str | None, list[PictureGroup]] = {}
    for group in graph.groups:
        children.setdefault(group.parent if group.parent in known else None, []).append(group)
    out = [
        "digraph picture {",
        f"  label={_quoted(graph.title)}; labelloc=t; compound=true; fontname=Helvetica;",
        (
            "  node [fontname=Helvetica, fontsize=11, style=filled]; edge [fontname=Helvetica, "
            "fontsize=9];"
        ),
    ]
    _write_level(None, inside, children, out, "  ")
    ends = {node.id: node.id for node in graph.nodes}
    cluster: dict[int, str] = {}
    for group in graph.groups:
        if group.instruction is not None:
            anchor = _last_node(group.id, inside, children)
            if anchor is not None:
                ends[group.instruction] = anchor
                cluster[group.instruction] = _cluster(group.id)
    out += [
        f"  n{ends[edge.source]} -> n{ends[edge.target]} [{_edge_attributes(edge, cluster)}];"
        for edge in graph.edges
        if edge.source in ends and edge.target in ends
    ]
    return "\n".join([*out, "}"]) + "\n"


def _cluster(group: str) -> str:
    return '"cluster_' + _quoted(group)[1:]


def _last_node(
    group: str,
    inside: dict[str | None, list[PictureNode]],
    children: dict[str | None, list[PictureGroup]],
) -> int | None:
    if inside.get(group):
        return inside[group][-1].id
    for child in reversed(children.get(group, [])):
        found = _last_node(child.id, inside, children)
        if found is not None:
            return found
    return None


def _write_level(
    group: str | None,
    inside: dict[str | None, list[PictureNode]],
    children: dict[str | None, list[PictureGroup]],
    out: list[str],
    indent: str,
) -> None:
    for node in inside.get(group, []):
        fill, line = COLOURS.get(node.kind, COLOURS["custom"])
        label = _quoted(node.label, f"%{node.name}" if node.name else "", node.detail)
        shape = SHAPES.get(node.kind, "box")
        out.append(
            f'{indent}n{node.id} [label={label}, shape={shape}, fillcolor="{fill}", '
            f'color="{line}"];'
        )
    for child in children.get(group, []):
        fill, line = COLOURS.get(child.kind, COLOURS["fusion"])
        label = _quoted(
            " · ".join(
                filter(None, [f"%{child.name}" if child.name else "", child.label, child.detail])
            )
        )
        out.append(f"{indent}subgraph {_cluster(child.id)} {{")
        out.append(
            f'{indent}  label={label}; style="rounded,filled"; fillcolor="{fill}"; color="{line}";'
        )
        _write_level(child.id, inside, children, out, indent + "  ")
        out.append(f"{indent}}}")


def _edge_attributes(edge: PictureEdge, cluster: dict[int, str]) -> str:
    colour = {"fusion-refused": REFUSED, "fusion-accepted": ACCEPTED, "own": OWN}.get(
        edge.kind, GREY
    )
    width = 1 + min(3.0, math.floor(math.log2(max(edge.weight_bytes, 1)) / 8))
    attributes = {
        "color": f'"{colour}"',
        "penwidth": f"{width:g}",
        "style": {"fusion-refused": "dashed", "control": "dotted"}.get(edge.kind),
        "label": _quoted(edge.label) if edge.label else None,
        "ltail": cluster.get(edge.source),
        "lhead": cluster.get(edge.target),
    }
    return ", ".join([f"{name}={value}" for name, value in attributes.items() if value is not None])


def render_dot(text: str, output: str = "svg", seconds: float = 10.0) -> bytes | None:
    """Return the `dot` program's output; None if it is missing, fails or takes too long."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, f"-T{output}"],
            input=text.encode(),
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout
