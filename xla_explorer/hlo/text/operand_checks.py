"""Checks of operands, shapes and attributes beyond the grammar, as in XLA's parser.

One function each.

XLA's parser rejects or aborts on texts that fail these checks. The verifier checks more. Source:
hlo_parser.cc CreateInstruction; hlo_instruction.cc and hlo_instructions.cc, the Create functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import UNBOUNDED, Shape


class InstructionParts(NamedTuple):
    """An instruction that is about to be made."""

    shape: Shape
    operands: tuple[HloInstruction, ...]
    attributes: Attributes
    called: tuple[HloComputation, ...]


Check = Callable[[InstructionParts], "str | None"]


def _is_tuple(given: InstructionParts) -> str | None:
    return (
        None
        if given.shape.is_tuple
        else f"the shape of a tuple is a tuple, not {given.shape.text_without_layout}"
    )


def _is_tuple_with_elements(given: InstructionParts) -> str | None:
    return (
        None
        if given.shape.tuple_shapes and given.shape.is_tuple
        else "expects the shape of a tuple that is not empty"
    )


def _same_count(given: InstructionParts) -> str | None:
    """Check that the result has as many elements as the operand; skip unknown sizes."""
    before, after = given.operands[0].shape if given.operands else None, given.shape
    if (
        before is not None
        and before.element_count == after.element_count
        and before.is_array
        and after.is_array
    ):
        return None
    if before is None or not (before.is_array and after.is_array):
        return "expects an array"
    if (
        UNBOUNDED in before.dimensions
        or UNBOUNDED in after.dimensions
        or math.prod(before.dimensions) == math.prod(after.dimensions)
    ):
        return None
    return (
        f"{after.text_without_layout} and its operand {before.text_without_layout} differ in "
        "their number of elements"
    )


def _size_for_each_dimension(given: InstructionParts) -> str | None:
    if len(given.operands) == given.shape.rank + 1:
        return None
    return f"expects the array and {given.shape.rank} sizes, but has {len(given.operands)} operands"


def _one_dimension(given: InstructionParts) -> str | None:
    count = len(given.attributes.value("dimensions"))
    return None if count == 1 else f"expects exactly one dimension, but has {count}"


def _one_dimension_if_any(given: InstructionParts) -> str | None:
    return _one_dimension(given) if "dimensions" in given.attributes else None


def _some_dimension(given: InstructionParts) -> str | None:
    return None if given.attributes.value("dimensions") else "expects a dimension, but has none"


def _even(given: InstructionParts) -> str | None:
    count = len(given.operands)
    return (
        None if count % 2 == 0 else f"expects an even number of operands, but has {count} operands"
    )


def _odd(given: InstructionParts) -> str | None:
    count = len(given.operands)
    return None if count % 2 else f"expects an odd number of operands, but has {count} operands"


def _scan_operands(given: InstructionParts) -> str | None:
    count, carries = len(given.operands), given.attributes.value("num_carries")
    parameters = len(given.called[0].parameters())
    if count != parameters:
        return (
            f"expects {count} operands to match the number of parameters of to_apply, but "
            f"to_apply has {parameters} parameters"
        )
    return (
        None
        if 0 <= carries <= count
        else f"expects at least {carries} operands to match the number of carries, but has {count}"
    )


def _ids_with_channel(given: InstructionParts) -> str | None:
    if (
        given.attributes.value("use_global_device_ids")
        and given.attributes.value("channel_id") is None
    ):
        return "Cannot have use_global_device_ids=true without channel_id specified"
    return None


def _slice_operands(given: InstructionParts) -> str | None:
    return _indices(given, 1)


def _update_operands(given: InstructionParts) -> str | None:
    return _indices(given, 2)


def _indices(given: InstructionParts, first: int) -> str | None:
    """Check that there is an index for each dimension, or one vector of all indices."""
    operands = given.operands
    if len(operands) < first:
        return f"expects at least {first} operands, but has {len(operands)}"
    vector = len(operands) == first + 1 and operands[first].shape.rank == 1
    rank = operands[0].shape.rank
    if vector or len(operands) == first + rank:
        return None
    return f"Wrong number of operands: expects {first + rank}, but has {len(operands)}"


def _comparable(given: InstructionParts) -> str | None:
    bad = next((o for o in given.operands if not o.shape.is_array), None)
    return (
        None
        if bad is None
        else f"values of shape {bad.shape.text_without_layout} cannot be compared"
    )


def _same_channel(given: InstructionParts) -> str | None:
    if not given.operands or "channel_id" not in given.operands[0].opcode.attributes:
        return None
    begun, own = given.operands[0].attributes.get("channel_id"), given.attributes.get("channel_id")
    return (
        None if begun == own else f"channel_id is {own}, but {begun} at the start of the transfer"
    )


def _received(given: InstructionParts) -> str | None:
    shape = given.operands[0].shape if given.operands else None
    return (
        None
        if shape is not None and shape.is_tuple and shape.tuple_shapes
        else "expects a recv as its operand"
    )


def _four_to_slice(given: InstructionParts) -> str | None:
    if "slice_sizes" not in given.attributes or len(given.operands) == 4:
        return None
    return f"slice_sizes go with exactly four operands, not {len(given.operands)}"


def _branch_operands(given: InstructionParts) -> str | None:
    if given.called and len(given.operands) == len(given.called) + 1:
        return None
    return (
        f"expects an operand for each of {len(given.called)} branches and the selector, but has "
        f"{len(given.operands)}"
    )


CHECKS: dict[str, tuple[Check, ...]] = {
    "tuple": (_is_tuple,),
    "reshape": (_same_count,),
    "dynamic-reshape": (_same_count, _size_for_each_dimension),
    "sort": (_one_dimension,),
    "concatenate": (_one_dimension,),
    "all-to-all": (_one_dimension_if_any,),
    "reduce": (_even,),
    "reduce-window": (_even,),
    "scatter": (_odd,),
    "scan": (_one_dimension, _scan_operands),
    "all-reduce": (_ids_with_channel,),
    "all-reduce-start": (_ids_with_channel,),
    "all-gather": (_some_dimension,),
    "all-gather-start": (_some_dimension,),
    "reduce-scatter": (_some_dimension, _ids_with_channel),
    "get-dimension-size": (_some_dimension,),
    "set-dimension-size": (_some_dimension,),
    "dynamic-slice": (_slice_operands,),
    "dynamic-update-slice": (_update_operands,),
    "compare": (_comparable,),
    "send-done": (_same_channel,),
    "recv": (_is_tuple_with_elements,),
    "recv-done": (_received, _same_channel),
    "infeed": (_is_tuple_with_elements,),
    "collective-permute": (_four_to_slice,),
    "collective-permute-start": (_four_to_slice,),
    "conditional": (_branch_operands,),
}


def objection(opcode_name: str, given: InstructionParts) -> str | None:
    """Return the message of the first check that the instruction fails; None if it passes."""
    for check in CHECKS.get(opcode_name, ()):
        message = check(given)
        if message is not None:
            return message
    replicated = given.attributes.get("parameter_replication")
    if replicated is not None:
        leaves, said = (
            sum([1 for _ in given.shape.leaves()]),
            len([word for word in replicated.strip("{}").split(",") if word]),
        )
        if leaves != said:
            return (
                f"parameter has {leaves} leaf buffers, but parameter_replication has {said} "
                "elements"
            )
    return None
