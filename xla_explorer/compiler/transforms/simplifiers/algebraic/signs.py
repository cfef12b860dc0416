"""Rules on negate and abs, and on odd functions of a negation.

Source: algebraic_simplifier.cc, HandleNegate, HandleAbs. XLA has no rule on odd functions. By them,
f(-x) and f(x) are computed once: a normal distribution of d and of -d costs one erf.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters
from xla_explorer.compiler.rewriting.guards import negatable, real_type
from xla_explorer.compiler.rewriting.operators import abs_, multiply, negate
from xla_explorer.compiler.rewriting.patterns import any_, one_of
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import is_non_negative
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_X = parameters("f32[4]", "x")
_N = parameters("s32[4]", "x")


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
_X = parameters("f32[4]", "x")
_XY = parameters("f32[4]", "x", "y")


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
