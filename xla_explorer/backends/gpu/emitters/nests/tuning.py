"""All numbers that schedules of GPU kernels are tuned with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuTuning:
    """bytes_at_once: of the widest access. most_elements: of a thread of an elementwise kernel. most_work: machine instructions that one
    thread may have: code stays within the instruction cache."""

    bytes_at_once: int = 16
    most_elements: int = 8
    most_work: int = 1024


DEFAULT_TUNING = GpuTuning()
