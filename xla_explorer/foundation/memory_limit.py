"""Limits of the memory that a process may map, on systems that have such limits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_GENEROUS = 2 << 30  # mapped by LLVM and numpy; for systems without /proc


def mapped_bytes(process: int | str = "self") -> int:
    """Return the bytes that a process maps now; `process` is its number or "self"."""
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return _GENEROUS


@contextmanager
def at_most_more(more: int) -> Iterator[None]:
    """Let this process map at most `more` bytes more inside the context.

    An allocation above the limit raises MemoryError. Without such limits nothing changes.
    """
    try:
        import resource  # not on Windows
    except ImportError:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    wanted = mapped_bytes() + more
    tighter = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *tighter]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def limit_memory(limit: int | None) -> None:
    """Let this process map at most `limit` bytes in all; None removes the limit.

    On systems without such limits nothing changes.
    """
    try:
        import resource  # not on Windows
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = (
        hard if limit is None else limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    )
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def limit_memory_of(process: int, more: int | None) -> None:
    """Let a child process map at most `more` bytes more than now; None removes the limit.

    On systems whose processes cannot limit each other nothing changes.
    """
    try:
        import resource  # not on Windows

        _, hard = resource.prlimit(process, resource.RLIMIT_AS)  # only on Linux
    except (ImportError, AttributeError, OSError):
        return
    wanted = hard if more is None else mapped_bytes(process) + more
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.prlimit(process, resource.RLIMIT_AS, (soft, hard))
