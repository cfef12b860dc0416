"""Orders of a computation's instructions with few live bytes, and the peak of an order.

No greedy order is the best for all programs. Forwards from the operands, the next instruction frees
most bytes: good if much is read and little is left. Backwards from the results, the previous
instruction has the lightest operands. This is good if small pieces of large arrays have a reader
each, because a value is computed just before its use. The written order is good if a loop's body
finishes one result after the other. Source: xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc,
which tries several orders and keeps the one with the lowest peak.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping

from xla_explorer.hlo.analysis.in_place import in_place_pairs
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

Order = list[HloInstruction]
Edges = Iterable[tuple[HloInstruction, HloInstruction]]

FREE = frozenset(
    {
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "reshape",
        "opt-barrier",
        "after-all",
    }
)
"""Opcodes without bytes of their own."""
_GIVEN = ("parameter", "constant")


def forward_order(computation: HloComputation, edges: Edges = ()) -> Order:
    """Return the order from the operands on.

    It is shorter than the computation if the edges contradict control predecessors.
    """
    order = computation.post_order()
    place = {i: number for number, i in enumerate(order)}
    waits = {i: len(set(i.operands)) + len(i.control_predecessors) for i in order}
    followers: dict[HloInstruction, list[HloInstruction]] = {}
    for before, after in _all_edges(order, edges):
        followers.setdefault(before, []).append(after)
    for _, after in edges:
        waits[after] += 1
    readers = {i: len(i.users) for i in order}  # number of remaining readers of computed values
    root = computation.root

    def growth(i: HloInstruction) -> int:
        """Return the bytes that running it adds to the live ones."""
        if i.opcode.name in FREE:
            return -(1 << 60)
        change = i.shape.byte_size
        for operand in dict.fromkeys(i.operands):
            if readers[operand] == 1 and operand is not root and operand.opcode.name not in _GIVEN:
                change -= operand.shape.byte_size
        return change

    def lighter(i: HloInstruction) -> Iterator[HloInstruction]:
        """Yield instructions whose growth falls: each is now the last reader of an operand."""
        for operand in dict.fromkeys(
            i.operands
        ):  # in one order, which decides ties between estimates
            readers[operand] -= 1
            if readers[operand] == 1 and operand.opcode.name not in FREE:
                yield from operand.users

    return _greedy(waits, place, growth, lighter, lambda i: (*i.users, *followers.get(i, ())))


def backward_order(computation: HloComputation, edges: Edges = ()) -> Order:
    """Return the order from the results back; among equal growth, the longest chain is last.

    The edges must contradict nothing.
    """
    order = computation.post_order()
    depth: dict[HloInstruction, int] = {}
    for i in order:
        depth[i] = 1 + max([depth[o] for o in i.operands], default=0)
    rank = {
        i: number for number, i in enumerate(sorted(order, key=depth.__getitem__, reverse=True))
    }
    waits = {i: len(i.users) for i in order}
    leaders: dict[HloInstruction, list[HloInstruction]] = {}
    for before, after in _all_edges(order, edges):
        leaders.setdefault(after, []).append(before)
        waits[before] += 1
    needed: set[HloInstruction] = {computation.root}

    def growth(i: HloInstruction) -> int:
        """Return the bytes that are live before it and not after it."""
        if i.opcode.name in FREE:
            return -(1 << 60)
        change = -i.shape.byte_size
        for operand in dict.fromkeys(i.operands):
            if operand not in needed and operand.opcode.name not in _GIVEN:
                change += operand.shape.byte_size
        return change

    def lighter(i: HloInstruction) -> Iterator[HloInstruction]:
        """Yield other readers of its operands, which are live from here backwards anyway."""
        for operand in dict.fromkeys(i.operands):
            if operand not in needed:
                needed.add(operand)
                if operand.opcode.name not in FREE:
                    yield from operand.users

    return _greedy(
        waits, rank, growth, lighter, lambda i: (*dict.fromkeys(i.operands), *leaders.get(i, ()))
    )[::-1]


def written_order(computation: HloComputation, edges: Edges = ()) -> Order:
    """Return the post order, operands in their order; empty if an edge contradicts it."""
    order = computation.post_order()
    place = {i: number for number, i in enumerate(order)}
    return order if all(place[before] < place[after] for before, after in edges) else []


def peak_bytes(order: Order) -> int:
    """Return the peak of live bytes in this order; arguments and constants do not count.

    A view keeps its operand alive. An in-place update reuses the buffer of its operand if no later
    instruction reads it.
    """
    place = {i: number for number, i in enumerate(order)}
    end = len(order)
    last: dict[HloInstruction, int] = {}
    for i in reversed(order):
        users = [last[u] if u.opcode.name in FREE else place[u] for u in i.users if u in place]
        last[i] = max(users, default=end if i is i.parent.root else place[i])
    dies: list[int] = [0] * (end + 1)
    live = peak = 0
    for number, i in enumerate(order):
        if i.opcode.name not in FREE:
            size = i.shape.byte_size
            taken = sum(
                [
                    i.operands[k].shape.byte_size
                    for k, _ in in_place_pairs(i)
                    if last.get(i.operands[k]) == number
                ]
            )
            live += size - min(taken, size)
            dies[last[i]] += size
            peak = max(peak, live)
            live += min(taken, size)
        live -= dies[number]
    return peak


def _all_edges(order: Order, edges: Edges) -> list[tuple[HloInstruction, HloInstruction]]:
    return [*[(before, i) for i in order for before in i.control_predecessors], *edges]


def _greedy(
    waits: dict[HloInstruction, int],
    rank: Mapping[HloInstruction, int],
    growth: Callable[[HloInstruction], int],
    lighter: Callable[[HloInstruction], Iterable[HloInstruction]],
    following: Callable[[HloInstruction], Iterable[HloInstruction]],
) -> Order:
    """Return a greedy order: the ready instruction with the least growth, then the lowest rank.

    waits: number of pending predecessors. lighter: instructions whose growth falls after one is
    scheduled. following: its successors.
    """
    ready = [(growth(i), rank[i], i) for i, others in waits.items() if others == 0]
    heapq.heapify(ready)
    taken: dict[HloInstruction, None] = {}  # in scheduling order
    while ready:
        _, _, i = heapq.heappop(ready)
        if i in taken:
            continue  # outdated: the estimate has fallen since
        taken[i] = None
        for other in lighter(i):
            if other not in taken and waits[other] == 0:
                heapq.heappush(ready, (growth(other), rank[other], other))
        for other in following(i):
            waits[other] -= 1
            if waits[other] == 0:
                heapq.heappush(ready, (growth(other), rank[other], other))
    return list(taken)
