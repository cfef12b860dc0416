"""Calls of Python functions by a program, and their cost without the functions' own work."""

from __future__ import annotations

import itertools
import re
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.backends.xla.host_callbacks import (
    HostCallbackWarning,
    is_host_callback,
    without_host_callbacks,
)
from xla_explorer.backends.xla.worker import is_processor_time
from xla_explorer.explorer.display.quantities import microseconds, number_of
from xla_explorer.explorer.sessions.loading import has_module
from xla_explorer.explorer.xla.median_interval import median_interval
from xla_explorer.explorer.xla.places import PlacedModule, short_place
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto
from xla_explorer.frontends.jax_program.stages import is_stage
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

_ROUNDS: Final = 15
_INDEX: Final = re.compile(r"\bindex\s*=\s*(\d+)")


class HostCalls(NamedTuple):
    """The Python functions that a program calls in each run.

    Attributes
    ----------
    lines : tuple of str
        The user's source lines.
    with_us, without_us : float or None
        A run that calls functions that return zeros at once, and a run of the program without the
        calls; None if they cannot be timed.
    ratios : tuple of float
        The interval in which the median of (without : with) lies with a probability of 95 %.
    """

    lines: tuple[str, ...]
    with_us: float | None
    without_us: float | None
    ratios: tuple[float, float] | None = None

    @property
    def share(self) -> float:
        """The part of a run that the calls take; 0 if it is unknown."""
        if not self.with_us or self.without_us is None:
            return 0.0
        return 1 - self.without_us / self.with_us

    @property
    def sentence(self) -> str:
        """The lines, the cost and the change."""
        calls = f"{', '.join(self.lines)} calls Python in each run, and waits for its operands"
        change = (
            "leave it out of the jitted function (return the value), or call it rarely under "
            "jax.lax.cond"
        )
        if self.with_us is None or self.without_us is None:
            return f"{calls}: {change}; not tried"
        times = f"{microseconds(self.with_us)} a run, {microseconds(self.without_us)} without"
        if self.ratios is not None:
            low, high = self.ratios
            times += f", {self.without_us / self.with_us:.2f} ({low:.2f} to {high:.2f})"
        return f"{calls}: {change}; measured with functions that return at once: {times}"


def host_calls(
    program: Any,
    arrays: tuple[Any, ...],
    keywords: Mapping[str, Any],
    module: HloModule,
    leaves: list[Any],
) -> HostCalls | None:
    """Return the calls of a program; None if it has none. The user's functions are not called."""
    calls = [i for i in module.instructions() if is_host_callback(i)]
    if not calls:
        return None
    places = PlacedModule(module)
    lines = [short_place(places.find(i.name)[1].line) or f"%{i.name}" for i in calls]
    kept = tuple(dict.fromkeys(lines))
    if is_stage(program) or has_module(program) or not callable(program):
        return HostCalls(kept, None, None)
    try:
        return HostCalls(kept, *_timed(program, arrays, keywords, module, leaves))
    except Exception:  # JAX's private interfaces differ by version
        return HostCalls(kept, None, None)


def host_calls_note(found: HostCalls | None) -> str | None:
    """Return the sentence, with the number of calls."""
    return f"{number_of(len(found.lines), 'host call')}: {found.sentence}" if found else None


def _timed(
    program: Any,
    arrays: tuple[Any, ...],
    keywords: Mapping[str, Any],
    module: HloModule,
    leaves: list[Any],
) -> tuple[float, float, tuple[float, float]]:
    """Return microseconds of a run with idle functions, of one without calls, and the interval."""
    jax = import_optional("jax", "jax")
    jaxlib = import_optional("jaxlib._jax", "jax")
    client = import_optional("jaxlib.xla_client", "jax")
    jitted = program if hasattr(program, "lower") else jax.jit(program)
    device = jax.local_devices(backend="cpu")[0]
    with jax.default_device(device):
        lowered = jitted.lower(*arrays, **keywords)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HostCallbackWarning)
        silent = without_host_callbacks(module)[0]
    arguments = lowered._lowering.compile_args
    if arguments["ordered_effects"]:
        # Their calls pass tokens, and a function that JAX did not make for them ends the process.
        raise XlaExplorerError("calls in an order cannot be timed", "leave out ordered=True")
    arguments["host_callbacks"][:] = _idle_functions(lowered)
    called = lowered.compile()
    silent_executable = device.client.compile_and_load(
        jaxlib.mlir.hlo_to_stablehlo(write_hlo_proto(silent)),
        jaxlib.DeviceList((device,)),
        client.CompileOptions(),
    )
    placed = [jax.device_put(leaf, device) for leaf in leaves]
    dynamic = jax.tree_util.tree_unflatten(
        lowered.in_tree, jax.device_put(_dynamic_leaves(jax, lowered, arrays, keywords), device)
    )
    runs: list[Callable[[], Any]] = [
        lambda: called(*dynamic[0], **dynamic[1]),
        lambda: silent_executable.execute(placed),
    ]
    times: tuple[list[float], list[float]] = ([], [])
    clock = time.process_time if is_processor_time() else time.perf_counter
    for _ in range(_ROUNDS):
        for run, into in zip(runs, times, strict=True):
            started = clock()
            jax.block_until_ready(run())
            into.append(1e6 * (clock() - started))
    called_us, silent_us = [np.asarray(one[1:]) for one in times]
    interval = median_interval((silent_us / called_us).tolist())[1:]
    return float(np.median(called_us)), float(np.median(silent_us)), interval


def _dynamic_leaves(
    jax: Any, lowered: Any, arrays: tuple[Any, ...], keywords: Mapping[str, Any]
) -> list[Any]:
    """Return the leaves of the arguments that are not static, by their structure and shapes."""
    tree, leaves_of = jax.tree_util, jax.tree_util.tree_leaves
    wanted = [one.shape for one in leaves_of(lowered.args_info)]
    for count in range(len(arrays) + 1):
        for static in itertools.combinations(range(len(arrays)), count):
            kept = tuple([one for k, one in enumerate(arrays) if k not in static])
            given = (kept, dict(keywords))
            is_tree = tree.tree_structure(given) == lowered.in_tree
            if is_tree and [np.shape(one) for one in leaves_of(given)] == wanted:
                return list(leaves_of(given))
    raise XlaExplorerError("a static keyword argument cannot be timed", "pass it by place")


def _idle_functions(lowered: Any) -> list[Callable[..., Any]]:
    """Return functions for the program's calls that return zeros of the right shapes."""
    shapes: dict[int, list[Any]] = {}
    for i in parse_hlo(lowered.as_text("hlo")).instructions():
        found = _INDEX.search(str(i.attributes.get("backend_config") or ""))
        if found and is_host_callback(i):
            leaves = [leaf for _, leaf in i.shape.leaves() if leaf.is_array]
            shapes[int(found[1])] = [
                np.zeros(leaf.dimensions, leaf.element_type.dtype) for leaf in leaves
            ]
    count = len(lowered._lowering.compile_args["host_callbacks"])
    if len(shapes) != count:
        raise XlaExplorerError("a call has no index in the program", "report the program")

    def idle(number: int) -> Callable[..., Any]:
        return lambda *operands: tuple(shapes[number])

    return [idle(number) for number in range(count)]
