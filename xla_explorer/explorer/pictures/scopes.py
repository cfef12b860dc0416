"""Boxes of an instruction list: name scopes of the metadata, else layers that repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from xla_explorer.explorer.pictures.blocks import (
    LARGEST_LEAF,
    SHORTEST_LAYER,
    Path,
    divide_into_sections,
    repeated_layers,
    sort_in_program_order,
)
from xla_explorer.explorer.pictures.folding import NON_COMPUTE
from xla_explorer.explorer.pictures.layers import BACKWARD
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.metadata import layers_of_scope, parse_metadata

DEEPEST = 3
FEWEST_SIBLINGS = 3
"""Scopes, equal up to a number, from which one box `h_* × 12` holds them."""
BEFORE, AFTER = "before, no scope", "after, no scope"
_WRAPPER = re.compile(
    r"^(jit|pjit|jvp|transpose|vmap|remat|checkpoint|rematted_computation|custom_jvp|custom_vjp|xla_call|core_call)(\(.*\)?)?\Z"
)
_LOOP_PARTS = frozenset({"while", "body", "cond", "closed_call", "branch"})
_NUMBER = re.compile(r"\d+")


def scope_paths(records: Sequence[InstructionRecord]) -> dict[int, Path]:
    """Return the boxes of each instruction, from the outside in.

    They come from `op_name`, else from the repeated layer. An instruction with neither is in a
    section of a large program, and missing in the result for a small one.
    """
    named = {r.id: path for r in records if (path := _named_scope(r.metadata))[1]}
    if len(set(named.values())) < 2:
        found = repeated_layers(records)
    else:
        found = _group_siblings(_without_outer_boxes(named))
        found = _with_unscoped(records, found)
    return (
        divide_into_sections(records, found) if found or len(records) > 2 * LARGEST_LEAF else found
    )


def _named_scope(metadata: str | None) -> tuple[bool, Path]:
    """Return whether an instruction is of a derivative, and its scope without the operation."""
    if not metadata or "op_name" not in metadata:
        return False, ()
    return named_scope(parse_metadata(metadata).op_name.split("/")[:-1])


def named_scope(parts: Sequence[str]) -> tuple[bool, Path]:
    """Return whether a scope is of a derivative, and its parts without JAX's wrappers.

    >>> named_scope(["jit(f)", "transpose(jvp(encoder))", "layer_3"])
    (True, ('encoder', 'layer_3'))
    """
    return any(part.startswith("transpose(") for part in parts), tuple(
        part
        for part in layers_of_scope(parts)
        if part not in _LOOP_PARTS and not _WRAPPER.match(part)
    )


def scope_boxes(parts: Sequence[str]) -> Path:
    """Return the boxes of an instruction that is not at the top level, by its scope alone.

    >>> scope_boxes(["jit(f)", "while", "body", "transpose(jvp(encoder))", "layer_3"])
    ('encoder, backward', 'layer_3')
    """
    backward, path = named_scope(parts)
    return (path[0] + BACKWARD, *path[1:]) if backward and path else path


def _without_outer_boxes(named: Mapping[int, tuple[bool, Path]]) -> dict[int, Path]:
    """Return paths of at most `DEEPEST` boxes, without outer boxes that hold half of the program.

    Forward and backward differ from the outermost box on.
    """
    found: dict[int, Path] = {}
    for backward in (False, True):
        paths = {key: path for key, (is_backward, path) in named.items() if is_backward == backward}
        while True:
            sizes = Counter([path[0] for path in paths.values()])
            deeper = Counter([path[0] for path in paths.values() if len(path) > 1])
            outer = next(
                (
                    name
                    for name in sizes
                    if 2 * sizes[name] >= len(paths) and 2 * deeper[name] > sizes[name]
                ),
                None,
            )
            if outer is None:
                break
            paths = {
                key: path[1:] if path[0] == outer and len(path) > 1 else path
                for key, path in paths.items()
            }
        mark = BACKWARD if backward else ""
        found |= {key: (path[0] + mark, *path[1:DEEPEST]) for key, path in paths.items()}
    return found


def _with_unscoped(
    records: Sequence[InstructionRecord], paths: Mapping[int, Path]
) -> dict[int, Path]:
    """Add the instructions without a scope to `paths`.

    Between two scopes an instruction belongs to the scope of its last operand. Many instructions
    before or after all scopes get boxes of their own, so that no box both feeds another and reads
    it. An instruction that only moves elements is with its operand, or with its first reader.
    """
    ordered = sort_in_program_order(records)
    place = {r.id: k for k, r in enumerate(ordered)}
    non_compute = {
        r.id: r.opcode.name in NON_COMPUTE - {"parameter"} for r in ordered if r.id not in paths
    }
    reads = set(paths)  # depends on a scope
    for r in ordered:
        if not reads.isdisjoint(r.operands):
            reads.add(r.id)
    feeds = set(paths)  # a scope depends on it
    for r in reversed(ordered):
        if r.id in feeds:
            feeds.update(r.operands)
    found = dict(paths)
    outside: dict[int, Path] = {}
    for r in ordered:
        if r.id in found or r.opcode.name == "tuple":
            continue
        boxed = [o for o in r.operands if o in found]
        if boxed and (r.id in feeds or r.opcode.name in NON_COMPUTE):
            found[r.id] = found[max(boxed, key=place.__getitem__)]
        elif r.opcode.name not in NON_COMPUTE or not outside.keys().isdisjoint(r.operands):
            outside[r.id] = (BEFORE if r.id in feeds else AFTER,)
    sizes = Counter(outside.values())
    found |= {key: path for key, path in outside.items() if sizes[path] > 2 * SHORTEST_LAYER}
    # Instructions that only move constants belong to the scope of their first reader.
    for r in reversed(ordered):
        if (path := found.get(r.id)) is not None:
            late = path == (AFTER,)
            moved = [o for o in r.operands if non_compute.get(o) and o not in reads]
            found |= dict.fromkeys([o for o in moved if not (late and o in feeds)], path)
    return found


def _group_siblings(paths: Mapping[int, Path]) -> dict[int, Path]:
    """Put scopes that differ in a number alone into a common box."""
    families: dict[tuple[Path, str], dict[str, None]] = {}
    for path in dict.fromkeys(paths.values()):
        for depth, name in enumerate(path):
            if _NUMBER.search(name):
                families.setdefault((path[:depth], _NUMBER.sub("*", name)), {})[name] = None
    boxes = {
        family: f"{family[1].removesuffix(BACKWARD)} × "
        f"{len(names)}{BACKWARD if family[1].endswith(BACKWARD) else ''}"
        for family, names in families.items()
        if len(names) >= FEWEST_SIBLINGS
    }
    known: dict[Path, Path] = {}
    for path in set(paths.values()):
        found: list[str] = []
        for depth, name in enumerate(path):
            box = boxes.get((path[:depth], _NUMBER.sub("*", name)))
            found += [box, name] if box else [name]
        known[path] = tuple(found)
    return {key: known[path] for key, path in paths.items()}
