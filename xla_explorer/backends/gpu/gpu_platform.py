"""NVIDIA GPUs as a platform. Modules are compiled to PTX and looked at, on any machine; nothing executes yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
    from xla_explorer.backends.interfaces import StreamExecutor, TransferManager


def no_runtime() -> Reason:
    """Why no module executes on a GPU."""
    return refuse(
        "no-gpu-runtime-yet",
        "modules are compiled to PTX and can be looked at; loading and launching the kernels is not written yet",
    )


class GpuPlatform:
    """See `backends.interfaces.Platform`."""

    name = "gpu"
    description = "NVIDIA GPUs: a PTX kernel per fusion, compiled by LLVM, to look at on any machine; not executed yet."

    def compiler(self) -> GpuCompiler:
        """The compiler (loads LLVM)."""
        from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler

        return GpuCompiler()

    def stream_executor(self) -> StreamExecutor:
        """Raises: there is none yet."""
        raise XlaExplorerError(no_runtime().message, 'execute with backend="cpu"')

    def transfer_manager(self) -> TransferManager:
        """Raises: there is none yet."""
        raise XlaExplorerError(no_runtime().message, 'execute with backend="cpu"')

    def availability(self) -> Reason | None:
        """Modules cannot run here yet."""
        return no_runtime()
