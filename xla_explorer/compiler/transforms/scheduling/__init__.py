"""Scheduling: the order of execution of every computation."""

from xla_explorer.compiler.transforms.scheduling.memory_scheduler import MemoryScheduler, schedule_computation, update_schedule

__all__ = ["MemoryScheduler", "schedule_computation", "update_schedule"]
