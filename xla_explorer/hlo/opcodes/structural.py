"""Rows of the structural family: leaves, tuples, tokens, ordering and markers.

Source: hlo_opcode.h, hlo_parser.cc.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.shape_rules import structural as rules
from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec

_F = Family.STRUCTURAL

ROWS: tuple[OpcodeSpec, ...] = (
    OpcodeSpec(
        "parameter",
        family=_F,
        arity=0,
        summary="An argument of its computation, by number.",
        source="xla/hlo/ir/hlo_instructions.h HloParameterInstruction",
    ),
    OpcodeSpec(
        "constant",
        family=_F,
        arity=0,
        summary="A literal value.",
        source="StableHLO constant; hlo_instructions.h HloConstantInstruction",
    ),
    OpcodeSpec(
        "tuple",
        family=_F,
        arity=None,
        summary="Packs its operands into one tuple, without moving their data.",
        source="StableHLO tuple; shape_inference.cc InferVariadicOpShape",
        shape_rule=rules.tuple_of_operands,
    ),
    OpcodeSpec(
        "get-tuple-element",
        family=_F,
        arity=1,
        summary="The tuple element at a fixed index.",
        attributes=("index",),
        required=("index",),
        source="StableHLO get_tuple_element; shape_inference.cc InferGetTupleElementShape",
        shape_rule=rules.get_tuple_element,
    ),
    OpcodeSpec(
        "after-all",
        family=_F,
        arity=None,
        summary="A token that is ready when all its operand tokens are.",
        source="StableHLO after_all",
        shape_rule=rules.after_all,
    ),
    OpcodeSpec(
        "add-dependency",
        family=_F,
        arity=2,
        summary="Its first operand, available no earlier than the token.",
        source="hlo_verifier.cc HandleAddDependency",
        shape_rule=rules.add_dependency,
    ),
    OpcodeSpec(
        "opt-barrier",
        family=_F,
        arity=1,
        summary="Its operand; passes move nothing across it.",
        source="StableHLO optimization_barrier",
        shape_rule=rules.same_as_operand,
    ),
    OpcodeSpec(
        "domain",
        family=_F,
        arity=1,
        summary="Its operand, at the border between two sharding domains.",
        attributes=("domain",),
        required=("domain",),
        source="hlo_instructions.h HloDomainInstruction",
        shape_rule=rules.same_as_operand,
    ),
)
