"""A content-addressed cache of object code: in memory, and on disk across processes.

One file per object, named by the SHA-256 of its complete inputs. A file carries a checksum of its
name and payload. It is written beside its place and then renamed, so any number of processes may
share the folder. A torn, damaged or moved file is a miss and is deleted. The folder belongs to this
user alone: a file of another user, or one that others may write, is a miss too. The least recently
used files are deleted when the folder outgrows its bound.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from xla_explorer.foundation.private_folder import private_folder, read_private

_MAGIC = b"XLAEOBJ2"
_HEADER_BYTES = len(_MAGIC) + 32
_SUFFIX = ".object"
# A file's time is refreshed on a hit, but not more often than this: a hit must not become a disk
# write.
_TOUCH_INTERVAL_SECONDS = 600.0


class KeptOnDisk(NamedTuple):
    """A kind of files in the cache folder.

    holds: a phrase. max_bytes: its bound, above which the least recently used files are deleted; 0
    for a few KiB.
    """

    holds: str
    max_bytes: int


CACHES: dict[str, KeptOnDisk] = {
    "objects": KeptOnDisk("native code, by the SHA-256 of everything that decides it", 256 << 20),
    "schedules": KeptOnDisk("the schedules that `xe.tune` found, by kernel and machine", 8 << 20),
    "machine_limits": KeptOnDisk(
        "this machine's bandwidth and arithmetic peak, as `xe.doctor` measured them", 0
    ),
}
"""By the name of the folder or file in `user_cache_folder()`."""


def user_cache_folder() -> Path:
    """Return the platform's cache folder of this package.

    That is a folder of $XDG_CACHE_HOME, ~/Library/Caches or %LOCALAPPDATA%.
    """
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "xla_explorer"


@dataclass(slots=True)
class CacheStatistics:
    """Use of the cache by this process. Bytes and files: of the folder, when last read."""

    memory_hits: int = 0
    disk_hits: int = 0
    misses: int = 0
    stores: int = 0
    damaged: int = 0
    evicted: int = 0


class ObjectCache:
    """Bytes by key.

    All methods are safe from several threads and several processes; none raises for a disk problem.

    folder: None for the platform's cache folder. max_bytes: bound of the folder. memory_bytes:
    bound of the layer in memory. enabled=False makes every `get` a miss and every `put` nothing.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        max_bytes: int = CACHES["objects"].max_bytes,
        memory_bytes: int = 64 << 20,
        enabled: bool = True,
    ) -> None:
        self.folder = Path(folder) if folder is not None else user_cache_folder() / "objects"
        self.max_bytes = max_bytes
        self.memory_bytes = memory_bytes
        self.enabled = enabled
        self.statistics = CacheStatistics()
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._memory_size = 0
        self._written_since_trim = max_bytes  # look at the folder at the first store
        self._lock = threading.Lock()

    @staticmethod
    def key(*parts: str) -> str:
        """Return the SHA-256 (hexadecimal) of the parts.

        Parts are delimited, so ("a", "b") and ("ab",) differ.
        """
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(b"%d:" % len(data))
            digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> bytes | None:
        """Return the object of a key, or None."""
        if not self.enabled:
            return None
        with self._lock:
            found = self._memory.get(key)
            if found is not None:
                self._memory.move_to_end(key)
                self.statistics.memory_hits += 1
                return found
        found = self._read(key)
        with self._lock:
            if found is None:
                self.statistics.misses += 1
            else:
                self.statistics.disk_hits += 1
                self._remember(key, found)
        return found

    def put(self, key: str, data: bytes) -> None:
        """Store an object. A full disk or a read-only folder leaves the layer in memory only."""
        if not self.enabled:
            return
        with self._lock:
            self._remember(key, data)
            self.statistics.stores += 1
        path = self._path(key)
        temporary = ""
        try:
            if not (private_folder(self.folder) and private_folder(path.parent)):
                return
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + _checksum(key, data) + data)
            os.replace(temporary, path)
        except OSError:
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            return
        with self._lock:
            self._written_since_trim += len(data)
            due = self._written_since_trim > self.max_bytes // 16
            if due:
                self._written_since_trim = 0
        if due:
            self.trim()

    def trim(self) -> int:
        """Delete least recently used files until the folder is within its bound.

        Returns the bytes that stay.
        """
        files: list[tuple[float, int, str]] = []
        now = time.time()
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    status = os.stat(path)
                    if name.startswith(".writing-"):
                        # Left by a process that died while it wrote.
                        if now - status.st_mtime > 3600:
                            os.unlink(path)
                    elif name.endswith(_SUFFIX):
                        files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        if total > self.max_bytes:
            files.sort()
            for _, size, path in files:
                if total <= self.max_bytes * 3 // 4:
                    break
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    total -= size
                    self.statistics.evicted += 1
        return total

    def clear(self) -> None:
        """Forget everything, in memory and on disk."""
        self.forget_memory()
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if name.endswith(_SUFFIX):
                    with contextlib.suppress(OSError):
                        os.unlink(os.path.join(folder, name))

    def drop(self, key: str) -> None:
        """Forget one object, in memory and on disk: its reader could make nothing of it."""
        with self._lock:
            self._memory_size -= len(self._memory.pop(key, b""))
            self.statistics.damaged += 1
        with contextlib.suppress(OSError):
            self._path(key).unlink()

    def forget_memory(self) -> None:
        """Drop the layer in memory; files stay."""
        with self._lock:
            self._memory.clear()
            self._memory_size = 0

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / (key + _SUFFIX)

    def _read(self, key: str) -> bytes | None:
        path = self._path(key)
        try:
            content = read_private(path)
        except OSError:
            return None
        if content is None:
            return None
        payload = content[_HEADER_BYTES:]
        if (
            not content.startswith(_MAGIC)
            or _checksum(key, payload) != content[len(_MAGIC) : _HEADER_BYTES]
        ):
            self.statistics.damaged += 1
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _TOUCH_INTERVAL_SECONDS:
                os.utime(path)
        return payload

    def _remember(self, key: str, data: bytes) -> None:
        previous = self._memory.pop(key, None)
        if previous is not None:
            self._memory_size -= len(previous)
        self._memory[key] = data
        self._memory_size += len(data)
        while self._memory_size > self.memory_bytes and len(self._memory) > 1:
            _, dropped = self._memory.popitem(last=False)
            self._memory_size -= len(dropped)


def _checksum(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + data).digest()


def cache_enabled_by_environment() -> bool:
    """Return False if XLA_EXPLORER_CACHE is `off`, `0`, `no` or `false`."""
    return os.environ.get("XLA_EXPLORER_CACHE", "").strip().lower() not in (
        "off",
        "0",
        "no",
        "false",
    )


@functools.lru_cache(maxsize=1)
def default_object_cache() -> ObjectCache:
    """Return the cache of this process: the platform's folder, 256 MB.

    It is off if the environment has XLA_EXPLORER_CACHE=off.
    """
    return ObjectCache(enabled=cache_enabled_by_environment())
