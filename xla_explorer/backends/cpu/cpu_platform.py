"""The CPU as a platform: compiler, host memory as device memory, literals in and out."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.cpu.aligned_arena import allocate_aligned
from xla_explorer.backends.interfaces import DeviceMemory, LinearTransferManager
from xla_explorer.foundation.reason import Reason

if TYPE_CHECKING:
    from xla_explorer.backends.cpu.cpu_compiler import CpuCompiler


class CpuPlatform:
    """See `backends.interfaces.Platform`."""

    name = "cpu"
    description = (
        "This machine's CPU: the whole module as native code, compiled by LLVM just in time."
    )
    option_names = ("contraction", "donate", "excess_precision", "fusion_policy", "schedules")

    def compiler(self) -> CpuCompiler:
        """Return the compiler (loads LLVM)."""
        from xla_explorer.backends.cpu.cpu_compiler import CpuCompiler

        return CpuCompiler()

    def stream_executor(self) -> CpuStreamExecutor:
        """Return host memory with one stream, the calling thread."""
        return CpuStreamExecutor()

    def transfer_manager(self) -> LinearTransferManager:
        """Return the converter between literals and host buffers."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Return None: the CPU is always available."""
        return None


class CpuStreamExecutor:
    """See `backends.interfaces.StreamExecutor`.

    Everything happens at once on the calling thread, so streams are empty words.
    """

    def allocate(self, size: int) -> DeviceMemory:
        """Allocate host memory aligned to 64 bytes."""
        owner, _, address = allocate_aligned(max(size, 1))
        return DeviceMemory(address, size, owner)

    def deallocate(self, memory: DeviceMemory) -> None:
        """Drop the owner of the memory."""
        memory.handle, memory.address = None, 0

    def copy_to_device(
        self, target: DeviceMemory, data: bytes | memoryview, stream: Any = None
    ) -> None:
        """Copy bytes in."""
        raw = bytes(data)
        if len(raw) > target.size:
            raise ValueError(
                f"{len(raw)} bytes do not fit into {target.size} bytes of device memory"
            )
        ctypes.memmove(target.address, raw, len(raw))

    def copy_from_device(self, source: DeviceMemory, size: int, stream: Any = None) -> bytes:
        """Copy bytes out."""
        if size > source.size:
            raise ValueError(f"cannot read {size} bytes from a device memory of {source.size}")
        return ctypes.string_at(source.address, size)

    def load(self, code: bytes, exports: list[str]) -> Any:
        """Load an object file."""
        from xla_explorer.backends.llvm.native_library import NativeLibrary

        return NativeLibrary(code, {}, exports)

    def launch(self, loaded: Any, function: str, arguments: list[int], stream: Any = None) -> None:
        """Call an exported function with addresses as arguments."""
        loaded.bind(function, None, [ctypes.c_void_p] * len(arguments))(*arguments)

    def create_stream(self) -> Any:
        """Return None, the stream of the calling thread."""
        return None

    def synchronize(self, stream: Any = None) -> None:
        """Do nothing: every call has finished."""
