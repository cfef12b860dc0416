"""Loading ahead of time what a first compilation would load: for servers, notebooks, and honest measurements."""

from __future__ import annotations

import time
from importlib import import_module

from xla_explorer.explorer.sessions.warming import warm_backend


def warm_up(backend: str = "cpu") -> float:
    """Load and initialise what compiling for a backend needs: its modules, LLVM and its target, numerical libraries, the rules.

    No program is compiled and nothing is written. Calling it is never necessary: a first
    compilation does the same, then pays for it.

    Parameters
    ----------
    backend
        As for `xe.compile`.

    Returns
    -------
    float
        The seconds it took; a second call takes next to none.

    Raises
    ------
    UnknownBackendError
        No backend has that name.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> xe.warm_up("interpreter") >= 0
    True
    """
    started = time.perf_counter()
    import_module("xla_explorer.explorer.compiling")  # `xe.compile` and all that it imports
    warm_backend(backend)
    return time.perf_counter() - started
