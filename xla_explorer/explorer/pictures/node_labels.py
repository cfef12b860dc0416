"""The texts of an instruction's node: its kind, its label, its tooltip."""

from __future__ import annotations

from collections.abc import Mapping

from xla_explorer.explorer.pictures.picture import NodeKind
from xla_explorer.hlo.computation import ComputationRecord
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes.spec import Family

_KINDS: dict[Family, NodeKind] = {
    Family.ELEMENTWISE: "elementwise",
    Family.DATA_MOVEMENT: "data-movement",
    Family.CONTRACTION: "contraction",
    Family.REDUCTION: "reduction",
    Family.CONTROL_FLOW: "control-flow",
    Family.COLLECTIVE: "collective",
    Family.RANDOM: "custom",
    Family.CUSTOM: "custom",
    Family.STRUCTURAL: "data-movement",
}
_OWN_KINDS: dict[str, NodeKind] = {
    "parameter": "parameter",
    "constant": "constant",
    "fusion": "fusion",
    "custom-call": "library-call",
}
WITH_ARGUMENT = ("parameter", "constant")
_REDUCERS = {
    "add": "sum",
    "maximum": "max",
    "minimum": "min",
    "multiply": "product",
    "and": "all",
    "or": "any",
}
REDUCING = ("reduce", "reduce-window", "all-reduce", "scatter")
_ALONG = ("broadcast", "transpose", "concatenate", "iota", "reverse")
_LABELLED = frozenset(
    {*WITH_ARGUMENT, *REDUCING, *_ALONG, "compare", "get-tuple-element", "custom-call"}
)
"""Opcodes whose label has more than the opcode."""


def node_kind(record: InstructionRecord) -> NodeKind:
    """Return the kind of node that an instruction is drawn as."""
    opcode = record.opcode
    return _OWN_KINDS.get(opcode.name) or _KINDS[opcode.family]


def node_label(record: InstructionRecord, computations: Mapping[int, ComputationRecord]) -> str:
    """Return the label: `add`, `sum over 1`, `broadcast {0}`, `parameter 2`, `constant 0.5`."""
    name = record.opcode.name
    if name not in _LABELLED:
        return name
    attributes = record.attributes
    if name in WITH_ARGUMENT:
        return f"{name} {argument_text(record)}".strip()
    if name in REDUCING and record.called:
        body = computations.get(record.called[0])
        word = _reducer(body) if body is not None else ""
        if word and name == "reduce":
            return f"{word} over {','.join(map(str, attributes.get('dimensions') or ()))}"
        return f"{name} {word}".strip()
    if name in _ALONG:
        dimensions = attributes.get("dimensions")
        if dimensions is None:
            dimensions = attributes.get("iota_dimension")
        if dimensions is not None:
            listed = dimensions if isinstance(dimensions, tuple | list) else (dimensions,)
            return f"{name} {{{','.join(map(str, listed))}}}"
    if name == "compare" and attributes.get("direction"):
        return f"compare {attributes.get('direction')}"
    if name == "get-tuple-element":
        return f"get-tuple-element {attributes.get('index')}"
    if name == "custom-call" and attributes.get("custom_call_target"):
        return f"custom-call {attributes.get('custom_call_target')}"
    return name


def argument_text(record: InstructionRecord) -> str:
    """Return the number of a parameter, or the value of a scalar constant."""
    if record.opcode.name == "parameter":
        return str(record.payload)
    literal = record.payload
    return (
        literal.text
        if record.opcode.name == "constant"
        and isinstance(literal, Literal)
        and literal.shape.is_scalar
        else ""
    )


def tooltip_lines(record: InstructionRecord, hidden: int) -> tuple[str, ...]:
    """Return the lines of a node's tooltip; hidden: the instructions inside that are not drawn."""
    lines = [
        f"%{record.name} = {record.shape.text} {record.opcode.name}",
        record.metadata[:200] if record.metadata else "",
    ]
    return tuple(
        filter(None, [*lines, f"{hidden} instructions inside not drawn" if hidden else ""])
    )


def _reducer(body: ComputationRecord) -> str:
    root = next((r for r in body.instructions if r.id == body.root), None)
    if root is None or len(body.instructions) != 3:
        return ""
    return _REDUCERS.get(root.opcode.name, root.opcode.name)
