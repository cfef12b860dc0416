"""Rules on negate and abs. Source: algebraic_simplifier.cc, HandleNegate, HandleAbs."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters
from xla_explorer.compiler.rewriting.guards import negatable, real_type
from xla_explorer.compiler.rewriting.operators import abs_, negate
from xla_explorer.compiler.rewriting.patterns import any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import is_non_negative
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
