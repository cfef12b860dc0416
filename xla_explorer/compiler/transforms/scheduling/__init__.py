"""Scheduling: the order of execution of every computation, and the streams that run it."""

from xla_explorer.compiler.transforms.scheduling.latency_hiding_scheduler import LATENCY_HIDING_REASONS, LatencyHidingScheduler
from xla_explorer.compiler.transforms.scheduling.memory_scheduler import (
    MemoryScheduler,
    ensure_schedule,
    schedule_computation,
)
from xla_explorer.compiler.transforms.scheduling.stream_assignment import STREAM_REASONS, StreamAssignment, stream_of, waits_for

__all__ = [
    "LATENCY_HIDING_REASONS",
    "STREAM_REASONS",
    "LatencyHidingScheduler",
    "MemoryScheduler",
    "StreamAssignment",
    "ensure_schedule",
    "schedule_computation",
    "stream_of",
    "waits_for",
]
