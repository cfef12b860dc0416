"""`why_recompiled`: calls of a jitted function, with the reason of each compile."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.explorer.display.blocks import Blocks, Listing, Table
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.call_signatures import SignatureChange, diff_signatures
from xla_explorer.explorer.xla.places import short_place
from xla_explorer.explorer.xla.repeated_lines import RepeatedLine, repeated_lines
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program import lower

_PHASES: Final = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}


class Call(NamedTuple):
    """One call, in milliseconds.

    Attributes
    ----------
    compiled : bool
        True if XLA compiled for it.
    transfer : float
        numpy arrays to the device.
    trace, lower, compile : float
        The three phases of a compile.
    dispatch : float
        The call itself, without these phases.
    run : float
        From its return until the results are ready.
    reason : str
        The change that made it compile.
    """

    number: int
    compiled: bool
    transfer: float
    trace: float
    lower: float
    compile: float
    dispatch: float
    run: float
    reason: str


class Remedy(NamedTuple):
    """A change that avoids compiles.

    Attributes
    ----------
    place : str
        The argument: `args[0]['w']`.
    line : str
        The user's line that defines the function.
    what : str
        `shape`, `value`, `element type`, `weak type`, `kind`, `structure` or `device`.
    compiles : int
        Calls that compiled because of it.
    saves : float
        Milliseconds of these compiles, as measured.
    change : str
        A sentence.
    """

    place: str
    line: str
    what: str
    compiles: int
    saves: float
    change: str


_CHANGES: Final = {
    "shape": "pad it to one size (or to few sizes) and mask the rest",
    "value": "pass it as an array, not as a static argument",
    "element type": "convert it before the call, jnp.asarray(x, dtype)",
    "weak type": "pass an array in place of a Python number, jnp.asarray(x, dtype)",
    "kind": "pass the same kind of object each time, jnp.asarray(x, dtype)",
    "structure": "pass the same structure, with the same keys, each time",
    "device": "place it on one device, jax.device_put, before the first call",
}


class WhyRecompiled(Report):
    """The calls; `compiles` counts those for which XLA compiled.

    repeated: a RepeatedLine for each source line that the first compile traced many times, the most
    instructions first. remedies: a Remedy for each argument that made calls compile again, the most
    time first.
    """

    def __init__(
        self,
        name: str,
        calls: Sequence[Call],
        repeated: Sequence[RepeatedLine] = (),
        remedies: Sequence[Remedy] = (),
    ) -> None:
        self.name, self.calls, self.repeated = name, tuple(calls), tuple(repeated)
        self.remedies = tuple(remedies)
        self.compiles = sum(call.compiled for call in calls)

    def headline(self) -> str:
        """Return how many calls compiled, and their share of all time."""
        whole = sum(sum(call[2:8]) for call in self.calls)
        compiling = sum(call.trace + call.lower + call.compile for call in self.calls)
        share = f"{compiling / whole:.1%}" if whole else "none"
        return (
            f"{self.name}: {self.compiles} of {len(self.calls)} calls compiled; tracing, "
            f"lowering and compiling took {share} of the time"
        )

    def blocks(self) -> Blocks:
        """Yield a row for each call, and the lines that were traced many times."""
        yield Table(Call._fields, self.calls, "calls, in ms")
        if self.remedies:
            yield Listing("try first:", [_remedy_text(one) for one in self.remedies], numbered=True)
        if self.repeated:
            note = (
                "a Python loop is unrolled: jax.lax.fori_loop, jax.lax.scan or jax.vmap trace "
                "and compile its body once"
            )
            shown = [one._replace(line=short_place(one.line)) for one in self.repeated]
            yield Table(RepeatedLine._fields, shown, "lines that were traced many times", note)


@explains_arguments
def why_recompiled(
    function: Callable[..., Any], *calls: tuple[Any, ...], static_argnums: tuple[int, ...] = ()
) -> WhyRecompiled:
    """Call a jitted function several times and report which calls compiled, and why.

    JAX runs in this process.

    Parameters
    ----------
    function
        A function for `jax.jit`, without any earlier compile; or a result of `jax.jit`, with its
        cache.
    *calls
        The positional arguments of each call, a tuple each: arrays, or `jax.ShapeDtypeStruct` for
        arrays of zeros.
    static_argnums
        Positions of arguments whose value counts, as given to `jax.jit`.

    Returns
    -------
    WhyRecompiled
        A row for each call, with the time of each phase.

    Raises
    ------
    MissingExtraError
        jax is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> calls = (np.zeros(3),), (np.zeros(4),)
    >>> found = xe.xla.why_recompiled(lambda x: x + 1, *calls)  # doctest: +SKIP
    >>> found.calls[1].reason  # doctest: +SKIP
    'args[0]: shape (3,) became (4,)'
    """
    jax = import_optional("jax", "jax")
    if hasattr(function, "lower"):
        jitted = function
    else:
        # JAX caches compiles by the function object: this one is new.
        jitted = jax.jit(
            wraps(function)(lambda *arguments: function(*arguments)),
            static_argnums=static_argnums or None,
        )
    phases = _record_phases()
    found: list[Call] = []
    changed: dict[tuple[str, str], list[float]] = {}
    for number, arguments in enumerate(calls):
        phases.clear()
        started = time.perf_counter()
        placed = [a if k in static_argnums else _placed(jax, a) for k, a in enumerate(arguments)]
        jax.block_until_ready([a for k, a in enumerate(placed) if k not in static_argnums])
        moved = time.perf_counter()
        result = jitted(*placed)
        returned = time.perf_counter()
        jax.block_until_ready(result)
        ended = time.perf_counter()
        trace, lower, compiling = (
            1e3 * sum(phases.get(name, ())) for name in ("trace", "lower", "compile")
        )
        dispatch = max(1e3 * (returned - moved) - trace - lower - compiling, 0.0)
        compiled, transfer, run = (
            bool(phases.get("compile")),
            1e3 * (moved - started),
            1e3 * (ended - returned),
        )
        earlier = [one.number for one in found if one.compiled]
        changes = _changes(calls, number, earlier, static_argnums) if compiled else []
        for one in changes:
            changed.setdefault((one.place, one.what), []).append(trace + lower + compiling)
        why = _why(changes, bool(earlier)) if compiled else ""
        found.append(Call(number, compiled, transfer, trace, lower, compiling, dispatch, run, why))
    repeated = _repeated(jitted, calls[0]) if found and found[0].compiled else []
    name = getattr(function, "__name__", "function")
    return WhyRecompiled(name, found, repeated, _remedies(changed, _definition(function)))


def _remedies(changed: Mapping[tuple[str, str], Sequence[float]], line: str) -> list[Remedy]:
    rows = [
        Remedy(place, line, what, len(times), sum(times), _CHANGES.get(what, ""))
        for (place, what), times in changed.items()
    ]
    return sorted(rows, key=lambda one: -one.saves)


def _remedy_text(one: Remedy) -> str:
    at = f" ({one.line})" if one.line else ""
    return (
        f"{one.place}, whose {one.what} changes, compiled {number_of(one.compiles, 'time')} again "
        f"in {one.saves:.0f} ms: {one.change}{at}; not tried"
    )


def _definition(function: Callable[..., Any]) -> str:
    """Return the line of a function's definition; empty if it has no source."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return short_place(f"{code.co_filename}:{code.co_firstlineno}") if code is not None else ""


def _repeated(jitted: Callable[..., Any], arguments: tuple[Any, ...]) -> list[RepeatedLine]:
    """Return the lines that a call's program holds many times; none if it cannot be read."""
    try:
        return repeated_lines(lower(jitted, arguments).module)
    except XlaExplorerError:
        return []


def _changes(
    calls: Sequence[tuple[Any, ...]], number: int, compiled: Sequence[int], static: tuple[int, ...]
) -> list[SignatureChange]:
    """Return the differences to the nearest call that compiled before; empty for the first."""
    differences = [
        diff_signatures(calls[earlier], calls[number], static).changes for earlier in compiled
    ]
    return min(differences, key=len, default=[])


def _why(changes: Sequence[SignatureChange], has_earlier: bool) -> str:
    """Return the reason of a compile as a text."""
    if not has_earlier:
        return "the first call"
    if not changes:
        return (
            "the arguments agree: a new function object, another configuration, or a cache that "
            "was cleared"
        )
    return "; ".join(
        [f"{one.place}: {one.what} {one.first} became {one.second}" for one in changes[:3]]
    ) + (f"; {len(changes) - 3} more" if len(changes) > 3 else "")


def _placed(jax: Any, argument: Any) -> Any:
    """Return an argument on the device: numpy's arrays copied, and zeros for stated shapes."""
    argument = jax.tree_util.tree_map(
        lambda leaf: (
            jax.numpy.zeros(leaf.shape, leaf.dtype, device=leaf.sharding)
            if isinstance(leaf, jax.ShapeDtypeStruct)
            else leaf
        ),
        argument,
    )
    leaves = jax.tree_util.tree_leaves(argument)
    is_numpy = bool(leaves) and all(isinstance(leaf, np.ndarray) for leaf in leaves)
    return jax.device_put(argument) if is_numpy else argument


@cache
def _record_phases() -> dict[str, list[float]]:
    """Return seconds by phase, which a listener of JAX fills in.

    One is registered per process, since JAX cannot remove a listener.
    """
    found: dict[str, list[float]] = {}

    def listen(event: str, duration: float, **_: Any) -> None:
        if name := _PHASES.get(event):
            found.setdefault(name, []).append(duration)

    import_optional("jax.monitoring", "jax").register_event_duration_secs_listener(listen)
    return found
