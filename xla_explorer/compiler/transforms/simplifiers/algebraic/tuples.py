"""Rules on get-tuple-element, sort and opt-barrier. Source: algebraic_simplifier.cc, HandleGetTupleElement,
HandleSort."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters
from xla_explorer.compiler.rewriting.operators import get_tuple_element, sort
from xla_explorer.compiler.rewriting.operators import tuple_ as tuple_of
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_XY = parameters("f32[4]", "x", "y")


@rule(
    get_tuple_element(tuple_of(name="whole")),
    exactness=Exactness.BITWISE,
    before=_XY + "t = (f32[4], f32[4]) tuple(x, y)\nROOT r = f32[4] get-tuple-element(t), index=1",
    after=_XY.replace("y =", "ROOT y ="),
)
def element_of_tuple(instruction: HloInstruction, whole: HloInstruction) -> HloInstruction:
    """get-tuple-element(tuple(a, b), 1) becomes b."""
    return whole.operands[int(instruction.attributes["index"])]


def sorts_nothing(i: HloInstruction) -> bool:
    """The sorted dimension has at most one element."""
    shape = i.operands[0].shape
    return shape.element_count == 0 or shape.dimensions[i.attributes.value("dimensions")[0]] <= 1


@rule(
    sort().that(sorts_nothing),
    exactness=Exactness.BITWISE,
    before="less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    "  ROOT c = pred[] compare(a, b), direction=LT\n}\n---\n"
    "x = f32[4,1] parameter(0)\nROOT r = f32[4,1] sort(x), dimensions={1}, to_apply=less",
    after="less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    "  ROOT c = pred[] compare(a, b), direction=LT\n}\n---\n"
    "ROOT x = f32[4,1] parameter(0)\n",
)
def sort_of_one(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """A sort of at most one element becomes its operand, or the tuple of its operands."""
    if not instruction.shape.is_tuple:
        return instruction.operands[0]
    return computation.add("tuple", instruction.shape, instruction.operands)
