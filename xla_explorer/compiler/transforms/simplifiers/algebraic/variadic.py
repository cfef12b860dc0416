"""Rules on reduces of several arrays. Source: algebraic_simplifier.cc, HandleReduce."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import broadcast_scalar, reshape
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import reduce, reduce_window
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import (
    component_reducers,
    identity_of,
    placed_first,
)
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_SUMS = (
    "sums {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] parameter(2)\n  d = f32[] parameter(3)\n"
    "  p = f32[] add(a, c)\n  q = f32[] add(b, d)\n  ROOT t = (f32[], f32[]) tuple(p, q)\n}\n---\n"
)
_ZERO = scalar_constant_text("zero", "f32", 0)


def reduces_several_without_elements(i: HloInstruction) -> bool:
    """Return True if the result is a tuple, and the operands are empty."""
    return i.shape.is_tuple and i.operands[0].shape.element_count == 0


@rule(
    reduce().that(reduces_several_without_elements),
    exactness=Exactness.BITWISE,
    before=_SUMS
    + parameters("f32[0,3]", "x", "y")
    + _ZERO
    + "ROOT r = (f32[3], f32[3]) reduce(x, y, zero, zero), dimensions={0}, to_apply=sums",
    after=_SUMS
    + parameters("f32[0,3]", "x", "y")
    + _ZERO
    + "b = f32[3] broadcast(zero), dimensions={}\nROOT r = (f32[3], f32[3]) tuple(b, b)",
)
def variadic_reduce_of_empty(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a reduce of several arrays without elements as the tuple of the initial values."""
    starts = instruction.operands[len(instruction.operands) // 2 :]
    parts = [
        broadcast_scalar(computation, start, shape) if shape.rank else start
        for start, shape in zip(starts, instruction.shape.tuple_shapes, strict=True)
    ]
    return computation.add("tuple", instruction.shape, parts)


def combines_several_single_elements(i: HloInstruction) -> bool:
    """Return True if the result is a tuple of arrays with as many elements as the operands."""
    return (
        i.shape.is_tuple
        and i.shape.tuple_shapes[0].element_count == i.operands[0].shape.element_count != 0
    )


@rule(
    reduce().that(combines_several_single_elements),
    exactness=Exactness.NUMERIC,
    when=(static,),
    before=_SUMS
    + parameters("f32[1,3]", "x", "y")
    + _ZERO
    + "ROOT r = (f32[3], f32[3]) reduce(x, y, zero, zero), dimensions={0}, to_apply=sums",
    after=_SUMS
    + parameters("f32[1,3]", "x", "y")
    + "a = f32[3] reshape(x)\nb = f32[3] reshape(y)\nROOT r = (f32[3], f32[3]) tuple(a, b)",
)
def variadic_reduce_of_single_elements(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction | Reason:
    """Rewrite a reduce of several arrays over dimensions of one, from identities, as reshapes."""
    half = len(instruction.operands) // 2
    for name, start in zip(
        component_reducers(instruction.called[0], half), instruction.operands[half:], strict=True
    ):
        reason = identity_of(name, start)
        if reason is not None:
            return reason
    arrays, shapes = instruction.operands[:half], instruction.shape.tuple_shapes
    return computation.add(
        "tuple",
        instruction.shape,
        [reshape(computation, x, shape) for x, shape in zip(arrays, shapes, strict=True)],
    )


def is_a_tuple_of_one(i: HloInstruction) -> bool:
    """Return True for one array if the results of reduce and reducer are tuples."""
    return (
        i.shape.is_tuple
        and len(i.operands) == 2
        and i.called[0].root is not None
        and i.called[0].root.opcode.name == "tuple"
    )


def _without_tuple(reducer: HloComputation) -> HloComputation:
    """Return a copy of the reducer that returns the single element of its tuple."""
    plain = reducer.clone()
    whole = plain.root
    plain.root = whole.operands[0]
    plain.remove(whole)
    return placed_first(plain)


@rule(
    reduce().that(is_a_tuple_of_one),
    # Our plain sum of narrow floats is rounded once, a sum with a combiner of a tuple at each step.
    exactness=Exactness.REAL,
    before="sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  s = f32[] add(a, b)\n  ROOT t = (f32[]) tuple(s)\n}\n---\n"
    + parameters("f32[4,3]", "x")
    + _ZERO
    + "ROOT r = (f32[3]) reduce(x, zero), dimensions={0}, to_apply=sum",
    after="sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n---\n"
    + parameters("f32[4,3]", "x")
    + _ZERO
    + "s = f32[3] reduce(x, zero), dimensions={0}, to_apply=sum\nROOT r = (f32[3]) tuple(s)",
)
def reduce_of_tuple_of_one(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a reduce to a tuple of one array as a plain reduce in a tuple."""
    return _plain_in_tuple(computation, instruction)


@rule(
    reduce_window().that(is_a_tuple_of_one),
    exactness=Exactness.BITWISE,
    before="sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  s = f32[] add(a, b)\n  ROOT t = (f32[]) tuple(s)\n}\n---\n"
    + parameters("f32[4]", "x")
    + _ZERO
    + "ROOT r = (f32[3]) reduce-window(x, zero), window={size=2}, to_apply=sum",
    after="sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n---\n"
    + parameters("f32[4]", "x")
    + _ZERO
    + "s = f32[3] reduce-window(x, zero), window={size=2}, to_apply=sum\nROOT r = (f32[3]) tuple(s)",
)
def reduce_window_of_tuple_of_one(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a reduce-window to a tuple of one array as a plain one in a tuple."""
    return _plain_in_tuple(computation, instruction)


def _plain_in_tuple(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    plain = computation.add(
        instruction.opcode,
        instruction.shape.tuple_shapes[0],
        instruction.operands,
        instruction.attributes,
        called=(_without_tuple(instruction.called[0]),),
    )
    return computation.add("tuple", instruction.shape, (plain,))
