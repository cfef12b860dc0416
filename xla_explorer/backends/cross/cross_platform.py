"""Another CPU as a platform.

Memory is this machine's: arrays travel to the emulated program in files or into its memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.backends.cpu.cpu_platform import CpuStreamExecutor
from xla_explorer.backends.cross.runners import runner_availability
from xla_explorer.backends.interfaces import LinearTransferManager
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason

if TYPE_CHECKING:
    from xla_explorer.backends.cross.cross_compiler import CrossCompiler
    from xla_explorer.backends.llvm.cpu_targets import CpuTarget


class ForeignCodeError(XlaExplorerError):
    """Machine code of another CPU was to be loaded into this process."""


class CrossPlatform:
    """See `backends.interfaces.Platform`."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def target(self) -> CpuTarget:
        """The row of data."""
        from xla_explorer.backends.llvm.cpu_targets import CPU_TARGETS

        return CPU_TARGETS[self.name]

    @property
    def description(self) -> str:
        """One sentence."""
        return self.target.description

    def compiler(self) -> CrossCompiler:
        """Return the compiler (loads LLVM)."""
        from xla_explorer.backends.cross.cross_compiler import CrossCompiler

        return CrossCompiler(self.target)

    def stream_executor(self) -> ForeignStreamExecutor:
        """Return the memory of this machine; only executables run code."""
        return ForeignStreamExecutor(self.name)

    def transfer_manager(self) -> LinearTransferManager:
        """Return the converter between literals and buffers."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Return None if an emulator and a linker are installed, else the reason."""
        return runner_availability(self.target)


class ForeignStreamExecutor(CpuStreamExecutor):
    """Holds memory; loads nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def load(self, code: bytes, exports: list[str]) -> Any:
        """Raise ForeignCodeError."""
        raise ForeignCodeError(
            f"code for {self.name} cannot be loaded into this process",
            "its executable runs it in an emulator",
        )
