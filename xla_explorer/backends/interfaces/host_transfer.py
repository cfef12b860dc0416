"""Literals to buffers and back by `StreamExecutor` copies, for backends with linear memory."""

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
    """Implementation of `TransferManager`, `TupleTransfer` and `FeedTransfer`.

    The feeds are two host queues for each executor, shared by all managers. A device's `infeed`
    reads from the one (`next_infeed`), its `outfeed` appends to the other (`put_outfeed`).
    """

    def transfer_literal_to_device(
        self, executor: StreamExecutor, literal: Literal
    ) -> list[DeviceMemory]:
        """Copy to one buffer per array leaf, in the layout of the literal's shape."""
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
        """Return the literal, in logical order."""
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
        """Write a table (see `TupleTransfer`)."""
        table = b"".join(
            [element.address.to_bytes(POINTER_BYTES, "little") for element in elements]
        )
        memory = executor.allocate(max(len(table), 1))
        executor.copy_to_device(memory, table)
        return memory

    def transfer_literal_to_infeed(self, executor: StreamExecutor, literal: Literal) -> None:
        """Append to the infeed queue (see `FeedTransfer`)."""
        _INFEEDS.setdefault(executor, deque()).append(literal)

    def transfer_literal_from_outfeed(self, executor: StreamExecutor, shape: Shape) -> Literal:
        """Return the oldest literal of the outfeed queue (see `FeedTransfer`)."""
        return _take(
            _OUTFEEDS.get(executor),
            shape,
            "the program has written nothing to the outfeed that was not read",
        )

    def next_infeed(self, executor: StreamExecutor, shape: Shape) -> Literal:
        """Return the oldest literal of the infeed queue.

        LookupError, ValueError as for the outfeed.
        """
        return _take(
            _INFEEDS.get(executor),
            shape,
            "nothing was transferred to the infeed that the program has not taken",
        )

    def put_outfeed(self, executor: StreamExecutor, literal: Literal) -> None:
        """Append a literal to the outfeed queue."""
        _OUTFEEDS.setdefault(executor, deque()).append(literal)


def _take(queue: deque[Literal] | None, shape: Shape, empty: str) -> Literal:
    if not queue:
        raise LookupError(empty)
    if not queue[0].shape.compatible(shape):
        raise ValueError(
            f"requested {shape.text_without_layout}, next in the queue is "
            f"{queue[0].shape.text_without_layout}"
        )
    return queue.popleft()
