"""`session.loops(kernel).steps`: a kernel from its plain loop nest to LLVM IR, step by step."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from xla_explorer.backends.interfaces import CodeWriter, CompileOptions
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.codegen.lowering.recording import LoweringSnapshot, recorded_lowering
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.text import nest_lines
from xla_explorer.explorer.code.kernel_alone import module_of_kernel
from xla_explorer.explorer.code.kernel_schedule import directives_of, schedule_of
from xla_explorer.explorer.code.loop_rows import LoweringRow, diff_rows
from xla_explorer.explorer.display import Blocks, Code, CodeText, Report, Table
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.given_schedules import given_schedules
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.instruction import HloInstruction

WITH_SCHEDULES = ("cpu", "gpu")  # backends whose kernels may have a schedule of the user
PLAIN, SCHEDULE, LOWERING = "plain", "schedule", "lowering"


class KernelStep(NamedTuple):
    """A kernel after one step.

    Attributes
    ----------
    name : str
        A directive such as `split{j,16}`, or the name of a lowering step.
    phase : {"plain", "schedule", "lowering"}
        The plain nest, a directive of the schedule, or a step of the lowering.
    sentence : str
        What the step does.
    lines, origins : tuple of str, tuple of int or None
        The kernel as text, and the HLO instruction of each line.
    changed : bool
        The text differs from that before the step.
    """

    name: str
    phase: str
    sentence: str
    lines: tuple[str, ...]
    origins: tuple[int | None, ...]
    changed: bool = True

    @property
    def text(self) -> str:
        """The kernel after the step."""
        return "\n".join(self.lines)


class KernelSteps(Report, tuple[KernelStep, ...]):
    """The steps of a kernel, first the plain nest, last the records that are printed as LLVM IR."""

    kernel: str

    def __new__(cls, kernel: str, steps: list[KernelStep]) -> KernelSteps:
        """Return the steps of a kernel."""
        made = super().__new__(cls, steps)
        made.kernel = kernel
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.kernel, list(self)

    def headline(self) -> str:
        """Return the number of steps by phase."""
        directives = sum([step.phase == SCHEDULE for step in self])
        lowering = sum([step.phase == LOWERING for step in self])
        return f"%{self.kernel}: {directives} directives, then {lowering} steps to LLVM IR"

    def records(self) -> Table:
        """Return a row per step."""
        rows = [
            (number, step.name, step.phase, len(step.lines), step.changed, step.sentence)
            for number, step in enumerate(self)
        ]
        return Table(["step", "name", "phase", "lines", "changed", "sentence"], rows)

    def blocks(self) -> Blocks:
        """Yield a row per step, and the text after each step that changes something."""
        yield self.records()
        for number, step in enumerate(self):
            if step.changed:
                yield Code(f"{number} {step.name}", step.text)

    def step(self, name: str | int) -> KernelStep:
        """Return a step by its number or name.

        Raises
        ------
        XlaExplorerError
            There is no such step.
        """
        return self[self._number(name)]

    def diff(self, name: str | int) -> CodeText:
        """Return what a step changes, as a unified diff.

        Parameters
        ----------
        name : str or int
            The name or number of the step. Number 0 is the plain nest, which has no diff.
        """
        at = self._number(name)
        before, after = (self[at - 1].lines if at else ()), self[at].lines
        lines = difflib.unified_diff(before, after, "before", self[at].name, lineterm="", n=2)
        return CodeText("\n".join(lines), "diff")

    def _number(self, name: str | int) -> int:
        names = [step.name for step in self]
        if isinstance(name, int) and 0 <= name < len(self):
            return name
        if name not in names:
            near = nearest(str(name), names)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(names)}"
            raise XlaExplorerError(f"%{self.kernel} has no step {name!r}", hint)
        return len(names) - 1 - names[::-1].index(str(name))


class LoopNestText(CodeText):
    """The text of a kernel's loop nest. steps: see `KernelSteps`."""

    session: Compilation | None = None
    kernel: str | int = ""
    schedule: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "session"}

    @property
    def steps(self) -> KernelSteps:
        """The kernel from its plain nest to LLVM IR, step by step.

        Raises
        ------
        XlaExplorerError
            The text was stored and loaded again, which keeps no session.
        """
        if self.session is None:
            raise XlaExplorerError(
                "the text of this nest was loaded without its session",
                f"session.loops({self.kernel!r}).steps asks the session",
            )
        return steps_of(self.session, self.kernel, self.schedule)


def steps_of(session: Compilation, kernel: str | int, schedule: str | None = None) -> KernelSteps:
    """Return the steps of a kernel; see `Session.loops`."""
    made = schedule_of(session, kernel)
    i = made.instruction
    if schedule is not None:
        made = made.plain().then(schedule)
    elif directives_of(session, i)[0] == "writer" and session.backend in WITH_SCHEDULES:
        schedule = ""
    given = str(made) if schedule is not None else None
    steps = [_nest_step("plain nest", PLAIN, "The loops as the HLO instruction says.", made.start)]
    for step in made.steps:
        facts = ", ".join([f"{name} {value}" for name, value in step.facts.items()])
        steps.append(_nest_step(str(step.directive), SCHEDULE, facts, step.after))
    steps += _lowering_steps(lowered_kernel(session, i, given))
    marked = [steps[0]]
    for before, after in pairwise(steps):
        marked.append(after._replace(changed=before.lines != after.lines))
    return KernelSteps(i.name, marked)


def lowering_rows(session: Compilation, kernel: int) -> list[LoweringRow]:
    """Return the steps of the lowering of a kernel, each with its change."""
    steps = steps_of(session, kernel)
    return [
        LoweringRow(
            after.name, after.sentence, len(after.lines), diff_rows(before.lines, after.lines)
        )
        for before, after in pairwise(steps)
        if after.phase == LOWERING
    ]


def _nest_step(name: str, phase: str, sentence: str, nest: LoopNest) -> KernelStep:
    lines = list(nest_lines(nest))
    return KernelStep(
        name, phase, sentence, tuple([x.text for x in lines]), tuple([x.origin for x in lines])
    )


def _lowering_steps(snapshots: list[LoweringSnapshot]) -> Iterator[KernelStep]:
    for one in snapshots:
        yield KernelStep(one.step, LOWERING, one.sentence, one.lines, one.origins)


def lowered_kernel(
    session: Compilation, i: HloInstruction, schedule: str | None
) -> list[LoweringSnapshot]:
    """Return the lowering of a kernel that is compiled alone, as in the session.

    schedule: directives as text; None for those of the policy.
    """
    module = module_of_kernel(i, with_constants=session.backend == "gpu")
    root = module.entry.root
    options = {**session.options.backend_options}
    options.pop("schedules", None)
    if schedule is not None:
        options["schedules"] = given_schedules({root.name: schedule})
    compiler = platform(session.backend).compiler()
    given = CompileOptions(
        "none", "off", session.options.threads, cache=False, backend_options=options
    )
    with recorded_lowering() as recorder, default_floating_point():
        trace = compiler.run_hlo_passes(module, given)
        if isinstance(compiler, CodeWriter):
            compiler.write_code(trace, given)
        else:
            compiler.run_backend(trace, given)
    ids = _ids_of_session(root, i)
    return [
        one._replace(origins=tuple([None if o is None else ids.get(o) for o in one.origins]))
        for one in recorder.snapshots
        if one.kernel == root.id
    ]


def _ids_of_session(copied: HloInstruction, i: HloInstruction) -> dict[int, int]:
    """Return the session's id of each instruction of a kernel that was copied."""
    ids = {
        copied.id: i.id,
        **{o.id: p.id for o, p in zip(copied.operands, i.operands, strict=True)},
    }
    for inner, original in zip(copied.called, i.called, strict=True):
        named = {x.name: x for x in original.instructions.values()}
        for x in inner.instructions.values():
            ids.update(_ids_of_session(x, named[x.name]))
    return ids
