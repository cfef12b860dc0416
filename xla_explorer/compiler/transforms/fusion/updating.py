"""Reads of a buffer that the fusion updates in place."""

from __future__ import annotations

from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.group import Evaluations, FusionGroup
from xla_explorer.hlo.instruction import HloInstruction

_SEARCHED = 64  # largest number of instructions searched


def updated_text(buffer: HloInstruction | None) -> str:
    """Return the updated buffer as text of a check."""
    return f"updated in place: {'nothing' if buffer is None else '%' + buffer.name}"


def reads_buffer(operand: HloInstruction, buffer: HloInstruction) -> bool:
    """Return True if an operand is the buffer: the same array, through bitcasts."""
    return _origin(operand) == _origin(buffer)


def reads_where_it_writes(
    producer: HloInstruction, group: FusionGroup, evaluations: Evaluations
) -> bool:
    """Return True if each element of the updated buffer is read only where it is overwritten.

    The reader slices the buffer at the place of the update, and only elementwise members follow.
    evaluations: of the producer in the group.
    """
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


def conflicting_reader(producer: HloInstruction, update: HloInstruction) -> HloInstruction | None:
    """Return a dependency of `producer`, or itself, that reads the buffer outside the update.

    It could not be fused into the kernel and would be stored, so the producer should stay outside
    with it.
    """
    buffer, dimensions = update.operands[0], update.operands[1].shape.dimensions
    # the flag: only elementwise operations lie between it and the update
    stack = [(producer, True)]
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
    """Return True if only elementwise members of the update's shape follow the producer."""
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
    """Return the array that an instruction forwards through bitcasts.

    Equal tuple elements are one.
    """
    while i.opcode in fusible.BYTE_PRESERVING:
        i = i.operands[0]
    if i.opcode.name == "get-tuple-element":
        return i.operands[0].id, int(i.attribute("index"))
    return i.id, -1
