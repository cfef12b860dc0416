"""The slowest kernels, and their lines in a long text: the content of a bounded view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xla_explorer.explorer.code.stage_functions import functions_of
from xla_explorer.explorer.display.code_pane import MOST_PANE_LINES, TextLine
from xla_explorer.explorer.measures.kernel_costs import costs_of
from xla_explorer.explorer.measures.profiling import measured_kernels
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps

if TYPE_CHECKING:
    from xla_explorer.hlo.instruction import HloInstruction

_HEAD = 12
"""Lines at the beginning of a text that are always kept: target, data layout."""


def kernel_times(compilation: Compilation) -> dict[int, float]:
    """Return microseconds per run by the instruction of a kernel, the longest first.

    Times are measured if the program was profiled, else predicted.
    """
    measured = measured_kernels(compilation)
    predicted = {cost.instruction.id: cost.nanoseconds / 1e3 for cost in costs_of(compilation)}
    times = (
        {**predicted, **{key: us for key, (us, _) in measured.items()}} if measured else predicted
    )
    return dict(sorted(times.items(), key=lambda item: -item[1]))


def instruction_times(compilation: Compilation) -> dict[int, float]:
    """Return `kernel_times` for all instructions of the kernels, and for their sources."""
    lineage, found = compilation.passes.lineage, dict[int, float]()
    by_id = {i.id: i for i in compilation.module.instructions()}
    for key, us in kernel_times(compilation).items():
        for member in _members(by_id.get(key)):
            for origin in lineage.origins(member):
                found.setdefault(origin, us)
        found.setdefault(key, us)
    return found


def _members(i: HloInstruction | None) -> Iterable[int]:
    if i is None:
        return ()
    return [i.id, *(i.called[0].instructions if i.opcode.name == "fusion" else ())]


def _function_times(compilation: Compilation) -> dict[str, float]:
    """Return microseconds per run by function; equal kernels share a function."""
    times, found = kernel_times(compilation), dict[str, float]()
    for step in program_steps(compilation):
        name = getattr(step, "function", "")
        if name:
            found[name] = found.get(name, 0.0) + times.get(step.instruction, 0.0)
    return found


def kept_lines(compilation: Compilation, stage: str, lines: Sequence[TextLine]) -> list[TextLine]:
    """Return at most MOST_PANE_LINES of a stage's lines, those of the slowest kernels.

    The function of a kernel is kept whole; of other texts, such as HLO, single lines are kept. A
    line with the number of omitted lines stands in each gap.
    """
    if len(lines) <= MOST_PANE_LINES:
        return list(lines)
    kept = set(range(_HEAD))
    for block in _hottest_first(compilation, stage, lines):
        if len(kept) + len(block) <= MOST_PANE_LINES:
            kept.update(block)
    return _with_gaps(lines, sorted(kept), stage)


def _hottest_first(compilation: Compilation, stage: str, lines: Sequence[TextLine]) -> list[range]:
    """Return kernels' functions and single lines, the slowest first."""
    times, by_function = instruction_times(compilation), _function_times(compilation)
    found: list[tuple[float, range]] = []
    grouped: set[int] = set()
    for name, body in functions_of(
        stage, [(line.text, line.instruction) for line in lines]
    ).items():
        if name not in by_function and len(body) > MOST_PANE_LINES // 2:
            continue  # the entry, which calls all
        if body:
            block = range(
                body[0].number - 1, min(body[-1].number, body[0].number + MOST_PANE_LINES // 2)
            )
            grouped.update(block)
            of_lines = [
                times.get(line.instruction, 0.0) for line in body if line.instruction is not None
            ]
            found.append((by_function.get(name, max(of_lines, default=0.0)), block))
    single = [
        (times.get(line.instruction, 0.0) if line.instruction is not None else 0.0, at)
        for at, line in enumerate(lines)
    ]
    found += [(us, range(at, at + 1)) for us, at in single if at not in grouped]
    return [block for us, block in sorted(found, key=lambda one: (-one[0], one[1].start))]


def _with_gaps(lines: Sequence[TextLine], kept: Sequence[int], stage: str) -> list[TextLine]:
    found, last = [], -1
    for at in [*kept, len(lines)]:
        if at > last + 1:
            found.append(
                TextLine(
                    f"... {at - last - 1} lines of others: session.stage({stage!r}).text has all",
                    number=0,
                )
            )
        if at < len(lines):
            found.append(lines[at]._replace(number=at + 1))
        last = at
    return found
