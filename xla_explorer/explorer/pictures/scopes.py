"""Boxes that an instruction list suggests: the name scopes of its metadata, else layers that repeat; sections of what is large."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xla_explorer.explorer.pictures.blocks import (
    LARGEST_LEAF,
    Path,
    in_sections,
    repeated_layers,
    shared_start,
)
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.metadata import parse_metadata

DEEPEST = 3
FEWEST_SIBLINGS = 3
"""So many scopes whose names differ only in a number are drawn as one box, `h_* × 12`, that opens to them."""
_WRAPPER = re.compile(
    r"^(jit|pjit|jvp|transpose|vmap|remat|checkpoint|custom_jvp|custom_vjp|xla_call|core_call)\(.*\)?\Z"
)
_LOOP_PARTS = frozenset({"while", "body", "cond", "closed_call", "branch"})
_NUMBER = re.compile(r"\d+")


def scope_paths(records: Sequence[InstructionRecord]) -> dict[int, Path]:
    """Instruction id -> its box from the outside in: from `op_name`, else the repeated layer that it lies in; what has neither
    is in a section of a large program, else not in the result."""
    found = {r.id: path for r in records if (path := _named_scope(r.metadata))}
    common = len(shared_start(min(found.values()), max(found.values()))) if found else 0
    found = {
        key: path[common : common + DEEPEST] for key, path in found.items() if len(path) > common
    }
    found = _with_siblings(found) if len(set(found.values())) > 1 else repeated_layers(records)
    return in_sections(records, found) if found or len(records) > 2 * LARGEST_LEAF else found


def _named_scope(metadata: str | None) -> Path:
    """`jit(f)/encoder/layer_3/add` is (`encoder`, `layer_3`): the calls of transformations and the operation itself say nothing, but
    that of the derivative: (`backward`, `encoder`, `layer_3`)."""
    if not metadata or "op_name" not in metadata:
        return ()
    parts = parse_metadata(metadata).op_name.split("/")[:-1]
    named = [
        part for part in parts if part and part not in _LOOP_PARTS and not _WRAPPER.match(part)
    ]
    return (
        ("backward", *named)
        if named and any(part.startswith("transpose(") for part in parts)
        else tuple(named)
    )


def _with_siblings(paths: Mapping[int, Path]) -> dict[int, Path]:
    """Scopes beside each other whose names differ only in a number, in a box of their own."""
    families: dict[tuple[Path, str], dict[str, None]] = {}
    for path in dict.fromkeys(paths.values()):
        for depth, name in enumerate(path):
            if _NUMBER.search(name):
                families.setdefault((path[:depth], _NUMBER.sub("*", name)), {})[name] = None
    boxes = {
        family: f"{family[1]} × {len(names)}"
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


def scope_key(path: Path) -> str:
    """The id of the box of a scope."""
    return "s:" + "/".join(path)
