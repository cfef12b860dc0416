"""Transfers: infeed and outfeed, send and recv with the host or between devices.

A `send` never waits; `recv-done` waits for the value. The frontend attribute
`_xla_send_recv_source_target_pairs` names the pairs of devices, as in XLA's pipeline parallelism. A
device that is not a target receives zeros. Without the attribute, send and recv on the same channel
are partners.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.arguments import check_argument
from xla_explorer.hlo.evaluator.devices.groups import channel_of
from xla_explorer.hlo.evaluator.registry import TOKEN_VALUE, EvaluationError, Value, evaluates
from xla_explorer.hlo.evaluator.structural import zeros

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

_PAIRS = re.compile(r'_xla_send_recv_source_target_pairs\s*=\s*"?\{([\d{},\s]*)\}')


def _kept(value: Value) -> Value:
    """Return a copy that outlives the operation.

    Compiled programs reuse their operands' buffers.
    """
    if isinstance(value, tuple):
        return tuple([_kept(part) for part in value])
    return np.copy(value) if isinstance(value, np.ndarray) else value


@evaluates("infeed")
def infeed(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (the next value of the host's infeed queue, token)."""
    shape = i.shape.tuple_shapes[0]
    queue = evaluator.host.infeed
    if not queue:
        raise EvaluationError(
            f"%{i.name} needs {shape.text_without_layout}, but the infeed queue is empty",
            "session.executable.host.infeed.append(...) before the run; xe.evaluate takes "
            "host=xe.hlo.Host(infeed=[...])",
        )
    return (check_argument(queue.popleft(), shape, f"the infeed of %{i.name}"), TOKEN_VALUE)


@evaluates("outfeed")
def outfeed(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Append the operand to the host's outfeed list and return a token."""
    evaluator.host.outfeed.append(_kept(operands[0]))
    return TOKEN_VALUE


def _partner(i: HloInstruction, evaluator: Evaluator, own: int) -> tuple[bool, int | None]:
    """Return (whether pairs are given, the partner).

    own: 0 to find a target, 1 to find a source.
    """
    stated = _PAIRS.search(str(i.attributes.get("frontend_attributes", "")))
    if stated is None:
        return False, None
    device = evaluator.device
    ids = list(map(int, re.findall(r"\d+", stated.group(1))))
    # With one replica ids are partitions, with one partition replicas, else flattened: always the
    # device number.
    for pair in zip(ids[::2], ids[1::2], strict=True):
        if pair[own] == device.number:
            return True, pair[1 - own]
    return True, None


@evaluates("send")
def send(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Send the operand and return (data, context, token)."""
    data, channel = _kept(operands[0]), channel_of(i)
    if i.attributes.get("is_host_transfer", False):
        evaluator.host.send(channel, data)
    else:
        paired, target = _partner(i, evaluator, 0)
        if not paired:
            evaluator.device.world.put((channel, None, None), data)
        elif target is not None:
            evaluator.device.world.put((channel, evaluator.device.number, target), data)
    return (data, np.zeros((), np.uint32), TOKEN_VALUE)


@evaluates("send-done")
def send_done(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return a token."""
    return TOKEN_VALUE


@evaluates("recv")
def recv(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (a buffer not yet filled, context, token)."""
    return (zeros(i.shape.tuple_shapes[0]), np.zeros((), np.uint32), TOKEN_VALUE)


@evaluates("recv-done")
def recv_done(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return (data, token): the next value of the channel."""
    shape = i.shape.tuple_shapes[0]
    begun = i.operands[0] if i.operands[0].opcode.name == "recv" else i
    channel = channel_of(i) or channel_of(begun)
    what = f"%{i.name}"
    if i.attributes.get("is_host_transfer", False) or begun.attributes.get(
        "is_host_transfer", False
    ):
        return (
            check_argument(evaluator.host.receive(channel, shape, what), shape, what),
            TOKEN_VALUE,
        )
    device = evaluator.device
    paired, source = _partner(i, evaluator, 1)
    if not paired:
        paired, source = _partner(begun, evaluator, 1)
    if paired and source is None:
        return (zeros(shape), TOKEN_VALUE)
    place = (channel, source, device.number) if paired else (channel, None, None)
    value = device.world.take(device, place, source, f"{what} (recv-done on channel {channel})")
    return (check_argument(value, shape, what), TOKEN_VALUE)
