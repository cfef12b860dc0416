"""The platform of AMD GPUs: programs can be compiled and inspected, but not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from xla_explorer.backends.amdgpu.availability import why_nothing_runs
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason

if TYPE_CHECKING:
    from xla_explorer.backends.amdgpu.amdgpu_compiler import AmdGpuCompiler


class NoDeviceError(XlaExplorerError):
    """A device operation was requested from a backend without a device."""


class AmdGpuPlatform:
    """See `backends.interfaces.Platform`."""

    name = "amdgpu"
    description = (
        "AMD GPUs: a kernel per fusion as GCN assembly and object code, with its registers; to "
        "compile and look at."
    )
    option_names = ("architecture",)

    def compiler(self) -> AmdGpuCompiler:
        """Return the compiler (loads LLVM)."""
        from xla_explorer.backends.amdgpu.amdgpu_compiler import AmdGpuCompiler

        return AmdGpuCompiler()

    def stream_executor(self) -> NoReturn:
        """Raise NoDeviceError."""
        raise NoDeviceError(
            "xla_explorer has no runtime for AMD GPUs", "read the code in the stages of a compile"
        )

    def transfer_manager(self) -> NoReturn:
        """Raise NoDeviceError."""
        raise NoDeviceError(
            "xla_explorer has no runtime for AMD GPUs", "read the code in the stages of a compile"
        )

    def availability(self) -> Reason | None:
        """Return the reason why nothing runs."""
        return why_nothing_runs()
