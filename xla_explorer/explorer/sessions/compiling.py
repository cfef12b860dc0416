"""`xe.compile`: from what a user has to a session."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.compiler.pipeline import PassControl, PassTrace
from xla_explorer.explorer.questions.decisions import CONSTANT_VALUES
from xla_explorer.explorer.session import CompileFailedError, Session
from xla_explorer.explorer.sessions.backend_options import platform_with_options
from xla_explorer.explorer.sessions.isolation.outcome import compiled, source_of
from xla_explorer.explorer.sessions.isolation.settings import Isolation, isolation_settings
from xla_explorer.explorer.sessions.lineage import AS_WRITTEN
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Level
from xla_explorer.hlo.analysis.elided_constants import elided_reason, warn_of_elided_constants
from xla_explorer.hlo.instruction import HloInstruction


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
    options = CompileOptions(passes, journal, threads, check_passes, cache, control, backend_options)
    isolation = _isolation(backend, passes, isolate, isolation_settings(isolate, timeout, memory_limit))
    platform_with_options(backend, backend_options)
    if isolation is None:
        source = source_of(module, filename, verify)
        outcome = compiled(source, backend, options, check_values)
    else:
        from xla_explorer.explorer.sessions.isolation import compile_isolated

        given: Any = module  # texts and files are read where the limits hold
        if isinstance(module, os.PathLike):
            given = Path(module)
        elif not isinstance(module, str | bytes):
            given = as_module(module, filename)
        source, outcome = compile_isolated(
            given, filename, backend, options, isolation, verify=verify, check_values=_plain(check_values)
        )
    _record_elided_constants(warn_of_elided_constants(source), outcome.trace)
    if outcome.trace.control.check_values is not None:
        options = replace(options, control=outcome.trace.control)
    session = Session(source, backend, options, outcome.trace, outcome.result, outcome.error, outcome.phase, outcome.seconds)
    session.isolation = isolation
    if outcome.error is not None and not keep_errors:
        raise CompileFailedError(session) from outcome.error
    return session


def _record_elided_constants(constants: list[HloInstruction], trace: PassTrace) -> None:
    """A refused decision for each constant whose values nobody knows, so that tables and explanations tell what the warning told."""
    if constants and trace.journal is not None and trace.journal.level >= Level.DECISIONS:
        with trace.journal.span(AS_WRITTEN, "constants"):
            for constant in constants:
                trace.journal.write(
                    "decision", CONSTANT_VALUES, (constant.id,), (constant.name,), elided_reason(constant), accepted=False
                )


def _plain(values: Any) -> Any:
    """Arguments as they travel: arrays of any library as numpy's."""
    if isinstance(values, tuple | list):
        return tuple([_plain(value) for value in values])
    return values if values is None or isinstance(values, bool | int | float | complex) else np.asarray(values)


def _isolation(backend: str, passes: Any, asked: Any, wanted: Isolation | None) -> Isolation | None:
    """What can be had of what is wanted. A child process that was asked for in the call and cannot be had is an error; one that only
    `xe.options` asks for, a warning."""
    if wanted is None:
        return None
    from xla_explorer.explorer.sessions.isolation import kept_here

    reason = kept_here(backend, passes, wanted)
    if reason is None:
        return wanted
    if reason.code != "own-process":
        hint = "put it into a module of its own and name that: isolate=xe.Isolation(imports=('my_module',))"
        if asked is not None:
            raise XlaExplorerError(f"this cannot be isolated: {reason.message}", hint)
        warnings.warn(f"not isolated: {reason.message}; {hint}", RuntimeWarning, stacklevel=3)
    return None
