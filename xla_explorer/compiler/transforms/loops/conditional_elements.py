"""Removal of repeated and unused elements of conditionals.

Source: xla/service/conditional_simplifier.cc.
"""

from __future__ import annotations

from collections import Counter

from xla_explorer.compiler.rewriting.removal import remove_if_dead, replace_root
from xla_explorer.compiler.transforms.loops.loop_state import (
    element,
    parameter_of,
    read_only_by_elements,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import TUPLE
from xla_explorer.hlo.shape import tuple_shape

Callers = Counter[HloComputation]


def count_callers(module: HloModule) -> Callers:
    """Return the number of calls of each computation."""
    return Counter([called for i in module.instructions() for called in i.called])


def may_be_narrowed(conditional: HloInstruction) -> bool:
    """Return True if the result is a tuple read only by elements, without a sharding."""
    return (
        conditional.shape.is_tuple
        and read_only_by_elements(conditional)
        and not conditional.attributes.sharding_text
    )


def _own_branch(conditional: HloInstruction, number: int, callers: Callers) -> HloComputation:
    """Return the branch, cloned if it has other callers."""
    branch = conditional.called[number]
    if callers[branch] == 1:
        return branch
    callers[branch] -= 1
    copy = branch.clone()
    callers[copy] = 1
    callers.update([called for i in copy.instructions.values() for called in i.called])
    conditional.parent.set_called(
        conditional, (*conditional.called[:number], copy, *conditional.called[number + 1 :])
    )
    return copy


def share_equal_results(conditional: HloInstruction) -> int:
    """Read elements that are equal in every branch at the first.

    Return the number of changed reads.
    """
    if not may_be_narrowed(conditional) or any(
        branch.root.opcode is not TUPLE for branch in conditional.called
    ):
        return 0
    first: dict[tuple[HloInstruction, ...], int] = {}
    place = [
        first.setdefault(values, k)
        for k, values in enumerate(zip(*[b.root.operands for b in conditional.called], strict=True))
    ]
    moved = [
        user
        for user in conditional.users
        if place[user.attributes["index"]] != user.attributes["index"]
    ]
    for user in moved:
        conditional.parent.set_attributes(
            user, user.attributes.with_values(index=place[user.attributes["index"]])
        )
    return len(moved)


def drop_unused_results(conditional: HloInstruction, callers: Callers) -> int:
    """Drop elements of the result that nothing reads; return their number."""
    if not may_be_narrowed(conditional):
        return 0
    count, kept = (
        len(conditional.shape.tuple_shapes),
        sorted({int(user.attributes["index"]) for user in conditional.users}),
    )
    if len(kept) == count:
        return 0
    for number in range(len(conditional.called)):
        branch = _own_branch(conditional, number, callers)
        root = branch.root
        parts = [
            root.operands[k] if root.opcode is TUPLE else element(branch, root, k) for k in kept
        ]
        replace_root(
            branch,
            branch.add(TUPLE, tuple_shape([part.shape for part in parts]), parts, name=root.name),
        )
        remove_dead_instructions(branch)
    computation = conditional.parent
    computation.set_shape(
        conditional, tuple_shape([conditional.shape.tuple_shapes[k] for k in kept])
    )
    for user in conditional.users:
        computation.set_attributes(
            user, user.attributes.with_values(index=kept.index(user.attributes["index"]))
        )
    return count - len(kept)


def drop_unused_operands(conditional: HloInstruction, callers: Callers) -> int:
    """Drop elements of a branch's operands that it does not read; return their number."""
    computation, dropped = conditional.parent, 0
    if conditional.attributes.sharding_text:
        return 0
    for number in range(len(conditional.called)):
        parameter = parameter_of(conditional.called[number])
        if not parameter.shape.is_tuple or not read_only_by_elements(parameter):
            continue
        count = len(parameter.shape.tuple_shapes)
        kept = sorted(
            {
                int(user.attributes["index"])
                for user in parameter.users
                if user.users or user.is_root
            }
        )
        if len(kept) == count:
            continue
        dropped += count - len(kept)
        branch = _own_branch(conditional, number, callers)
        parameter = parameter_of(branch)
        for user in list(parameter.users):
            index = int(user.attributes["index"])
            if index in kept:
                branch.set_attributes(user, user.attributes.with_values(index=kept.index(index)))
            else:
                remove_if_dead(branch, user)
        branch.set_shape(parameter, tuple_shape([parameter.shape.tuple_shapes[k] for k in kept]))
        given = conditional.operands[number + 1]
        parts = [
            given.operands[k] if given.opcode is TUPLE else element(computation, given, k)
            for k in kept
        ]
        made = computation.add(TUPLE, tuple_shape([part.shape for part in parts]), parts)
        operands = list(conditional.operands)
        operands[number + 1] = made
        computation.set_operands(conditional, operands)
        remove_if_dead(computation, given)
    return dropped
