"""Scheduling: the order of execution of every computation."""

from xla_explorer.compiler.transforms.scheduling.memory_scheduler import (
    MemoryScheduler,
    ensure_schedule,
    schedule_computation,
)

__all__ = ["MemoryScheduler", "ensure_schedule", "schedule_computation"]
