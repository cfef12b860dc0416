"""One row per opcode, from which parser, printer, builder and verifier derive."""

from __future__ import annotations

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.opcodes.spec import Constraint, Family, OpcodeSpec, ShapeRule, Trait
from xla_explorer.hlo.opcodes.table import OPCODES

__all__ = [
    "CONSTANT",
    "FUSION",
    "GET_TUPLE_ELEMENT",
    "OPCODES",
    "PARAMETER",
    "TUPLE",
    "Constraint",
    "Family",
    "OpcodeSpec",
    "ShapeRule",
    "Trait",
    "opcode",
]


def opcode(name: str) -> OpcodeSpec:
    """Return the row of an opcode; KeyError with similar names if there is none."""
    try:
        return OPCODES[name]
    except KeyError:
        near = nearest(name, OPCODES, 3)
        raise KeyError(
            f"unknown opcode {name!r}" + (f"; near: {', '.join(near)}" if near else "")
        ) from None


PARAMETER = OPCODES["parameter"]
CONSTANT = OPCODES["constant"]
TUPLE = OPCODES["tuple"]
GET_TUPLE_ELEMENT = OPCODES["get-tuple-element"]
FUSION = OPCODES["fusion"]
