"""Deadlocks of collectives, found before a run.

Every device's sequence of collectives is written down, loops once. A simulation of the rendezvous
then shows devices that would wait forever. If a predicate's value is unknown and may differ between
the devices of a group, a collective that it controls is a possible deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.devices.groups import channel_of, group_of, permutation_pairs
from xla_explorer.hlo.evaluator.devices.uniformity import (
    Tree,
    Uniformity,
    joined,
    leaves_of,
    of_instruction,
    tree_like,
)
from xla_explorer.hlo.evaluator.devices.world import Device, World
from xla_explorer.hlo.evaluator.registry import EvaluationError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_MOST_ROUNDS = 8  # of a loop's body, until what is known of its state stays the same


class DeadlockError(XlaExplorerError):
    """A program whose devices would wait forever in a collective."""


@dataclass(frozen=True)
class Finding:
    """A deadlock. instruction: the collective. is_certain: False if it depends on unknown values.

    missing: devices that do not arrive.
    """

    instruction: str
    message: str
    hint: str
    is_certain: bool
    missing: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Event:
    """A collective on one device. needed: devices whose arrival it waits for."""

    instruction: HloInstruction
    place: Any
    needed: tuple[int, ...]


@dataclass
class _Walk:
    devices: Sequence[Device]
    events: list[list[_Event]]
    findings: dict[str, Finding] = field(default_factory=dict)
    # Predicates around the current place: (what is known, its instruction).
    guards: list[tuple[Uniformity, HloInstruction]] = field(default_factory=list)


def deadlocks(
    module: HloModule,
    replicas: int = 1,
    partitions: int = 1,
    parameters: Sequence[Sequence[int]] | None = None,
) -> list[Finding]:
    """Return the deadlocks of a program of one device, certain ones first.

    parameters: for each array leaf of the parameters, classes of devices with the same value; by
    default all may differ.
    """
    world = World(replicas, partitions)
    wrong = _wrong_groups(module, world)
    if wrong or not any(_exchanges(c) for i in module.instructions() for c in _controlled(i)):
        return wrong  # else all devices run the same sequence
    count = len(world.devices)
    walk = _Walk(world.devices, [[] for _ in world.devices])
    given = iter(parameters or ())
    arguments: list[Tree] = [_argument(p, given, count) for p in module.entry.parameters()]
    _walk(walk, module.entry, arguments, range(count), record=True)
    found = list(walk.findings.values())
    if not found:
        stuck = _simulated(walk)
        found = [stuck] if stuck is not None else []
    return sorted(found, key=lambda f: not f.is_certain)


def _wrong_groups(module: HloModule, world: World) -> list[Finding]:
    """Return the collectives whose groups leave a device out, or name one that does not exist."""
    found = []
    for i in module.instructions():
        if not _is_exchange(i) or "source_target_pairs" in i.opcode.attributes:
            continue
        try:
            groups = [group_of(i, device) for device in world.devices]
        except EvaluationError as problem:
            hint = "list each device in one group, alone if it exchanges nothing"
            found.append(Finding(i.name, problem.message, hint, True))
            continue
        beyond = sorted({n for g in groups for n in g if n >= len(world.devices)})
        if beyond:
            message = (
                f"%{i.name} ({i.opcode.name}) names device {beyond[0]}, but there are "
                f"{len(world.devices)} ({world.replicas} replicas x {world.partitions} partitions)"
            )
            hint = "change the groups, or replica_count and num_partitions of the module"
            found.append(Finding(i.name, message, hint, True, tuple(beyond)))
    return found


def check_deadlocks(
    module: HloModule, replicas: int, partitions: int, parameters: Sequence[Sequence[int]] | None
) -> None:
    """Raise DeadlockError for the first certain deadlock, with its place in the text."""
    for finding in deadlocks(module, replicas, partitions, parameters):
        if finding.is_certain:
            place = _caret(module, finding.instruction)
            raise DeadlockError(place + finding.message, finding.hint)


def _caret(module: HloModule, name: str) -> str:
    text = module.source_text
    i = next((i for i in module.instructions() if i.name == name), None)
    if i is None:
        return ""
    if not text or not i.line:  # a program that was never a text, such as JAX's
        own = str(i).strip()
        at = max(own.find(f" {i.opcode.name}("), 0) + 1
        return SourceSpan.from_offset(own, at, len(i.opcode.name), i.parent.name).caret() + "\n"
    lines = text.split("\n")
    start = sum([len(line) + 1 for line in lines[: i.line - 1]])
    own = lines[i.line - 1]
    indent = len(own) - len(own.lstrip())
    span = SourceSpan.from_offset(text, start + indent, len(own.strip()), module.filename)
    return span.caret() + "\n"


def _argument(p: HloInstruction, given: Iterable[Sequence[int]], count: int) -> Tree:
    """Return what is known of a parameter."""
    taken = iter(given)

    def leaf() -> Uniformity:
        classes = tuple(next(taken, range(count)))
        is_uniform = len(set(classes)) == 1
        return Uniformity(classes, None, frozenset() if is_uniform else frozenset([p.name]))

    if not p.shape.is_tuple:
        return leaf() if p.shape.is_array else Uniformity((0,) * count)

    def tree(shape: Any) -> Tree:
        if shape.is_tuple:
            return tuple([tree(part) for part in shape.tuple_shapes])
        return leaf() if shape.is_array else Uniformity((0,) * count)

    return tree(p.shape)


def _walk(
    walk: _Walk,
    computation: HloComputation,
    arguments: Sequence[Tree],
    active: Iterable[int],
    *,
    record: bool,
) -> Tree:
    """Return what is known of a computation's result; note its collectives if `record`."""
    known: dict[HloInstruction, Tree] = {}
    on = list(active)
    for i in computation.schedule or computation.post_order():
        operands = [known[o] for o in i.operands]
        name = i.opcode.name
        if name == "parameter":
            known[i] = arguments[int(i.payload)]
        elif name == "while":
            known[i] = _loop(walk, i, operands[0], on, record)
        elif name == "conditional":
            known[i] = _branches(walk, i, operands, on, record)
        elif name in ("call", "async-start") and i.called:
            result = _walk(walk, i.called[0], operands, on, record=record)
            known[i] = result if name == "call" else (tuple(operands), result)
        elif name in ("async-update", "async-done"):
            state = operands[0]
            done = isinstance(state, tuple) and len(state) > 1 and name == "async-done"
            known[i] = state[1] if done and isinstance(state, tuple) else state
        else:
            known[i] = of_instruction(i, operands, walk.devices, group_of)
            if record and _is_exchange(i):
                _note(walk, i, on)
    return known[computation.root]


def _is_exchange(i: HloInstruction) -> bool:
    name = i.opcode.name
    return not name.endswith("-done") and (
        "replica_groups" in i.opcode.attributes or "source_target_pairs" in i.opcode.attributes
    )


def _controlled(i: HloInstruction) -> Sequence[HloComputation]:
    return i.called if i.opcode.name in ("while", "conditional") else ()


def _exchanges(computation: HloComputation) -> bool:
    return any(
        _is_exchange(i) or any(map(_exchanges, i.called)) for i in computation.instructions.values()
    )


def _loop(walk: _Walk, i: HloInstruction, state: Tree, on: Sequence[int], record: bool) -> Tree:
    """Return what is known of a loop's result; its body's collectives are noted once."""
    condition, body = i.called
    count = len(walk.devices)
    for _ in range(_MOST_ROUNDS):
        after = joined(state, _walk(walk, body, [state], on, record=False), count)
        if leaves_of(after) == leaves_of(state) and _same_values(after, state):
            break
        state = after
    else:
        leaf = Uniformity(tuple(range(count)), None, frozenset([i.name]))
        state = tree_like(i.shape, leaf)
    if record:
        holds = leaves_of(_walk(walk, condition, [state], on, record=True))[0]
        walk.guards.append((holds.without_values(), i))
        _walk(walk, body, [state], on, record=True)
        walk.guards.pop()
    return state


def _same_values(a: Tree, b: Tree) -> bool:
    return all(
        (x.values is None) == (y.values is None)
        for x, y in zip(leaves_of(a), leaves_of(b), strict=True)
    )


def _branches(
    walk: _Walk, i: HloInstruction, operands: Sequence[Tree], on: Sequence[int], record: bool
) -> Tree:
    """Return what is known of a conditional; each device notes its own branch if it is known."""
    choice = leaves_of(operands[0])[0]
    count, last = len(walk.devices), len(i.called) - 1
    taken: list[int | None] = [None] * count
    if choice.values is not None:
        is_pred = i.operands[0].shape.element_type.name == "pred"
        numbers = [int(v) for v in choice.values]
        taken = [(0 if n else 1) if is_pred else (n if 0 <= n <= last else last) for n in numbers]
    result: Tree | None = None
    for number, (branch, operand) in enumerate(zip(i.called, operands[1:], strict=True)):
        there = [d for d in on if taken[d] in (None, number)]
        if not there:
            continue
        if taken[there[0]] is None:
            walk.guards.append((choice, i))
        own = _walk(walk, branch, [operand], there, record=record)
        if taken[there[0]] is None:
            walk.guards.pop()
        result = own if result is None else joined(result, own, count)
    assert result is not None
    if choice.is_uniform:
        return result
    return _with(result, choice, count)


def _with(tree: Tree, choice: Uniformity, count: int) -> Tree:
    """Return what is known of a value that also depends on a choice."""
    if isinstance(tree, tuple):
        return tuple([_with(part, choice, count) for part in tree])
    keys = list(zip(tree.classes, choice.classes, strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    classes = tuple([numbers[key] for key in keys])
    return Uniformity(classes, None, tree.sources | choice.sources)


def _note(walk: _Walk, i: HloInstruction, on: Sequence[int]) -> None:
    """Note a collective on the active devices, and whether unknown predicates divide a group."""
    for number in on:
        device = walk.devices[number]
        name = i.opcode.name.removesuffix("-start")
        if name == "collective-permute":
            pairs = permutation_pairs(i, device)
            members = tuple(sorted({n for pair in pairs for n in pair}))
            needed = tuple([a for a, b in pairs if b == number and a != number])
            if not any(number in pair for pair in pairs):
                continue
        else:
            needed = members = tuple(group_of(i, device))
        channel = channel_of(i)
        place = (name, "channel", channel) if channel else (name, "instruction", i.id)
        walk.events[number].append(_Event(i, (*place, members), needed))
        for guard, control in walk.guards:
            _check_guard(walk, i, members, guard, control)


def _check_guard(
    walk: _Walk,
    i: HloInstruction,
    members: Sequence[int],
    guard: Uniformity,
    control: HloInstruction,
) -> None:
    there = [n for n in members if n < len(walk.devices)]
    classes = {guard.classes[n] for n in there}
    if len(classes) < 2 or i.name in walk.findings:
        return
    first = there[0]
    other = next(n for n in there if guard.classes[n] != guard.classes[first])
    path = ", ".join([f"%{name}" for name in sorted(guard.sources)]) or "unknown values"
    walk.findings[i.name] = Finding(
        i.name,
        f"%{i.name} ({i.opcode.name}) is under %{control.name} ({control.opcode.name}), whose "
        f"predicate may differ between {walk.devices[first]!r} and {walk.devices[other]!r}: it "
        f"depends on {path}",
        "make the predicate the same on all devices of the group, for instance by an all-reduce",
        False,
    )


def _simulated(walk: _Walk) -> Finding | None:
    """Return the deadlock in which the noted sequences end, or None."""
    at = [0] * len(walk.devices)
    visits: list[dict[Any, int]] = [{} for _ in walk.devices]
    arrived: dict[tuple[Any, int], set[int]] = {}
    waiting: dict[int, tuple[_Event, tuple[Any, int]]] = {}
    moved = True
    while moved:
        moved = False
        for number, own in enumerate(walk.events):
            if number in waiting:
                event, key = waiting[number]
                if not set(event.needed) <= arrived[key]:
                    continue
                del waiting[number]
                at[number] += 1
                moved = True
            if number not in waiting and at[number] < len(own):
                event = own[at[number]]
                visit = visits[number].get(event.place, 0)
                visits[number][event.place] = visit + 1
                key = (event.place, visit)
                arrived.setdefault(key, set()).add(number)
                waiting[number] = (event, key)
                moved = True
    if not waiting:
        return None
    return _stuck(walk, waiting, arrived)


def _stuck(
    walk: _Walk,
    waiting: dict[int, tuple[_Event, tuple[Any, int]]],
    arrived: dict[tuple[Any, int], set[int]],
) -> Finding:
    number = min(waiting)
    event, key = waiting[number]
    missing = tuple([n for n in event.needed if n not in arrived[key]])
    states = []
    for n in missing:
        if n >= len(walk.devices):
            states.append(f"device {n} does not exist")
        elif n in waiting:
            there = waiting[n][0].instruction
            states.append(f"{walk.devices[n]!r} waits at %{there.name} ({there.opcode.name})")
        else:
            states.append(f"{walk.devices[n]!r} never arrives")
    i = event.instruction
    return Finding(
        i.name,
        f"%{i.name} ({i.opcode.name}): {walk.devices[number]!r} waits forever; {'; '.join(states)}",
        "every device of a group must run the same collectives, in the same order and equally often",
        True,
        missing,
    )
