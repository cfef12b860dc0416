"""NVIDIA PTX: passes, emitters, libraries, run time and emulator.

Importing it loads neither LLVM nor CUDA.
"""

from __future__ import annotations

from xla_explorer.backends.gpu.gpu_platform import GpuPlatform


def platform() -> GpuPlatform:
    """Return the platform for the registry."""
    return GpuPlatform()
