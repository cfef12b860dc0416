"""The cost of calling a JAX function without `jax.jit`: each operation is a program of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Final

from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.sessions.loading import has_module
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program.host_callbacks import has_callbacks
from xla_explorer.frontends.jax_program.stages import is_stage
from xla_explorer.hlo.module import HloModule

_NOTABLE: Final = 2.0  # times a jitted run
# Of a jitted run; a longer one is not repeated operation by operation.
_MOST_US: Final = 2e6
_CALLS: Final = 3


def missing_jit_note(
    program: Any,
    arrays: tuple[Any, ...],
    keywords: Mapping[str, Any],
    module: HloModule,
    run_us: float,
) -> str | None:
    """Return a sentence about a function without jit that is much slower than its jitted run.

    None for any other. A function with Python callbacks is not called, for they have effects; nor
    is one whose arguments are specifications.
    """
    if (
        is_stage(program)
        or has_module(program)
        or not callable(program)
        or hasattr(program, "lower")
    ):
        return None
    leaves = import_optional("jax", "jax").tree_util.tree_leaves((arrays, dict(keywords)))
    if (
        run_us > _MOST_US
        or has_callbacks(module)
        or not all(hasattr(leaf, "__array__") or not hasattr(leaf, "shape") for leaf in leaves)
    ):
        return None
    samples = _called_us(lambda: program(*arrays, **keywords))
    called_us = median(samples) if samples else 0.0
    if called_us < _NOTABLE * run_us:
        return None
    name = getattr(program, "__name__", "the function")
    return (
        f"as called, not jitted, {name} takes {microseconds(called_us)} "
        f"({microseconds(min(samples))} to {microseconds(max(samples))}), "
        f"{called_us / run_us:.0f} times this: each operation is compiled "
        "and dispatched alone; put jax.jit on it"
    )


def _called_us(call: Callable[[], Any]) -> list[float]:
    """Return microseconds of the calls after the first, which compiles; empty if one fails."""
    jax = import_optional("jax", "jax")
    samples = []
    try:
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            for _ in range(1 + _CALLS):
                started = time.perf_counter()
                jax.block_until_ready(call())
                samples.append(1e6 * (time.perf_counter() - started))
    except Exception:  # whatever the user's function raises outside of a trace
        return []
    return samples[1:]
