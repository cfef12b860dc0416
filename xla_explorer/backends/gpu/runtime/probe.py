"""Marks around the steps of a run, and the times between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.backends.gpu.device_executor import DeviceExecutor

_MARKED_CALLS = (
    100  # of a step in a run: a mark costs more than a small kernel, and calls of a loop are alike
)


class Probe:
    """Marks around every step of a run: around its first hundred calls, where a loop has more."""

    def __init__(self, executor: DeviceExecutor) -> None:
        self.executor = executor
        self._marks: dict[int, list[tuple[Any, Any]]] = {}
        self._calls: dict[int, int] = {}

    def around(self, step: int, action: Callable[[], None], stream: Any = None) -> None:
        """Do something on a stream, between two marks."""
        calls = self._calls[step] = self._calls.get(step, 0) + 1
        if calls > _MARKED_CALLS:
            action()
            return
        first = self.executor.record_event(stream)
        action()
        self._marks.setdefault(step, []).append((first, self.executor.record_event(stream)))

    def take(self) -> dict[int, tuple[int, float]]:
        """(calls, mean microseconds of those between marks) by step, since the last time."""
        found = {}
        for step, marks in self._marks.items():
            times = [self.executor.elapsed_us(first, last) for first, last in marks]
            found[step] = self._calls[step], sum(times) / len(times)
        self._marks.clear()
        self._calls.clear()
        return found
