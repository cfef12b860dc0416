"""The loops that collective-pipeliner visits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.collectives.pipelining.stored_slices import (
    Search,
    StoredSlice,
    stored_slices,
)
from xla_explorer.compiler.transforms.loops.induction import InductionVariable, find_induction
from xla_explorer.compiler.transforms.loops.loop_state import (
    WHILE,
    called_elsewhere,
    may_be_reshaped,
    own_computations,
)
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def pipelined_loops(
    module: HloModule, opcodes: Sequence[str], name: str, context: PassContext
) -> Iterator[tuple[HloInstruction, InductionVariable]]:
    """Yield the loops of at least two iterations with collectives, inner ones first."""
    for computation in module.post_order_computations():
        for loop in [i for i in computation.post_order() if i.opcode is WHILE]:
            found = [i for i in loop.called[1].post_order() if i.opcode.name in opcodes]
            if not found or not (loop.users or loop.is_root):
                continue
            reason = may_be_reshaped(loop)
            induction = find_induction(loop)
            if isinstance(induction, Reason):
                reason = reason or induction
            if reason is not None:
                context.refused(name, found[0], reason)
            elif not isinstance(induction, Reason) and induction.trip_count > 1:
                yield loop, induction


def slices_of(
    loop: HloInstruction,
    induction: InductionVariable,
    search: Search,
    name: str,
    context: PassContext,
) -> list[StoredSlice]:
    """Return the collectives of a loop that only go into slices.

    A loop that has some gets computations of its own.
    """

    def refused(i: HloInstruction, reason: Reason) -> None:
        context.refused(name, i, reason)

    def found() -> list[StoredSlice]:
        return stored_slices(loop, induction, search, refused)

    slices = found()
    if slices and called_elsewhere(loop):
        own_computations(loop)
        slices = found()
    return slices
