"""Settings of isolation, for one compile or for all of them through `xe.options`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xla_explorer.explorer.sessions.options import options
from xla_explorer.foundation.diagnostic import XlaExplorerError


@dataclass(frozen=True, slots=True)
class Isolation:
    """The limits of the child process in which an isolated session compiles and runs.

    Parameters
    ----------
    timeout : float, optional
        Seconds for one compile (parsing, passes and code), one run, or one method of a session,
        without the start of a process. By default there is no limit.
    memory : int, optional
        Bytes for the child beyond those after loading LLVM. By default there is no limit.
    imports : tuple of str
        Modules that the child imports first, for plug-ins without an entry point.
    environment : tuple of str
        Environment variables for the child, besides those that programs need.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> limits = xe.Isolation(timeout=60, memory=2 << 30)
    >>> limits.timeout
    60
    >>> text = "ENTRY main { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }"
    >>> session = xe.compile(text, isolate=limits)
    """

    timeout: float | None = None
    memory: int | None = None
    imports: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()


def has_own_process(backend: str) -> bool:
    """Return True if a backend always runs in its own process: real XLA, of any environment."""
    return backend.partition(":")[0] == "xla"


def isolation_settings(
    isolate: Any, timeout: float | None, memory: int | None, backend: str = ""
) -> Isolation | None:
    """Return the isolation of a compile, from its keywords and `xe.options`.

    None: no child process. XlaExplorerError for limits of a compile in this process, which cannot
    be enforced.
    """
    if isinstance(isolate, Isolation):
        return isolate
    given = timeout is not None or memory is not None
    wanted = options.isolate if isolate is None else bool(isolate)
    if not wanted and not (given and has_own_process(backend)):
        if given:
            name = "timeout" if timeout is not None else "memory_limit"
            raise XlaExplorerError(
                f"{name} needs a child process: native code in this one cannot be stopped",
                "add isolate=True",
            )
        return None
    return Isolation(
        options.timeout if timeout is None else options.checked("timeout", timeout),
        options.memory_limit if memory is None else options.checked("memory_limit", memory),
        options.isolated_imports,
    )
