"""Native code for this machine, compiled just in time.

Importing it does not load LLVM.
"""

from __future__ import annotations

from xla_explorer.backends.cpu.cpu_platform import CpuPlatform


def platform() -> CpuPlatform:
    """Return the platform for the registry."""
    return CpuPlatform()
