"""`xe.xla.overrides`: change the modules that real XLA compiles, with JAX's hook (from 0.10.2 on).

This file registers the hook and keeps the report. `requests.py` parses the requests; `acting.py`
applies them to a module, so a new kind of request belongs there.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

from xla_explorer.compiler.rewriting.rule import Rule
from xla_explorer.explorer.xla.overrides.acting import (
    RequestRow,
    after_scheduling,
    before_scheduling,
    concerned,
    dropped,
    refused_by,
)
from xla_explorer.explorer.xla.overrides.report import Outcome, XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import Requests, make_requests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.optional import import_optional
from xla_explorer.foundation.reason import refuse
from xla_explorer.foundation.warning import warn
from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.protobuf import Message

# Platforms of real XLA. The PJRT plugin of this project is excluded.
_PLATFORMS: Final = ("cpu", "cuda", "rocm", "tpu")
_numbers = itertools.count()


class OverrideFailedWarning(UserWarning):
    """`xe.xla.overrides` failed, and XLA compiled its module unchanged."""


@explains_arguments
def overrides(
    *,
    fuse: Iterable[Sequence[Any]] = (),
    forbid: Iterable[Sequence[Any]] = (),
    rules: Iterable[Rule | str] = (),
    passes: Any = None,
    schedule_order: Iterable[Any] = (),
    when: str = "*",
    clear_caches: bool = True,
) -> XlaOverrides:
    """Change the programs that real XLA compiles while the context is open.

    JAX calls the hook within XLA's pipeline, directly before and after scheduling. At this point
    XLA has made its fusions, which can be split or joined. The result is a context manager and a
    decorator. Names are those of the module that XLA prints (`session.passes` of `backend="xla"`,
    `xe.xla.why_slow`). A request that is refused does not change the module; the report has the
    Reason. After an error in a request XLA compiles its module unchanged, with a warning.

    Parameters
    ----------
    fuse, forbid
        Pairs (producer, consumer) of instructions to compute by one kernel, or by two.
    rules
        Rewrite rules, declared with `@xe.rule`, or names of built-in rules.
    passes
        A pipeline of passes, such as `"algsimp,dce"`, which may include your own passes.
    schedule_order
        Instructions in the order in which XLA should run them.
    when
        Glob pattern of the names of modules to change, such as `"jit_step*"`.
    clear_caches
        Clear JAX's caches on entry and exit, so that functions are compiled again. JAX's persistent
        compilation cache is off while the context is open.

    Returns
    -------
    XlaOverrides
        The result of each request in each program: `.to_frame()`, `.refused`, `.save(path)`.

    Raises
    ------
    XlaExplorerError
        A request is malformed, or jax is older than 0.10.2.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> with xe.xla.overrides(forbid=[("exp.1", "add.2")]) as changed:  # doctest: +SKIP
    ...     step(parameters, batch)
    >>> changed.to_frame()  # doctest: +SKIP
    """
    requests = make_requests(fuse, forbid, rules, passes, schedule_order, when)
    return XlaOverrides(requests, partial(overridden, clear_caches=clear_caches))


@contextmanager
def overridden(report: XlaOverrides, clear_caches: bool = True) -> Iterator[None]:
    """Apply the requests of a report to XLA's compiles while the context is open."""
    jax = import_optional("jax", "jax")
    close = install(report)
    cached = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    if clear_caches:
        jax.clear_caches()
    try:
        yield
    finally:
        close()
        jax.config.update("jax_enable_compilation_cache", cached)
        if clear_caches:
            jax.clear_caches()


def install_early(report: XlaOverrides) -> Callable[[], None]:
    """Register the hook for XLA's CPU only, before JAX has initialised its platforms.

    During the initialisation JAX's own function would deadlock: it waits for the end of the
    initialisation, which waits for the caller.
    """
    act, name = _Acting(report), f"xla_explorer.overrides.{next(_numbers)}"
    register = import_optional("jaxlib._xla", "jax").register_xla_transform
    for stage, callback in enumerate((act.before, act.after)):  # values of PipelineStage
        register(name, stage, callback)
    return act.close


def install(report: XlaOverrides) -> Callable[[], None]:
    """Register the hook with JAX for both stages; return the function that removes it."""
    hooks, act = hooks_of_jax(), _Acting(report)
    name = f"xla_explorer.overrides.{next(_numbers)}"
    stages = (
        (hooks.PipelineStage.PRE_SCHEDULER, act.before),
        (hooks.PipelineStage.POST_SCHEDULER, act.after),
    )
    registered = []
    for platform, (stage, callback) in itertools.product(_PLATFORMS, stages):
        # jax 0.12 rejects a platform that is not installed; 0.10 accepts it.
        with suppress(RuntimeError):
            hooks.register_hlo_module_transformation(
                callback, name=name, stage=stage, platforms=platform
            )
            registered.append((stage, platform))

    def close() -> None:
        act.close()
        for stage, platform in registered:
            hooks.clear_hlo_module_transformation(name, stage, platform)

    return close


def hooks_of_jax() -> Any:
    """Return JAX's module with the hook. XlaExplorerError if this JAX has none."""
    try:
        from jax.extend import xla as hooks
    except ImportError as problem:
        raise XlaExplorerError(
            "XLA's compiles can be changed by a hook that JAX has since version 0.10.2",
            "pip install -U jax",
        ) from problem
    return hooks


@contextmanager
def captured() -> Iterator[list[bytes]]:
    """Collect the modules that XLA compiles for its CPU while the context is open, as bytes."""
    found: list[bytes] = []
    hooks = hooks_of_jax()
    name, stage = f"xla_explorer.captured.{next(_numbers)}", hooks.PipelineStage.PRE_SCHEDULER
    hooks.register_hlo_module_transformation(found.append, name=name, stage=stage, platforms="cpu")
    try:
        yield found
    finally:
        hooks.clear_hlo_module_transformation(name, stage, "cpu")


class _Acting:
    """The two callbacks of one report; XLA may call them from several threads."""

    def __init__(self, report: XlaOverrides) -> None:
        self.report = report
        self.programs: list[str] = []
        # Requests whose instructions were found in some program.
        self._met: set[tuple[str, tuple[str, ...]]] = set()
        self.is_closed = False  # a platform that is initialised later still calls the hook
        self._lock = threading.Lock()
        # By module name, between the two stages. Later modules may have the same name.
        self._keys: dict[str, str] = {}
        self._read = import_optional(
            "jaxlib._hlo", "jax"
        ).HloModule.from_serialized_hlo_module_proto

    def before(self, data: bytes) -> bytes | None:
        """Return a changed module before XLA schedules it, or None for no change."""
        return self._guarded(data, self._before)

    def after(self, data: bytes) -> bytes | None:
        """Return a module with a changed schedule, or None; record the requests that XLA undid."""
        return self._guarded(data, self._after)

    def close(self) -> None:
        """Stop changing modules; record the requests whose instructions were in no program."""
        self.is_closed = True
        for word, subjects in self.report.requests.by_name():
            if self.programs and (word, subjects) not in self._met:
                names = ", ".join(dict.fromkeys(self.programs[:5]))
                reason = refuse(
                    "not-in-the-module",
                    f"none of the {len(self.programs)} programs that XLA compiled ({names}) has "
                    "these instructions",
                )
                self.report.add([Outcome("", "", word, subjects, "refused", reason)])

    def _guarded(
        self, data: bytes, act: Callable[[str, bytes, Requests], bytes | None]
    ) -> bytes | None:
        started, name = time.perf_counter(), "?"
        try:
            name = Message(schema.MODULE, data).text("name")
            if self.is_closed or not self.report.requests.concern(name):
                return None
            requests = concerned(data, self.report.requests)
            self._met.update(requests.by_name())
            return act(name, data, requests)
        except Exception as problem:  # an error here must not stop XLA's compile
            reason = refused_by(problem)
            self.report.add([Outcome(name, "", "all", (), "failed", reason)])
            warn(f"xe.xla.overrides did not act on {name}: {reason}", OverrideFailedWarning)
            return None
        finally:
            with self._lock:
                self.report.seconds += time.perf_counter() - started

    def _before(self, name: str, data: bytes, requests: Requests) -> bytes | None:
        with self._lock:
            self.programs.append(name)
        if not (requests.fuse or requests.forbid or requests.rules or requests.passes):
            return None
        key = self._keys[name] = self.report.keep(data)
        return self._finish(name, key, *before_scheduling(data, requests))

    def _after(self, name: str, data: bytes, requests: Requests) -> bytes | None:
        key = self._keys.pop(name, None)
        undone = dropped(data, requests)
        if undone and key is not None:
            self.report.drop(name, key, undone)
        if not requests.schedule_order:
            return None
        return self._finish(name, key or self.report.keep(data), *after_scheduling(data, requests))

    def _finish(
        self, name: str, key: str, made: bytes | None, found: list[RequestRow]
    ) -> bytes | None:
        """Record the rows of a module, and return the bytes of the changed one."""
        if made is not None:
            self._read(made)  # raises for a malformed module, which would abort XLA's compile
        self.report.add(
            [
                Outcome(name, key, word, subjects, "refused" if why else "granted", why)
                for word, subjects, why in found
            ]
        )
        return made
