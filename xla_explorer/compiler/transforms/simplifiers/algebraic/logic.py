"""Rules on and, or, xor, not, maximum, minimum and clamp.

Source: algebraic_simplifier.cc, HandleAnd, HandleOr, HandleXor, HandleNot, HandleMaximum,
HandleMinimum, HandleClamp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import boolean, real_type
from xla_explorer.compiler.rewriting.operators import and_, clamp, maximum, minimum, not_, or_, xor
from xla_explorer.compiler.rewriting.patterns import any_, operator, scalar, splat, uniform_value
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.identity_element import highest_value, lowest_value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

_P = parameters("pred[4]", "x")
_N = parameters("s32[4]", "x")
_F = parameters("f32[4]", "x")
_FG = parameters("f32[4]", "x", "y")
_FALSE = filled("k", "pred[4]", "false")
_TRUE = filled("k", "pred[4]", "true")
_ZERO = filled("k", "s32[4]", 0)
_extremum = operator("maximum", "minimum")
_constant_or_broadcast = operator("constant", "broadcast")


@rule(
    and_(any_("x"), scalar(1)),
    exactness=Exactness.BITWISE,
    when=(boolean,),
    before=_P + _TRUE + "ROOT r = pred[4] and(x, k)",
    after=_P.replace("x =", "ROOT x ="),
)
def and_true(x: HloInstruction) -> HloInstruction:
    """Rewrite x and true as x."""
    return x


@rule(
    and_(any_(), scalar(0, "zero")),
    exactness=Exactness.BITWISE,
    before=_N + _ZERO + "ROOT r = s32[4] and(x, k)",
    after=_N + _ZERO.replace("k = s32[4] b", "ROOT k = s32[4] b"),
)
def and_zero(zero: HloInstruction) -> HloInstruction:
    """Rewrite x and 0 as 0."""
    return zero


@rule(
    or_(any_(), scalar(1, "true")),
    exactness=Exactness.BITWISE,
    when=(boolean,),
    before=_P + _TRUE + "ROOT r = pred[4] or(x, k)",
    after=_P + _TRUE.replace("k = pred[4] b", "ROOT k = pred[4] b"),
)
def or_true(true: HloInstruction) -> HloInstruction:
    """Rewrite x or true as true."""
    return true


@rule(
    or_(any_("x"), scalar(0)),
    exactness=Exactness.BITWISE,
    before=_N + _ZERO + "ROOT r = s32[4] or(x, k)",
    after=_N.replace("x =", "ROOT x ="),
)
def or_zero(x: HloInstruction) -> HloInstruction:
    """Rewrite x or 0 as x."""
    return x


@rule(
    xor(any_("x"), any_("x")),
    exactness=Exactness.BITWISE,
    before=_N + "ROOT r = s32[4] xor(x, x)",
    after=_N + _ZERO.replace("k = s32[4] b", "ROOT k = s32[4] b"),
)
def xor_self(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite x xor x as 0."""
    return splat_constant(computation, instruction.shape, 0)


@rule(
    xor(any_("x"), scalar(0)),
    exactness=Exactness.BITWISE,
    before=_N + _ZERO + "ROOT r = s32[4] xor(x, k)",
    after=_N.replace("x =", "ROOT x ="),
)
def xor_zero(x: HloInstruction) -> HloInstruction:
    """Rewrite x xor 0 as x."""
    return x


@rule(
    not_(not_(any_("x"))),
    exactness=Exactness.BITWISE,
    before=_P + "n = pred[4] not(x)\nROOT r = pred[4] not(n)",
    after=_P.replace("x =", "ROOT x ="),
)
def not_not(x: HloInstruction) -> HloInstruction:
    """Rewrite not(not(x)) as x."""
    return x


@rule(
    _extremum(any_("x"), any_("x")),
    exactness=Exactness.BITWISE,
    before=_F + "ROOT r = f32[4] maximum(x, x)",
    after=_F.replace("x =", "ROOT x ="),
)
def extremum_of_self(x: HloInstruction) -> HloInstruction:
    """Rewrite max(x, x) and min(x, x) as x."""
    return x


def is_the_lowest(i: HloInstruction) -> bool:
    """Return True if every element is the smallest value of its type."""
    return _is_limit(i, lowest_value)


def is_the_highest(i: HloInstruction) -> bool:
    """Return True if every element is the largest value of its type."""
    return _is_limit(i, highest_value)


def _is_limit(i: HloInstruction, limit: Callable[[PrimitiveType], Any]) -> bool:
    if i.opcode.name not in ("constant", "broadcast") or i.shape.element_type.is_complex:
        return False
    value = uniform_value(i)
    return value is not None and bool(value == limit(i.shape.element_type))


@rule(
    maximum(any_("x"), _constant_or_broadcast().that(is_the_lowest)),
    exactness=Exactness.BITWISE,
    before=_F + filled("c", "f32[4]", "-inf") + "ROOT r = f32[4] maximum(x, c)",
    after=_F.replace("x =", "ROOT x ="),
)
def maximum_with_lowest(x: HloInstruction) -> HloInstruction:
    """Rewrite max(x, smallest value of the type) as x; for floats it is -inf, and NaN stays."""
    return x


@rule(
    minimum(any_("x"), _constant_or_broadcast().that(is_the_highest)),
    exactness=Exactness.BITWISE,
    before=_F + filled("c", "f32[4]", "inf") + "ROOT r = f32[4] minimum(x, c)",
    after=_F.replace("x =", "ROOT x ="),
)
def minimum_with_highest(x: HloInstruction) -> HloInstruction:
    """Rewrite min(x, largest value of the type) as x; for floats it is inf, and NaN stays."""
    return x


def _absorbed(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    y: HloInstruction,
) -> HloInstruction:
    if instruction.operands[0] is y and inner.operands[1] is y:
        return computation.add(instruction.opcode, instruction.shape, (y, inner.operands[0]))
    return inner


@rule(
    maximum(maximum(any_("x"), any_("y"), name="inner"), any_("y")),
    exactness=Exactness.NUMERIC,
    before=_FG + "m = f32[4] maximum(x, y)\nROOT r = f32[4] maximum(m, y)",
    after=_FG + "ROOT m = f32[4] maximum(x, y)",
)
def maximum_absorbs(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    y: HloInstruction,
) -> HloInstruction:
    """Rewrite max(max(x, y), y) as max(x, y), and max(y, max(x, y)) as max(y, x)."""
    return _absorbed(computation, instruction, inner, y)


@rule(
    minimum(minimum(any_("x"), any_("y"), name="inner"), any_("y")),
    exactness=Exactness.NUMERIC,
    before=_FG + "m = f32[4] minimum(x, y)\nROOT r = f32[4] minimum(m, y)",
    after=_FG + "ROOT m = f32[4] minimum(x, y)",
)
def minimum_absorbs(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    y: HloInstruction,
) -> HloInstruction:
    """Rewrite min(min(x, y), y) as min(x, y), and min(y, min(x, y)) as min(y, x)."""
    return _absorbed(computation, instruction, inner, y)


def are_in_order(low: HloInstruction, high: HloInstruction) -> Reason | None:
    """Require a lower bound below the upper one."""
    a, b = uniform_value(low), uniform_value(high)
    return (
        None
        if not isinstance(a, complex) and a < b
        else refuse("bounds-cross", f"{a} is not below {b}", low=a, high=b)
    )


@rule(
    maximum(splat("low"), minimum(any_("x"), splat("high"))),
    exactness=Exactness.NUMERIC,
    when=(real_type, are_in_order),
    before=_F
    + filled("lo", "f32[4]", 1)
    + filled("hi", "f32[4]", 2)
    + "m = f32[4] minimum(x, hi)\nROOT r = f32[4] maximum(lo, m)",
    after=_F
    + filled("lo", "f32[4]", 1)
    + filled("hi", "f32[4]", 2)
    + "ROOT r = f32[4] clamp(lo, x, hi)",
)
def clamp_from_maximum(
    computation: HloComputation,
    instruction: HloInstruction,
    low: HloInstruction,
    x: HloInstruction,
    high: HloInstruction,
) -> HloInstruction:
    """Rewrite max(L, min(x, U)) as clamp(L, x, U) if L < U."""
    return computation.add("clamp", instruction.shape, (low, x, high))


@rule(
    minimum(splat("high"), maximum(any_("x"), splat("low"))),
    exactness=Exactness.NUMERIC,
    when=(real_type, are_in_order),
    before=_F
    + filled("lo", "f32[4]", 1)
    + filled("hi", "f32[4]", 2)
    + "m = f32[4] maximum(x, lo)\nROOT r = f32[4] minimum(hi, m)",
    after=_F
    + filled("lo", "f32[4]", 1)
    + filled("hi", "f32[4]", 2)
    + "ROOT r = f32[4] clamp(lo, x, hi)",
)
def clamp_from_minimum(
    computation: HloComputation,
    instruction: HloInstruction,
    low: HloInstruction,
    x: HloInstruction,
    high: HloInstruction,
) -> HloInstruction:
    """Rewrite min(U, max(x, L)) as clamp(L, x, U) if L < U."""
    return computation.add("clamp", instruction.shape, (low, x, high))


@rule(
    maximum(splat("low"), clamp(splat("low"), any_(), splat("high"), name="inner")),
    exactness=Exactness.NUMERIC,
    when=(real_type, are_in_order),
    before=_F
    + filled("lo", "f32[4]", 1)
    + filled("hi", "f32[4]", 2)
    + "c = f32[4] clamp(lo, x, hi)\nROOT r = f32[4] maximum(lo, c)",
    after=_F
    + filled("lo", "f32[4]", 1)
    + filled("hi", "f32[4]", 2)
    + "ROOT c = f32[4] clamp(lo, x, hi)",
)
def maximum_of_clamp(inner: HloInstruction) -> HloInstruction:
    """Rewrite max(L, clamp(L, x, U)) as clamp(L, x, U) if L < U."""
    return inner


@rule(
    clamp(any_("low"), clamp(any_("low"), any_(), any_("high"), name="inner"), any_("high")),
    exactness=Exactness.NUMERIC,
    before=_F + "lo = f32[4] parameter(1)\nhi = f32[4] parameter(2)\nc = f32[4] clamp(lo, x, hi)\n"
    "ROOT r = f32[4] clamp(lo, c, hi)",
    after=_F
    + "lo = f32[4] parameter(1)\nhi = f32[4] parameter(2)\nROOT c = f32[4] clamp(lo, x, hi)",
)
def clamp_twice(inner: HloInstruction) -> HloInstruction:
    """Rewrite clamp(L, clamp(L, x, U), U) as clamp(L, x, U)."""
    return inner


def apply_one_function(i: HloInstruction) -> bool:
    """Return True if both operands apply the same increasing function and have no other reader."""
    a, b = i.operands
    return (
        a is not b
        and not i.shape.element_type.is_complex  # their order is not that of the function's values
        and a.opcode is b.opcode
        and len(a.users) == 1
        and len(b.users) == 1
        and a.operands[0].shape is b.operands[0].shape
    )


_monotonic = operator("cbrt", "erf", "logistic", "tanh")


@rule(
    _extremum(_monotonic(any_("x")), _monotonic(any_("y"))).that(apply_one_function),
    exactness=Exactness.approximate(1),
    before=_FG + "a = f32[4] tanh(x)\nb = f32[4] tanh(y)\nROOT r = f32[4] maximum(a, b)",
    after=_FG + "m = f32[4] maximum(x, y)\nROOT r = f32[4] tanh(m)",
)
def extremum_inside(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite max(f(x), f(y)) as f(max(x, y)) for increasing f (tanh, erf ...); min likewise."""
    function = instruction.operands[0]
    return computation.add(
        function.opcode,
        instruction.shape,
        (computation.add(instruction.opcode, x.shape, (x, y)),),
        function.attributes,
    )
