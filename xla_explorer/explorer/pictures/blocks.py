"""Blocks of programs without name scopes: stretches that repeat, and sections of the rest.

A block is a stretch of the program order, so blocks that are drawn as one node each never make a
cycle.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from xla_explorer.hlo.instruction import InstructionRecord

Path = tuple[str, ...]

SHORTEST_LAYER = 6
LARGEST_LEAF = 150
"""Instructions of a block; a larger one is divided into sections."""
MOST_PARTS = 12
"""The most sections of one block, and the most stretches of repeats."""
MOST_BESIDE = 24
"""Layers of a repeat that one box opens to; more are grouped by `MOST_PARTS` first."""
_CANDIDATES = 32
_WINDOW = 4
_QUIET = frozenset({"parameter", "constant"})
"""Opcodes that a printer may put anywhere: they end no repeat and belong to the block of their
reader."""
_MAIN_OPCODES = (
    "dot",
    "convolution",
    "custom-call",
    "fusion",
    "while",
    "call",
    "all-reduce",
    "reduce",
    "scatter",
    "gather",
    "sort",
)
_Tokens = npt.NDArray[np.int32]


def sort_in_program_order(records: Sequence[InstructionRecord]) -> list[InstructionRecord]:
    """Return the records with operands before their users, else in their order."""
    later = {r.id for r in records}
    for r in records:
        if not later.isdisjoint(r.operands):
            return _reordered(records)
        later.remove(r.id)
    return list(records)


def _reordered(records: Sequence[InstructionRecord]) -> list[InstructionRecord]:
    here = {r.id for r in records}
    missing = [len(here.intersection(r.operands)) for r in records]
    users: dict[int, list[int]] = {}
    for k, r in enumerate(records):
        for o in set(r.operands):
            users.setdefault(o, []).append(k)
    ready = [k for k, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        k = heapq.heappop(ready)
        order.append(records[k])
        for user in users.get(records[k].id, ()):
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, user)
    return order if len(order) == len(records) else list(records)


def repeated_layers(records: Sequence[InstructionRecord]) -> dict[int, Path]:
    """Return the blocks of instructions in stretches that repeat with equal opcodes and shapes.

    The blocks are named (`layer × 12`, `layer 1 of 12`); letters distinguish several repeats, and
    the stretch between two repeats is a `part`. Of the possible periods of a stretch, the one that
    covers most of it is taken, the shortest if several do. The result is empty if the repeats cover
    less than a third of a short program, or a twentieth of a long one.
    """
    compared = [r for r in sort_in_program_order(records) if r.opcode.name not in _QUIET]
    words: dict[tuple[str, str], int] = {}
    tokens = np.array(
        [
            words.setdefault((r.opcode.name, r.shape.text_without_layout), len(words))
            for r in compared
        ],
        dtype=np.int32,
    )
    repeats = sorted(_repeats(tokens))
    if not repeats or sum([covered for _, covered, _ in repeats]) < len(tokens) // (
        3 if len(tokens) < 2 * LARGEST_LEAF else 20
    ):
        return {}
    found: dict[int, Path] = {}
    end, between = 0, []
    for number, (start, covered, period) in enumerate(repeats):
        count, letter = covered // period, f" {chr(ord('A') + number)}" if len(repeats) > 1 else ""
        for k in range(covered):
            instance = k // period
            path: Path = (f"layer{letter} × {count}", f"layer{letter} {instance + 1} of {count}")
            # tens, so that a box opens to a number of boxes that fits on a screen
            if count > MOST_BESIDE:
                first = instance - instance % MOST_PARTS
                path = (
                    path[0],
                    f"layer{letter} {first + 1} to {min(count, first + MOST_PARTS)}",
                    path[1],
                )
            found[compared[start + k].id] = path
        between.append(compared[end:start])
        end = start + covered
    between.append(compared[end:])
    for number, part in enumerate(between):
        if len(part) > max(2 * SHORTEST_LAYER, len(compared) // 100):
            found |= dict.fromkeys([r.id for r in part], (f"part {number + 1}",))
    return found


def _repeats(tokens: _Tokens) -> list[tuple[int, int, int]]:
    """Return (start, length, period) of disjoint stretches that repeat, the longest first."""
    found: list[tuple[int, int, int]] = []
    pending = [(0, len(tokens))]
    least = max(2 * SHORTEST_LAYER, len(tokens) // 50)
    while pending and len(found) < MOST_PARTS:
        pending.sort(key=lambda part: part[0] - part[1])
        low, high = pending.pop(0)
        covered, period, start = _best_repeat(tokens[low:high])
        if covered < least:
            continue
        found.append((low + start, covered, period))
        pending += [(low, low + start), (low + start + covered, high)]
    return found


def _best_repeat(tokens: _Tokens) -> tuple[int, int, int]:
    """Return (length, period, start) of the repeat that covers most of the tokens."""
    best = (0, 0, 0)
    for period in _periods(tokens):
        equal = np.concatenate(([False], tokens[period:] == tokens[:-period], [False]))
        edges = np.flatnonzero(equal[1:] != equal[:-1])
        lengths = edges[1::2] - edges[::2]
        k = int(np.argmax(lengths)) if len(lengths) else -1
        if k < 0 or lengths[k] < period:
            continue
        covered, start = (int(lengths[k]) // period + 1) * period, int(edges[::2][k])
        if covered > best[0] * 1.02 and len(np.unique(tokens[start : start + period])) >= 3:
            best = (covered, period, start)
    return best


def _periods(tokens: _Tokens) -> list[int]:
    """Return the most frequent distances between equal short windows, the shorter first."""
    if len(tokens) < 2 * SHORTEST_LAYER:
        return []
    windows = np.zeros(len(tokens) - _WINDOW + 1, dtype=np.int64)
    for k in range(_WINDOW):
        windows = windows * 1_000_003 + tokens[k : len(tokens) - _WINDOW + 1 + k]
    order = np.argsort(windows, kind="stable")
    again = windows[order[1:]] == windows[order[:-1]]
    distances = np.bincount((order[1:] - order[:-1])[again])
    usual = np.argsort(distances, kind="stable")[::-1][: 2 * _CANDIDATES]
    return sorted(
        [int(p) for p in usual if distances[p] and SHORTEST_LAYER <= p <= len(tokens) // 2][
            :_CANDIDATES
        ]
    )


def divide_into_sections(
    records: Sequence[InstructionRecord], paths: Mapping[int, Path]
) -> dict[int, Path]:
    """Return `paths` with every block above `LARGEST_LEAF` instructions divided into sections.

    The outermost block is divided too. A constant or parameter that one block alone reads is in
    that block.
    """
    ordered = sort_in_program_order(records)
    members: dict[Path, list[InstructionRecord]] = {}
    for r in ordered:
        if r.opcode.name not in _QUIET:
            members.setdefault(paths.get(r.id, ()), []).append(r)
    found: dict[int, Path] = {}
    for path, block in members.items():
        found |= _divided(block, path)
    quiet = {r.id for r in records if r.opcode.name in _QUIET}
    read_in: dict[int, Path] = {}
    for r in reversed(ordered):
        if r.id in read_in:
            found[r.id] = read_in[r.id]
        if not quiet.isdisjoint(r.operands):
            path = found.get(r.id, ())
            for o in quiet.intersection(r.operands):
                read_in[o] = shared_start(read_in.get(o, path), path)
    return {key: path for key, path in found.items() if path}


def shared_start(a: Path, b: Path) -> Path:
    """Return the blocks that both paths begin with."""
    k = 0
    while k < min(len(a), len(b)) and a[k] == b[k]:
        k += 1
    return a[:k]


def _divided(block: Sequence[InstructionRecord], path: Path) -> dict[int, Path]:
    if len(block) <= LARGEST_LEAF:
        return dict.fromkeys([r.id for r in block], path)
    count = min(MOST_PARTS, -(-len(block) // LARGEST_LEAF))
    found: dict[int, Path] = {}
    for k in range(count):
        part = block[len(block) * k // count : len(block) * (k + 1) // count]
        found |= _divided(part, (*path, f"section {k + 1} of {count}"))
    return found


def block_details(
    records: Sequence[InstructionRecord], paths: Mapping[int, Path]
) -> dict[Path, str]:
    """Return the contents of each block as text: `137: 8 dot, 6 reduce`."""
    leaves: dict[Path, list[str]] = {}
    for r in records:
        path = paths.get(r.id)
        if path is not None:
            leaves.setdefault(path, []).append(r.opcode.name)
    counts: dict[Path, Counter[str]] = {}
    for path, names in leaves.items():
        of_leaf = Counter(names)
        for depth in range(1, len(path) + 1):
            counts.setdefault(path[:depth], Counter()).update(of_leaf)
    details = {}
    for path, count in counts.items():
        main = ", ".join([f"{count[name]} {name}" for name in _MAIN_OPCODES if count[name]][:2])
        details[path] = f"{count.total()} instructions" if not main else f"{count.total()}: {main}"
    return details
