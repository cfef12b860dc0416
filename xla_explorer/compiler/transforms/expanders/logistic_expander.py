"""logistic(x) as 1 / (1 + exp(-x)). Source: xla/hlo/transforms/expanders/logistic_expander.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.rewriting.driver import rewrite_computation
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.operators import logistic
from xla_explorer.compiler.rewriting.patterns import any_
from xla_explorer.compiler.rewriting.rule import RuleSet, rule
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import F32, PrimitiveType


@rule(
    logistic(any_("x")),
    # exp(-x) overflows if the result is below the normal numbers of f32 and f64
    exactness=Exactness.REAL,
    before=parameters("f32[4]", "x") + "ROOT r = f32[4] logistic(x)",
    after=parameters("f32[4]", "x")
    + filled("one", "f32[4]", 1)
    + "n = f32[4] negate(x)\ne = f32[4] exponential(n)\ns = f32[4] add(one, e)\nROOT r = f32[4] divide(one, s)",
)
def expand_logistic(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite logistic(x) as 1 / (1 + exp(-x)), in f32 and rounded once for narrower floats."""
    own = instruction.shape
    wide = _computed_in(own.element_type)
    shape = own if wide is own.element_type else own.with_element_type(wide)
    if shape is not own:
        x = computation.add("convert", shape, (x,))
    one = splat_constant(computation, shape, 1)
    exponential = computation.add("exponential", shape, (computation.add("negate", shape, (x,)),))
    result = computation.add(
        "divide", shape, (one, computation.add("add", shape, (one, exponential)))
    )
    return result if shape is own else computation.add("convert", own, (result,))


def _computed_in(element_type: PrimitiveType) -> PrimitiveType:
    """Return f32 for floats of 16 bits and fewer, else the type itself.

    exp(-x) leaves the range of f16 at a result of 1e-5, and has few digits in bf16.
    """
    return F32 if element_type.is_float and element_type.bits <= 16 else element_type


EXPANDING_RULES = RuleSet("logistic-expander", [expand_logistic])


@register_pass()
@dataclasses.dataclass(frozen=True)
class LogisticExpander:
    """Replace logistic by an expression of exp and divide."""

    name: ClassVar[str] = "logistic-expander"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Expand in every computation."""
        return (
            sum(
                [
                    rewrite_computation(c, EXPANDING_RULES, context)
                    for c in list(module.computations.values())
                ]
            )
            > 0
        )
