"""A small accelerator as a backend of xla_explorer, without LLVM.

It has a systolic matrix unit, a vector unit, a scratchpad and DMA queues.
"""

from __future__ import annotations

from xla_explorer_npu.npu_platform import NpuPlatform

_PLATFORM = NpuPlatform()


def platform() -> NpuPlatform:
    """Return the platform object for the registry: one device, so always the same."""
    return _PLATFORM
