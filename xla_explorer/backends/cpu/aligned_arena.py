"""Reused memory: aligned scratch buffers, and output arrays that nothing refers to any longer.

A fresh page costs more than the arithmetic that fills it: a fault and 4 KB of zeros each. So
neither scratch memory nor outputs return to the system between executions. Large blocks lie on huge
pages if the system supports them.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xla_explorer.foundation.diagnostic import XlaExplorerError

ALIGNMENT: Final = 64
_HUGE_PAGE: Final = 2 << 20
# Below this a block is a bytearray; from here on it is whole pages of its own.
_MAPPING_THRESHOLD: Final = 64 << 10


def size_class(size: int) -> int:
    """Return the block size for `size` bytes.

    There are eight classes per power of two, multiples of 64, with at most 1/8 waste.
    """
    if size <= 512:
        return (size + 63) & ~63 or 64
    step = 1 << ((size - 1).bit_length() - 4)
    step = max(step, 64)
    return (size + step - 1) & -step


class AllocationError(XlaExplorerError, MemoryError):
    """The system has not as much memory as a program needs."""


def _readable(size: int) -> str:
    for unit, shift in (("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if size >> shift:
            return f"{size / (1 << shift):.1f} {unit}"
    return f"{size} bytes"


def allocate_aligned(size: int) -> tuple[Any, int, int]:
    """Allocate at least `size` bytes and return (owner, offset, address).

    owner is a writable buffer that frees the memory when it dies; the aligned bytes start at
    `offset` in it, which is at `address`. Aligned to 64 bytes, from 1 MB on to 2 MB, on huge pages
    if possible. AllocationError (a MemoryError) if there is none.
    """
    if size < _MAPPING_THRESHOLD:
        owner: Any = bytearray(size + ALIGNMENT)
        alignment = ALIGNMENT
    else:
        alignment = _HUGE_PAGE if size >= _HUGE_PAGE // 2 else mmap.PAGESIZE
        length = -(-size // alignment) * alignment
        # Mappings are page aligned only; the part before the first huge page is never touched and
        # costs nothing.
        padding = alignment if alignment > mmap.PAGESIZE else 0
        try:
            owner = _map_pages(length + padding)
        except OSError as problem:
            raise AllocationError(
                f"cannot allocate {_readable(size)}: {problem}",
                "smaller shapes need less; `session.buffers()` shows what takes the memory",
            ) from None
        if padding and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                owner.madvise(mmap.MADV_HUGEPAGE)
    start = int(np.frombuffer(owner, np.uint8).__array_interface__["data"][0])
    address = -(-start // alignment) * alignment
    return owner, address - start, address


def aligned_copy(data: bytes) -> npt.NDArray[Any]:
    """Copy the bytes to a flat array in new memory, aligned to 64 bytes."""
    owner, offset, _ = allocate_aligned(len(data))
    array: npt.NDArray[Any] = np.ndarray((len(data),), np.uint8, owner, offset)
    array[...] = np.frombuffer(data, np.uint8)
    return array


def _map_pages(length: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, length)
    # Private: a shared mapping (Python's default) gets no huge pages, and a forked child would
    # write into ours.
    return mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


class ArenaBuffer:
    """Scratch memory: `address` (aligned) and `size` bytes.

    Return it with `release` or a `with` block. A buffer that is garbage-collected returns to the
    system, not to the arena.
    """

    __slots__ = ("_arena", "_owner", "address", "offset", "size")

    def __init__(self, arena: Arena, size: int) -> None:
        self._owner, self.offset, self.address = allocate_aligned(size)
        self._arena: Arena | None = arena
        self.size = size

    def view(self, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
        """Return the bytes as a flat array. It must not be used after the buffer is released."""
        dtype = np.dtype(dtype)
        return np.ndarray((self.size // dtype.itemsize,), dtype, self._owner, self.offset)

    def release(self) -> None:
        """Give the memory back to its arena. A second call does nothing."""
        arena, self._arena = self._arena, None
        if arena is not None:
            arena._give_back(self)

    def __enter__(self) -> ArenaBuffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return (
            f"<ArenaBuffer {self.size} bytes at "
            f"{self.address:#x}{'' if self._arena else ', released'}>"
        )


class Arena:
    """Scratch memory for executions; safe from several threads.

    max_idle_bytes: bound of unused memory in the arena; memory released beyond it returns to the
    system. Buffers are uninitialised and may contain old data.
    """

    def __init__(self, max_idle_bytes: int = 1 << 30) -> None:
        self.max_idle_bytes = max_idle_bytes
        self.idle_bytes = 0
        self._free: dict[int, list[ArenaBuffer]] = {}
        self._lock = threading.Lock()

    def take(self, size: int) -> ArenaBuffer:
        """Return a buffer of at least `size` bytes, aligned to 64 (2 MB if large).

        About 0.4 us if an idle one exists.
        """
        wanted = size_class(size)
        with self._lock:
            stack = self._free.get(wanted)
            if stack:
                buffer = stack.pop()
                self.idle_bytes -= wanted
                buffer._arena = self
                return buffer
        return ArenaBuffer(self, wanted)

    def _give_back(self, buffer: ArenaBuffer) -> None:
        with self._lock:
            if self.idle_bytes + buffer.size <= self.max_idle_bytes:
                self.idle_bytes += buffer.size
                self._free.setdefault(buffer.size, []).append(buffer)

    def forget_holder(self) -> None:
        """Replace the lock in a forked child, where no thread holds it."""
        self._lock = threading.Lock()

    def trim(self) -> None:
        """Give all idle memory back to the system."""
        with self._lock:
            self._free.clear()
            self.idle_bytes = 0


class _Block:
    """Memory of the pool: free if only the block itself refers to `owner`."""

    __slots__ = ("address", "offset", "owner", "size")

    def __init__(self, size: int) -> None:
        self.owner, self.offset, self.address = allocate_aligned(size)
        self.size = size


def _idle_reference_count() -> int:
    """Return the reference count of an unused block, read exactly as the pool reads it.

    It differs between Python versions: from 3.14 on, loading an attribute may borrow.
    """
    block = _Block(64)
    return sys.getrefcount(block.owner)


_IDLE: Final = _idle_reference_count()
# Without the global interpreter lock a reference count may lag behind: then no block is ever
# reused.
_COUNTS_ARE_EXACT: Final = getattr(sys, "_is_gil_enabled", lambda: True)()
_RECENT: Final = 4
_OLD_CHECKED_PER_TAKE: Final = 4


class _SizeClass:
    """Blocks of one size: the last used, tried first as they are in cache, and a ring of others."""

    __slots__ = ("old", "recent", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.recent: list[_Block] = []
        self.old: deque[_Block] = deque()


class OutputSlot:
    """A prepared request: arrays of one shape and type from one pool.

    Calling `take` costs about half a microsecond.
    """

    __slots__ = ("_class", "_pool", "dtype", "nbytes", "shape")

    def __init__(self, pool: OutputPool, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        self._pool = pool
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        self._class = pool._class_of(self.nbytes)

    def take(self) -> tuple[npt.NDArray[Any], int]:
        """Return a new C-contiguous array, uninitialised, and the address of its first byte."""
        # A thread owns the block it has popped; the lists are changed by single atomic operations
        # only.
        recent = self._class.recent
        busy = None
        block = None
        while recent:
            try:
                candidate = recent.pop()
            except IndexError:
                break
            if sys.getrefcount(candidate.owner) == _IDLE and _COUNTS_ARE_EXACT:
                block = candidate
                break
            if busy is None:
                busy = [candidate]
            else:
                busy.append(candidate)
        if block is None:
            block = self._pool._older_or_new(self._class)
        array: npt.NDArray[Any] = np.ndarray(self.shape, self.dtype, block.owner, block.offset)
        if busy is not None:
            busy.reverse()
            recent.extend(busy)
            if len(recent) >= _RECENT:
                with contextlib.suppress(IndexError):  # another thread may have emptied the list
                    self._class.old.append(recent.pop(0))
        if block.size:
            recent.append(block)
        return array, block.address


class OutputPool:
    """Arrays for results, whose memory is reused when the array and all its views are gone.

    An array, a view, a memoryview or a DLPack capsule of it refers to the owner of the memory. So
    the reference count of the owner shows if the block is free; no finaliser runs and none can be
    missed. max_bytes: bound of the blocks in the pool, in use or idle. Beyond it idle blocks are
    dropped. If all are in use, further arrays are ordinary ones whose memory is freed with them.
    Safe from several threads.
    """

    def __init__(self, max_bytes: int = 512 << 20) -> None:
        self.max_bytes = max_bytes
        self.tracked_bytes = 0
        self._classes: dict[int, _SizeClass] = {}
        self._lock = threading.Lock()

    def slot(self, shape: Sequence[int], dtype: npt.DTypeLike) -> OutputSlot:
        """Return a prepared request for arrays of this shape and type."""
        return OutputSlot(self, shape, dtype)

    def array(self, shape: Sequence[int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return a C-contiguous array, uninitialised, aligned to 64 bytes (2 MB if large)."""
        return OutputSlot(self, shape, dtype).take()[0]

    def array_with_address(
        self, shape: Sequence[int], dtype: npt.DTypeLike
    ) -> tuple[npt.NDArray[Any], int]:
        """Return an array and the address of its first byte.

        Reading the address from numpy costs more than the array.
        """
        return OutputSlot(self, shape, dtype).take()

    @property
    def idle_bytes(self) -> int:
        """Bytes in blocks that nothing uses now."""
        with self._lock:
            return sum(
                block.size
                for group in self._classes.values()
                for block in [*group.recent, *group.old]
                if _is_idle(block)
            )

    def forget_holder(self) -> None:
        """Replace the lock in a forked child, where no thread holds it."""
        self._lock = threading.Lock()

    def trim(self) -> int:
        """Give idle blocks back to the system. Returns the bytes still tracked."""
        with self._lock:
            self._drop_idle(0)
            return self.tracked_bytes

    def _class_of(self, nbytes: int) -> _SizeClass:
        size = size_class(nbytes)
        group = self._classes.get(size)
        if group is None:
            with self._lock:
                group = self._classes.setdefault(size, _SizeClass(size))
        return group

    def _older_or_new(self, group: _SizeClass) -> _Block:
        old = group.old
        for _ in range(min(_OLD_CHECKED_PER_TAKE, len(old))):
            try:
                block = old.popleft()
            except IndexError:
                break
            if _is_idle(block):
                return block
            old.append(block)
        block = _Block(group.size)
        with self._lock:
            if self.tracked_bytes + group.size > self.max_bytes:
                self._drop_idle(self.max_bytes - group.size)
            if self.tracked_bytes + group.size <= self.max_bytes and _COUNTS_ARE_EXACT:
                self.tracked_bytes += group.size
            else:
                block.size = 0  # not tracked: the array alone owns this memory
        return block

    def _drop_idle(self, target: int) -> None:
        """Forget idle blocks until at most `target` bytes are tracked. The lock is held."""
        for group in self._classes.values():
            for blocks in (group.old, group.recent):
                for _ in range(len(blocks)):
                    if self.tracked_bytes <= target:
                        return
                    try:
                        block = blocks.pop()
                    except IndexError:
                        break
                    if _is_idle(block):
                        self.tracked_bytes -= block.size
                    else:
                        group.old.appendleft(block)


def _is_idle(block: _Block) -> bool:
    return sys.getrefcount(block.owner) == _IDLE and _COUNTS_ARE_EXACT
