"""AMD GPUs: the GPU backend's kernels through LLVM's AMDGPU target.

Importing it does not load LLVM.
"""

from __future__ import annotations

from xla_explorer.backends.amdgpu.amdgpu_platform import AmdGpuPlatform


def platform() -> AmdGpuPlatform:
    """Return the platform for the registry."""
    return AmdGpuPlatform()
