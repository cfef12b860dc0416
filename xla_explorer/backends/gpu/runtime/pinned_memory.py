"""Pinned host memory: the copy engine reads it while the host continues.

Pieces are reused when their copy is done. Source: CUDA Driver API, "Memory Management"
(cuMemHostAlloc).
"""

from __future__ import annotations

import ctypes
from typing import Any

from xla_explorer.backends.gpu.device_executor import Array
from xla_explorer.backends.gpu.runtime.cuda_driver import CudaDriver, CudaError

LEAST_BYTES = 64 << 10  # below it the driver copies the bytes aside before it returns
_LARGEST_PIECE = 64 << 20
_MOST_BYTES = 256 << 20


class PinnedMemory:
    """Pieces of pinned memory of one context; sizes are powers of two."""

    def __init__(self, driver: CudaDriver) -> None:
        self.driver = driver
        self._busy: list[tuple[int, int, Any]] = []  # address, size, event behind the copy
        self._free: dict[int, list[int]] = {}
        self._total = 0

    def staged(self, data: Array) -> tuple[int, int] | None:
        """Copy contiguous bytes to a piece and return its (address, size).

        None if a copy from pageable memory is as good. Call `in_use` once the copy is queued.
        """
        if not LEAST_BYTES <= data.nbytes <= _LARGEST_PIECE:
            return None
        size = 1 << (data.nbytes - 1).bit_length()
        self._collect()
        kept = self._free.get(size)
        if kept:
            address = kept.pop()
        elif self._total + size > _MOST_BYTES:
            return None
        else:
            try:
                address = int(self.driver.call("cuMemHostAlloc", size, 0))
            except CudaError:  # the host has no more to pin
                return None
            self._total += size
        ctypes.memmove(address, data.ctypes.data, data.nbytes)
        return address, size

    def in_use(self, piece: tuple[int, int], event: Any) -> None:
        """Record that a piece is read until the event."""
        self._busy.append((*piece, event))

    def _collect(self) -> None:
        """Reclaim pieces whose copies are done."""
        still = []
        for address, size, event in self._busy:
            if self.driver.is_done(event):
                self.driver.discard("cuEventDestroy", event)
                self._free.setdefault(size, []).append(address)
            else:
                still.append((address, size, event))
        self._busy = still

    def release(self) -> None:
        """Give everything back; the caller has waited for all copies."""
        self._collect()
        for addresses in self._free.values():
            for address in addresses:
                self.driver.discard("cuMemFreeHost", address)
        self._total -= sum([size * len(addresses) for size, addresses in self._free.items()])
        self._free.clear()
