"""Collectives on one device: what a group of one exchanges with itself. Larger groups are refused.

Replica and partition ids are 0. `all-reduce` and its kin return their operands, a `collective-permute` without the pair
{0,0} gives zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.registry import UnsupportedOpcodeError, Value, evaluates
from xla_explorer.hlo.evaluator.structural import zeros

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


def check_group_of_one(i: HloInstruction) -> None:
    """UnsupportedOpcodeError when the instruction's groups have more than one member."""
    groups = i.attributes.value("replica_groups")
    largest = max([len(g) for g in groups.groups], default=1) if groups is not None else 1
    if largest > 1:
        raise UnsupportedOpcodeError(
            i.opcode.name, f"%{i.name} works in groups of {largest} devices; the evaluator has one device"
        )


@evaluates("replica-id", "partition-id")
def device_number(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """0."""
    return np.zeros((), np.uint32)


@evaluates(
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "collective-broadcast",
    "all-to-all",
    "all-reduce-start",
    "collective-reduce",
)
def keep(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """The operands themselves."""
    check_group_of_one(i)
    return tuple(operands) if i.shape.is_tuple else operands[0]


@evaluates("collective-permute")
def collective_permute(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """The operands when device 0 sends to itself, else zeros."""
    pairs = i.attributes.value("source_target_pairs")
    if any(max(pair) > 0 for pair in pairs):
        raise UnsupportedOpcodeError(
            i.opcode.name, f"%{i.name} sends between devices {list(pairs)}; the evaluator has one device"
        )
    if not pairs:
        return zeros(i.shape)
    return tuple(operands) if i.shape.is_tuple else operands[0]


@evaluates("all-gather-start", "collective-permute-start")
def start(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """(operands, results, contexts ...)."""
    if i.opcode.name == "collective-permute-start":
        pairs = i.attributes.value("source_target_pairs")
        if any(max(pair) > 0 for pair in pairs):
            raise UnsupportedOpcodeError(
                i.opcode.name, f"%{i.name} sends between devices; the evaluator has one device"
            )
    else:
        check_group_of_one(i)
    value: Value = tuple(operands) if i.shape.tuple_shapes[0].is_tuple else operands[0]
    return (value, value, *[zeros(part) for part in i.shape.tuple_shapes[2:]])


@evaluates("all-gather-done", "collective-permute-done")
def done(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """The results held in the state."""
    return operands[0][1]


@evaluates("all-reduce-done")
def all_reduce_done(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """The result, which is the state."""
    return operands[0]


@evaluates("ragged-all-to-all")
def ragged_all_to_all(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """(input, output, input offsets, send sizes, output offsets, receive sizes): rows copied to oneself."""
    check_group_of_one(i)
    source, target, input_offsets, sizes, output_offsets, _ = operands
    result = target.copy()
    for begin, size, into in zip(map(int, input_offsets), map(int, sizes), map(int, output_offsets), strict=True):
        result[into : into + size] = source[begin : begin + size]
    return result
