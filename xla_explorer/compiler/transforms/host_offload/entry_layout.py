"""The shapes of the entry's parameters and result, with the layouts that the module states."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, parse_shape


class EntryLayout(NamedTuple):
    """The layouts of the entry."""

    parameters: list[Shape]
    result: Shape


def _parts(text: str) -> list[str]:
    """Return the parts between commas outside of brackets."""
    parts, depth, at = [], 0, 0
    for k, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[at:k])
            at = k + 1
    return [part.strip() for part in (*parts, text[at:]) if part.strip()]


def entry_layout(module: HloModule) -> EntryLayout:
    """Return the stated layouts; those of the instructions where the module states none."""
    found = EntryLayout(module.parameter_shapes(), module.result_shape())
    text = str(module.attributes.get("entry_computation_layout") or "")
    given, arrow, result = text.strip()[1:-1].rpartition("->")
    if not arrow:
        return found
    shapes = [parse_shape(part) for part in _parts(given.strip()[1:-1])]
    if len(shapes) != len(found.parameters):
        return found
    return EntryLayout(shapes, parse_shape(result.strip()))
