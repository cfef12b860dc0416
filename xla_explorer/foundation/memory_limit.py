"""How much memory this process may map: a limit above what it maps already, where the system has such limits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_GENEROUS = 2 << 30  # what LLVM and numpy map, where the system does not tell


def mapped_bytes(process: int | str = "self") -> int:
    """What this process, or that of a number, maps now."""
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return _GENEROUS


@contextmanager
def at_most_more(more: int) -> Iterator[None]:
    """Inside, mapping so many bytes more than now fails, which Python says as MemoryError. Nothing happens where there are no limits."""
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
    """From here on, mapping more than so many bytes in all fails; None takes the limit away. Nothing happens where there are no limits."""
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
    """From here on, mapping so many bytes more than now fails in a child process; None takes the limit away.

    Nothing happens where one process cannot limit another.
    """
    try:
        import resource  # not on Windows

        _, hard = resource.prlimit(process, resource.RLIMIT_AS)  # only on Linux
    except (ImportError, AttributeError, OSError):
        return
    wanted = hard if more is None else mapped_bytes(process) + more
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.prlimit(process, resource.RLIMIT_AS, (soft, hard))
