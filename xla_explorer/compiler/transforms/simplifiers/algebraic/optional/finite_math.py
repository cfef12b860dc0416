"""Rules for floats that are neither infinite nor NaN, as integers have them.

The option `finite_math` of `algsimp` enables them (XLA: enable_fast_math). Source:
algebraic_simplifier.cc, HandleAdd, HandleSubtract, HandleMultiply.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import inexact_type
from xla_explorer.compiler.rewriting.operators import add, multiply, subtract
from xla_explorer.compiler.rewriting.patterns import any_, scalar
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_X = parameters("f32[4]", "x")
_XY = parameters("f32[4]", "x", "y")
_Y = _XY.replace("y =", "ROOT y =")


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


@rule(
    multiply(any_(), scalar(0, "zero")),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_X + filled("zero", "f32[4]", 0) + "ROOT r = f32[4] multiply(x, zero)",
    after=_X + filled("zero", "f32[4]", 0).replace("zero =", "ROOT zero ="),
)
def multiply_float_by_zero(zero: HloInstruction) -> HloInstruction:
    """Rewrite x * 0 as 0, for finite floats; a negative x gives +0."""
    return zero
