"""Instrumentation of a run: events before and after each step, and the times between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.backends.gpu.device_executor import DeviceExecutor

_RECORDED_CALLS = (
    100  # of a step in a run: an event costs more than a small kernel; calls of a loop are similar
)


class Instrumentation:
    """Events around the first hundred calls of every step of a run."""

    def __init__(self, executor: DeviceExecutor) -> None:
        self.executor = executor
        self._events: dict[int, list[tuple[Any, Any]]] = {}
        self._calls: dict[int, int] = {}

    def around(self, step: int, action: Callable[[], None], stream: Any = None) -> None:
        """Run an action of a step between two events on a stream."""
        calls = self._calls[step] = self._calls.get(step, 0) + 1
        if calls > _RECORDED_CALLS:
            action()
            return
        first = self.executor.record_event(stream)
        action()
        self._events.setdefault(step, []).append((first, self.executor.record_event(stream)))

    def take(self) -> dict[int, tuple[int, float]]:
        """Return (calls, mean microseconds of the recorded calls) by step, and start anew."""
        found = {}
        for step, events in self._events.items():
            times = [self.executor.elapsed_us(first, last) for first, last in events]
            found[step] = self._calls[step], sum(times) / len(times)
        self._events.clear()
        self._calls.clear()
        return found
