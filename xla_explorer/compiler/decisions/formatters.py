"""Formatters of measured values that checks of several passes share."""

from __future__ import annotations

from collections.abc import Collection

from xla_explorer.foundation.measured import listed
from xla_explorer.hlo.instruction import HloInstruction


def described(i: HloInstruction) -> str:
    """Return text such as `%e is exponential f32[64,64]`."""
    return f"%{i.name} is {i.opcode.name} {i.shape.text_without_layout}"


def not_one(i: HloInstruction, what: str) -> str:
    """Return `%e is exponential, not reduce`, for a check of another opcode."""
    return f"%{i.name} is {i.opcode.name}, not {what}"


def control_edges(
    instructions: Collection[HloInstruction], pinned: Collection[HloInstruction] = ()
) -> str:
    """Return `control edges 0`, or the instructions with control edges.

    pinned: instructions that another instruction must wait for.
    """
    fixed = [i.name for i in instructions if i.control_predecessors or i in pinned]
    return f"control edges {len(fixed)}" + (f": {listed(fixed)}" if fixed else "")


def layouts(instructions: Collection[HloInstruction]) -> str:
    """Return `layouts {1,0} = {1,0}, {0} = {0}`: each layout beside the row-major one."""
    texts = []
    for i in instructions:
        if not i.shape.is_array:
            texts.append(i.shape.text)
        else:
            texts.append(
                f"{i.shape.layout} {'=' if i.shape.base is i.shape else '!='} {i.shape.base.layout}"
            )
    return f"layouts {', '.join(texts)}"
