"""`session.loops`: loop nests of kernels as text, with schedules, estimates and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.directives import DirectiveRefusedError
from xla_explorer.compiler.codegen.nest.estimate import Estimate
from xla_explorer.compiler.codegen.nest.gpu_estimate import estimate_for
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.opaque import family_of, opaque_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.compiler.codegen.nest.text import nest_lines, nest_text
from xla_explorer.explorer.code.kernel_schedule import (
    directives_of,
    launched_schedules,
    nest_as_written,
    schedule_of,
)
from xla_explorer.explorer.code.loop_rows import DirectiveStep, diff_rows
from xla_explorer.explorer.code.lowering_steps import LoopNestText
from xla_explorer.explorer.display import Blocks, Code, Report, Sentence, Table, TextLine
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.explorer.tables.rows import Loop, columns_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

MOST_NESTS = 40


class KernelLoops(NamedTuple):
    """One kernel at the level of loops.

    Attributes
    ----------
    name, instruction : str, int
        The kernel.
    family : str
        The kind of its work.
    lines : list of TextLine
        The nest as it runs (the plain one if a writer makes the kernel), each line with its
        instruction; one line for an opaque kernel.
    schedule, steps : str, tuple of DirectiveStep
        The directives as text, and each one with its change.
    made_by : {"user", "policy", "writer"}
        The source of the kernel that runs: a schedule of a nest, or a writer without nests.
    reason : Reason or None
        The reason why it is opaque.
    estimate : Estimate or None
        The estimated time. Its `loops` has executions and share of the cycles of each axis.
    nest : LoopNest or None
        The nest of `lines`.
    part : str
        The number among several kernels of one nest, as `1 of 2`; empty for a single one.
    """

    name: str
    instruction: int
    family: str
    lines: list[TextLine]
    schedule: str
    steps: tuple[DirectiveStep, ...]
    made_by: str
    reason: Reason | None
    estimate: Estimate | None
    nest: LoopNest | None = None
    part: str = ""

    @property
    def label(self) -> str:
        """The name, and which of several kernels it is."""
        return f"%{self.name}" + (f" ({self.part})" if self.part else "")

    @property
    def is_nest(self) -> bool:
        """True if the kernel has a loop nest."""
        return self.reason is None


class Loops(Report, tuple[KernelLoops, ...]):
    """The kernels of a session at the level of loops, in the order of the program."""

    def headline(self) -> str:
        """Return the number of kernels with loop nests."""
        return (
            f"{len([k for k in self if k.is_nest])} of {len(self)} kernels are described by loop "
            "nests"
        )

    def blocks(self) -> Blocks:
        """Yield a row per kernel, a row per family, and the nests."""
        yield self.records()
        yield Table(
            ["family", "kernels", "nests", "made by a schedule"], self.families(), title="by family"
        )
        for k in self[:MOST_NESTS]:
            yield Code(
                k.label + (f": {k.schedule}" if k.schedule else ""),
                "\n".join([line.text for line in k.lines]),
            )
        if len(self) > MOST_NESTS:
            yield Sentence(f"... {len(self) - MOST_NESTS} more kernels: session.loops(name)")

    def records(self) -> Table:
        """Return a row per kernel."""
        rows = [
            Loop(k.label, k.family, "nest" if k.is_nest else "opaque", k.made_by, k.schedule,
             round(k.estimate.nanoseconds / 1e3, 2) if k.estimate else None, str(k.reason or ""))
            for k in self
        ]  # fmt: skip
        return Table(columns_of(Loop), rows)

    def families(self) -> list[tuple[str, int, int, int]]:
        """Return rows (family, kernels, nests among them, nests made by a schedule)."""
        everything, nests = (
            Counter([k.family for k in self]),
            Counter([k.family for k in self if k.is_nest]),
        )
        made = Counter([k.family for k in self if k.made_by != "writer"])
        return [
            (family, count, nests[family], made[family])
            for family, count in everything.most_common()
        ]


def loops_of(compilation: Compilation, kernel: str | int, schedule: str | None) -> LoopNestText:
    """Return the nest of one kernel; see `Session.loops`."""
    made = schedule_of(compilation, kernel)
    if schedule is not None:
        made = made.plain().then(schedule)
    text = LoopNestText(nest_text(made.nest), "text", f"session.loops({kernel!r}, {schedule!r})")
    text.session, text.kernel, text.schedule = compilation, kernel, schedule
    return text


def all_loops(compilation: Compilation, wanted: Collection[int] | None = None) -> Loops:
    """Return the nests of all kernels, or of the wanted ones; see `Session.loops`."""
    kernels = [
        key
        for key in dict.fromkeys([s.instruction for s in program_steps(compilation)])
        if wanted is None or key in wanted
    ]
    made = {
        number: i
        for c in compilation.module.computations.values()
        for number, i in c.instructions.items()
    }
    return Loops(
        [loops for number in kernels for loops in _kernels_loops(compilation, made[number])]
    )


def _kernels_loops(compilation: Compilation, i: HloInstruction) -> Iterator[KernelLoops]:
    """Yield the kernel of an instruction, or each of several that a policy makes of it.

    A kernel without a nest is a line with the reason.
    """
    nest = nest_as_written(compilation, i)
    if isinstance(nest, Reason):
        yield _opaque_loops(i, nest)
        return
    try:
        found = [
            _scheduled_loops(compilation, i, schedule, "policy")
            for schedule in launched_schedules(compilation, i)
        ]
        if not found:
            made_by, directives = directives_of(compilation, i)
            found = [
                _scheduled_loops(compilation, i, Schedule(nest, nest, tuple(directives)), made_by)
            ]
    except (DirectiveRefusedError, ScheduleError) as problem:
        yield _opaque_loops(
            i, refuse("schedule-not-shown", f"%{i.name}: its schedule cannot be shown: {problem}")
        )
        return
    yield from [
        made._replace(part=f"{number + 1} of {len(found)}" if len(found) > 1 else "")
        for number, made in enumerate(found)
    ]


def _opaque_loops(i: HloInstruction, reason: Reason) -> KernelLoops:
    return KernelLoops(
        i.name,
        i.id,
        family_of(i),
        [TextLine(str(opaque_of(i, reason)), i.id)],
        "",
        (),
        "writer",
        reason,
        None,
    )


def _scheduled_loops(
    compilation: Compilation, i: HloInstruction, schedule: Schedule, made_by: str
) -> KernelLoops:
    """Return the kernel of a nest by a policy's directives.

    schedule: its directives are not applied yet.
    """
    steps = schedule.steps
    nests = [schedule.start, *[step.after for step in steps]]
    texts = [[TextLine(line.text, line.origin) for line in nest_lines(nest)] for nest in nests]
    shown = tuple([
        DirectiveStep(str(step.directive), ", ".join([f"{name} {value}" for name, value in step.facts.items()]), made_by,
                      diff_rows([x.text for x in before], [x.text for x in after]))
        for step, (before, after) in zip(steps, pairwise(texts), strict=True)
    ])  # fmt: skip
    expected = estimate_for(nests[-1], compilation.passes.record.target)
    return KernelLoops(
        i.name,
        i.id,
        family_of(i),
        texts[-1],
        str(schedule),
        shown,
        made_by,
        None,
        expected,
        nests[-1],
    )
