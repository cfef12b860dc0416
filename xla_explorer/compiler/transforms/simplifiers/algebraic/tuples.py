"""Rules on get-tuple-element, sort, opt-barrier and custom calls whose meaning XLA defines.

Source: algebraic_simplifier.cc, HandleGetTupleElement, HandleSort, HandleOptimizationBarrier,
HandleCustomCall.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters
from xla_explorer.compiler.rewriting.operators import (
    convert,
    custom_call,
    get_tuple_element,
    opt_barrier,
    sort,
)
from xla_explorer.compiler.rewriting.operators import tuple_ as tuple_of
from xla_explorer.compiler.rewriting.patterns import any_, constant
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.custom_calls import custom_call_target, is_pad_to_static
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.conversion import convert as converted
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.shape import tuple_shape

_XY = parameters("f32[4]", "x", "y")


@rule(
    get_tuple_element(tuple_of(name="whole")),
    exactness=Exactness.BITWISE,
    before=_XY + "t = (f32[4], f32[4]) tuple(x, y)\nROOT r = f32[4] get-tuple-element(t), index=1",
    after=_XY.replace("y =", "ROOT y ="),
)
def element_of_tuple(instruction: HloInstruction, whole: HloInstruction) -> HloInstruction:
    """Rewrite get-tuple-element(tuple(a, b), 1) as b."""
    return whole.operands[int(instruction.attributes["index"])]


def sorts_nothing(i: HloInstruction) -> bool:
    """Return True if the sorted dimension has at most one element."""
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
    """Rewrite a sort of at most one element as its operand, or the tuple of its operands."""
    if not instruction.shape.is_tuple:
        return instruction.operands[0]
    return computation.add("tuple", instruction.shape, instruction.operands)


def leaves_elements_unread(barrier: HloInstruction) -> bool:
    """Return True for a barrier around a tuple, read by elements, with unread elements."""
    if barrier.operands[0].opcode.name != "tuple" or barrier.is_root:
        return False
    if any(u.opcode.name != "get-tuple-element" for u in barrier.users):
        return False
    return len(_needed_elements(barrier)) < len(barrier.operands[0].operands)


def _needed_elements(barrier: HloInstruction) -> list[int]:
    """Return elements that are read after the barrier, or that another user waits for."""
    read = {int(u.attributes["index"]) for u in barrier.users}
    return [n for n, i in enumerate(barrier.operands[0].operands) if n in read or len(i.users) > 1]


@rule(
    get_tuple_element(opt_barrier(any_("whole"), name="barrier").that(leaves_elements_unread)),
    exactness=Exactness.BITWISE,
    before=_XY
    + "t = (f32[4], f32[4]) tuple(x, y)\nb = (f32[4], f32[4]) opt-barrier(t)\nROOT r = f32[4] get-tuple-element(b), index=1",
    after=_XY
    + "t = (f32[4]) tuple(y)\nb = (f32[4]) opt-barrier(t)\nROOT r = f32[4] get-tuple-element(b), index=0",
)
def barrier_without_unread(
    computation: HloComputation,
    instruction: HloInstruction,
    barrier: HloInstruction,
    whole: HloInstruction,
) -> HloInstruction | Reason:
    """Drop unread elements from an optimization barrier."""
    readers = [u for u in barrier.users if u is not instruction]
    if any(u.control_predecessors for u in (barrier, *readers)):
        return refuse(
            "control-dependency", f"%{barrier.name} has control edges that a replacement would lose"
        )
    read = _needed_elements(barrier)
    kept = [whole.operands[number] for number in read]
    narrow = computation.add("tuple", tuple_shape([i.shape for i in kept]), kept)
    barrier = computation.add("opt-barrier", narrow.shape, (narrow,), barrier.attributes)

    def element(old: HloInstruction) -> HloInstruction:
        number = read.index(int(old.attributes["index"]))
        return computation.add(
            old.opcode, old.shape, (barrier,), old.attributes.with_values(index=number)
        )

    for reader in readers:
        computation.replace(reader, element(reader))
        computation.remove(reader)
    return element(instruction)


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


def fills_bytes(instruction: HloInstruction) -> Reason | None:
    """Require a type of at least 8 bits."""
    kind = instruction.shape.element_type
    if kind.is_pred or kind.bits >= 8:
        return None
    return refuse("packed-type", f"{kind.name} has fewer than 8 bits")


@rule(
    convert(constant("c")),
    exactness=Exactness.BITWISE,
    when=(fills_bytes,),
    before="c = s32[2] constant({1, 2})\nROOT r = f32[2] convert(c)",
    after="ROOT c = f32[2] constant({1, 2})\n",
)
def convert_of_constant(
    computation: HloComputation, instruction: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Evaluate the conversion of a constant."""
    return computation.add_constant(
        literal_from_array(
            converted(c.literal.array, instruction.shape.element_type), instruction.shape
        )
    )
