"""Kernels as loop nests, in the rows of the tab Loops."""

from __future__ import annotations

from xla_explorer.explorer.code.access_patterns import access_patterns_of
from xla_explorer.explorer.code.loop_nests import KernelLoops
from xla_explorer.explorer.code.loop_text import folds_of
from xla_explorer.explorer.page.reports import LoopAxis, LoopKernel


def loop_kernel(kernel: KernelLoops, first: int) -> LoopKernel:
    """Return a kernel as a row. first: the first line of its text."""
    reason, expected = kernel.reason, kernel.estimate
    axes = kernel.nest.axes() if kernel.nest is not None else {}
    run = expected.loops if expected is not None else {}
    return LoopKernel(
        kernel.name,
        kernel.instruction,
        kernel.family,
        first,
        len(kernel.lines),
        reason.code if reason is not None else "",
        reason.message if reason is not None else "",
        kernel.made_by,
        kernel.schedule,
        expected.nanoseconds if expected is not None else None,
        expected.limit if expected is not None else "",
        tuple(
            [
                LoopAxis(name, bound.kind.value, bound.axis.extent, *run.get(name, (0, 0.0)))
                for name, bound in axes.items()
            ]
        ),
        tuple(folds_of(kernel)),
        kernel.steps,
        tuple(access_patterns_of(kernel.name, kernel.nest)) if kernel.nest is not None else (),
        kernel.part,
        *([expected.where] if expected is not None else []),
    )
