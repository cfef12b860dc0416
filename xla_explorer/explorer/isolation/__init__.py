"""Generated code in a child process: a crash, an endless loop or exhausted memory there is an error here, and the notebook lives."""

from __future__ import annotations

from xla_explorer.explorer.isolation.failure import IsolatedCrashError, IsolatedError, IsolatedMemoryError, IsolatedTimeoutError
from xla_explorer.explorer.isolation.program import kept_here, run_backend_isolated
from xla_explorer.explorer.isolation.settings import Isolation, isolation_settings

__all__ = [
    "IsolatedCrashError",
    "IsolatedError",
    "IsolatedMemoryError",
    "IsolatedTimeoutError",
    "Isolation",
    "isolation_settings",
    "kept_here",
    "run_backend_isolated",
]
