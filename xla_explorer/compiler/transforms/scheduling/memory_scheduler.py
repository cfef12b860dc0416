"""The pass `memory-scheduler`: one order of execution per computation, chosen to keep few bytes alive.

List scheduling: of the instructions whose operands are ready, run the one that frees most (operands that die, minus the
result); ties go to the original order. Updates in place wait for the other readers of the buffer, and the value that a loop
carries on waits for the readers of the old one: both save a copy. Source: xla/service/hlo_memory_scheduler.cc.
"""

from __future__ import annotations

import dataclasses
import heapq
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.pipeline.schedule_update import update_schedule
from xla_explorer.compiler.transforms.scheduling.growing_order import GrowingOrder
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.in_place import in_place_pairs
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "reshape", "opt-barrier", "after-all"})


@register_pass("hlo-memory-scheduler")
@dataclasses.dataclass(frozen=True)
class MemoryScheduler:
    """Schedules the entry and every computation that control flow runs."""

    name: ClassVar[str] = "memory-scheduler"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Make schedules that are absent, mend those that are out of date; an order that holds stays as it is
        (copies stand where they must)."""
        changed = False
        for computation in sequential_computations(module):
            changed |= ensure_schedule(computation)
        return changed


def ensure_schedule(computation: HloComputation) -> bool:
    """Give a computation a schedule that is valid now. Whether anything had to be done."""
    if computation.schedule is not None:
        return update_schedule(computation)
    computation.set_schedule(schedule_computation(computation))
    return True


def schedule_computation(computation: HloComputation, *, soft_edges: bool = True) -> list[HloInstruction]:
    """A sequential order that respects operands and control predecessors and tends to keep few bytes alive. soft_edges: prefer
    readers of a buffer before what overwrites it."""
    order = computation.post_order()
    place = {i: number for number, i in enumerate(order)}
    waits = {i: len(set(i.operands)) + len(i.control_predecessors) for i in order}
    followers: dict[HloInstruction, list[HloInstruction]] = {}
    for i in order:
        for before in i.control_predecessors:
            followers.setdefault(before, []).append(i)
    for before, after in order_that_saves_copies(computation) if soft_edges else ():
        followers.setdefault(before, []).append(after)
        waits[after] += 1
    readers = {i: len(i.users) for i in order}  # of what has been computed, who still reads it
    root = computation.root
    ready: list[tuple[int, int, HloInstruction]] = []
    result: list[HloInstruction] = []

    def growth(i: HloInstruction) -> int:
        """Bytes that running it adds to what is alive."""
        if i.opcode.name in _FREE:
            return -(1 << 60)
        change = i.shape.byte_size
        for operand in dict.fromkeys(i.operands):
            if readers[operand] == 1 and operand is not root and operand.opcode.name not in ("parameter", "constant"):
                change -= operand.shape.byte_size
        return change

    for i in order:
        if waits[i] == 0:
            heapq.heappush(ready, (growth(i), place[i], i))
    done: set[HloInstruction] = set()
    while ready:
        _, _, i = heapq.heappop(ready)
        if i in done:
            continue  # an entry from before its estimate fell
        done.add(i)
        result.append(i)
        for operand in dict.fromkeys(i.operands):  # in one order, on which estimates of the same moment depend
            readers[operand] -= 1
            if readers[operand] == 1 and operand.opcode.name not in _FREE:
                for user in operand.users:  # its last reader frees it now
                    if user not in done and waits[user] == 0:
                        heapq.heappush(ready, (growth(user), place[user], user))
        for user in (*i.users, *followers.get(i, ())):
            waits[user] -= 1
            if waits[user] == 0:
                heapq.heappush(ready, (growth(user), place[user], user))
    if len(result) < len(order):  # a preference contradicts a control edge
        return schedule_computation(computation, soft_edges=False)
    return result


def order_that_saves_copies(computation: HloComputation) -> list[tuple[HloInstruction, HloInstruction]]:
    """(before, after) pairs that no operand asks for but that save copies; together with the operands they have no cycle."""
    wanted: list[tuple[HloInstruction, HloInstruction]] = []
    for i in computation.instructions.values():
        for number, _ in in_place_pairs(i):
            buffer = i.operands[number]
            wanted.extend([(user, i) for user in _readers(buffer) if user is not i])
    if (
        any(c.opcode.name == "parameter" and c.shape.is_tuple for c in computation.instructions.values())
        and computation.root.opcode.name == "tuple"
    ):
        parameters = computation.parameters()
        if len(parameters) == 1 and parameters[0].shape.base is computation.root.shape.base:
            elements = {int(u.attribute("index")): u for u in parameters[0].users if u.opcode.name == "get-tuple-element"}
            for number, made in enumerate(computation.root.operands):
                old = elements.get(number)
                while made.opcode.name in ("bitcast", "reshape", "get-tuple-element") and made is not old:
                    made = made.operands[0]
                if old is not None and made is not old and made.opcode.name not in _FREE:
                    wanted.extend([(user, made) for user in _readers(old) if user is not made])
    if not wanted:
        return []
    order = GrowingOrder(computation)
    return [(before, after) for before, after in wanted if before.opcode.name != "tuple" and order.add(before, after)]


def _readers(i: HloInstruction) -> list[HloInstruction]:
    """Instructions that read the array, through bitcasts."""
    found: list[HloInstruction] = []
    for user in i.users:
        if user.opcode.name in ("bitcast", "reshape"):
            found.extend(_readers(user))
        elif user.opcode.name != "tuple":
            found.append(user)
    return found
