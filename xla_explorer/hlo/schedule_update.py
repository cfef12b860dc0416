"""Schedules of a module that has changed. Source: HloSchedule::Update."""

from __future__ import annotations

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def update_schedule(computation: HloComputation) -> bool:
    """Drop removed instructions, place new ones before their first user; True on a change."""
    old = computation.schedule
    if old is None:
        return False
    instructions = computation.instructions
    kept = [i for i in old if instructions.get(i.id) is i]
    order: list[HloInstruction] = []
    done: set[HloInstruction] = set()
    for start in (*kept, *instructions.values()):
        stack = [start]
        while stack:
            i = stack[-1]
            if i in done:
                stack.pop()
                continue
            waiting = [o for o in (*i.operands, *i.control_predecessors) if o not in done]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                done.add(i)
                order.append(stack.pop())
    if len(order) == len(old) and all(a is b for a, b in zip(order, old, strict=True)):
        return False
    computation.set_schedule(order)
    return True


def update_schedules(module: HloModule) -> None:
    """Bring every computation's schedule up to date."""
    if module.is_scheduled:
        for computation in module.computations.values():
            update_schedule(computation)
