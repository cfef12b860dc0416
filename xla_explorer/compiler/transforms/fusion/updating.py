"""Fusions that update a buffer in place: when may what they compute read that buffer?"""

from __future__ import annotations

from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.group import Evaluations, FusionGroup
from xla_explorer.hlo.instruction import HloInstruction

_SEARCHED = 64  # instructions at most


def told(buffer: HloInstruction | None) -> str:
    """What is updated in place, as a check tells it."""
    return f"updated in place: {'nothing' if buffer is None else '%' + buffer.name}"


def reads_buffer(operand: HloInstruction, buffer: HloInstruction) -> bool:
    """Whether an operand is the buffer: the same array, seen through bitcasts."""
    return _origin(operand) == _origin(buffer)


def reads_where_it_writes(
    producer: HloInstruction, group: FusionGroup, evaluations: Evaluations
) -> bool:
    """Whether a reader of the buffer that a group updates reads each element only where, and just before, it is overwritten: it slices
    the buffer at the place of the update, and what lies between is elementwise. evaluations: of the producer in the group."""
    root = group.root
    return (
        producer.opcode is fusible.DYNAMIC_SLICE
        and _origin(producer.operands[0]) == _origin(root.operands[0])
        and producer.operands[1:] == root.operands[2:]
        and producer.shape.dimensions == root.operands[1].shape.dimensions
        and len(evaluations) == 1
        and evaluations[0].points == producer.shape.element_count
        and _in_step(producer, group)
    )


def reader_in_the_way(producer: HloInstruction, update: HloInstruction) -> HloInstruction | None:
    """What `producer` needs, itself included, that reads the buffer of the dynamic-update-slice elsewhere than where it is written: it
    could not follow the producer into the kernel and would have to be stored, so the producer had better stay outside with it."""
    buffer, dimensions = update.operands[0], update.operands[1].shape.dimensions
    stack = [(producer, True)]  # with: only elementwise operations lie between it and the update
    seen = set(stack)
    while stack and len(seen) < _SEARCHED:
        i, in_step = stack.pop()
        if i.opcode not in fusible.PRODUCERS:
            continue
        if any(reads_buffer(o, buffer) for o in i.operands):
            same_place = (
                i.opcode is fusible.DYNAMIC_SLICE
                and i.operands[1:] == update.operands[2:]
                and i.shape.dimensions == dimensions
            )
            if not (same_place and in_step) and i.opcode not in fusible.BYTE_PRESERVING:
                return i
            continue
        in_step = in_step and i.opcode.elementwise and i.shape.dimensions == dimensions
        for operand in i.operands:
            if (operand, in_step) not in seen:
                seen.add((operand, in_step))
                stack.append((operand, in_step))
    return None


def _in_step(producer: HloInstruction, group: FusionGroup) -> bool:
    """Whether only elementwise members of the update's shape lie between the producer and the update."""
    update = group.root.operands[1]
    if producer is update:
        return True
    return all(
        user is not group.root
        and user.opcode.elementwise
        and user.shape.dimensions == update.shape.dimensions
        and _in_step(user, group)
        for user in producer.users
        if user in group.members
    )


def _origin(i: HloInstruction) -> tuple[int, int]:
    """What array an instruction forwards: through bitcasts, and equal tuple elements count as one."""
    while i.opcode in fusible.BYTE_PRESERVING:
        i = i.operands[0]
    if i.opcode.name == "get-tuple-element":
        return i.operands[0].id, int(i.attribute("index"))
    return i.id, -1
