"""Notes of `why_slow` about memory and compile time, which a run's time does not show."""

from __future__ import annotations

from typing import Final

from xla_explorer.explorer.advice.slow_forms import argument_name, undonated_arguments
from xla_explorer.explorer.display.quantities import byte_count
from xla_explorer.explorer.xla.compile_time.causes import repeated_block
from xla_explorer.hlo.module import HloModule

_LEAST_BYTES: Final = 1 << 20
_MOST: Final = 0.5  # of a program's instructions, from which a repeated block is worth a note


def missing_donation_note(module: HloModule) -> str | None:
    """Return a sentence about arguments that results could overwrite; None if they are small.

    module: as XLA compiled it. The size is an upper bound: XLA copies an argument that is read
    after the result is written.
    """
    found = undonated_arguments(module)
    size = sum([p.shape.byte_size for p in found])
    whole = sum([p.shape.byte_size for p in module.entry.parameters()])
    if size < _LEAST_BYTES or 2 * size < whole:
        return None
    names = ", ".join(dict.fromkeys([repr(argument_name(p)) for p in found]))
    return (
        f"{byte_count(size)} of arguments ({names}) have the shapes of results and are not donated: "
        f"jax.jit(f, donate_argnames=({names},)) saves at most these bytes if the caller needs only "
        "the results afterwards; not tried here, xe.xla.why_memory tries it"
    )


def repeated_block_note(module: HloModule) -> str | None:
    """Return a sentence about blocks that a Python loop repeats; None if they are few."""
    for one in repeated_block(module):
        if one.share >= _MOST:
            return f"{one.sentence} ({one.line}); xe.xla.why_slow_to_compile has its cost"
    return None
