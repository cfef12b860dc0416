"""Replacement of single leaves of a tuple by new tuples and get-tuple-elements.

Unchanged parts are shared.
"""

from __future__ import annotations

from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, TUPLE
from xla_explorer.hlo.shape import tuple_shape

Index = tuple[int, ...]


def leaf(i: HloInstruction, index: Index, made: list[HloInstruction]) -> HloInstruction:
    """Return the instruction of one leaf of `i`; append new get-tuple-elements to `made`."""
    for number in index:
        if i.opcode is TUPLE:
            i = i.operands[number]
        else:
            existing = next(
                (
                    u
                    for u in i.users
                    if u.opcode is GET_TUPLE_ELEMENT
                    and u.attribute("index") == number
                    and u in made
                ),
                None,
            )
            if existing is None:
                existing = i.parent.add(
                    GET_TUPLE_ELEMENT,
                    i.shape.tuple_shapes[number],
                    (i,),
                    attributes_of({"index": number}),
                )
                made.append(existing)
            i = existing
    return i


def with_leaves(
    i: HloInstruction,
    replaced: dict[Index, HloInstruction],
    made: list[HloInstruction],
    at: Index = (),
) -> HloInstruction:
    """Return `i` with some leaves replaced; append new instructions to `made`.

    Indices are relative to the outermost tuple.
    """
    if at in replaced:
        return replaced[at]
    if not any(index[: len(at)] == at for index in replaced):
        return i
    parts = [
        with_leaves(leaf(i, (number,), made), replaced, made, (*at, number))
        for number in range(len(i.shape.tuple_shapes))
    ]
    result = i.parent.add(
        TUPLE,
        tuple_shape([p.shape for p in parts]),
        parts,
        name=i.name if i.opcode is TUPLE else "tuple",
    )
    made.append(result)
    return result
