"""Copies of instructions for other iterations: fresh channels, bounds of permutes.

Source: xla/service/collective_pipeliner.cc (UpdateInstructionChannelId, UpdateSendRecvValidation).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from xla_explorer.compiler.transforms.collectives.pipelining.stored_slices import is_stateless
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

Bounds = Callable[[int, int], tuple[int, int]]
_VALIDATION: Final = re.compile(r"(_xla_send_recv_validation=)[\"']?\{((?:\{[^{}]*\},?)*)\}[\"']?")


class Copies:
    """Copies into one computation, by the instructions that they copy.

    known: what stands for an instruction that is not copied.
    """

    def __init__(
        self, computation: HloComputation, known: dict[HloInstruction, HloInstruction]
    ) -> None:
        self.computation, self.made = computation, dict(known)

    def of(self, i: HloInstruction) -> HloInstruction:
        """Return what stands for an instruction; one that reads no state is copied."""
        if i not in self.made:
            assert is_stateless(i), i.name
            self.add(i)
        return self.made[i]

    def add(
        self,
        i: HloInstruction,
        shape: Shape | None = None,
        operands: list[HloInstruction] | None = None,
        **changes: object,
    ) -> HloInstruction:
        """Add a copy of an instruction, with a channel of its own."""
        given = [self.of(o) for o in i.operands] if operands is None else operands
        attributes = with_fresh_channel(i)
        if changes:
            attributes = attributes.with_values(**changes)
        self.made[i] = self.computation.add(
            i.opcode,
            i.shape if shape is None else shape,
            given,
            attributes,
            called=i.called,
            payload=i.payload,
            name=i.name,
            metadata=i.metadata,
        )
        return self.made[i]


def with_fresh_channel(i: HloInstruction) -> Attributes:
    """Return the attributes, with a channel that the module does not use if there is one."""
    if not i.attributes.get("channel_id"):
        return i.attributes
    used = [int(one.attributes.get("channel_id") or 0) for one in i.parent.module.instructions()]
    return i.attributes.with_values(channel_id=max(used) + 1)


def refresh_channels(computation: HloComputation) -> None:
    """Give the collectives of a copied computation channels of their own.

    Transfers between devices keep theirs: all sends and receives of a channel belong together.
    """
    for i in list(computation.instructions.values()):
        if not i.opcode.name.startswith(("send", "recv")):
            computation.set_attributes(i, with_fresh_channel(i))


def set_bounds(computation: HloComputation, bounds: Bounds) -> None:
    """Change the bounds of iterations in which the pairs of a permute transfer data."""
    for i in list(computation.instructions.values()):
        text = i.attributes.get("frontend_attributes")
        found = _VALIDATION.search(text or "")
        if i.opcode.name != "collective-permute" or text is None or found is None:
            continue
        old = re.findall(r"\{(-?\d+),(-?\d+)\}", found[2])
        new = ",".join(["{{{},{}}}".format(*bounds(int(a), int(b))) for a, b in old])
        changed = f"{text[: found.start()]}{found[1]}{{{new}}}{text[found.end() :]}"
        computation.set_attributes(i, i.attributes.with_values(frontend_attributes=changed))


def only_first(a: int, b: int) -> tuple[int, int]:
    """Return the bounds of the first iteration by itself."""
    return (0, 0) if a <= 0 <= b else (1, 0)


def without_first(a: int, b: int) -> tuple[int, int]:
    """Return the bounds in a loop without its first iteration."""
    return max(0, a - 1), max(0, b - 1)


def only_last(trips: int) -> Bounds:
    """Return the change of bounds for the last iteration by itself."""
    return lambda a, b: (0, 0) if a <= trips - 1 <= b else (1, 0)


def without_last(trips: int) -> Bounds:
    """Return the change of bounds for a loop without its last iteration."""
    return lambda a, b: (a, min(trips - 2, b))
