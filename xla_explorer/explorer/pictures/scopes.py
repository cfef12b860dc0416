"""Boxes that an instruction list suggests: the name scopes of its metadata, else layers that repeat; sections of what is large."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from xla_explorer.explorer.pictures.blocks import (
    LARGEST_LEAF,
    SHORTEST_LAYER,
    Path,
    in_program_order,
    in_sections,
    repeated_layers,
)
from xla_explorer.explorer.pictures.folding import QUIET
from xla_explorer.explorer.pictures.layers import BACKWARD
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.metadata import layers_of_scope, parse_metadata

DEEPEST = 3
FEWEST_SIBLINGS = 3
"""So many scopes whose names differ only in a number are drawn as one box, `h_* × 12`, that opens to them."""
BEFORE, AFTER = "before, no scope", "after, no scope"
_WRAPPER = re.compile(
    r"^(jit|pjit|jvp|transpose|vmap|remat|checkpoint|rematted_computation|custom_jvp|custom_vjp|xla_call|core_call)(\(.*\)?)?\Z"
)
_LOOP_PARTS = frozenset({"while", "body", "cond", "closed_call", "branch"})
_NUMBER = re.compile(r"\d+")


def scope_paths(records: Sequence[InstructionRecord]) -> dict[int, Path]:
    """Instruction id -> its box from the outside in: from `op_name`, else the repeated layer that it lies in; what has neither
    is in a section of a large program, else not in the result.
    """
    named = {r.id: path for r in records if (path := _named_scope(r.metadata))[1]}
    if len(set(named.values())) < 2:
        found = repeated_layers(records)
    else:
        found = _with_siblings(_without_outer_boxes(named))
        found = _adopted(records, found)
    return in_sections(records, found) if found or len(records) > 2 * LARGEST_LEAF else found


def _named_scope(metadata: str | None) -> tuple[bool, Path]:
    """Whether the instruction is of a derivative, and its scope, without the operation itself."""
    if not metadata or "op_name" not in metadata:
        return False, ()
    return named_scope(parse_metadata(metadata).op_name.split("/")[:-1])


def named_scope(parts: Sequence[str]) -> tuple[bool, Path]:
    """Return whether a scope is of a derivative, and its parts without the calls of JAX's transformations.

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
    """Paths of at most `DEEPEST` boxes, without outer boxes that hold half of the program: those inside of them are seen at once.

    Forward and backward are apart from the outermost box on.
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


def _adopted(records: Sequence[InstructionRecord], paths: Mapping[int, Path]) -> dict[int, Path]:
    """`paths` with the instructions that have no scope: between two scopes they belong to the one that they read last.

    Before and after all scopes they are boxes of their own where they are many, so that no box both feeds another and reads it;
    what moves elements only is with what it reads, or with what reads it first.
    """
    ordered = in_program_order(records)
    place = {r.id: k for k, r in enumerate(ordered)}
    quiet = {r.id: r.opcode.name in QUIET - {"parameter"} for r in ordered if r.id not in paths}
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
        if boxed and (r.id in feeds or r.opcode.name in QUIET):
            found[r.id] = found[max(boxed, key=place.__getitem__)]
        elif r.opcode.name not in QUIET or not outside.keys().isdisjoint(r.operands):
            outside[r.id] = (BEFORE if r.id in feeds else AFTER,)
    sizes = Counter(outside.values())
    found |= {key: path for key, path in outside.items() if sizes[path] > 2 * SHORTEST_LAYER}
    for r in reversed(
        ordered
    ):  # what only moves constants is where it is first read, if anywhere in a scope
        if (path := found.get(r.id)) is not None:
            late = path == (AFTER,)
            moved = [o for o in r.operands if quiet.get(o) and o not in reads]
            found |= dict.fromkeys([o for o in moved if not (late and o in feeds)], path)
    return found


def _with_siblings(paths: Mapping[int, Path]) -> dict[int, Path]:
    """Scopes beside each other whose names differ only in a number, in a box of their own."""
    families: dict[tuple[Path, str], dict[str, None]] = {}
    for path in dict.fromkeys(paths.values()):
        for depth, name in enumerate(path):
            if _NUMBER.search(name):
                families.setdefault((path[:depth], _NUMBER.sub("*", name)), {})[name] = None
    boxes = {
        family: f"{family[1].removesuffix(BACKWARD)} × {len(names)}{BACKWARD if family[1].endswith(BACKWARD) else ''}"
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
