"""Collectives: exchange of values between the devices of a group.

A single device is its own group. A start form does the work and its done form takes the result out
of the state.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.devices.groups import (
    base_name,
    channel_of,
    group_of,
    permutation_pairs,
)
from xla_explorer.hlo.evaluator.registry import (
    Array,
    EvaluationError,
    UnsupportedOpcodeError,
    Value,
    evaluates,
)
from xla_explorer.hlo.evaluator.structural import zeros

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


def _check_devices_exist(i: HloInstruction, numbers: Sequence[int], evaluator: Evaluator) -> None:
    count = len(evaluator.device.world.devices)
    if count == 1 and len(numbers) > 1:
        raise UnsupportedOpcodeError(
            i.opcode.name,
            f"%{i.name} works in groups of {len(numbers)} devices; this evaluation has one",
            "evaluate it with evaluate_replicated",
        )
    if beyond := [n for n in numbers if not 0 <= n < count]:
        raise EvaluationError(
            f"%{i.name} names device {beyond[0]}, but there are {count} "
            f"({evaluator.device.world.replicas} replicas x {evaluator.device.world.partitions} "
            "partitions)",
            "give evaluate_replicated more replicas or partitions",
        )


def _exchange(
    i: HloInstruction,
    contribution: Value,
    needed: Sequence[int],
    everybody: Sequence[int],
    evaluator: Evaluator,
) -> dict[int, Value]:
    """Return the contributions of the needed devices.

    A channel id joins instructions of one kind.
    """
    device = evaluator.device
    _check_devices_exist(i, everybody, evaluator)
    if len(everybody) == 1:
        return dict.fromkeys(everybody, contribution)
    kind, channel = base_name(i), channel_of(i)
    place = (kind, "channel", channel) if channel else (kind, "instruction", i.id)
    return device.world.exchange(
        device,
        (*place, tuple(everybody)),
        contribution,
        needed,
        len(everybody),
        f"%{i.name} ({i.opcode.name})",
    )


def _gather_group(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> tuple[list[Value], int]:
    """Return (the operands of every member of the group in rank order, the own rank)."""
    group = group_of(i, evaluator.device)
    if len(group) == 1 and evaluator.device.number == group[0]:
        return [operands], 0
    brought = _exchange(i, tuple(operands), group, group, evaluator)
    return [brought[n] for n in group], group.index(evaluator.device.number)


def _leaves_like(i: HloInstruction, results: list[Array]) -> Value:
    return tuple(results) if i.shape.is_tuple else results[0]


@evaluates("replica-id", "partition-id")
def device_number(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the replica (partition) number as u32; 0 on a single device."""
    device = evaluator.device
    return np.asarray(
        device.replica if i.opcode.name == "replica-id" else device.partition, np.uint32
    )


def _combined(i: HloInstruction, members: list[Value], evaluator: Evaluator) -> list[Array]:
    """Combine each operand over the group in rank order, every step in the operand's type."""

    def combine(a: Array, b: Array) -> Array:
        return np.asarray(evaluator.evaluate_elementwise(i.called[0], [a, b]))

    return [functools.reduce(combine, parts) for parts in zip(*members, strict=True)]


@evaluates("all-reduce", "all-reduce-start")
def all_reduce(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the operands combined over the group, on every device."""
    members, _ = _gather_group(i, operands, evaluator)
    return _leaves_like(i, _combined(i, members, evaluator))


@evaluates("collective-reduce")
def collective_reduce(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the combined operands on the first device of a group; the others return their own."""
    members, rank = _gather_group(i, operands, evaluator)
    return _leaves_like(i, _combined(i, members, evaluator) if rank == 0 else list(operands))


@evaluates("all-gather")
def all_gather(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Concatenate the operands of the group along a dimension."""
    members, _ = _gather_group(i, operands, evaluator)
    axis = i.attributes.value("dimensions")[0]
    return _leaves_like(
        i, [np.concatenate(parts, axis=axis) for parts in zip(*members, strict=True)]
    )


@evaluates("reduce-scatter")
def reduce_scatter(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return block number `rank` of the combined operands."""
    members, rank = _gather_group(i, operands, evaluator)
    axis = i.attributes.value("dimensions")[0]
    return _leaves_like(
        i, [_block(whole, axis, rank, len(members)) for whole in _combined(i, members, evaluator)]
    )


def _block(x: Array, axis: int, number: int, count: int) -> Array:
    size = x.shape[axis] // count
    return x[(slice(None),) * axis + (slice(number * size, (number + 1) * size),)]


@evaluates("all-to-all")
def all_to_all(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return block k of every member on member k.

    With `dimensions` the blocks are split from, and concatenated to, one array. Without, operand k
    is block k and the result is a tuple.
    """
    members, rank = _gather_group(i, operands, evaluator)
    dimensions = i.attributes.get("dimensions")
    if not dimensions:
        if len(operands) != len(members):
            raise EvaluationError(
                f"%{i.name} has {len(operands)} operands for a group of {len(members)}; it needs "
                "one for each member"
            )
        return _leaves_like(i, [member[rank] for member in members])
    axis = dimensions[0]
    blocks = [_block(member[0], axis, rank, len(members)) for member in members]
    result = np.concatenate(blocks, axis=axis)
    return (result,) if i.shape.is_tuple else result


@evaluates("collective-broadcast")
def collective_broadcast(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Return the operands of the group's first device."""
    members, _ = _gather_group(i, operands, evaluator)
    return _leaves_like(i, list(members[0]))


@evaluates("ragged-all-to-all")
def ragged_all_to_all(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Exchange rows: (input, output, input offsets, send sizes, output offsets, receive sizes).

    Entries [p*n, (p+1)*n) of the offsets and sizes are for member p. The output offset is a row of
    the receiver.
    """
    members, rank = _gather_group(i, operands, evaluator)
    result = np.array(operands[1])
    for source, _, input_offsets, sizes, output_offsets, _ in members:
        begins, counts, targets = [
            v.reshape(len(members), -1)[rank] for v in (input_offsets, sizes, output_offsets)
        ]
        for begin, size, into in zip(
            map(int, begins), map(int, counts), map(int, targets), strict=True
        ):
            result[into : into + size] = source[begin : begin + size]
    return result


@evaluates("collective-permute")
def collective_permute(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the source's operand, or zeros on a device that is not a target.

    A receiver waits only for its own source. With `slice_sizes` the operands are (input, output,
    input starts, output starts). The source's starts select the slices of its input and their
    places in the target's output; the rest of the output stays.
    """
    device = evaluator.device
    pairs = permutation_pairs(i, device)
    sources = [source for source, target in pairs if target == device.number]
    if len(sources) > 1:
        raise EvaluationError(f"%{i.name}: {device!r} is the target of several sources {sources}")
    if len(device.world.devices) == 1 and any(pair != (0, 0) for pair in pairs):
        raise UnsupportedOpcodeError(
            i.opcode.name,
            f"%{i.name} sends between devices {pairs}; this evaluation has one",
            "evaluate it with evaluate_replicated",
        )
    brought: dict[int, Value] = {}
    if sources == [device.number]:
        brought[device.number] = tuple(operands)
    elif any(device.number in pair for pair in pairs):
        # A pair with a device that does not exist affects no other device.
        taking_part = sorted(
            {n for pair in pairs for n in pair if n < len(device.world.devices)} | {*sources}
        )
        brought = _exchange(i, tuple(operands), sources, taking_part, evaluator)
    received = brought[sources[0]] if sources else None
    sizes = i.attributes.value("slice_sizes")
    if sizes:
        return _write_slices(
            operands[1], received, [s if isinstance(s, tuple) else tuple(sizes) for s in sizes]
        )
    if received is None:
        return (
            tuple([np.zeros_like(x) for x in operands])
            if len(operands) > 1
            else np.zeros_like(operands[0])
        )
    return tuple(received) if len(operands) > 1 else received[0]


def _write_slices(output: Value, received: Value | None, sizes: Sequence[tuple[int, ...]]) -> Value:
    """Return copies of the outputs with the received slices written in, one after the other."""
    outputs = [np.array(o) for o in (output if isinstance(output, tuple) else (output,))]
    if received is not None:
        given = received[0] if isinstance(received[0], tuple) else (received[0],)
        reads, writes = iter(_scalars(received[2])), iter(_scalars(received[3]))
        per_output = len(sizes) // len(outputs)
        for number, size in enumerate(sizes):
            which = number // per_output
            source = tuple([slice(start, start + n) for start, n in zip(reads, size, strict=False)])
            target = tuple(
                [slice(start, start + n) for start, n in zip(writes, size, strict=False)]
            )
            outputs[which][target] = given[which][source]
    return tuple(outputs) if isinstance(output, tuple) else outputs[0]


def _scalars(value: Value) -> list[int]:
    """Return the start indices in a scalar, a vector, or (nested) tuples of these."""
    if isinstance(value, tuple):
        return [n for part in value for n in _scalars(part)]
    return [int(n) for n in np.asarray(value).reshape(-1)]


@evaluates("all-gather-start", "collective-permute-start")
def start(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (operands, results, contexts ...)."""
    if i.opcode.name == "all-gather-start":
        members, _ = _gather_group(i, operands, evaluator)
        axis = i.attributes.value("dimensions")[0]
        gathered = [np.concatenate(parts, axis=axis) for parts in zip(*members, strict=True)]
        result: Value = tuple(gathered) if len(gathered) > 1 else gathered[0]
    else:
        result = collective_permute(i, operands, evaluator)
    parts = i.shape.tuple_shapes
    held: Value = tuple(operands) if parts[0].is_tuple and len(operands) > 1 else operands[0]
    if parts[0].is_tuple and not isinstance(held, tuple):
        held = (held,)
    if parts[1].is_tuple and not isinstance(result, tuple):
        result = (result,)
    return (held, result, *[zeros(part) for part in parts[2:]])


@evaluates("all-gather-done", "collective-permute-done")
def done(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the results from the state."""
    return operands[0][1]


@evaluates("all-reduce-done")
def all_reduce_done(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return the result, which is the state."""
    return operands[0]
