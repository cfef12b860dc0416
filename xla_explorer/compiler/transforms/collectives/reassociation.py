"""Sums of collective sums become the collective sum of a sum.

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
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, array_shape

_KINDS = {"add": "add", "multiply": "multiply", "minimum": "minimum", "maximum": "maximum", "and": "and", "or": "or"}


def reduction_kind(i: HloInstruction) -> str | None:
    """The opcode that the collective's reducer applies to its two parameters, None for others."""
    root = i.called[0].root if i.called else i
    plain = len(root.operands) == 2 and {o.opcode.name for o in root.operands} == {"parameter"} and root.operands[0] is not root.operands[1]
    return _KINDS.get(root.opcode.name) if plain else None


class CollectiveReassociation:
    """opcode: of the collective."""

    name: ClassVar[str]
    opcode: ClassVar[str]

    def run(self, module: HloModule, context: PassContext) -> bool:
        """op(collective(x), collective(y)) wherever op is what the collective computes."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if i.opcode.name in _KINDS and len(i.operands) == 2 and i.id in computation.instructions:
                    changed |= self._reassociate(i, context)
        return changed

    def _reassociate(self, i: HloInstruction, context: PassContext) -> bool:
        sides = [_behind_moves(x, self.opcode) for x in i.operands]
        if i.operands[0] is i.operands[1] or any(side is None for side in sides):
            return False
        (a, over_a), (b, over_b) = [side for side in sides if side is not None]
        if not _alike(a, b) or any(reduction_kind(x) != i.opcode.name or x.control_predecessors for x in (a, b)):
            return False
        after = _same_cut(over_a, over_b)
        moves = (*over_a, *over_b)
        if after is None and moves and (self.opcode != "all-reduce" or any(m.opcode.name == "dynamic-slice" for m in moves)):
            return False
        computation, before = i.parent, i.parent.module.next_instruction_id
        inner = [_moved(x.operands[0], () if after is not None else over) for x, over in ((a, over_a), (b, over_b))]
        if inner[0].shape is not inner[1].shape:
            return False
        together = computation.add(i.opcode, inner[0].shape, inner, name=i.name)
        shape = a.shape if after is not None or not moves else together.shape
        called = a.called
        if shape.element_type is not a.called[0].root.shape.element_type:
            called = (_reducer(i, shape),)
        made = computation.add(a.opcode, shape, (together,), a.attributes, called=called, name=a.name)
        result = made if after is None else computation.add(after.opcode, i.shape, (made, *after.operands[1:]), after.attributes)
        context.rewrote(self.name, i, result, tuple(range(before, computation.module.next_instruction_id)))
        substitute(i, result, before)
        return True


# What may stand between a sum over devices and a sum here: it treats each element alike, or leaves some out.
_MOVES = frozenset(["bitcast", "reshape", "slice", "convert", "dynamic-slice"])


def _behind_moves(x: HloInstruction, opcode_name: str) -> tuple[HloInstruction, tuple[HloInstruction, ...]] | None:
    """(the collective that x comes from, what moves its elements, the last one first), when nobody else reads any of them."""
    moves: list[HloInstruction] = []
    while x.opcode.name in _MOVES and len(x.users) == 1 and not x.is_root:
        if x.opcode.name == "convert" and not holds_every_value(x.operands[0].shape.element_type, x.shape.element_type):
            return None
        moves.append(x)
        x = x.operands[0]
    if x.opcode.name != opcode_name or len(x.operands) != 1 or len(x.users) != 1 or x.is_root:
        return None
    return x, tuple(moves)


def _alike(a: HloInstruction, b: HloInstruction) -> bool:
    """The same collective over the same groups, in the same group of the schedule; one may sum in a wider type."""
    ours, theirs = [x.attributes.with_values(channel_id=None, sharding=None, frontend_attributes=None) for x in (a, b)]
    groups = [re.search(r'_scheduling_group_id="([^"]*)"', x.attributes.get("frontend_attributes") or "") for x in (a, b)]
    labels = [None if found is None else found[1] for found in groups]
    return ours is theirs and ("channel_id" in a.attributes) == ("channel_id" in b.attributes) and labels[0] == labels[1]


def _same_cut(over_a: tuple[HloInstruction, ...], over_b: tuple[HloInstruction, ...]) -> HloInstruction | None:
    """The dynamic-slice of both sides, when it is all that is done to either, and the same: it can follow the sum."""
    if len(over_a) == len(over_b) == 1:
        a, b = over_a[0], over_b[0]
        same = a.operands[1:] == b.operands[1:] and a.attributes is b.attributes and a.operands[0].shape is b.operands[0].shape
        return a if a.opcode.name == b.opcode.name == "dynamic-slice" and same else None
    return None


def _moved(x: HloInstruction, moves: tuple[HloInstruction, ...]) -> HloInstruction:
    for move in reversed(moves):
        x = move.parent.add(move.opcode, move.shape, (x,), move.attributes, metadata=move.metadata)
    return x


def _reducer(i: HloInstruction, shape: Shape) -> HloComputation:
    """A computation that does to scalars of the element type what `i` does."""
    scalar = array_shape(shape.element_type, ())
    made = i.parent.module.add_computation(f"{i.opcode.name}_{shape.element_type.name}")
    made.root = made.add(i.opcode, scalar, (made.add_parameter(0, scalar, "a"), made.add_parameter(1, scalar, "b")))
    return placed_first(made)


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceReassociate(CollectiveReassociation):
    """add(all-reduce(x), all-reduce(y)) becomes all-reduce(add(x, y)), also where reshapes, slices and widening stand between."""

    name: ClassVar[str] = "all-reduce-reassociate"
    opcode: ClassVar[str] = "all-reduce"


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReduceScatterReassociate(CollectiveReassociation):
    """add(reduce-scatter(x), reduce-scatter(y)) becomes reduce-scatter(add(x, y))."""

    name: ClassVar[str] = "reduce-scatter-reassociate"
    opcode: ClassVar[str] = "reduce-scatter"
