"""How large a program becomes when every call site gets a computation of its own: forty computations that each call the one before twice
are a text of four kilobytes and a trillion instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

LEAST_LIMIT: Final = 50_000
MOST_GROWTH: Final = 16


def size_limit(module: HloModule) -> int:
    """Instructions to which copies for call sites may let a program grow."""
    return max(LEAST_LIMIT, MOST_GROWTH * module.instruction_count())


def expanded_sizes(
    module: HloModule, expands: Callable[[HloInstruction], bool]
) -> dict[HloComputation, int]:
    """For each computation that the entry reaches its instructions, with a copy of what it calls for every site that `expands`."""
    sizes: dict[HloComputation, int] = {}
    for computation in module.post_order_computations():
        called = sum(
            [
                sizes[c]
                for i in computation.instructions.values()
                if i.called and expands(i)
                for c in i.called
            ]
        )
        sizes[computation] = len(computation.instructions) + called
    return sizes


def too_large(what: str, size: int, limit: int) -> Reason:
    """Why copies for call sites are not made."""
    told = f"{size:,}" if size < 10**15 else f"10^{len(str(size)) - 1}"
    return refuse(
        "too-many-instructions",
        f"{what} would make {told} instructions of the program (limit {limit:,})",
        instructions=min(size, 2**63 - 1),
        limit=limit,
    )
