"""Collected copies, inserted together, with the update of schedules."""

from __future__ import annotations

from xla_explorer.compiler.transforms.copies.tuple_surgery import Index, leaf, with_leaves
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import opcode

_COPY = opcode("copy")


class CopyEdits:
    """Edits by computation; `apply` makes them."""

    def __init__(self) -> None:
        self._operands: dict[HloInstruction, list[int]] = {}
        self._operand_leaves: dict[HloInstruction, list[Index]] = {}
        self._root_steps: dict[HloComputation, list[tuple[Index, int, bool]]] = {}

    def copy_operand(self, i: HloInstruction, number: int) -> None:
        """Copy one operand just before its user."""
        self._operands.setdefault(i, []).append(number)

    def copy_operand_leaf(self, i: HloInstruction, index: Index) -> None:
        """Copy one leaf of operand 0 just before its user."""
        self._operand_leaves.setdefault(i, []).append(index)

    def copy_root_leaf(
        self, computation: HloComputation, index: Index, temporary: int = -1
    ) -> None:
        """Copy one leaf of the root at the end, from temporary `temporary` unless it is -1."""
        self._root_steps.setdefault(computation, []).append((index, temporary, False))

    def copy_to_temporary(self, computation: HloComputation, number: int, index: Index) -> None:
        """Copy the operand of a root leaf to temporary `number`, at the end."""
        self._root_steps.setdefault(computation, []).append((index, number, True))

    def apply(self) -> bool:
        """Make the copies; return True if there were any."""
        before: dict[HloInstruction, list[HloInstruction]] = {}
        at_end: dict[HloComputation, list[HloInstruction]] = {}
        touched: dict[HloComputation, None] = {}
        for i, numbers in self._operands.items():
            touched[i.parent] = None
            for number in numbers:
                copy = _copy_of(i.operands[number])
                i.parent.replace_operand(i, number, copy)
                before.setdefault(i, []).append(copy)
        for computation, steps in self._root_steps.items():
            touched[computation] = None
            at_end[computation] = _rebuild_root(computation, steps)
        for i, indices in self._operand_leaves.items():
            touched[i.parent] = None
            made: list[HloInstruction] = []
            replaced: dict[Index, HloInstruction] = {}
            for index in indices:
                copy = _copy_of(leaf(i.operands[0], index, made))
                made.append(copy)
                replaced[index] = copy
            i.parent.replace_operand(i, 0, with_leaves(i.operands[0], replaced, made))
            before.setdefault(i, []).extend(made)
        for computation in touched:
            if computation.schedule is not None:
                order = [new for i in computation.schedule for new in (*before.get(i, ()), i)]
                order.extend(at_end.get(computation, ()))
                computation.set_schedule(_without_dead_tuples(computation, order))
        return bool(touched)


def _copy_of(source: HloInstruction) -> HloInstruction:
    copy = source.parent.add(
        _COPY,
        source.shape,
        (source,),
        name=f"copy_{source.name}" if len(source.name) < 40 else "copy",
    )
    copy.metadata, copy.line = source.metadata, source.line
    return copy


def _rebuild_root(
    computation: HloComputation, steps: list[tuple[Index, int, bool]]
) -> list[HloInstruction]:
    made: list[HloInstruction] = []
    replaced: dict[Index, HloInstruction] = {}
    temporary: dict[int, HloInstruction] = {}
    root = computation.root
    for index, number, into in steps:
        if into:
            temporary[number] = _copy_of(leaf(root, index, made))
            made.append(temporary[number])
        else:
            copy = _copy_of(temporary[number] if number >= 0 else leaf(root, index, made))
            made.append(copy)
            replaced[index] = copy
    computation.set_root(with_leaves(root, replaced, made))
    return made


def _without_dead_tuples(
    computation: HloComputation, order: list[HloInstruction]
) -> list[HloInstruction]:
    """Drop tuples and elements without users."""
    kept: list[HloInstruction] = []
    for i in reversed(order):
        if (
            not i.users
            and i is not computation.root
            and i.opcode.name in ("tuple", "get-tuple-element")
        ):
            computation.remove(i)
        else:
            kept.append(i)
    kept.reverse()
    return kept
