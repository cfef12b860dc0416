"""The nests of a program for the views: rows, and one text with its origins and folds."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.nest.ir import axes_of, walk
from xla_explorer.explorer.code.access_patterns import access_patterns_of
from xla_explorer.explorer.code.hot_kernels import kernel_times
from xla_explorer.explorer.code.loop_nests import KernelLoops, Loops, all_loops
from xla_explorer.explorer.code.loop_rows import Fold, LoopAxis, LoopKernel
from xla_explorer.explorer.display import TextLine
from xla_explorer.explorer.sessions.compilation import Compilation, is_of_xla
from xla_explorer.foundation.kept import kept

MOST_SHOWN = 60
"""Kernels whose nests are shown, the slowest: each nest is verified and estimated."""


def shown_loops(compilation: Compilation) -> Loops:
    """Return the nests of the shown kernels, made once for pane, tab and static form."""
    return _loops_of(compilation, tuple(list(kernel_times(compilation))[:MOST_SHOWN]))


@kept
def _loops_of(compilation: Compilation, kernels: tuple[int, ...]) -> Loops:
    return all_loops(compilation, kernels)


def loop_lines(kernels: Sequence[KernelLoops]) -> tuple[list[TextLine], list[int]]:
    """Return the text of the kernels, and the line at which each begins, from 0.

    A line without an instruction belongs to the kernel.
    """
    lines: list[TextLine] = []
    starts: list[int] = []
    for kernel in kernels:
        starts.append(len(lines))
        lines += [
            TextLine(
                line.text, kernel.instruction if line.instruction is None else line.instruction
            )
            for line in kernel.lines
        ]
        lines.append(TextLine(""))
    return lines, starts


def folds_of(kernel: KernelLoops) -> list[Fold]:
    """Return the foldable parts of a kernel's text: the whole, loops, reductions, cases."""
    if kernel.nest is None:
        return []
    texts = [line.text for line in kernel.lines]
    depths = [len(text) - len(text.lstrip(" ")) for text in texts]
    loops = iter(
        [
            tuple([bound.axis.name for bound in axes_of(s)])
            for s, _ in walk(kernel.nest.body)
            if axes_of(s)
        ]
    )
    found = []
    for at, (text, depth) in enumerate(zip(texts, depths, strict=True)):
        end = next((k for k in range(at + 1, len(depths)) if depths[k] <= depth), len(depths))
        axes = next(loops) if at and " @" in text else ()
        if end > at + 1:
            found.append(Fold(at + 1, end - at - 1, axes))
    return found


@kept
def loop_kernels(session: Compilation) -> tuple[LoopKernel, ...]:
    """Return the shown kernels as loop nests; none for real XLA or after an error."""
    if session.error is not None or is_of_xla(session) or "llvm-ir" not in session.stages():
        return ()
    kernels = shown_loops(session)
    starts = loop_lines(kernels)[1]
    return tuple([_loop_kernel(*pair) for pair in zip(kernels, starts, strict=True)])


def _loop_kernel(kernel: KernelLoops, first: int) -> LoopKernel:
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
