"""Orders of the instructions of a computation that keep few bytes alive, and how many bytes an order keeps alive at most.

No greedy order is the best for all programs. From the operands on, the instruction is next that frees most: good where much is read and
little is left. From the results back, that instruction is before whose operands weigh least: good where small pieces are cut out of large
arrays, each for a reader of its own, since nothing is made before somebody wants it. As it is written: good where a loop's
body finishes one result after the other.
Source: xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc, which tries several orders and keeps the one with the lowest peak.
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
"""What takes no bytes of its own."""
_GIVEN = ("parameter", "constant")


def forward_order(computation: HloComputation, edges: Edges = ()) -> Order:
    """From the operands on. Shorter than the computation where the edges contradict control predecessors."""
    order = computation.post_order()
    place = {i: number for number, i in enumerate(order)}
    waits = {i: len(set(i.operands)) + len(i.control_predecessors) for i in order}
    followers: dict[HloInstruction, list[HloInstruction]] = {}
    for before, after in _all_edges(order, edges):
        followers.setdefault(before, []).append(after)
    for _, after in edges:
        waits[after] += 1
    readers = {i: len(i.users) for i in order}  # of what has been computed, who still reads it
    root = computation.root

    def growth(i: HloInstruction) -> int:
        """Bytes that running it adds to what is alive."""
        if i.opcode.name in FREE:
            return -(1 << 60)
        change = i.shape.byte_size
        for operand in dict.fromkeys(i.operands):
            if readers[operand] == 1 and operand is not root and operand.opcode.name not in _GIVEN:
                change -= operand.shape.byte_size
        return change

    def lighter(i: HloInstruction) -> Iterator[HloInstruction]:
        """It has read its operands: who is now the last reader of one frees it."""
        for operand in dict.fromkeys(
            i.operands
        ):  # in one order, on which estimates of the same moment depend
            readers[operand] -= 1
            if readers[operand] == 1 and operand.opcode.name not in FREE:
                yield from operand.users

    return _greedy(waits, place, growth, lighter, lambda i: (*i.users, *followers.get(i, ())))


def backward_order(computation: HloComputation, edges: Edges = ()) -> Order:
    """From the results back; of what adds as much, the longest chain is last. The edges contradict nothing."""
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
        """Bytes that are alive before it and not after it."""
        if i.opcode.name in FREE:
            return -(1 << 60)
        change = -i.shape.byte_size
        for operand in dict.fromkeys(i.operands):
            if operand not in needed and operand.opcode.name not in _GIVEN:
                change += operand.shape.byte_size
        return change

    def lighter(i: HloInstruction) -> Iterator[HloInstruction]:
        """Its operands are alive from here on back: other readers need them for nothing."""
        for operand in dict.fromkeys(i.operands):
            if operand not in needed:
                needed.add(operand)
                if operand.opcode.name not in FREE:
                    yield from operand.users

    return _greedy(
        waits, rank, growth, lighter, lambda i: (*dict.fromkeys(i.operands), *leaders.get(i, ()))
    )[::-1]


def written_order(computation: HloComputation, edges: Edges = ()) -> Order:
    """What an instruction needs right before it, in the order of its operands; empty where an edge wants another one."""
    order = computation.post_order()
    place = {i: number for number, i in enumerate(order)}
    return order if all(place[before] < place[after] for before, after in edges) else []


def peak_bytes(order: Order) -> int:
    """Bytes alive at most when instructions run in this order; arguments and constants, which are there anyway, do not count.

    A view keeps alive what it looks at; an update in place takes over the buffer of its operand where nobody reads that later.
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
    """Of what waits for nothing, again and again that which grows least, the lowest rank among equals.

    waits: for how many others each waits. lighter: who grows less once an instruction is taken. following: who waits for it.
    """
    ready = [(growth(i), rank[i], i) for i, others in waits.items() if others == 0]
    heapq.heapify(ready)
    taken: dict[HloInstruction, None] = {}  # in the order in which they are taken
    while ready:
        _, _, i = heapq.heappop(ready)
        if i in taken:
            continue  # an entry from before its estimate fell
        taken[i] = None
        for other in lighter(i):
            if other not in taken and waits[other] == 0:
                heapq.heappush(ready, (growth(other), rank[other], other))
        for other in following(i):
            waits[other] -= 1
            if waits[other] == 0:
                heapq.heappush(ready, (growth(other), rank[other], other))
    return list(taken)
