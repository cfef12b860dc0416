"""Scalar constants inside the fusions that read them.

Source: xla/hlo/transforms/simplifiers/fusion_constant_sinking.cc.

============================================  ================================================
handled by XLA                                here
============================================  ================================================
constants and broadcasts of rank 0 that loop  the same
or output fusions read
parameters that nested fusions alone read     the constant moves into the innermost fusion
parameters read by something else than        custom fusions: moved; others: unchanged unless
nested fusions or indices                     an index operand reads them
============================================  ================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_fusion_parameters
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_SLICES = frozenset(["dynamic-slice", "dynamic-update-slice"])


def may_sink(constant: HloInstruction, fusion: HloInstruction) -> bool:
    """Return True for a scalar constant that may be inside the fusion."""
    return constant.opcode.name == "constant" and constant.shape.is_scalar and fusion.called != ()


def worth_sinking(parameter: HloInstruction, *, custom: bool) -> bool:
    """Return True if nested fusions or slices profit from a constant instead of the parameter."""
    for user in parameter.users:
        if user.opcode.name == "fusion":
            inner = user.called[0].parameters()
            inside = user.attributes.get("kind") == "kCustom"
            if any(
                worth_sinking(inner[k], custom=inside or custom)
                for k, o in enumerate(user.operands)
                if o is parameter
            ):
                return True
        elif custom or user.opcode.name in _SLICES:
            return True
    return False


@register_pass()
@dataclasses.dataclass(frozen=True)
class FusionConstantSinking:
    """Replace parameters of fusions by the scalar constants that are passed for them."""

    name: ClassVar[str] = "fusion_constant_sinking"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit fusions, callers first, so that constants reach nested fusions."""
        changed = False
        for computation in reversed(module.post_order_computations()):
            for fusion in list(computation.post_order()):
                if fusion.opcode.name == "fusion":
                    changed |= self._sink(fusion, context)
        return changed

    def _sink(self, fusion: HloInstruction, context: PassContext) -> bool:
        body, computation = fusion.called[0], fusion.parent
        custom = fusion.attributes.get("kind") == "kCustom"
        nested = fusion.parent in fusion.parent.module.fusion_computations()
        taken: list[HloInstruction] = []
        for parameter, given in zip(body.parameters(), fusion.operands, strict=True):
            if (
                may_sink(given, fusion)
                and parameter.users
                and (nested or worth_sinking(parameter, custom=custom))
                and context.decide(self.name, (), (), given, fusion) is None
            ):
                _replace(body, parameter, given, context, self.name)
                taken.append(given)
        if taken:
            remove_dead_fusion_parameters(computation)
            for given in dict.fromkeys(taken):
                remove_if_dead(computation, given)
        return bool(taken)


def _replace(
    body: HloComputation,
    parameter: HloInstruction,
    given: HloInstruction,
    context: PassContext,
    rule: str,
) -> None:
    made = body.add("constant", given.shape, payload=given.payload, metadata=given.metadata)
    context.rewrote(rule, given, made, (made.id,))
    body.replace(parameter, made)
