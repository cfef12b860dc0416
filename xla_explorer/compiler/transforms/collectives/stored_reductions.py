"""Reductions over devices that a loop stores into a buffer, a part in each iteration.

If the parts cover the buffer, each once, the reduction of the whole buffer after the loop has the
same elements.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.compiler.transforms.loops.induction import (
    InductionVariable,
    constant_bound,
    element_index,
    find_induction,
)
from xla_explorer.compiler.transforms.loops.loop_state import readers_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import Evaluator
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT

MOST_TRIPS: Final = 4096  # of a loop whose indices are computed
_KEEPS_ORDER: Final = ("reshape", "bitcast")


class StoredReduction(NamedTuple):
    """A reduction over devices that only goes into element `number` of a loop's state."""

    number: int
    reduction: HloInstruction


def stored_reductions(loop: HloInstruction) -> list[StoredReduction]:
    """Return the all-reduces whose results cover an element of the state, and have no other use."""
    induction = find_induction(loop)
    if isinstance(induction, Reason) or not 0 < (induction.trip_count or 0) <= MOST_TRIPS:
        return []
    found = []
    for number, write in enumerate(loop.called[1].root.operands):
        reduction = _stored(loop, number, write)
        if reduction is not None and _covers(write, loop, induction):
            found.append(StoredReduction(number, reduction))
    return found


def _stored(loop: HloInstruction, number: int, write: HloInstruction) -> HloInstruction | None:
    condition, body = loop.called
    if write.opcode.name != "dynamic-update-slice" or list(write.users) != [body.root]:
        return None
    readers = readers_of(body, number)
    if readers != [write.operands[0]] or list(readers[0].users) != [write]:
        return None
    if body.root.operands.count(write) > 1 or readers_of(condition, number):
        return None
    value = write.operands[1]
    while len(value.users) == 1 and value.opcode.name in _KEEPS_ORDER:
        value = value.operands[0]
    fits = (
        value.opcode.name == "all-reduce"
        and len(value.operands) == 1
        and len(value.users) == 1
        and reduction_kind(value) is not None
        and not value.control_predecessors
    )
    return value if fits else None


def _covers(write: HloInstruction, loop: HloInstruction, induction: InductionVariable) -> bool:
    """Return True if the updates of all iterations cover the buffer, each element once."""
    whole, part = write.operands[0].shape.dimensions, write.operands[1].shape.dimensions
    moved = [d for d, (n, m) in enumerate(zip(whole, part, strict=True)) if n != m]
    trips = induction.trip_count
    if len(moved) != 1 or trips is None or trips * part[moved[0]] != whole[moved[0]]:
        return False
    index = write.operands[2 + moved[0]]
    starts = set()
    for trip in range(trips):
        value = value_at(index, loop, induction.element, induction.first + trip * induction.step)
        if value is None:
            return False
        starts.add(value)
    wanted = {k * part[moved[0]] for k in range(trips)}
    return starts == wanted


def value_at(i: HloInstruction, loop: HloInstruction, element: int, counter: int) -> int | None:
    """Return a scalar of the body in the iteration with this counter, or None."""
    made = _computed(i, loop, element, counter, Evaluator())
    return None if made is None else int(made)


def _computed(
    i: HloInstruction, loop: HloInstruction, element: int, counter: int, evaluator: Evaluator
) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]] | None:
    if not i.shape.is_array or i.shape.rank or i.shape.element_type.dtype.kind not in "iub":
        return None
    if i.opcode.name == "constant":
        return np.asarray(i.literal.array)
    if i.opcode is GET_TUPLE_ELEMENT:
        value = counter if element_index(i) == element else constant_bound(loop, i)
        return None if value is None else np.asarray(value, i.shape.element_type.dtype)
    if not i.opcode.elementwise or i.called:
        return None
    operands = [_computed(o, loop, element, counter, evaluator) for o in i.operands]
    if any(o is None for o in operands):
        return None
    return np.asarray(evaluator.evaluate_instruction(i, operands))
