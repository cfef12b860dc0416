"""One compile from the source to the code, as this process does it, or the child for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.interfaces.compiler import InvalidOptionError
from xla_explorer.compiler.pipeline import PassControl, PassFailedError, PassTrace
from xla_explorer.explorer.sessions.arguments import Signature, random_arguments
from xla_explorer.explorer.sessions.backend_options import platform_with_options
from xla_explorer.explorer.sessions.loading import as_module, in_explicit_precision
from xla_explorer.explorer.sessions.progress import working
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.frontends.mixed_precision import mixes_precisions
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify as verify_module
from xla_explorer.hlo.verifier import violations


class Outcome(NamedTuple):
    """The outcome of a compile.

    trace: the passes. result: of the backend; None after an error. error: the exception that ended
    the compile, or None. phase: of the error. seconds: by phase.
    """

    trace: PassTrace
    result: CompileResult | None
    error: BaseException | None
    phase: str
    seconds: Mapping[str, float]


def source_of(given: Any, filename: str | None, verify: bool) -> HloModule:
    """Return the module of a user's input.

    Without `verify`, implicit conversions of float precision are written out: backends have no code
    for them. Raises HloParseError, LoadError; HloVerifyError with `verify`.
    """
    source = as_module(given, filename)
    if verify:
        verify_module(source)
    elif mixes_precisions(source) and violations(source):
        source = in_explicit_precision(source)
    return source


@default_floating_point()
def compiled(
    source: HloModule,
    backend: str,
    options: CompileOptions,
    check_values: Any,
    at_backend: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run the passes, then the backend.

    check_values: arguments to check every pass with; True: random ones. at_backend: called after
    the passes.
    """
    if check_values is not None and check_values is not False:
        if check_values is not True and not isinstance(check_values, Iterable):
            raise InvalidOptionError(
                f"check_values must be True or the arguments, got {type(check_values).__name__}",
                "check_values=True evaluates after each pass with random arguments, "
                "check_values=(x, y) with these",
            )
        arguments = random_arguments(source) if check_values is True else tuple(check_values)
        control = PassControl() if options.control is None else options.control
        control.check_values = Signature(source).leaves(arguments)
        options = replace(options, control=control)
    compiler = platform_with_options(backend, options.backend_options).compiler()
    started = time.perf_counter()
    try:
        with working(f"passes of {source.name} for {backend}"):
            trace = compiler.run_hlo_passes(source, options)
    except PassFailedError as problem:
        seconds = {"hlo-passes": time.perf_counter() - started}
        return Outcome(
            problem.trace,
            None,
            _named(problem.__cause__ or problem, source),
            f"the pass {problem.pass_name}",
            seconds,
        )
    in_passes = time.perf_counter() - started
    at_backend()
    started = time.perf_counter()
    try:
        with working(f"compiling {source.name} for {backend}"):
            result = compiler.run_backend(trace, options)
    except Exception as problem:
        seconds = {"hlo-passes": in_passes, "backend": time.perf_counter() - started}
        return Outcome(trace, None, _named(problem, source), "the backend", seconds)
    return Outcome(trace, result, None, "", result.seconds)


def _named(problem: BaseException, source: HloModule) -> BaseException:
    """Return an error about the module's nesting in place of Python's RecursionError."""
    if not isinstance(problem, RecursionError):
        return problem
    named = XlaExplorerError(
        f"the computations of {source.name} call each other too deeply: loops, branches and "
        "calls that are not inlined are nested further "
        "than this compiler follows",
        "compile with passes='default', which inlines calls, or nest fewer loops",
    )
    named.__cause__ = problem
    return named
