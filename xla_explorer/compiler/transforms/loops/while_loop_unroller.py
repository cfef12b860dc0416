"""Full unrolling of loops with few iterations. Source: xla/service/while_loop_unroller.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.inlining.call_inliner import inline_call
from xla_explorer.compiler.transforms.loops.induction import find_induction
from xla_explorer.compiler.transforms.loops.while_loop_simplifier import has_no_control_edges
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_unreachable_computations
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape


def _steps(loop: HloInstruction, limit: int) -> str:
    found = find_induction(loop)
    return (
        f"trip count unknown, limit {limit}"
        if isinstance(found, Reason)
        else at_most("trip count", found.trip_count, limit)
    )


def few_steps(limit: int) -> Predicate:
    """Return the check that the trip count is known and small."""

    @value_formatter(lambda loop: _steps(loop, limit))
    def trip_count_within_limit(loop: HloInstruction) -> Reason | None:
        found = find_induction(loop)
        if isinstance(found, Reason):
            return found
        if found.trip_count > limit:
            return refuse(
                "too-many-iterations",
                f"%{loop.name} has {found.trip_count} iterations, limit {limit}",
                trip_count=found.trip_count,
            )
        return None

    return trip_count_within_limit


def body_small(limit: int) -> Predicate:
    """Return the check that the body is small enough to repeat."""

    @value_formatter(lambda loop: at_most("instructions", len(loop.called[1].instructions), limit))
    def body_within_limit(loop: HloInstruction) -> Reason | None:
        count = len(loop.called[1].instructions)
        return (
            refuse(
                "body-too-large",
                f"the body of %{loop.name} has {count} instructions",
                instructions=count,
            )
            if count > limit
            else None
        )

    return body_within_limit


@register_pass("while-loop-unroller")
@dataclasses.dataclass(frozen=True)
class WhileLoopUnroller:
    """Unroll a loop of known trip count completely.

    trip_count_limit: largest number of iterations. instruction_limit: of the body.
    """

    name: ClassVar[str] = "while_loop_unroller"
    trip_count_limit: int = 64
    instruction_limit: int = 800

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop, inner ones first."""
        changed = False
        for computation in module.post_order_computations():
            for loop in [i for i in computation.post_order() if i.opcode.name == "while"]:
                legality = (has_no_control_edges, few_steps(self.trip_count_limit))
                if (
                    context.decide(self.name, legality, (body_small(self.instruction_limit),), loop)
                    is not None
                ):
                    continue
                found = find_induction(loop)
                if isinstance(found, Reason):
                    continue
                state = loop.operands[0]
                for _ in range(found.trip_count):
                    call = computation.add(
                        "call",
                        loop.shape,
                        (state,),
                        called=(loop.called[1],),
                        metadata=loop.metadata,
                    )
                    holder = computation.add("tuple", tuple_shape([loop.shape]), (call,))
                    inline_call(call)
                    state = holder.operands[0]
                    computation.remove(holder)
                substitute(loop, state)
                changed = True
        if changed:
            remove_unreachable_computations(module)
        return changed
