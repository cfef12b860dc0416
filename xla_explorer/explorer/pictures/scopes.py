"""Boxes that an instruction list suggests by itself: the name scopes of its metadata, and layers that repeat."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.metadata import parse_metadata

Path = tuple[str, ...]

DEEPEST = 3
MOST_FOR_LAYERS = 6_000
"""Longer programs are not searched for repeated layers: the search compares every distance."""
SHORTEST_LAYER = 6
_WRAPPER = re.compile(r"^(jit|pjit|jvp|transpose|vmap|remat|checkpoint|custom_jvp|custom_vjp|xla_call|core_call)\(.*\)?\Z")
_LOOP_PARTS = frozenset({"while", "body", "cond", "closed_call", "branch"})


def scope_paths(records: Sequence[InstructionRecord]) -> dict[int, Path]:
    """Instruction id -> its scope from the outside in: from `op_name`, else the repeated layer that it lies in; what has neither
    is not in the result."""
    found = {r.id: path for r in records if (path := _named_scope(r.metadata))}
    common = _common(list(found.values()))
    found = {key: path[common : common + DEEPEST] for key, path in found.items() if len(path) > common}
    return found if len(set(found.values())) > 1 else repeated_layers(records)


def _named_scope(metadata: str | None) -> Path:
    """`jit(f)/encoder/layer_3/add` is (`encoder`, `layer_3`): the calls of transformations and the operation itself say nothing."""
    if not metadata or "op_name" not in metadata:
        return ()
    parts = parse_metadata(metadata).op_name.split("/")[:-1]
    return tuple([part for part in parts if part and part not in _LOOP_PARTS and not _WRAPPER.match(part)])


def _common(paths: Sequence[Path]) -> int:
    """Length of the prefix that all share."""
    if not paths:
        return 0
    low, high, k = min(paths), max(paths), 0
    while k < min(len(low), len(high)) and low[k] == high[k]:
        k += 1
    return k


def repeated_layers(records: Sequence[InstructionRecord]) -> dict[int, Path]:
    """Stretches of the program that repeat one after the other with the same opcodes and shapes, as `layer 1 of 12` ...

    The period that covers most of the program counts, the shortest among equals. Constants and parameters do not take part: a printer
    may put them anywhere.
    """
    telling = [r for r in records if r.opcode.name not in ("parameter", "constant")]
    if not 2 * SHORTEST_LAYER <= len(telling) <= MOST_FOR_LAYERS:
        return {}
    words: dict[tuple[str, str], int] = {}
    tokens = np.array([words.setdefault((r.opcode.name, r.shape.text_without_layout), len(words)) for r in telling], dtype=np.int32)
    best = (0, 0, 0)  # covered, period, start
    for period in range(SHORTEST_LAYER, len(tokens) // 2 + 1):
        if len(tokens) - period <= best[0] - period:
            break
        equal = np.concatenate(([False], tokens[period:] == tokens[:-period], [False]))
        edges = np.flatnonzero(equal[1:] != equal[:-1])
        if not len(edges):
            continue
        lengths = edges[1::2] - edges[::2]
        k = int(np.argmax(lengths))
        if lengths[k] >= period:
            covered = (int(lengths[k]) // period + 1) * period
            if covered > best[0] * 1.02 and len(np.unique(tokens[edges[::2][k] : edges[::2][k] + period])) >= 3:
                best = (covered, period, int(edges[::2][k]))
    covered, period, start = best
    if covered < len(tokens) // 3:
        return {}
    count = covered // period
    return {telling[start + k].id: (f"layer {k // period + 1} of {count}",) for k in range(covered)}


def scope_key(path: Path) -> str:
    """The id of the box of a scope."""
    return "s:" + "/".join(path)

