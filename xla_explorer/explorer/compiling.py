"""`xe.compile`: from what a user has to a session."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.isolation.settings import Isolation


def compile(
    module: Any,
    backend: str = "cpu",
    passes: Any = "default",
    journal: str = "decisions",
    threads: int | None = None,
    *,
    verify: bool = True,
    check_passes: bool = False,
    check_values: Any = None,
    cache: bool = True,
    control: PassControl | None = None,
    keep_errors: bool = False,
    filename: str | None = None,
    isolate: bool | Isolation | None = None,
    timeout: float | None = None,
    memory_limit: int | None = None,
    **backend_options: Any,
) -> Session:
    """Compile a module (or HLO text, or a traced function) and keep everything that happened.

    backend: `cpu`, `gpu`, `interpreter` or a plug-in's name. passes: `default`, `none`, or a pipeline string. journal: off, passes,
    decisions, everything. threads: None lets the backend choose. verify: check the module first. check_passes: verify after each pass
    too. check_values: arguments (True: random ones) on which the module is evaluated after each pass that changed it; the compile fails
    with a ValuesDifferError that names the first pass after which the values differ. keep_errors: return the session of a failed
    compile instead of raising. isolate: do all of it in a child process, so that a crash, an endless loop (timeout: seconds a
    compile or a run may take) or exhausted memory (memory_limit: bytes) there is an IsolatedError that names the pass, or the kernel and
    its HLO; None: what `xe.options` says. The backend `xla` has a process of its own anyway. backend_options: what one backend alone
    reads; of `gpu`: architecture, device, libraries, math, tf32, graphs, synchronous; of `cpu`: donate, excess_precision, fusion_policy. A
    name that it does not read is an error, which lists them.

    Raises:
        HloParseError, HloVerifyError: the module is malformed; with places and next steps.
        UnknownBackendError, UnknownOptionError, PipelineSyntaxError: a name is unknown; with near ones.
        CompileFailedError: a pass or the backend failed; `.session` shows every step before.
    """
    return Session.of(
        module, backend, passes, journal, threads, verify=verify, check_passes=check_passes, check_values=check_values, cache=cache,
        control=control, keep_errors=keep_errors, filename=filename, isolate=isolate, timeout=timeout, memory_limit=memory_limit,
        **backend_options,
    )  # fmt: skip
