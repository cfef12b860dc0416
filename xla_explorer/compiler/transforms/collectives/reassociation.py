"""Reassociation of sums of collective sums.

Source: xla/service/all_reduce_reassociate.cc and reduce_scatter_reassociate.cc.
"""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.simplifiers.algebraic.comparison import holds_every_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import placed_first
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, array_shape

_KINDS = {
    "add": "add",
    "multiply": "multiply",
    "minimum": "minimum",
    "maximum": "maximum",
    "and": "and",
    "or": "or",
}


def reduction_kind(i: HloInstruction) -> str | None:
    """Return the opcode that the reducer applies to its two parameters, else None."""
    root = i.called[0].root if i.called else i
    plain = (
        len(root.operands) == 2
        and {o.opcode.name for o in root.operands} == {"parameter"}
        and root.operands[0] is not root.operands[1]
    )
    return _KINDS.get(root.opcode.name) if plain else None


class CollectiveReassociation:
    """The base of the passes below. opcode: of the collective."""

    name: ClassVar[str]
    opcode: ClassVar[str]

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Rewrite op(collective(x), collective(y)) if op is the collective's reduction."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if (
                    i.opcode.name in _KINDS
                    and len(i.operands) == 2
                    and i.id in computation.instructions
                ):
                    changed |= self._reassociate(i, context)
        return changed

    def _reassociate(self, i: HloInstruction, context: PassContext) -> bool:
        found = [
            side for side in [_behind_moves(x, self.opcode) for x in i.operands] if side is not None
        ]
        if i.operands[0] is i.operands[1] or len(found) < 2:
            return False
        (a, over_a), (b, over_b) = found
        after = _same_cut(over_a, over_b)
        moves = () if after is not None else (*over_a, *over_b)
        inner = [
            over[0].shape if moves and over else x.operands[0].shape
            for x, over in ((a, over_a), (b, over_b))
        ]
        reason = _same_collective(i, a, b) or self._moves_commute_with_sum(i, moves)
        if reason is None and inner[0] is not inner[1]:
            reason = refuse(
                "shape-differs", f"%{a.name} and %{b.name} are given {inner[0]} and {inner[1]}"
            )
        if reason is not None:
            context.refused(self.name, i, reason)
            return False
        computation, before = i.parent, i.parent.module.next_instruction_id
        sides = [
            _moved(x.operands[0], over if moves else ()) for x, over in ((a, over_a), (b, over_b))
        ]
        together = computation.add(i.opcode, inner[0], sides, name=i.name)
        shape = together.shape if moves else a.shape
        called = a.called
        if shape.element_type is not a.called[0].root.shape.element_type:
            called = (_reducer(i, shape),)
        made = computation.add(
            a.opcode, shape, (together,), a.attributes, called=called, name=a.name
        )
        result = (
            made
            if after is None
            else computation.add(
                after.opcode, i.shape, (made, *after.operands[1:]), after.attributes
            )
        )
        context.rewrote(
            self.name, i, result, tuple(range(before, computation.module.next_instruction_id))
        )
        substitute(i, result, before)
        return True

    def _moves_commute_with_sum(
        self, i: HloInstruction, moves: tuple[HloInstruction, ...]
    ) -> Reason | None:
        """Require that the moves between the two sums commute with the addition."""
        for move in moves:
            source, target = move.operands[0].shape.element_type, move.shape.element_type
            if self.opcode != "all-reduce" or move.opcode.name == "dynamic-slice":
                return refuse(
                    "moves-between",
                    f"%{move.name} stands between a {self.opcode} and %{i.name}",
                    move=move.name,
                )
            if source is target:
                continue
            wraps = (
                i.opcode.name in ("add", "multiply")
                and not source.is_float
                and not source.is_complex
            )
            if move.opcode.name != "convert" or wraps or not holds_every_value(source, target):
                return refuse(
                    "sums-differ",
                    f"{source} and {target} are combined differently",
                    of=source.name,
                    to=target.name,
                )
        return None


# Operations that may stand between both sums: the same for each element, or dropping elements.
_MOVES = frozenset(["bitcast", "reshape", "slice", "convert", "dynamic-slice"])


def _behind_moves(
    x: HloInstruction, opcode_name: str
) -> tuple[HloInstruction, tuple[HloInstruction, ...]] | None:
    """Return (the collective behind x, the moves after it, the last first), or None.

    Each must have a single reader.
    """
    moves: list[HloInstruction] = []
    while x.opcode.name in _MOVES and len(x.users) == 1 and not x.is_root:
        moves.append(x)
        x = x.operands[0]
    if x.opcode.name != opcode_name or len(x.operands) != 1 or len(x.users) != 1 or x.is_root:
        return None
    return x, tuple(moves)


def _same_collective(i: HloInstruction, a: HloInstruction, b: HloInstruction) -> Reason | None:
    """Require two collectives that reduce like `i`, over the same groups.

    Both must be in the same scheduling group; one may use a wider type.
    """
    for x in (a, b):
        if reduction_kind(x) != i.opcode.name:
            return refuse("other-operation", f"%{x.name} does not {i.opcode.name}")
        if x.control_predecessors:
            return refuse("control-dependency", f"%{x.name} has to wait for others")
    ours, theirs = [
        x.attributes.with_values(channel_id=None, sharding=None, frontend_attributes=None)
        for x in (a, b)
    ]
    groups = [
        re.search(r'_scheduling_group_id="([^"]*)"', x.attributes.get("frontend_attributes") or "")
        for x in (a, b)
    ]
    labels = [None if found is None else found[1] for found in groups]
    if (
        ours is theirs
        and ("channel_id" in a.attributes) == ("channel_id" in b.attributes)
        and labels[0] == labels[1]
    ):
        return None
    return refuse("collectives-differ", f"%{a.name} and %{b.name} are not over the same groups")


def _same_cut(
    over_a: tuple[HloInstruction, ...], over_b: tuple[HloInstruction, ...]
) -> HloInstruction | None:
    """Return the only move on both sides if it is the same dynamic-slice: it can follow the sum."""
    if len(over_a) == len(over_b) == 1:
        a, b = over_a[0], over_b[0]
        same = (
            a.operands[1:] == b.operands[1:]
            and a.attributes is b.attributes
            and a.operands[0].shape is b.operands[0].shape
        )
        return a if a.opcode.name == b.opcode.name == "dynamic-slice" and same else None
    return None


def _moved(x: HloInstruction, moves: tuple[HloInstruction, ...]) -> HloInstruction:
    for move in reversed(moves):
        x = move.parent.add(move.opcode, move.shape, (x,), move.attributes, metadata=move.metadata)
    return x


def _reducer(i: HloInstruction, shape: Shape) -> HloComputation:
    """Return a computation that applies `i` to scalars of the element type."""
    scalar = array_shape(shape.element_type, ())
    made = i.parent.module.add_computation(f"{i.opcode.name}_{shape.element_type.name}")
    made.root = made.add(
        i.opcode, scalar, (made.add_parameter(0, scalar, "a"), made.add_parameter(1, scalar, "b"))
    )
    return placed_first(made)


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceReassociate(CollectiveReassociation):
    """Rewrite add(all-reduce(x), all-reduce(y)) as all-reduce(add(x, y)).

    Reshapes, slices and widening may stand between.
    """

    name: ClassVar[str] = "all-reduce-reassociate"
    opcode: ClassVar[str] = "all-reduce"


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReduceScatterReassociate(CollectiveReassociation):
    """Rewrite add(reduce-scatter(x), reduce-scatter(y)) as reduce-scatter(add(x, y))."""

    name: ClassVar[str] = "reduce-scatter-reassociate"
    opcode: ClassVar[str] = "reduce-scatter"
