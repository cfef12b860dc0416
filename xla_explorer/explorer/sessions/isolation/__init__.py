"""Generated code in a child process, where crashes, endless loops and lack of memory are errors."""

from __future__ import annotations

from xla_explorer.explorer.sessions.isolation.failure import (
    IsolatedCrashError,
    IsolatedError,
    IsolatedMemoryError,
    IsolatedTimeoutError,
)
from xla_explorer.explorer.sessions.isolation.limited_calls import (
    as_one_run,
    bounds_of,
    run_in_child,
    under_limits,
)
from xla_explorer.explorer.sessions.isolation.program import compile_isolated, why_not_sent
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
    "isolation_settings",
    "run_in_child",
    "under_limits",
    "why_not_sent",
]
