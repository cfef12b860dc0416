"""Scheduling: the order of execution of every computation, and its streams."""

from xla_explorer.compiler.transforms.scheduling.latency_hiding_scheduler import (
    LatencyHidingScheduler,
)
from xla_explorer.compiler.transforms.scheduling.memory_scheduler import (
    MemoryScheduler,
    ensure_schedule,
    schedule_computation,
)
from xla_explorer.compiler.transforms.scheduling.stream_assignment import (
    StreamAssignment,
    stream_of,
    waits_for,
)

__all__ = [
    "LatencyHidingScheduler",
    "MemoryScheduler",
    "StreamAssignment",
    "ensure_schedule",
    "schedule_computation",
    "stream_of",
    "waits_for",
]
