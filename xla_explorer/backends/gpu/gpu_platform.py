"""NVIDIA GPUs as a platform: a device if CUDA's driver is available, else the PTX emulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.backends.interfaces import LinearTransferManager
from xla_explorer.foundation.reason import Reason

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
    from xla_explorer.backends.interfaces import StreamExecutor


class GpuPlatform:
    """The platform of NVIDIA GPUs (see `backends.interfaces.Platform`)."""

    name = "gpu"
    description = (
        "NVIDIA GPUs: a PTX kernel per fusion, compiled by LLVM; on a device, or on an emulator "
        "where there is none."
    )
    option_names = (
        "architecture",
        "device",
        "synchronous",
        "graphs",
        "libraries",
        "tf32",
        "math",
        "schedules",
        "contraction",
    )

    def compiler(self) -> GpuCompiler:
        """Return the compiler (loads LLVM)."""
        from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler

        return GpuCompiler()

    def stream_executor(self) -> StreamExecutor:
        """Return the first device, or the emulator."""
        from xla_explorer.backends.gpu.runtime.devices import device_executor

        return device_executor()[0]

    def transfer_manager(self) -> LinearTransferManager:
        """Return the converter between literals and device buffers."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Return None: the emulator is always available."""
        return None
