"""XLA:GPU's `multi_output_fusion`: siblings, or a producer and consumer, in one kernel.

The kernel has several results. `compiler/xla_gpu/multi_output.py` has the rules.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from xla_explorer.compiler.xla_gpu.multi_output import MultiOutputPlan, candidate_pairs
from xla_explorer.explorer.comparisons.fusion_comparison import FUSED, MEMORY
from xla_explorer.explorer.sessions.passes import RecordedPass
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

PASS: Final = "multi_output_fusion"


def replayed_multi_output(step: RecordedPass) -> Replay:
    """Return, for each two kernels that share operands or feed each other, whether they fused."""
    before, after = step.before, step.module
    kernel_of = _kernels_after(before, after)
    sizes = Counter(kernel_of.values())
    order = {i: -sizes[kernel] if kernel == i.name else 0 for i, kernel in kernel_of.items()}
    rows = []
    for computation in sequential_computations(before):
        plan = MultiOutputPlan(computation, order)
        for first, second in candidate_pairs(computation):
            reason = plan.why_not(first, second)
            here = FUSED if reason is None else MEMORY
            there = FUSED if kernel_of[first] == kernel_of[second] else MEMORY
            code, message = (
                (reason.code, reason.message)
                if reason is not None
                else ("", "one kernel stores both")
            )
            size, ids = _shared_bytes(first, second), (first.id, second.id)
            agrees = here == there
            rows.append(
                ReplayRow(first.name, second.name, here, there, agrees, code, message, size, ids)
            )
    return Replay(
        "multi-output-fusion",
        rows,
        step.name,
        step.number,
        "pairs of kernels that read the same or one another",
    )


def _shared_bytes(first: HloInstruction, second: HloInstruction) -> int:
    """Return the bytes that both read, or that one reads of the other."""
    shared = set(first.operands) & set(second.operands)
    shared |= {one for one in (first, second) if one in first.operands or one in second.operands}
    return sum([one.shape.byte_size for one in shared])


def _kernels_after(before: HloModule, after: HloModule) -> dict[HloInstruction, str]:
    """Return the instruction after the pass that computes each instruction before it, by name.

    A kernel that was fused into another loses its name; its users then read an element of that
    other kernel. If all of its users were fused into others too, so was it.
    """
    later = {i.name: i for i in after.instructions()}
    found: dict[HloInstruction, str] = {}
    for computation in sequential_computations(before):
        for i in reversed(computation.post_order()):
            found[i] = i.name if i.name in later else _fusion_containing(i, later, found)
    return found


def _fusion_containing(
    i: HloInstruction, later: dict[str, HloInstruction], found: dict[HloInstruction, str]
) -> str:
    for user in i.users:
        now = later.get(user.name)
        if now is not None and len(now.operands) == len(user.operands):
            kernel = now.operands[user.operands.index(i)]
            return (
                kernel.operands[0].name
                if kernel.opcode.name == "get-tuple-element"
                else kernel.name
            )
    return next((found[user] for user in i.users if user in found), i.name)
