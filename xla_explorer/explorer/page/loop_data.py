"""Kernels as loop nests, in the rows of the tab Loops."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.nest.accesses import accesses_of
from xla_explorer.explorer.code.access_patterns import access_patterns_of
from xla_explorer.explorer.code.loop_nests import KernelLoops
from xla_explorer.explorer.code.loop_text import folds_of, steps_of
from xla_explorer.explorer.page.reports import LoopAccess, LoopAxis, LoopKernel
from xla_explorer.hlo.analysis.indexing import Axis


def loop_kernel(kernel: KernelLoops, first: int) -> LoopKernel:
    """A kernel as a row. first: where its text begins."""
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
        tuple([LoopAxis(name, bound.kind.value, bound.axis.extent, *run.get(name, (0, 0.0))) for name, bound in axes.items()]),
        tuple(folds_of(kernel)),
        tuple(steps_of(kernel)),
        tuple(_accesses(kernel)),
        kernel.part,
        *([expected.where] if expected is not None else []),
    )


def _accesses(kernel: KernelLoops) -> Iterator[LoopAccess]:
    if kernel.nest is None:
        return
    for access, row in zip(accesses_of(kernel.nest), access_patterns_of(kernel.name, kernel.nest), strict=True):
        affine = all(isinstance(atom, Axis) for atom, _ in access.offset.terms)
        terms = tuple([(atom.name, factor) for atom, factor in access.offset.terms if isinstance(atom, Axis)]) if affine else None
        yield LoopAccess(
            row.access, access.origin, row.offset, row.along, row.pattern, access.element_bytes, row.bytes, row.distinct_bytes,
            row.behind_L1, row.behind_L2, row.behind_L3, row.warp_sectors, row.coalesced, terms, access.offset.constant,
        )  # fmt: skip
