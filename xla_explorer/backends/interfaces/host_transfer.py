"""Literals to buffers and back through `StreamExecutor` copies: all that a backend with linear memory needs."""

from __future__ import annotations

from collections import deque
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from xla_explorer.backends.interfaces.abilities import POINTER_BYTES
from xla_explorer.backends.interfaces.stream_executor import DeviceMemory, StreamExecutor
from xla_explorer.hlo.literal import Literal, literal_from_array
from xla_explorer.hlo.shape import Shape

_INFEEDS: WeakKeyDictionary[Any, deque[Literal]] = WeakKeyDictionary()
_OUTFEEDS: WeakKeyDictionary[Any, deque[Literal]] = WeakKeyDictionary()


class LinearTransferManager:
    """See `TransferManager`, `TupleTransfer` and `FeedTransfer` in `backends.interfaces`. The feeds are two queues on the host for each
    executor, whichever manager asks; a device whose programs run `infeed` and `outfeed` takes from the one (`next_infeed`) and adds to
    the other (`put_outfeed`)."""

    def transfer_literal_to_device(
        self, executor: StreamExecutor, literal: Literal
    ) -> list[DeviceMemory]:
        """One buffer per array leaf, laid out as the literal's shape says."""
        if literal.parts:
            return [
                memory
                for part in literal.parts
                for memory in self.transfer_literal_to_device(executor, part)
            ]
        shape = literal.shape
        array = np.ascontiguousarray(
            literal.array.transpose(tuple(reversed(shape.layout.minor_to_major)))
        )
        memory = executor.allocate(shape.byte_size)
        executor.copy_to_device(memory, array.tobytes())
        return [memory]

    def transfer_literal_from_device(
        self, executor: StreamExecutor, buffers: list[DeviceMemory], shape: Shape
    ) -> Literal:
        """The literal, in logical order."""
        rest = iter(buffers)

        def read(part: Shape) -> Any:
            if part.is_tuple:
                return tuple([read(inner) for inner in part.tuple_shapes])
            major_to_minor = tuple(reversed(part.layout.minor_to_major))
            raw = np.frombuffer(
                executor.copy_from_device(next(rest), part.byte_size), part.element_type.dtype
            )
            return raw.reshape([part.dimensions[d] for d in major_to_minor]).transpose(
                np.argsort(major_to_minor)
            )

        return literal_from_array(read(shape), shape)

    def write_tuple_index_table(
        self, executor: StreamExecutor, elements: list[DeviceMemory]
    ) -> DeviceMemory:
        """See `TupleTransfer`."""
        table = b"".join(
            [element.address.to_bytes(POINTER_BYTES, "little") for element in elements]
        )
        memory = executor.allocate(max(len(table), 1))
        executor.copy_to_device(memory, table)
        return memory

    def transfer_literal_to_infeed(self, executor: StreamExecutor, literal: Literal) -> None:
        """See `FeedTransfer`."""
        _INFEEDS.setdefault(executor, deque()).append(literal)

    def transfer_literal_from_outfeed(self, executor: StreamExecutor, shape: Shape) -> Literal:
        """See `FeedTransfer`."""
        return _take(
            _OUTFEEDS.get(executor),
            shape,
            "the program has written nothing to the outfeed that was not read",
        )

    def next_infeed(self, executor: StreamExecutor, shape: Shape) -> Literal:
        """What the device's `infeed` takes: the oldest literal that was transferred. LookupError, ValueError as for the outfeed."""
        return _take(
            _INFEEDS.get(executor),
            shape,
            "nothing was transferred to the infeed that the program has not taken",
        )

    def put_outfeed(self, executor: StreamExecutor, literal: Literal) -> None:
        """What the device's `outfeed` does."""
        _OUTFEEDS.setdefault(executor, deque()).append(literal)


def _take(queue: deque[Literal] | None, shape: Shape, empty: str) -> Literal:
    if not queue:
        raise LookupError(empty)
    if not queue[0].shape.compatible(shape):
        raise ValueError(
            f"asked for {shape.text_without_layout}, next in the queue is {queue[0].shape.text_without_layout}"
        )
    return queue.popleft()
