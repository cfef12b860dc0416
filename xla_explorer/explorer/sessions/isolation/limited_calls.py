"""The evaluator's runs in the child process; see `foundation.limits`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from xla_explorer.explorer.sessions.isolation.process import process_lock
from xla_explorer.explorer.sessions.isolation.settings import Isolation, isolation_settings
from xla_explorer.explorer.sessions.isolation.travelling import with_state
from xla_explorer.explorer.sessions.isolation.work import RemoteWork
from xla_explorer.foundation.limits import Bounds, bounds, limited_run, under
from xla_explorer.foundation.plain_data import PlainDataError, packed
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.warning import warn
from xla_explorer.frontends.jax_program.host_callbacks import has_callbacks
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.evaluator import CUSTOM_CALL_FUNCTIONS
from xla_explorer.hlo.evaluator.registry import custom_call_function
from xla_explorer.hlo.module import HloModule

P = ParamSpec("P")
R = TypeVar("R")


def bounds_of(isolation: Isolation | None) -> Bounds | None:
    """Return the limits of an isolated session's calls; None for another session."""
    if isolation is None:
        return None
    return Bounds(isolation.timeout, isolation.memory, partial(run_in_child, isolation))


def under_limits(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function under the limits of its first argument that has an `isolation`.

    Each compile, run and evaluation inside has the whole limits.
    """

    @wraps(function)
    def limited(*arguments: P.args, **keywords: P.kwargs) -> R:
        own = next((one.isolation for one in arguments if hasattr(one, "isolation")), None)
        with under(bounds_of(own)):
            return function(*arguments, **keywords)

    return limited


def as_one_run(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function as `under_limits` does, but with one time limit for all its runs together."""

    @under_limits
    @wraps(function)
    def limited(*arguments: P.args, **keywords: P.kwargs) -> R:
        if bounds().elsewhere is None:
            return function(*arguments, **keywords)
        with limited_run():
            return function(*arguments, **keywords)

    return limited


def run_in_child_by_options(work: str, module: HloModule, *arguments: Any) -> Any:
    """Do the same under the limits of `xe.options`."""
    isolation = isolation_settings(True, None, None)
    assert isolation is not None
    return run_in_child(isolation, work, module, *arguments)


def run_in_child(isolation: Isolation, work: str, module: HloModule, *arguments: Any) -> Any:
    """Run work in the child by its name, a method of the worker.

    NotImplemented, with a warning, if only this process can do it. Changes to the hosts and
    evaluators among the arguments are applied here too. Raises IsolatedError, and exceptions of the
    work.
    """
    reason = _why_not_sent(module, isolation, arguments)
    if reason is not None:
        warn(f"not isolated: {reason.message}", RuntimeWarning)
        return NotImplemented
    remote = RemoteWork(module.name, "interpreter", isolation)
    with process_lock:
        result, changed = remote.answer_of(remote.prepared(), work, module, *arguments)
    for ours, theirs in zip(with_state(arguments), changed, strict=True):
        ours.take_over(theirs)
    return result


def _why_not_sent(module: HloModule, isolation: Isolation, arguments: Any) -> Reason | None:
    """Return why a child cannot evaluate a module: functions and objects of this process."""
    if has_callbacks(module):
        return Reason("function-of-this-process", "it calls Python functions of this process")
    targets = {target for i in module.instructions() if (target := custom_call_target(i))}
    own = sorted([target for target in targets if _is_own(target)])
    if own and not isolation.imports:
        return Reason(
            "function-of-this-process",
            f"the function of {', '.join(own)} is in this process, a child does not have it",
            {"targets": own},
        )
    try:
        packed(with_state(arguments))
    except PlainDataError as problem:
        return Reason("object-of-this-process", problem.message)
    return None


def _is_own(target: str) -> bool:
    """Return True if a user defined the custom call in this process."""
    function = custom_call_function(target)
    return function is not None and (
        target not in CUSTOM_CALL_FUNCTIONS or function.__module__ == "__main__"
    )
