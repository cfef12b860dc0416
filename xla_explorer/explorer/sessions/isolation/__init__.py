"""Generated code in a child process, where crashes, endless loops and lack of memory are errors."""

from __future__ import annotations

from xla_explorer.explorer.sessions.isolation.apart import (
    as_one_run,
    bounds_of,
    done_apart,
    under_limits,
)
from xla_explorer.explorer.sessions.isolation.failure import (
    IsolatedCrashError,
    IsolatedError,
    IsolatedMemoryError,
    IsolatedTimeoutError,
)
from xla_explorer.explorer.sessions.isolation.program import compile_isolated, kept_here
from xla_explorer.explorer.sessions.isolation.settings import Isolation, isolation_settings

__all__ = [
    "IsolatedCrashError",
    "IsolatedError",
    "IsolatedMemoryError",
    "IsolatedTimeoutError",
    "Isolation",
    "as_one_run",
    "bounds_of",
    "compile_isolated",
    "done_apart",
    "isolation_settings",
    "kept_here",
    "under_limits",
]
