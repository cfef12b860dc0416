"""Rules on reduces of several arrays, those that compute argmin or argmax among them.

Source: algebraic_simplifier.cc, HandleReduce, and MatchArgMax in match_utils.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.rewriting.construction import broadcast_scalar, reshape, scalar_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import reduce, reduce_window
from xla_explorer.compiler.rewriting.patterns import any_, splat, uniform_value
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import (
    as_integer,
    component_reducers,
    identity_of,
    placed_first,
    plain_reducer,
    same_value,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.reductions import is_not_variadic
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

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


_EXTREMUM = {"GT": "maximum", "LT": "minimum"}
_ARGMAX = """place {
  a = f32[] parameter(0)
  b = f32[] parameter(2)
  above = pred[] compare(a, b), direction=GT
  odd = pred[] compare(a, a), direction=NE
  first = pred[] or(above, odd)
  value = f32[] select(first, a, b)
  equal = pred[] compare(a, b), direction=EQ
  i = s32[] parameter(1)
  j = s32[] parameter(3)
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, before)
  left = pred[] or(first, tie)
  number = s32[] select(left, i, j)
  ROOT pair = (f32[], s32[]) tuple(value, number)
}
---
"""
_MOST = "most {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT m = f32[] maximum(p, q)\n}\n---\n"


def _compares(i: HloInstruction, direction: str, left: int, right: int) -> bool:
    """Return True if i compares two parameters of the reducer, with -0 equal to 0."""
    return (
        i.opcode.name == "compare"
        and i.attributes["direction"] == direction
        and i.attributes.get("type") != "TOTALORDER"
        and [o.opcode.name for o in i.operands] == ["parameter", "parameter"]
        and [int(o.payload) for o in i.operands] == [left, right]
    )


def _either(i: HloInstruction, name: str) -> tuple[tuple[HloInstruction, HloInstruction], ...]:
    """Return both orders of the operands if i has the opcode, else nothing."""
    return (
        ((i.operands[0], i.operands[1]), (i.operands[1], i.operands[0]))
        if i.opcode.name == name
        else ()
    )


def _chosen(i: HloInstruction, left: int, right: int) -> HloInstruction | None:
    """Return the predicate of a select between two parameters, or None."""
    if i.opcode.name == "select" and [o.opcode.name for o in i.operands[1:]] == [
        "parameter",
        "parameter",
    ]:
        return i.operands[0] if [int(o.payload) for o in i.operands[1:]] == [left, right] else None
    return None


def argmax_reducer_kind(reducer: HloComputation) -> str | None:
    """Return "maximum" or "minimum" for a reducer that computes argmax or argmin, else None.

    The reducer has (value, index) twice. It keeps the greater (smaller) value, NaN above all, and
    of equal ones the lower index.
    """
    root = reducer.root
    if root.opcode.name != "tuple" or len(root.operands) != 2:
        return None
    first, left = _chosen(root.operands[0], 0, 2), _chosen(root.operands[1], 1, 3)
    if first is None or left is None:
        return None
    direction = next(
        (
            d
            for d in _EXTREMUM
            for ordered, odd in _either(first, "or")
            if _compares(ordered, d, 0, 2) and _compares(odd, "NE", 0, 0)
        ),
        None,
    )
    if direction is None:
        return None
    for greater, tie in _either(left, "or"):
        if greater is first and any(
            _compares(a, "EQ", 0, 2) and _compares(b, "LT", 1, 3) for a, b in _either(tie, "and")
        ):
            return _EXTREMUM[direction]
    return None


def is_argmax(i: HloInstruction) -> bool:
    """Return True for a reduce of values and their indices."""
    return (
        len(i.operands) == 4 and i.shape.is_tuple and argmax_reducer_kind(i.called[0]) is not None
    )


def is_argmax_of_constant(i: HloInstruction) -> bool:
    """Return True for an argmin or argmax of a constant whose first index is the result.

    One value everywhere, indices counted from zero along the one reduced dimension, and an initial
    value that does not exceed the constant.
    """
    value, index, start, first = i.operands if len(i.operands) == 4 else (None, None, None, None)
    if value is None or index is None or start is None or first is None or not is_argmax(i):
        return False
    number, least = uniform_value(value), uniform_value(start)
    if (
        index.opcode.name != "iota"
        or as_integer(first) != 0
        or number is None
        or least is None
        or not value.shape.element_count
    ):
        return False
    if any(isinstance(n, float) and math.isnan(n) for n in (number, least)):
        return False
    within = least <= number if argmax_reducer_kind(i.called[0]) == "maximum" else least >= number
    along = index.attributes["iota_dimension"]
    return (
        within
        and tuple(i.attributes["dimensions"]) == (along,)
        and holds_index(index.shape.element_type, index.shape.dimensions[along])
    )


def holds_index(kind: PrimitiveType, size: int) -> bool:
    """Return True if `size` numbers from zero stay in order: integers wrap, floats saturate."""
    return not kind.is_integer or size <= 1 << (kind.bits - kind.is_signed)


@rule(
    reduce(splat("value"), any_(), any_(), any_()).that(is_argmax_of_constant),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_ARGMAX
    + "c = f32[] constant(42)\nx = f32[2,3] broadcast(c), dimensions={}\nn = s32[2,3] iota(), iota_dimension=1\n"
    "low = f32[] constant(-inf)\nzero = s32[] constant(0)\n"
    "ROOT r = (f32[2], s32[2]) reduce(x, n, low, zero), dimensions={1}, to_apply=place",
    after="c = f32[] constant(42)\nzero = s32[] constant(0)\nx = f32[2] broadcast(c), dimensions={}\n"
    "n = s32[2] broadcast(zero), dimensions={}\nROOT r = (f32[2], s32[2]) tuple(x, n)",
)
def extremum_of_constant(
    computation: HloComputation, instruction: HloInstruction, value: HloInstruction
) -> HloInstruction:
    """Rewrite argmin or argmax of one repeated value as this value and the first index."""
    shapes = instruction.shape.tuple_shapes
    found = scalar_constant(computation, shapes[0], uniform_value(value))
    zero = scalar_constant(computation, shapes[1], 0)
    parts = [
        broadcast_scalar(computation, p, s) if s.rank else p
        for p, s in zip((found, zero), shapes, strict=True)
    ]
    return computation.add("tuple", instruction.shape, parts)


_USERS_LOOKED_AT = 64


_GIVEN = ("constant", "iota", "parameter")


def _is_given(indices: HloInstruction) -> bool:
    """Return True for indices that depend on nothing computed."""
    while indices.opcode.name in ("broadcast", "convert", "reshape"):
        indices = indices.operands[0]
    return indices.opcode.name in _GIVEN


def _argmax_of_same_array(i: HloInstruction) -> HloInstruction | None:
    """Return an argmin or argmax reduce of the same array and extremum, or None.

    Only few readers of the array are searched.
    """
    x, start = i.operands
    for other in x.users if len(x.users) <= _USERS_LOOKED_AT else ():
        if (
            other.opcode is i.opcode
            and other is not i
            and is_argmax(other)
            and other.operands[0] is x
            and _is_given(other.operands[1])
            and other.operands[3].opcode.name in _GIVEN
            and not other.control_predecessors
            and argmax_reducer_kind(other.called[0]) == plain_reducer(i.called[0])
            and same_value(other.operands[2], start)
            and other.attributes["dimensions"] == i.attributes["dimensions"]
            and other.shape.tuple_shapes[0] is i.shape
        ):
            return other
    return None


def has_argmax_of_same_array(i: HloInstruction) -> bool:
    """Return True if another reduce computes the same extremum, and its index."""
    return (
        is_not_variadic(i)
        and plain_reducer(i.called[0]) in ("maximum", "minimum")
        and _argmax_of_same_array(i) is not None
    )


@rule(
    reduce(any_("x"), any_("start")).that(has_argmax_of_same_array),
    exactness=Exactness.NUMERIC,
    when=(static,),
    before=_MOST
    + _ARGMAX
    + "x = f32[2,3] parameter(0)\nn = s32[2,3] iota(), iota_dimension=1\nlow = f32[] constant(-inf)\nzero = s32[] constant(0)\n"
    "both = (f32[2], s32[2]) reduce(x, n, low, zero), dimensions={1}, to_apply=place\n"
    "m = f32[2] reduce(x, low), dimensions={1}, to_apply=most\nROOT r = (f32[2], (f32[2], s32[2])) tuple(m, both)",
    after=_ARGMAX
    + "x = f32[2,3] parameter(0)\nn = s32[2,3] iota(), iota_dimension=1\nlow = f32[] constant(-inf)\nzero = s32[] constant(0)\n"
    "both = (f32[2], s32[2]) reduce(x, n, low, zero), dimensions={1}, to_apply=place\n"
    "m = f32[2] get-tuple-element(both), index=0\nROOT r = (f32[2], (f32[2], s32[2])) tuple(m, both)",
)
def extremum_of_argmax(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a maximum as the first element of an argmax of the same array; minimum likewise."""
    argmax = _argmax_of_same_array(instruction)
    assert argmax is not None
    return computation.add(
        "get-tuple-element", instruction.shape, (argmax,), attributes_of({"index": 0})
    )
