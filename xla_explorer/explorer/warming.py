"""Loading ahead of time what a first compile loads: for servers, notebooks and measurements."""

from __future__ import annotations

import time
from importlib import import_module

from xla_explorer.explorer.sessions.warming import warm_backend
from xla_explorer.foundation.keywords import explains_arguments


@explains_arguments
def warm_up(backend: str = "cpu") -> float:
    """Load and initialise what a compile for a backend needs; return the seconds.

    That is its modules, LLVM and its target, numerical libraries, and the rules. No program is
    compiled and nothing is written. The call is never necessary: a first compile does the same.

    Parameters
    ----------
    backend : str, default `cpu`
        As for `xe.compile`.

    Returns
    -------
    float
        The seconds; a second call takes almost none.

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
