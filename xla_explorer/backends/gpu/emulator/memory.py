"""Address spaces of the GPU emulator: bytes, each with a shadow byte (unmapped, mapped, written).

Instructions check the shadow to find accesses out of bounds and reads of uninitialised memory.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.emulator.scalar_types import Array, DType

# Generic addresses: global memory begins at GLOBAL_BASE; the other windows have WINDOW bytes each.
GLOBAL_BASE = 1 << 32
SHARED_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW, WINDOW = 1 << 24, 1 << 26, 1 << 27, 1 << 24
UNMAPPED, MAPPED, WRITTEN = 0, 1, 2
_GUARD, _ALIGNMENT = 512, 256  # unmapped bytes after each buffer; alignment of buffers
# The shadow word of an access whose bytes are all written, by the access's bytes.
ALL_WRITTEN = {1: 0x02, 2: 0x0202, 4: 0x02020202, 8: 0x0202020202020202}


class AddressSpace:
    """One address space.

    octets: the bytes. shadow: UNMAPPED, MAPPED (uninitialised) or WRITTEN, for each byte.
    """

    def __init__(self, size: int, state: int = UNMAPPED) -> None:
        size = -(-max(size, 1) // 16) * 16
        self.octets = np.zeros(size, np.uint8)
        self.shadow = np.full(size, state, np.uint8) if state else np.zeros(size, np.uint8)
        self._views: dict[Any, Array] = {}

    def view(self, dtype: DType) -> Array:
        """Return the bytes as an array of another type, without a copy."""
        found = self._views.get(dtype)
        if found is None:
            found = self._views[dtype] = self.octets.view(dtype)
        return found

    def shadow_view(self, width: int) -> Array:
        """Return the shadow as an array of words of `width` bytes, without a copy."""
        found = self._views.get(width)
        if found is None:
            found = self._views[width] = self.shadow.view(f"u{width}")
        return found

    def grow(self, size: int) -> None:
        """Grow the space to `size` bytes; the new ones are unmapped."""
        size = -(-size // 16) * 16
        for name in ("octets", "shadow"):
            larger = np.zeros(size, np.uint8)
            old = getattr(self, name)
            larger[: len(old)] = old
            setattr(self, name, larger)
        self._views.clear()


class GlobalMemory:
    """The device's memory: 256-byte aligned buffers with unmapped bytes between them.

    Freed buffers are reused for the same size.
    """

    def __init__(self) -> None:
        self.space = AddressSpace(1 << 16)
        self._end = _ALIGNMENT
        self._names: dict[int, tuple[str, int]] = {}
        self._starts: list[int] = []
        self._free: dict[int, list[int]] = {}

    def allocate(self, size: int, name: str = "") -> int:
        """Return the address of a new, uninitialised buffer of `size` bytes."""
        room = -(-(max(size, 1) + _GUARD) // _ALIGNMENT) * _ALIGNMENT
        free = self._free.get(room)
        if free:
            offset = free.pop()
        else:
            offset, self._end = self._end, self._end + room
            if self._end + _GUARD > len(self.space.octets):
                self.space.grow(max(2 * len(self.space.octets), self._end + _GUARD))
        self.space.shadow[offset : offset + size] = MAPPED
        self._names[offset] = (name, size)
        bisect.insort(self._starts, offset)
        return GLOBAL_BASE + offset

    def release(self, address: int) -> None:
        """Free a buffer; later accesses are out of bounds."""
        offset = address - GLOBAL_BASE
        _, size = self._names.pop(offset)
        self._starts.pop(bisect.bisect_left(self._starts, offset))
        self.space.shadow[offset : offset + size] = UNMAPPED
        self._free.setdefault(-(-(max(size, 1) + _GUARD) // _ALIGNMENT) * _ALIGNMENT, []).append(
            offset
        )

    def name(self, address: int, name: str) -> None:
        """Set the name of a buffer, which error messages print."""
        offset = address - GLOBAL_BASE
        self._names[offset] = (name, self._names[offset][1])

    def write(self, address: int, data: Array) -> None:
        """Write bytes (u8) to memory."""
        offset = address - GLOBAL_BASE
        self.space.octets[offset : offset + len(data)] = data
        self.space.shadow[offset : offset + len(data)] = WRITTEN

    def read(self, address: int, size: int) -> Array:
        """Return a view of bytes of memory."""
        offset = address - GLOBAL_BASE
        return self.space.octets[offset : offset + size]

    def copy(self, source: int, target: int, size: int) -> None:
        """Copy bytes with their shadow."""
        here, there = source - GLOBAL_BASE, target - GLOBAL_BASE
        for bytes_ in (self.space.octets, self.space.shadow):
            bytes_[there : there + size] = bytes_[here : here + size].copy()

    def describe(self, address: int) -> str:
        """Return the buffer of an address, or the nearest one: `x[byte 4000 of 4000]`."""
        return self.describe_offset(address - GLOBAL_BASE) or hex(address)

    def describe_offset(self, offset: int) -> str:
        """Return the buffer of an offset in the device's memory (see `describe`)."""
        best, distance = "", None
        at = bisect.bisect_right(self._starts, offset)
        for start in self._starts[max(at - 1, 0) : at + 1]:
            name, size = self._names[start]
            away = max(start - offset, offset - start - size, 0)
            if distance is None or away < distance:
                best, distance = f"{name or 'buffer'}[byte {offset - start} of {size}]", away
        return best
