"""Calls for small loops, so that one kernel runs the whole loop.

Source: xla/service/cpu/small_while_loop_hoisting_pass.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first, substitute
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_NOT_INSIDE = frozenset(
    [
        "all-gather",
        "all-reduce",
        "all-to-all",
        "collective-permute",
        "reduce-scatter",
        "partition-id",
        "replica-id",
        "custom-call",
        "infeed",
        "outfeed",
        "fft",
        "sort",
        "topk",
        "scatter",
        "send",
        "recv",
        "rng-get-and-update-state",
    ]
)


def _step_bytes(loop: HloInstruction) -> float:
    return sum([instruction_cost(i).bytes_accessed for i in loop.called[1].instructions.values()])


def small(limit: int) -> Predicate:
    """Return the check that an iteration reads and writes few bytes.

    A slice counts the bytes of its result, not of its operand.
    """

    @value_formatter(lambda loop: at_most("bytes of a step", _step_bytes(loop), limit))
    def buffers_within_limit(loop: HloInstruction) -> Reason | None:
        size = _step_bytes(loop)
        if size < limit:
            return None
        return refuse(
            "loop-too-large",
            f"an iteration of %{loop.name} moves {size:.0f} bytes, limit {limit}",
            bytes=size,
        )

    return buffers_within_limit


@value_formatter(
    lambda loop: f"instructions inside {sum([len(c.instructions) for c in loop.called])}"
)
def compilable_in_place(loop: HloInstruction) -> Reason | None:
    """Require operations that one kernel supports."""
    stack, seen = list(loop.called), set(loop.called)
    while stack:
        for i in stack.pop().instructions.values():
            if i.opcode.name in _NOT_INSIDE or i.opcode.side_effect or i.opcode.asynchronous:
                return refuse(
                    "not-in-a-kernel", f"%{i.name} is a {i.opcode.name}", opcode=i.opcode.name
                )
            fresh = [c for c in i.called if c not in seen]
            seen.update(fresh)
            stack.extend(fresh)
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class SmallWhileLoopHoisting:
    """Wrap a small while in a computation whose call is marked xla_cpu_small_call.

    small_buffer_access_size: bytes per iteration below which the loop is small.
    """

    name: ClassVar[str] = "small-while-loop-hoisting"
    small_buffer_access_size: int = 1024

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop that is not wrapped already."""
        changed = False
        for computation in module.post_order_computations():
            for loop in [i for i in computation.post_order() if i.opcode.name == "while"]:
                if _is_marked(computation):
                    continue
                if (
                    context.decide(
                        self.name,
                        (compilable_in_place,),
                        (small(self.small_buffer_access_size),),
                        loop,
                    )
                    is not None
                ):
                    continue
                outlined = module.add_computation(f"{loop.name}_computation")
                given = outlined.add_parameter(0, loop.operands[0].shape, loop.operands[0].name)
                outlined.set_root(
                    outlined.add(
                        "while",
                        loop.shape,
                        (given,),
                        loop.attributes,
                        called=loop.called,
                        name=loop.name,
                        metadata=loop.metadata,
                    )
                )
                call = computation.add(
                    "call",
                    loop.shape,
                    loop.operands,
                    attributes_of({"frontend_attributes": '{xla_cpu_small_call="true"}'}),
                    called=(outlined,),
                    metadata=loop.metadata,
                )
                substitute(loop, call)
                changed = True
        if changed:
            order_callees_first(module)
        return changed


def _is_marked(computation: HloComputation) -> bool:
    module = computation.module
    return any(
        computation in i.called
        and "xla_cpu_small_call" in i.attributes.get("frontend_attributes", "")
        for i in module.instructions()
    )
