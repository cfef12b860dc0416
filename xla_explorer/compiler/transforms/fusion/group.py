"""A fusion under construction: its root, its members, and the evaluations of each member.

Elemental code evaluates a member once per distinct index expression. Elementwise users share one
expression; a broadcast, slice, transpose ... makes a new one. Counting them limits the code, which
can otherwise double at each level (XLA: `FusionNodeIndexingEvaluation`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xla_explorer.compiler.costs.opcode_cost import emitted_instructions
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.hlo.instruction import HloInstruction


class Evaluation(NamedTuple):
    """One index expression under which a member is evaluated.

    key: 0 for the index of the result itself. points: number of evaluations in the whole kernel, at
    every iteration. hoisted: number of evaluations after loop-invariant code motion out of inner
    loops.
    """

    key: int
    points: int
    hoisted: int


Evaluations = tuple[Evaluation, ...]


class FusionGroup:
    """The group. members: instruction -> its evaluations, the root first.

    Operands: read from memory.
    """

    __slots__ = ("_keys", "emitted", "in_place", "members", "operands", "root")

    def __init__(self, root: HloInstruction) -> None:
        self.root = root
        points = (
            root.operands[0].shape.element_count
            if root.opcode is fusible.REDUCE
            else (
                root.operands[1].shape.element_count
                if root.opcode is fusible.DYNAMIC_UPDATE_SLICE
                else root.shape.element_count
            )
        )
        self.members: dict[HloInstruction, Evaluations] = {root: (Evaluation(0, points, points),)}
        self.operands: dict[HloInstruction, None] = dict.fromkeys(root.operands)
        self.emitted = emitted_instructions(root)
        self.in_place = root.operands[0] if root.opcode is fusible.DYNAMIC_UPDATE_SLICE else None
        self._keys: dict[tuple[int, int, int], int] = {}

    def evaluations_of(
        self, producer: HloInstruction, users: Iterable[HloInstruction] | None = None
    ) -> Evaluations:
        """Return the evaluations of a producer in this group, one per index expression of users.

        users: its users that are members, if the caller has them.
        """
        members = self.members
        found: Evaluations | None = None
        merged: dict[int, Evaluation] | None = None
        for user in producer.users if users is None else users:
            above = members.get(user)
            if above is None:
                continue
            if user.opcode.elementwise and producer.shape.rank == user.shape.rank:
                here = above
            else:
                here = self._through(user, producer, above)
            if found is None or found is here:
                found = here
            else:
                if merged is None:
                    merged = {e.key: e for e in found}
                for e in here:
                    merged.setdefault(e.key, e)
        if merged is not None:
            return (
                found if found is not None and len(merged) == len(found) else tuple(merged.values())
            )
        return found or ()

    def _through(
        self, user: HloInstruction, producer: HloInstruction, above: Evaluations
    ) -> Evaluations:
        size = producer.shape.element_count
        if size == 1:
            return (
                Evaluation(-1, above[0].points, 1),
            )  # no index at all: loop-invariant for every reader
        result = []
        opcode = user.opcode
        for number, operand in enumerate(user.operands):
            if operand is not producer:
                continue
            for e in above:
                key = self._keys.setdefault((user.id, number, e.key), len(self._keys) + 1)
                points = hoisted = e.points
                if opcode is fusible.BROADCAST:
                    hoisted = min(e.hoisted, _hoisted_points(user)) if e.key == 0 else e.hoisted
                elif opcode is fusible.REDUCE and user is not self.root:
                    points = hoisted = e.points * fusible.reduced_size(user)
                elif opcode is fusible.REDUCE_WINDOW:
                    points = hoisted = e.points * fusible.window_size(user)
                elif opcode is fusible.CONCATENATE or opcode is fusible.PAD:
                    points = hoisted = min(
                        points, max(1, points * size // max(1, user.shape.element_count))
                    )
                result.append(Evaluation(key, points, hoisted))
        return tuple(result)

    def absorb(self, producer: HloInstruction, evaluations: Evaluations) -> None:
        """Make a producer a member."""
        self.members[producer] = evaluations
        self.operands.pop(producer, None)
        members = self.members
        for operand in producer.operands:
            if operand not in members:
                self.operands[operand] = None
        self.emitted += emitted_instructions(producer) * len(evaluations)

    def leave_reshapes_outside(self) -> list[HloInstruction]:
        """Remove reshapes of values in memory, which are free outside; return them."""
        left: list[HloInstruction] = []
        members = self.members
        while fringe := [
            m
            for m in members
            if m.opcode in fusible.BYTE_PRESERVING and m.operands[0] not in members
        ]:
            for member in fringe:
                del members[member]
                self.operands[member] = None
                if not any(member.operands[0] is o for m in members for o in m.operands):
                    self.operands.pop(member.operands[0], None)
            left += fringe
        return left

    def operand_count_with(self, producer: HloInstruction) -> int:
        """Return the number of operands in memory if the producer were absorbed."""
        fresh = sum(
            [1 for o in producer.operands if o not in self.operands and o not in self.members]
        )
        return len(self.operands) + fresh - (producer in self.operands)


def _hoisted_points(broadcast: HloInstruction) -> int:
    """Return the evaluations of a broadcast's operand outside the loops of repeated dimensions."""
    last = max(broadcast.attribute("dimensions"), default=-1)
    points = 1
    for size in broadcast.shape.dimensions[: last + 1]:
        points *= size
    return points
