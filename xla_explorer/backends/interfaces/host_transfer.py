"""Literals to buffers and back through `StreamExecutor` copies: all that a backend with linear memory needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_explorer.backends.interfaces.stream_executor import DeviceMemory, StreamExecutor
from xla_explorer.hlo.literal import Literal, literal_from_array
from xla_explorer.hlo.shape import Shape


class LinearTransferManager:
    """See `backends.interfaces.TransferManager`."""

    def transfer_literal_to_device(self, executor: StreamExecutor, literal: Literal) -> list[DeviceMemory]:
        """One buffer per array leaf, laid out as the literal's shape says."""
        if literal.parts:
            return [memory for part in literal.parts for memory in self.transfer_literal_to_device(executor, part)]
        shape = literal.shape
        array = np.ascontiguousarray(literal.array.transpose(tuple(reversed(shape.layout.minor_to_major))))
        memory = executor.allocate(shape.byte_size)
        executor.copy_to_device(memory, array.tobytes())
        return [memory]

    def transfer_literal_from_device(self, executor: StreamExecutor, buffers: list[DeviceMemory], shape: Shape) -> Literal:
        """The literal, in logical order."""
        rest = iter(buffers)

        def read(part: Shape) -> Any:
            if part.is_tuple:
                return tuple([read(inner) for inner in part.tuple_shapes])
            major_to_minor = tuple(reversed(part.layout.minor_to_major))
            raw = np.frombuffer(executor.copy_from_device(next(rest), part.byte_size), part.element_type.dtype)
            return raw.reshape([part.dimensions[d] for d in major_to_minor]).transpose(np.argsort(major_to_minor))

        return literal_from_array(read(shape), shape)
