"""Manual regions (JAX's `shard_map`): inside a region a device has only its shards of the arrays.

Outside, every device runs the whole program on whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import INTO, OUT_OF, Border, border
from xla_explorer.hlo.evaluator.registry import (
    TOKEN_VALUE,
    EvaluationError,
    Value,
    evaluates_custom_call,
)
from xla_explorer.hlo.primitive_type import TOKEN

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


def _border(i: HloInstruction, evaluator: Evaluator) -> Border:
    try:
        found = border(i)
    except ValueError as problem:
        raise EvaluationError(
            f"%{i.name} ({custom_call_target(i)}) does not define the part of each device: "
            f"{problem}"
        ) from problem
    assert found is not None
    if any(len(parts) != len(evaluator.device.world.devices) for parts in found.parts):
        counts = (
            f"{len(found.parts[0])} devices have parts of it, this evaluation has "
            f"{len(evaluator.device.world.devices)}"
        )
        raise EvaluationError(
            f"%{i.name} ({custom_call_target(i)}): {counts}",
            "evaluate_replicated takes partitions=",
        )
    return found


def _changes_nothing(i: HloInstruction, evaluator: Evaluator) -> bool:
    """Return True if the only device has the whole arrays."""
    alone = len(evaluator.device.world.devices) == 1
    return alone and [o.shape.base for o in i.operands] == [s.base for _, s in i.shape.leaves()]


def _result(i: HloInstruction, values: list[Value]) -> Value:
    return tuple(values) if i.shape.is_tuple else values[0]


@evaluates_custom_call(*sorted(INTO))
def into_region(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the device's shard of each operand."""
    if _changes_nothing(i, evaluator):
        return _result(i, list(operands))
    found, device = _border(i, evaluator), evaluator.device.number
    return _result(
        i,
        [
            value
            if value is TOKEN_VALUE
            else np.zeros_like(value[parts[device]])
            if terms[device]
            else value[parts[device]]
            for value, parts, terms in zip(operands, found.parts, found.terms, strict=True)
        ],
    )


@evaluates_custom_call(*sorted(OUT_OF))
def out_of_region(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Assemble the shards of the devices of a group."""
    device = evaluator.device
    if _changes_nothing(i, evaluator):
        return _result(i, list(operands))
    found = _border(i, evaluator)
    group = found.groups[device.number]
    place = f"%{i.name} ({custom_call_target(i)})"
    brought = device.world.exchange(
        device, ("region", i.id, group), tuple(operands), group, len(group), place
    )
    results: list[Value] = []
    for k, ((_, shape), parts, terms, combiner) in enumerate(
        zip(i.shape.leaves(), found.parts, found.terms, found.combiners, strict=True)
    ):
        if shape.element_type is TOKEN:
            results.append(TOKEN_VALUE)
            continue
        whole = np.empty(shape.dimensions, shape.element_type.dtype)
        for number in sorted(set(terms.values())):
            term = whole if number == 0 else np.empty_like(whole)
            for member in [m for m in reversed(group) if terms[m] == number]:
                term[parts[member]] = brought[member][k]
            whole = term if number == 0 else getattr(np, combiner)(whole, term)
        results.append(whole)
    return _result(i, results)
