"""XLA:CPU's `dot-library-rewriter`: the dots and reductions of its kernel library."""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.xla_library.plan import LibraryPlan
from xla_explorer.compiler.xla_library.support import starts_library_kernel
from xla_explorer.explorer.sessions.passes import RecordedPass
from xla_explorer.explorer.xla.replay.correspondence import Correspondence
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.instruction import HloInstruction

PASS: Final = "dot-library-rewriter"
LIBRARY, OWN, INSIDE, OUTSIDE = "library", "xla", "fused", "memory"


def replayed_library(step: RecordedPass) -> Replay:
    """Return the decisions of XLA's pass on each dot, convolution and reduction.

    Neighbours of a library kernel that can fuse them have a decision too.
    """
    before = step.before
    plans = [LibraryPlan(computation) for computation in sequential_computations(before)]
    kernels = {kernel.start: kernel for plan in plans for kernel in plan.kernels}
    refused = {i: reason for plan in plans for i, reason in plan.refused.items()}
    found = Correspondence(
        before, step.module
    ).places  # instruction before -> the library kernel that computes it
    theirs = {
        i: places[0].kernel
        for i, places in found.items()
        if i.opcode.name != "fusion" and places[0].inside
    }
    within = {member: start for start, kernel in kernels.items() for member in kernel.members}
    rows = []
    for start in dict.fromkeys([*kernels, *refused, *filter(starts_library_kernel, within)]):
        here, there = (LIBRARY if start in found else OWN for found in (within, theirs))
        reason = refused.get(start)
        message = (
            reason.message if reason is not None else f"%{start.name} is computed by the library"
        )
        rows.append(ReplayRow(start.name, "", here, there, here == there, reason.code if reason is not None else "", message,
                              start.shape.byte_size, (start.id,)))  # fmt: skip
    for (neighbour, start), (here, reason) in _grown(plans).items():
        there = INSIDE if start in theirs and theirs[start] == theirs.get(neighbour) else OUTSIDE
        yes = f"the library kernel of %{start.name} computes %{neighbour.name}"
        code, message = (reason.code, reason.message) if reason is not None else ("", yes)
        rows.append(ReplayRow(neighbour.name, start.name, here, there, here == there, code, message, neighbour.shape.byte_size,
                              (neighbour.id, start.id)))  # fmt: skip
    return Replay(
        "dot-library",
        rows,
        step.name,
        step.number,
        "choices between XLA's own code and its library",
    )


def _grown(
    plans: list[LibraryPlan],
) -> dict[tuple[HloInstruction, HloInstruction], tuple[str, Reason | None]]:
    """Return the neighbours that each library kernel fused, and those that it refused."""
    rows: dict[tuple[HloInstruction, HloInstruction], tuple[str, Reason | None]] = {}
    for plan in plans:
        for kernel in plan.kernels:
            rows.update(
                {(i, kernel.start): (INSIDE, None) for i in kernel.members if i is not kernel.start}
            )
        rows.update(
            {(one.instruction, one.kernel.start): (OUTSIDE, one.reason) for one in plan.outside}
        )
    return {pair: row for pair, row in rows.items() if pair[0].opcode.name != "constant"}
