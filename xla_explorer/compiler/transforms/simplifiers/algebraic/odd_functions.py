"""Negation moves out of odd functions: f(-x) = -f(x). XLA has no such rule.

f(x) and f(-x) are computed once: a normal distribution of d and of -d (option prices) costs one
erf, not two.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters
from xla_explorer.compiler.rewriting.guards import negatable, real_type
from xla_explorer.compiler.rewriting.operators import multiply, negate
from xla_explorer.compiler.rewriting.patterns import any_, one_of
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

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
