"""Rules on custom calls whose meaning XLA defines.

Source: algebraic_simplifier.cc, HandleCustomCall.

======================================  =======================================================
handled by XLA                          here
======================================  =======================================================
SliceToDynamic of the results of one    the operand of PadToStatic, if the shapes are equal
PadToStatic
LayoutConstraint, after layout          a copy
assignment
======================================  =======================================================
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.operators import custom_call
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.hlo.analysis.custom_calls import custom_call_target, is_pad_to_static
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


def undoes_a_pad_to_static(i: HloInstruction) -> bool:
    """Return True for SliceToDynamic of array and sizes of one PadToStatic of the same shape."""
    if custom_call_target(i) != "SliceToDynamic" or not i.operands:
        return False
    if any(o.opcode.name != "get-tuple-element" for o in i.operands):
        return False
    padded = i.operands[0].operands[0]
    return (
        is_pad_to_static(padded)
        and all(o.operands[0] is padded for o in i.operands)
        and [int(o.attributes["index"]) for o in i.operands] == list(range(len(i.operands)))
        and padded.operands[0].shape is i.shape
    )


_DYNAMIC = "x = f32[<=4] parameter(0)\n"


@rule(
    custom_call().that(undoes_a_pad_to_static),
    exactness=Exactness.BITWISE,
    before=_DYNAMIC + 'p = (f32[4], s32[]) custom-call(x), custom_call_target="PadToStatic"\n'
    "a = f32[4] get-tuple-element(p), index=0\nn = s32[] get-tuple-element(p), index=1\n"
    'ROOT r = f32[<=4] custom-call(a, n), custom_call_target="SliceToDynamic"',
    after=_DYNAMIC.replace("x =", "ROOT x ="),
)
def slice_to_dynamic_of_pad_to_static(instruction: HloInstruction) -> HloInstruction:
    """Rewrite SliceToDynamic(PadToStatic(x)) as x."""
    return instruction.operands[0].operands[0].operands[0]


def constrains_a_layout(i: HloInstruction) -> bool:
    """Return True for a LayoutConstraint of one array."""
    return custom_call_target(i) == "LayoutConstraint" and len(i.operands) == 1 and i.shape.is_array


@rule(
    custom_call().that(constrains_a_layout),
    exactness=Exactness.BITWISE,
    layout="sensitive",
    before="x = f32[3,4]{1,0} parameter(0)\n"
    'ROOT r = f32[3,4]{0,1} custom-call(x), custom_call_target="LayoutConstraint"',
    after="x = f32[3,4]{1,0} parameter(0)\nROOT r = f32[3,4]{0,1} copy(x)",
)
def layout_constraint_to_copy(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a LayoutConstraint as a copy to its layout."""
    return computation.add("copy", instruction.shape, instruction.operands)
