"""A proof that a program's streams are ordered, whatever their speeds.

Every access to device memory must come after those it depends on. The proof uses vector clocks. A
stream counts the work queued on it, and an event is a copy of its clock. A waiter of an event takes
over that clock. The host has a clock too: work that it queues later comes after all that it waited
for. Each byte has its last writer and its readers since.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np


class OrderError(AssertionError):
    """Two accesses of which one writes, and nothing says which comes first."""


class OrderChecker:
    """base: the first address of device memory. accesses: how many were judged."""

    def __init__(self, base: int, size: int = 1 << 22) -> None:
        self.base, self.accesses = base, 0
        self.clocks: dict[int, dict[int, int]] = defaultdict(dict)
        self.host: dict[int, int] = {}
        self.writer = np.zeros((2, size), np.int32)  # stream (0: none) and its count, by byte
        self.readers: dict[int, np.ndarray] = {}  # stream -> count of its last read, by byte
        self.names: dict[tuple[int, int], str] = {}

    def queue(
        self, stream: int, name: str, reads: list[tuple[int, int]], writes: list[tuple[int, int]]
    ) -> None:
        """Work with the (address, size) that it reads and writes."""
        clock = self.clocks[stream]
        _join(clock, self.host)
        clock[stream] = count = clock.get(stream, 0) + 1
        self.names[stream, count] = name
        for address, size in reads:
            self._after_writer(clock, name, address, size)
        for address, size in writes:
            self._after_writer(clock, name, address, size)
            self._after_readers(clock, name, address, size)
        for address, size in reads:
            here = self._here(address, size)
            self.readers.setdefault(stream, np.zeros(self.writer.shape[1], np.int32))[here] = count
        for address, size in writes:
            here = self._here(address, size)
            self.writer[0, here], self.writer[1, here] = stream, count
            for read in self.readers.values():
                read[here] = 0

    def record(self, stream: int) -> dict[int, int]:
        """Return an event: a copy of a stream's clock."""
        _join(self.clocks[stream], self.host)
        return dict(self.clocks[stream])

    def wait(self, stream: int, event: dict[int, int]) -> None:
        """Make a stream wait for an event."""
        _join(self.clocks[stream], event)

    def synchronize(self, event: dict[int, int]) -> None:
        """Make the host wait."""
        _join(self.host, event)

    def free(self, address: int, size: int) -> None:
        """Memory goes back to the device: all that used it must be known to be done."""
        self._after_writer(self.host, "cuMemFree", address, size)
        self._after_readers(self.host, "cuMemFree", address, size)
        self.writer[:, self._here(address, size)] = 0

    def _here(self, address: int, size: int) -> slice:
        return slice(address - self.base, address - self.base + size)

    def _after_writer(self, clock: dict[int, int], name: str, address: int, size: int) -> None:
        self.accesses += 1
        here = self._here(address, size)
        for stream in np.unique(self.writer[0, here]):
            if stream:
                last = int(self.writer[1, here][self.writer[0, here] == stream].max())
                if clock.get(int(stream), 0) < last:
                    raise OrderError(
                        f"{name} does not wait for {self.names[int(stream), last]}, which writes what it uses"
                    )

    def _after_readers(self, clock: dict[int, int], name: str, address: int, size: int) -> None:
        here = self._here(address, size)
        for stream, counts in self.readers.items():
            last = int(counts[here].max(initial=0))
            if clock.get(stream, 0) < last:
                raise OrderError(
                    f"{name} does not wait for {self.names[stream, last]}, which reads what it overwrites"
                )


def _join(clock: dict[int, int], other: dict[int, int]) -> None:
    for stream, count in other.items():
        clock[stream] = max(clock.get(stream, 0), count)
