"""Opcode table, control flow: calls, loops, branches, fusions, asynchronous wrappers.

Source: StableHLO while, if, case; xla/service/shape_inference.cc; xla/service/hlo_verifier.cc;
hlo_parser.cc attribute tables.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.constraints import signatures
from xla_explorer.hlo.opcodes.shape_rules import control_flow as rules
from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec, Trait

_F = Family.CONTROL_FLOW
_EXPENSIVE = frozenset({Trait.EXPENSIVE})
_ASYNCHRONOUS = frozenset({Trait.ASYNCHRONOUS, Trait.EXPENSIVE})

ROWS: tuple[OpcodeSpec, ...] = (
    OpcodeSpec(
        "while",
        family=_F,
        arity=1,
        called=("condition", "body"),
        summary="Applies `body` while `condition` holds.",
        source="StableHLO while; shape_inference.cc InferWhileShape",
        shape_rule=rules.while_,
        traits=_EXPENSIVE,
        constraints=(signatures.loop,),
    ),
    OpcodeSpec(
        "conditional",
        family=_F,
        arity=None,
        called=("branch_computations",),
        summary="Runs the branch that a pred or s32 selects; an index out of range runs the last.",
        source="StableHLO if, case; shape_inference.cc InferConditionalShape",
        shape_rule=rules.conditional,
        traits=_EXPENSIVE,
        constraints=(signatures.branches,),
    ),
    OpcodeSpec(
        "call",
        family=_F,
        arity=None,
        attributes=("is_composite",),
        called=("to_apply",),
        summary="Runs a computation with the operands as its parameters.",
        source="StableHLO func.call, composite",
        shape_rule=rules.call,
        traits=_EXPENSIVE,
        constraints=(
            signatures.callee,
            signatures.composite_is_named,
        ),
    ),
    OpcodeSpec(
        "fusion",
        family=_F,
        arity=None,
        attributes=("kind", "output_to_operand_aliasing"),
        required=("kind",),
        called=("calls",),
        summary="A computation that is emitted as one kernel.",
        source="hlo_instructions.h HloFusionInstruction",
        shape_rule=rules.call,
        infers_in_text=False,
        traits=_EXPENSIVE,
        constraints=(signatures.callee,),
    ),
    OpcodeSpec(
        "async-start",
        family=_F,
        arity=None,
        attributes=("output_to_operand_aliasing", "async_execution_thread"),
        called=("calls",),
        summary="Begins the wrapped computation; gives ((operands), result, state...).",
        source="hlo_instructions.h HloAsyncStartInstruction",
        traits=_ASYNCHRONOUS,
        constraints=(signatures.asynchronous_start,),
    ),
    OpcodeSpec(
        "async-update",
        family=_F,
        arity=1,
        attributes=("async_execution_thread",),
        summary="A step between start and done of an asynchronous computation.",
        source="hlo_instructions.h HloAsyncInstruction",
        shape_rule=rules.async_update,
        infers_in_text=False,
        traits=_ASYNCHRONOUS,
    ),
    OpcodeSpec(
        "async-done",
        family=_F,
        arity=1,
        attributes=("async_execution_thread",),
        summary="Waits for an asynchronous computation; gives its result.",
        source="hlo_instructions.h HloAsyncInstruction",
        shape_rule=rules.async_done,
        infers_in_text=False,
        traits=_ASYNCHRONOUS,
    ),
)
