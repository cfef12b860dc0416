"""A small accelerator as a backend of xla_explorer: systolic matrix unit, vector unit, scratchpad, DMA queues; no LLVM anywhere."""

from __future__ import annotations

from xla_explorer_npu.npu_platform import NpuPlatform

_PLATFORM = NpuPlatform()


def platform() -> NpuPlatform:
    """The platform object that the registry hands out: one device, so always the same."""
    return _PLATFORM
