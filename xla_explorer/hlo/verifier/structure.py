"""Checks of the graph itself.

Roots, names, parameters, order, calls, schedules, start-done pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

# (code, message, instruction or None)
Finding = tuple[str, str, "HloInstruction | None"]

# Opcodes that a done may wait for. Send and recv are absent: their contexts may pass through loops.
_WAITS_FOR = {
    "async-update": ("async-start", "async-update"),
    "async-done": ("async-start", "async-update"),
    "copy-done": ("copy-start",),
    "all-gather-done": ("all-gather-start",),
    "all-reduce-done": ("all-reduce-start",),
    "collective-permute-done": ("collective-permute-start",),
}
# ... and those with exactly one waiting user.
_STARTED = {
    starts: waits
    for waits, names in _WAITS_FOR.items()
    for starts in names
    if waits != "async-update"
}


def parameter_findings(
    computation: HloComputation, parameters: list[HloInstruction]
) -> Iterator[Finding]:
    """Require the parameter numbers 0 ... n-1, each once."""
    taken: dict[int, HloInstruction] = {}
    for parameter in parameters:
        number = parameter.payload
        if not isinstance(number, int) or number < 0:
            yield (
                "parameter-number",
                f"a parameter number must be an integer of at least 0, got {number!r}",
                parameter,
            )
        elif number in taken:
            yield (
                "parameter-repeated",
                f"parameter {number} is %{taken[number].name} already",
                parameter,
            )
        else:
            taken[number] = parameter
    missing = [number for number in range(len(parameters)) if number not in taken]
    if missing and len(taken) == len(parameters):
        yield (
            "parameter-gap",
            f"parameter {missing[0]} is missing; there are {len(parameters)} parameters",
            parameters[0],
        )


def root_findings(computation: HloComputation) -> Iterator[Finding]:
    """Require a root in the computation."""
    root = computation.root
    if root is None:
        yield "root-absent", "has no root", None
    elif computation.instructions.get(root.id) is not root:
        yield "root-elsewhere", f"the root %{root.name} is not in it", None


def cycle_findings(computation: HloComputation) -> Iterator[Finding]:
    """Require an acyclic graph (Kahn's algorithm over operands and control predecessors)."""
    waiting: dict[HloInstruction, int] = {}
    dependents: dict[HloInstruction, list[HloInstruction]] = {}
    for i in computation.instructions.values():
        before = {*i.operands, *i.control_predecessors}
        waiting[i] = len(before)
        for other in before:
            dependents.setdefault(other, []).append(i)
    ready = [i for i, count in waiting.items() if count == 0]
    # An operand of another computation is a finding of its own, not a cycle.
    ready += [other for other in dependents if other not in waiting]
    done = 0
    while ready:
        i = ready.pop()
        done += i in waiting
        for user in dependents.get(i, ()):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    if done < len(waiting):
        stuck = [i for i, count in waiting.items() if count > 0]
        names = _cycle_among(set(stuck), stuck[0])
        yield "cycle", f"depends on itself: {' -> '.join(names)}", stuck[0]


def _cycle_among(stuck: set[HloInstruction], start: HloInstruction) -> list[str]:
    path: dict[HloInstruction, int] = {}
    i = start
    while i not in path:
        path[i] = len(path)
        i = next(o for o in (*i.operands, *i.control_predecessors) if o in stuck)
    members = list(path)[path[i] :]
    return [f"%{m.name}" for m in (*members[:8], members[0])]


def schedule_findings(computation: HloComputation) -> Iterator[Finding]:
    """Require a schedule of all instructions, each after operands and control predecessors."""
    schedule = computation.schedule
    if schedule is None:
        return
    place: dict[HloInstruction, int] = {}
    for number, i in enumerate(schedule):
        if i in place:
            yield "schedule-repeats", "is twice in the schedule", i
        place[i] = number
        if computation.instructions.get(i.id) is not i:
            yield (
                "schedule-stranger",
                f"is scheduled in %{computation.name} but is not in it",
                i,
            )
    for i in computation.instructions.values():
        own = place.get(i)
        if own is None:
            yield "schedule-incomplete", "is not in the schedule", i
            continue
        for other in (*i.operands, *i.control_predecessors):
            if place.get(other, -1) > own:
                yield "schedule-order", f"is scheduled before %{other.name}, which it needs", i


def pair_finding(i: HloInstruction) -> Finding | None:
    """Require a done to read its start, and a start to have one done."""
    name = i.opcode.name
    wanted = _WAITS_FOR.get(name)
    if wanted is not None:
        if i.operands and i.operands[0].opcode.name not in wanted:
            operand = i.operands[0]
            return (
                "pair",
                (
                    f"waits for {' or '.join(wanted)}, its operand %{operand.name} is "
                    f"{operand.opcode.name}"
                ),
                i,
            )
        if name != "async-update":
            return None
    if name in _STARTED and (
        len(i.users) != 1 or _STARTED[name] not in [user.opcode.name for user in i.users]
    ):
        if name in ("async-start", "async-update") and [user.opcode.name for user in i.users] == [
            "async-update"
        ]:
            return None
        return "pair", f"must have one user, a {_STARTED[name]}; it has {len(i.users)}", i
    return None


def call_findings(module: HloModule) -> Iterator[Finding]:
    """Require called computations to belong to the module, without recursion."""
    computations = module.computations
    calls: dict[HloComputation, list[tuple[HloInstruction, HloComputation]]] = {}
    for computation in computations.values():
        for i in computation.instructions.values():
            for callee in i.called:
                if computations.get(callee.name) is not callee:
                    yield (
                        "callee-elsewhere",
                        f"calls %{callee.name}, which does not belong to the module",
                        i,
                    )
                else:
                    calls.setdefault(computation, []).append((i, callee))
    finished: set[HloComputation] = set()
    for start in calls:
        stack: list[tuple[HloComputation, Iterator[tuple[HloInstruction, HloComputation]]]] = []
        active: set[HloComputation] = set()
        if start in finished:
            continue
        stack.append((start, iter(calls[start])))
        active.add(start)
        while stack:
            current, rest = stack[-1]
            step = next(rest, None)
            if step is None:
                stack.pop()
                active.discard(current)
                finished.add(current)
            elif step[1] in active:
                yield "recursion", f"calls %{step[1].name}, which leads back to it", step[0]
            elif step[1] not in finished:
                active.add(step[1])
                stack.append((step[1], iter(calls.get(step[1], ()))))


def module_findings(module: HloModule) -> Iterator[Finding]:
    """Require an entry that belongs to the module."""
    if module.entry is None:
        yield "entry-absent", "has no entry computation", None
    elif module.computations.get(module.entry.name) is not module.entry:
        yield "entry-elsewhere", f"the entry %{module.entry.name} does not belong to it", None
    if module.entry is not None:
        called = (
            next((i for i in module.instructions() if module.entry in i.called), None)
            if _has_calls(module)
            else None
        )
        if called is not None:
            yield "entry-called", f"calls the entry %{module.entry.name}", called


def _has_calls(module: HloModule) -> bool:
    return len(module.computations) > 1
