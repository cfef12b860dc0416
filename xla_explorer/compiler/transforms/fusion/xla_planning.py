"""The fusions that XLA:CPU would make: its queue, in its order, on the unchanged graph.

Instructions are visited users first. Each visit tests its operands, the last in the order first,
and restarts after each fusion. Source: xla/service/instruction_fusion.cc (`RunImpl`,
`ReversePostOrderFusionQueue`, `ComputeGloballyUnfusible`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.xla_fusible import (
    feeds_shifted_exponential,
    is_fusible,
)
from xla_explorer.compiler.transforms.fusion.xla_kernel import FusedKernel
from xla_explorer.compiler.transforms.fusion.xla_policy import LEGALITY, PROFITABILITY, FusionState
from xla_explorer.foundation.reason import Reason, first_refusal
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION
from xla_explorer.hlo.shape import Shape

_UNRECORDED = fusible.NON_PRODUCERS - {"copy", "fusion"}  # XLA decides about these two


class XlaFusionPlanner:
    """The planner of one computation's fusions, which changes nothing."""

    def __init__(self, computation: HloComputation, context: PassContext) -> None:
        self.computation = computation
        self.context = context
        self._order = list(computation.post_order())
        self._place = {i: number for number, i in enumerate(self._order)}
        self.state = FusionState({i: dict.fromkeys(i.users) for i in self._order}, context.control)
        self._refused: set[tuple[HloInstruction, HloInstruction]] = set()
        self._bar()

    def plan(self) -> list[FusedKernel]:
        """Return kernels of two or more members, users before producers."""
        kernels = self.state.kernels
        gone: set[HloInstruction] = set()
        for root in reversed(self._order):
            if root not in gone and is_fusible(root) and root.opcode is not FUSION:
                while (producer := self._next(root)) is not None:
                    self._fuse(producer, root, gone)
        return [
            kernel
            for root in reversed(self._order)
            if (kernel := kernels.get(root)) is not None and kernel.is_fusion
        ]

    def _next(self, root: HloInstruction) -> HloInstruction | None:
        """Return the next operand for the kernel of `root`: the last allowed one in the order."""
        for producer in sorted(
            self.state.kernel_of(root).operands, key=self._place.__getitem__, reverse=True
        ):
            if is_fusible(producer) and self._decide(producer, root) is None:
                return producer
        return None

    def _decide(self, producer: HloInstruction, root: HloInstruction) -> Reason | None:
        """Return the context's decision; a refusal is recorded once for repeated tests."""
        context = self.context
        candidate = self.state.candidate(producer, root)
        if (producer, root) in self._refused or producer.opcode.name in _UNRECORDED:
            reason = first_refusal((*LEGALITY, *PROFITABILITY), candidate)
            if reason is not None and not context.control.force:
                return reason

        def facts() -> dict[str, Any]:
            users = [u.name for u in producer.users if u in self.state.kernel_of(root).members]
            return {"policy": "xla", **({} if users == [root.name] else {"read_by": users})}

        found = context.decide(
            "fusion", LEGALITY, PROFITABILITY, producer, root, candidate=candidate, facts=facts
        )
        if found is not None:
            self._refused.add((producer, root))
        return found

    def _fuse(
        self, producer: HloInstruction, root: HloInstruction, gone: set[HloInstruction]
    ) -> None:
        readers = self.state.readers
        self.state.kernel_of(root).absorb(producer)
        readers[producer].pop(root, None)
        for operand in producer.operands:
            readers[operand][root] = None
        if not readers[producer]:
            gone.add(producer)
            for operand in producer.operands:
                readers[operand].pop(producer, None)

    def _bar(self) -> None:
        """Bar producers whose operands too many kernels would read, and inputs of a softmax."""
        checks = (*LEGALITY, *PROFITABILITY)
        fuses: dict[tuple[HloInstruction, HloInstruction], bool] = {}

        def edge(producer: HloInstruction, consumer: HloInstruction) -> bool:
            found = fuses.get((producer, consumer))
            if found is None:
                found = fuses[producer, consumer] = (
                    first_refusal(checks, self.state.candidate(producer, consumer)) is None
                )
            return found

        barred: dict[HloInstruction, str] = {}
        for producer in reversed(self._order):
            read = sum([_elements(operand.shape) for operand in dict.fromkeys(producer.operands)])
            if _reads_one_array(producer) or read <= _elements(producer.shape):
                continue
            if not is_fusible(producer) or not self._on_all_paths(producer, barred, edge):
                barred[producer] = "reads-multiply"
        barred.update({i: "max-must-agree" for i in self._order if feeds_shifted_exponential(i)})
        self.state.barred = barred

    def _on_all_paths(
        self,
        producer: HloInstruction,
        barred: dict[HloInstruction, str],
        edge: Callable[[HloInstruction, HloInstruction], bool],
    ) -> bool:
        """Return True if every user can absorb the producer along every path to the user."""
        last = max([self._place[user] for user in producer.users], default=0)
        below = {producer}
        if len(producer.users) > 1:
            for i in self._order[self._place[producer] + 1 : last]:
                if any(o in below for o in i.operands):
                    below.add(i)
        stack, seen = list(producer.users), set(producer.users)
        while stack:
            consumer = stack.pop()
            if not is_fusible(consumer):
                return False
            for operand in dict.fromkeys(consumer.operands):
                if operand in below:
                    if operand in barred or not edge(operand, consumer):
                        return False
                    if operand is not producer and operand not in seen:
                        seen.add(operand)
                        stack.append(operand)
        return True


def _elements(shape: Shape) -> int:
    return (
        shape.element_count
        if shape.is_array
        else sum([_elements(part) for part in shape.tuple_shapes])
    )


def _true_rank(shape: Shape) -> int:
    if shape.is_tuple:
        return max([_true_rank(part) for part in shape.tuple_shapes], default=0)
    return sum([1 for size in shape.dimensions if size != 1]) if shape.is_array else 0


def _reads_one_array(i: HloInstruction) -> bool:
    """Return True if at most one operand is as large as the result, by rank.

    Operands that are generated in place do not count.
    """
    rank = _true_rank(i.shape)
    large = [
        o
        for o in i.operands
        if o.opcode is not fusible.BROADCAST
        and o.opcode is not fusible.IOTA
        and not fusible.is_small_constant(o)
        and (_true_rank(o.shape) if o.shape.is_array else 0) >= rank
    ]
    return len(large) <= 1
