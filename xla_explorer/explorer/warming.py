"""Loading ahead of time what a first compilation would load: for servers, notebooks, and honest measurements."""

from __future__ import annotations

import time
from importlib import import_module

from xla_explorer.explorer.sessions.warming import warm_backend


def warm_up(backend: str = "cpu") -> float:
    """Load and initialise what compiling for a backend needs: its modules, LLVM and its target, numerical libraries, the rules.

    No program is compiled and nothing is written. Returns the seconds it took; a second call takes next to none. Calling it is never
    necessary: a first compilation does the same, then pays for it. UnknownBackendError as for `xe.compile`.
    """
    started = time.perf_counter()
    import_module("xla_explorer.explorer.compiling")  # `xe.compile` and all that it imports
    warm_backend(backend)
    return time.perf_counter() - started
