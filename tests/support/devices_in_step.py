"""The program of one device on several virtual devices in one thread, an instruction at a time.

The product's `evaluate_replicated` has a thread for each device; starting and stopping threads is
most of the time of a program of ten instructions. All devices run the same steps here, and a
collective reads the operands of every device from the frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.hlo.evaluator import evaluate_replicated
from xla_explorer.hlo.evaluator.devices.world import Device, World
from xla_explorer.hlo.evaluator.evaluator import Evaluator
from xla_explorer.hlo.evaluator.registry import Value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

COLLECTIVES = frozenset(
    ["all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter"]
)


class _InStep(World):
    """Devices whose operands of the current collective are known. given: these operands."""

    given: Sequence[Value] = ()

    def exchange(
        self,
        device: Device,
        place: Any,
        contribution: Value,
        needed: Sequence[int],
        attendance: int,
        description: str,
    ) -> dict[int, Value]:
        """Return the operands of the needed devices."""
        return {n: self.given[n] for n in needed}


def evaluate_in_step(
    module: HloModule, per_device: Sequence[Sequence[Any]], count: int
) -> list[Any]:
    """Return the result of each device; collectives inside called computations take threads."""
    if any(
        i.opcode.name in COLLECTIVES
        for computation in module.computations.values()
        if computation is not module.entry
        for i in computation.instructions.values()
    ):
        return evaluate_replicated(module, per_device, partitions=count, replicas=1, timeout=3600)
    world = _InStep(1, count)
    evaluators = [Evaluator(device=device) for device in world.devices]
    plan = evaluators[0].plan(module.entry)
    frames = [plan.frame.copy() for _ in range(count)]
    for frame, arguments in zip(frames, per_device, strict=True):
        for slot, number in plan.parameters:
            frame[slot] = arguments[number]
    with np.errstate(all="ignore"):
        for function, i, operands, result, _, dtype, dimensions in plan.steps:
            given = [[frame[o] for o in operands] for frame in frames]
            world.given = given
            alike = _are_alike(i, given)
            for frame, own, evaluator in zip(frames, given, evaluators, strict=True):
                if alike and evaluator is not evaluators[0]:
                    frame[result] = frames[0][result]
                    continue
                value = function(i, own, evaluator)
                if dtype is not None:
                    value = np.asarray(value)
                    assert value.dtype == dtype, (i, value.dtype)
                    assert value.shape == dimensions, (i, value.shape)
                frame[result] = value
    return [frame[plan.root] for frame in frames]


def _are_alike(i: HloInstruction, given: Sequence[Sequence[Value]]) -> bool:
    """Return True if every device has the same objects, so that one evaluation serves all."""
    if i.opcode.name in COLLECTIVES or i.opcode.name in ("partition-id", "replica-id"):
        return False
    first = given[0]
    return all(a is b for other in given[1:] for a, b in zip(first, other, strict=True))
