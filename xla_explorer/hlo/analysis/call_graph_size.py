"""Program size after cloning a computation for each call site.

The size can be exponential: forty computations that each call the previous one twice are a text of
four kilobytes and a trillion instructions.
"""

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
    """Return the number of instructions that a program may reach by cloning."""
    return max(LEAST_LIMIT, MOST_GROWTH * module.instruction_count())


def expanded_sizes(
    module: HloModule, expands: Callable[[HloInstruction], bool]
) -> dict[HloComputation, int]:
    """Return the size of each reachable computation after cloning callees.

    Callees are cloned for each site that `expands`.
    """
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
    """Return the refusal of cloning for call sites."""
    count = f"{size:,}" if size < 10**15 else f"10^{len(str(size)) - 1}"
    return refuse(
        "too-many-instructions",
        f"{what} would make {count} instructions of the program (limit {limit:,})",
        instructions=min(size, 2**63 - 1),
        limit=limit,
    )
