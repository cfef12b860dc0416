"""StreamExecutor and TransferManager.

Source: xla/stream_executor/stream_executor.h, xla/service/transfer_manager.h.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.shape import Shape


class DeviceMemory:
    """A range of device memory.

    address: in the device's address space. size: bytes. handle: the object that keeps it alive.
    """

    __slots__ = ("address", "handle", "size")

    def __init__(self, address: int, size: int, handle: Any = None) -> None:
        self.address, self.size, self.handle = address, size, handle


@runtime_checkable
class StreamExecutor(Protocol):
    """Memory, kernels, streams and events of one device."""

    def allocate(self, size: int) -> DeviceMemory:
        """Allocate at least `size` bytes, aligned to 64; MemoryError names the size."""
        ...

    def deallocate(self, memory: DeviceMemory) -> None:
        """Free memory."""
        ...

    def copy_to_device(
        self, target: DeviceMemory, data: bytes | memoryview, stream: Any = None
    ) -> None:
        """Copy host bytes to the device; ValueError if they do not fit."""
        ...

    def copy_from_device(self, source: DeviceMemory, size: int, stream: Any = None) -> bytes:
        """Copy device bytes to the host at once; `synchronize` first if queued work writes them."""
        ...

    def load(self, code: bytes, exports: list[str]) -> Any:
        """Load machine code, whose functions are launched by name."""
        ...

    def launch(self, loaded: Any, function: str, arguments: list[int], stream: Any = None) -> None:
        """Queue a function of loaded code with addresses as arguments.

        `synchronize` waits for it.
        """
        ...

    def create_stream(self) -> Any:
        """Return a new stream."""
        ...

    def synchronize(self, stream: Any = None) -> None:
        """Wait until everything queued has run."""
        ...


@runtime_checkable
class TransferManager(Protocol):
    """Converter between literals and device buffers."""

    def transfer_literal_to_device(
        self, executor: StreamExecutor, literal: Literal
    ) -> list[DeviceMemory]:
        """Copy each array leaf to a buffer in the device's layout."""
        ...

    def transfer_literal_from_device(
        self, executor: StreamExecutor, buffers: list[DeviceMemory], shape: Shape
    ) -> Literal:
        """Return the literal of the given shape."""
        ...
