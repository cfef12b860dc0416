"""Rules on add and subtract, negate and abs, and on odd functions of a negation.

Source: algebraic_simplifier.cc, HandleAdd, HandleSubtract, HandleNegate, HandleAbs. XLA has no rule
on odd functions. By them, f(-x) and f(x) are computed once: a normal distribution of d and of -d
costs one erf.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.rewriting.construction import (
    broadcast_scalar,
    combine_constants,
    scalar_of,
    splat_constant,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import inexact_type, integral, negatable, real_type
from xla_explorer.compiler.rewriting.operators import abs_, add, multiply, negate, subtract
from xla_explorer.compiler.rewriting.patterns import any_, one_of, scalar, uniform_value, varying
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import fixed, is_non_negative
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import (
    sum_is_in_range,
    wraps_or_fast_math,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT

_X = parameters("f32[4]", "x")
_N = parameters("s32[4]", "x")
_NM = parameters("s32[4]", "x", "y")
_XY = parameters("f32[4]", "x", "y")
_Y = _XY.replace("y =", "ROOT y =")


@rule(
    add(any_("x"), scalar(0)),
    exactness=Exactness.NUMERIC,
    before=_X + filled("zero", "f32[4]", 0) + "ROOT r = f32[4] add(x, zero)",
    after=_X.replace("x =", "ROOT x ="),
)
def add_zero(x: HloInstruction) -> HloInstruction:
    """Rewrite x + 0 as x, even for -0, which the addition would make +0."""
    return x


def has_its_constant_first(i: HloInstruction) -> bool:
    """Return True if only the left operand is a constant."""
    return i.operands[0].opcode is CONSTANT and i.operands[1].opcode is not CONSTANT


@rule(
    add(name="sum").that(has_its_constant_first),
    exactness=Exactness.BITWISE,
    before="x = s32[2] parameter(0)\nc = s32[2] constant({1, 2})\nROOT r = s32[2] add(c, x)",
    after="x = s32[2] parameter(0)\nc = s32[2] constant({1, 2})\nROOT r = s32[2] add(x, c)",
)
def add_constant_last(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite C + x as x + C, so that later rules look for constants in one place."""
    left, right = instruction.operands
    return computation.add("add", instruction.shape, (right, left))


@rule(
    add(add(varying("x"), fixed("a")), fixed("b")),
    exactness=Exactness.REAL,
    within_range=(sum_is_in_range,),
    before=_X
    + filled("a", "f32[4]", 2)
    + filled("b", "f32[4]", 3)
    + "s = f32[4] add(x, a)\nROOT r = f32[4] add(s, b)",
    after=_X + "two = f32[] constant(2)\nthree = f32[] constant(3)\nk = f32[] add(two, three)\n"
    "c = f32[4] broadcast(k), dimensions={}\nROOT r = f32[4] add(x, c)",
)
def add_of_constants(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
) -> HloInstruction:
    """Rewrite (x + A) + B as x + (A + B), for constants A and B."""
    return computation.add(
        "add", instruction.shape, (x, combine_constants(computation, "add", a, b))
    )


@rule(
    add(subtract(fixed("a"), varying("x")), fixed("b")),
    exactness=Exactness.REAL,
    within_range=(sum_is_in_range,),
    before=_X
    + filled("a", "f32[4]", 2)
    + filled("b", "f32[4]", 3)
    + "d = f32[4] subtract(a, x)\nROOT r = f32[4] add(d, b)",
    after=_X + "two = f32[] constant(2)\nthree = f32[] constant(3)\nk = f32[] add(two, three)\n"
    "c = f32[4] broadcast(k), dimensions={}\nROOT r = f32[4] subtract(c, x)",
)
def add_to_difference_of_constant(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
) -> HloInstruction:
    """Rewrite (A - x) + B as (A + B) - x, for constants A and B."""
    return computation.add(
        "subtract", instruction.shape, (combine_constants(computation, "add", a, b), x)
    )


@rule(
    add(any_("x"), subtract(any_("y"), any_("x"))),
    exactness=Exactness.BITWISE,
    when=(integral,),
    before=_NM + "d = s32[4] subtract(y, x)\nROOT r = s32[4] add(x, d)",
    after=_NM.replace("y =", "ROOT y ="),
)
def add_difference(y: HloInstruction) -> HloInstruction:
    """Rewrite x + (y - x) as y, for integers."""
    return y


def scales_exactly(instruction: HloInstruction, c: HloInstruction) -> Reason | None:
    """Require integers, or a constant that is a power of two, so that the factor rounds nothing."""
    if integral(instruction) is None:
        return None
    value = uniform_value(c)
    if (
        isinstance(value, float)
        and value
        and math.isfinite(value)
        and abs(math.frexp(value)[0]) == 0.5
    ):
        return None
    return refuse(
        "rounds-differently",
        f"%{c.name} is not a power of two, so factoring it out rounds differently",
    )


@rule(
    add(multiply(any_("x"), any_("c")).one_use(), multiply(any_("y"), any_("c")).one_use()),
    exactness=Exactness.REAL,
    when=(scales_exactly,),
    within_range=(wraps_or_fast_math,),
    before=_NM
    + parameters("s32[4]", "c", start=2)
    + "a = s32[4] multiply(x, c)\nb = s32[4] multiply(y, c)\nROOT r = s32[4] add(a, b)",
    after=_NM
    + parameters("s32[4]", "c", start=2)
    + "s = s32[4] add(x, y)\nROOT r = s32[4] multiply(s, c)",
)
def factor_out(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    c: HloInstruction,
) -> HloInstruction:
    """Rewrite x*c + y*c as (x + y)*c, for integers, and with fast math for powers of two c."""
    return computation.add(
        "multiply", instruction.shape, (computation.add("add", instruction.shape, (x, y)), c)
    )


@rule(
    subtract(any_("x"), scalar(0)),
    exactness=Exactness.NUMERIC,
    before=_X + filled("zero", "f32[4]", 0) + "ROOT r = f32[4] subtract(x, zero)",
    after=_X.replace("x =", "ROOT x ="),
)
def subtract_zero(x: HloInstruction) -> HloInstruction:
    """Rewrite x - 0 as x."""
    return x


@rule(
    subtract(any_("x"), any_("x")),
    exactness=Exactness.BITWISE,
    when=(integral,),
    before=_N + "ROOT r = s32[4] subtract(x, x)",
    after=_N + filled("zero", "s32[4]", 0).replace("zero =", "ROOT zero ="),
)
def subtract_self(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite x - x as 0, for integers; a float may be infinite or NaN."""
    return splat_constant(computation, instruction.shape, 0)


@rule(
    subtract(varying("x"), fixed("c")),
    exactness=Exactness.BITWISE,
    when=(negatable,),
    before=_X + filled("c", "f32[4]", 3) + "ROOT r = f32[4] subtract(x, c)",
    after=_X
    + "three = f32[] constant(3)\nm = f32[] negate(three)\nc = f32[4] broadcast(m), dimensions={}\n"
    "ROOT r = f32[4] add(x, c)",
)
def subtract_constant(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite x - C as x + (-C)."""
    value = scalar_of(c)
    if value is None or not c.shape.rank:
        return computation.add(
            "add", instruction.shape, (x, computation.add("negate", c.shape, (c,)))
        )
    negated = broadcast_scalar(
        computation, computation.add("negate", value.shape, (value,)), c.shape
    )
    return computation.add("add", instruction.shape, (x, negated))


@rule(
    subtract(any_("x"), subtract(any_("x"), any_("y"))),
    exactness=Exactness.BITWISE,
    when=(integral,),
    before=_NM + "d = s32[4] subtract(x, y)\nROOT r = s32[4] subtract(x, d)",
    after=_NM.replace("y =", "ROOT y ="),
)
def subtract_difference(y: HloInstruction) -> HloInstruction:
    """Rewrite x - (x - y) as y, for integers."""
    return y


@rule(
    subtract(any_("x"), add(any_("x"), any_("y"))),
    exactness=Exactness.BITWISE,
    when=(integral,),
    before=_NM + "s = s32[4] add(x, y)\nROOT r = s32[4] subtract(x, s)",
    after=_NM + "ROOT r = s32[4] negate(y)",
)
def subtract_sum(
    computation: HloComputation, instruction: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite x - (x + y) as -y, for integers."""
    return computation.add("negate", instruction.shape, (y,))


@rule(
    subtract(add(any_("x"), any_("y")), any_("x")),
    exactness=Exactness.BITWISE,
    when=(integral,),
    before=_NM + "s = s32[4] add(x, y)\nROOT r = s32[4] subtract(s, x)",
    after=_NM.replace("y =", "ROOT y ="),
)
def sum_minus_term(y: HloInstruction) -> HloInstruction:
    """Rewrite (x + y) - x as y, for integers."""
    return y


@rule(
    add(any_("x"), subtract(any_("y"), any_("x"))),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_XY + "d = f32[4] subtract(y, x)\nROOT r = f32[4] add(x, d)",
    after=_Y,
)
def add_difference_of_floats(y: HloInstruction) -> HloInstruction:
    """Rewrite x + (y - x) as y, for finite floats."""
    return y


@rule(
    subtract(add(any_("x"), any_("y")), any_("x")),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_XY + "s = f32[4] add(x, y)\nROOT r = f32[4] subtract(s, x)",
    after=_Y,
)
def sum_minus_term_of_floats(y: HloInstruction) -> HloInstruction:
    """Rewrite (x + y) - x as y, for finite floats."""
    return y


@rule(
    subtract(any_("x"), any_("x")),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_X + "ROOT r = f32[4] subtract(x, x)",
    after=_X + filled("zero", "f32[4]", 0).replace("zero =", "ROOT zero ="),
)
def subtract_equal_floats(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite x - x as 0, for finite floats."""
    return splat_constant(computation, instruction.shape, 0)


def is_non_negative_operand(i: HloInstruction) -> bool:
    """Return True if the operand is non-negative."""
    return is_non_negative(i.operands[0])


@rule(
    negate(negate(any_("x"))),
    exactness=Exactness.BITWISE,
    when=(negatable,),
    before=_X + "n = f32[4] negate(x)\nROOT r = f32[4] negate(n)",
    after=_X.replace("x =", "ROOT x ="),
)
def negate_negate(x: HloInstruction) -> HloInstruction:
    """Rewrite -(-x) as x."""
    return x


@rule(
    abs_(any_("x")).that(is_non_negative_operand),
    exactness=Exactness.BITWISE,
    when=(real_type,),
    before=_X + "e = f32[4] exponential(x)\nROOT r = f32[4] abs(e)",
    after=_X + "ROOT e = f32[4] exponential(x)",
)
def abs_of_non_negative(x: HloInstruction) -> HloInstruction:
    """Rewrite |x| as x if x is non-negative."""
    return x


@rule(
    abs_(abs_(any_(), name="inner")),
    exactness=Exactness.BITWISE,
    before=_N + "a = s32[4] abs(x)\nROOT r = s32[4] abs(a)",
    after=_N + "ROOT a = s32[4] abs(x)",
)
def abs_of_abs(instruction: HloInstruction, inner: HloInstruction) -> HloInstruction | None:
    """Rewrite ||x|| as |x|, even for the smallest integer, whose negation is itself."""
    return inner if inner.shape is instruction.shape else None


odd_function = one_of("erf", "tanh", "sine", "tan")


def _of_positive(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    made = computation.add(instruction.opcode, instruction.shape, (x,), instruction.attributes)
    return computation.add("negate", instruction.shape, (made,))


@rule(
    odd_function(negate(any_("x"))),
    exactness=Exactness.BITWISE,
    when=(real_type, negatable),
    before=_X + "n = f32[4] negate(x)\nROOT r = f32[4] erf(n)",
    after=_X + "f = f32[4] erf(x)\nROOT r = f32[4] negate(f)",
)
def odd_function_of_negate(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite erf(-x) as -erf(x); tanh, sine and tan likewise."""
    return _of_positive(computation, instruction, x)


@rule(
    odd_function(multiply(negate(any_("x")), any_("y"))),
    exactness=Exactness.BITWISE,
    when=(real_type, negatable),
    before=_XY + "n = f32[4] negate(x)\nm = f32[4] multiply(n, y)\nROOT r = f32[4] tanh(m)",
    after=_XY + "m = f32[4] multiply(x, y)\nf = f32[4] tanh(m)\nROOT r = f32[4] negate(f)",
)
def odd_function_of_negated_product(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite erf(-x * y) as -erf(x * y); tanh, sine and tan likewise."""
    return _of_positive(
        computation, instruction, computation.add("multiply", instruction.shape, (x, y))
    )
