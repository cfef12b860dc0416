"""The pass `memory-scheduler`: per computation, the one of three orders with fewer live bytes.

In-place updates follow the other readers of the buffer, and the new state of a loop follows the
readers of the old one: both save a copy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.scheduling.growing_order import GrowingOrder
from xla_explorer.compiler.transforms.scheduling.sequential_orders import (
    FREE,
    backward_order,
    forward_order,
    peak_bytes,
    written_order,
)
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.in_place import in_place_pairs
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.schedule_update import update_schedule

_FROM_OPERANDS = "from the operands"
_CLEARLY_LESS = 0.98
"""Ratio of peaks below which another order replaces the one from the operands on.

In the order from the operands on, adjacent instructions read data that is still in a cache.
"""


@register_pass("hlo-memory-scheduler")
@dataclasses.dataclass(frozen=True)
class MemoryScheduler:
    """Schedule the entry and every computation that control flow runs."""

    name: ClassVar[str] = "memory-scheduler"
    kinds: ClassVar[tuple[str, ...]] = ("execution-order",)

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Create absent schedules and repair outdated ones; a valid order stays.

        Copies have fixed places in a valid order.
        """
        changed = False
        for computation in sequential_computations(module):
            changed |= ensure_schedule(computation, context)
        return changed


def ensure_schedule(computation: HloComputation, context: PassContext) -> bool:
    """Give a computation a valid schedule; return True if it changed."""
    if computation.schedule is not None:
        return update_schedule(computation)
    computation.set_schedule(schedule_computation(computation, context))
    return True


def schedule_computation(computation: HloComputation, context: PassContext) -> list[HloInstruction]:
    """Return a sequential order with few live bytes.

    It respects operands and control predecessors; readers of a buffer come before the instruction
    that overwrites it.
    """
    preferred = order_that_saves_copies(computation)
    forward = forward_order(computation, preferred)
    if len(forward) < len(computation.instructions):  # a preference contradicts a control edge
        preferred = []
        forward = forward_order(computation)
    orders = {_FROM_OPERANDS: forward, "from the results": backward_order(computation, preferred)}
    if written := written_order(computation, preferred):
        orders["as written"] = written
    choice = OrderChoice(orders, {name: peak_bytes(order) for name, order in orders.items()})
    if all(order == forward for order in orders.values()):
        return forward
    reason = context.decide(
        "execution-order", (), PROFITABILITY, computation.root, candidate=choice, facts=choice.facts
    )
    return forward if reason is not None else orders[choice.other]


class OrderChoice(NamedTuple):
    """Orders of a computation by name, the one from the operands first, with their peak bytes."""

    orders: Mapping[str, list[HloInstruction]]
    peaks: Mapping[str, int]

    @property
    def other(self) -> str:
        """The order with the lowest peak, except the one from the operands on."""
        return min(
            [name for name in self.orders if name != _FROM_OPERANDS], key=self.peaks.__getitem__
        )

    def facts(self) -> dict[str, Any]:
        """Return the numbers of the decision."""
        return {
            "order": self.other,
            **{f"peak_bytes_{name.replace(' ', '_')}": peak for name, peak in self.peaks.items()},
        }


@value_formatter(
    lambda choice: (
        f"peak bytes {choice.peaks[choice.other]} {choice.other}, {choice.peaks[_FROM_OPERANDS]} "
        f"{_FROM_OPERANDS}"
    )
)
def order_saves_bytes(choice: OrderChoice) -> Reason | None:
    """Require clearly fewer live bytes in another order than in the one from the operands on."""
    peak, forward = choice.peaks[choice.other], choice.peaks[_FROM_OPERANDS]
    if peak < _CLEARLY_LESS * forward:
        return None
    return refuse(
        "order-saves-too-little",
        f"the order {choice.other} keeps {peak} bytes alive at most, that from the operands on "
        f"{forward}",
        peak_bytes=peak,
        peak_bytes_from_the_operands=forward,
        limit_bytes=int(_CLEARLY_LESS * forward),
    )


PROFITABILITY = (order_saves_bytes,)


def order_that_saves_copies(
    computation: HloComputation,
) -> list[tuple[HloInstruction, HloInstruction]]:
    """Return (before, after) pairs that save copies, without a cycle, beyond those of operands."""
    wanted: list[tuple[HloInstruction, HloInstruction]] = []
    for i in computation.instructions.values():
        for number, _ in in_place_pairs(i):
            buffer = i.operands[number]
            wanted.extend([(user, i) for user in _readers(buffer) if user is not i])
    if (
        any(
            c.opcode.name == "parameter" and c.shape.is_tuple
            for c in computation.instructions.values()
        )
        and computation.root.opcode.name == "tuple"
    ):
        parameters = computation.parameters()
        if len(parameters) == 1 and parameters[0].shape.base is computation.root.shape.base:
            elements = {
                int(u.attribute("index")): u
                for u in parameters[0].users
                if u.opcode.name == "get-tuple-element"
            }
            for number, made in enumerate(computation.root.operands):
                old = elements.get(number)
                while (
                    made.opcode.name in ("bitcast", "reshape", "get-tuple-element")
                    and made is not old
                ):
                    made = made.operands[0]
                if old is not None and made is not old and made.opcode.name not in FREE:
                    wanted.extend([(user, made) for user in _readers(old) if user is not made])
    if not wanted:
        return []
    order = GrowingOrder(computation)
    return [
        (before, after)
        for before, after in wanted
        if before.opcode.name != "tuple" and order.add(before, after)
    ]


def _readers(i: HloInstruction) -> list[HloInstruction]:
    """Return the instructions that read the array, through bitcasts."""
    found: list[HloInstruction] = []
    for user in i.users:
        if user.opcode.name in ("bitcast", "reshape"):
            found.extend(_readers(user))
        elif user.opcode.name != "tuple":
            found.append(user)
    return found
