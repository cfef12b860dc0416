"""`session.schedule`: the schedule of a kernel as a value to change, inspect, estimate and run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from xla_explorer.compiler.codegen.lowering.lowering_checks import why_launched
from xla_explorer.compiler.codegen.nest.directives import Directive, DirectiveRefusedError
from xla_explorer.compiler.codegen.nest.estimate import Estimate
from xla_explorer.compiler.codegen.nest.gpu_estimate import estimate_for
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.plan import Plan
from xla_explorer.compiler.codegen.nest.schedule import Schedule, directive_refused
from xla_explorer.compiler.codegen.nest.schedule_text import (
    ScheduleError,
    parse_directives,
    parse_schedules,
    schedules_text,
)
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest_kernels import form_of_nest, nest_in_form
from xla_explorer.compiler.codegen.written_schedules import WrittenSchedule, written_schedules
from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.explorer.code.access_patterns import AccessPatterns, access_patterns_of
from xla_explorer.explorer.code.kernel_run import KernelRun, run_beside_default
from xla_explorer.explorer.code.named_kernel import kernel_of
from xla_explorer.explorer.display import Blocks, Code, Report, Sentence, Table
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.given_schedules import given_schedules
from xla_explorer.explorer.sessions.isolation.program import RemoteExecutable
from xla_explorer.foundation.kept import kept
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction

C = TypeVar("C", bound=Compilation)
K = TypeVar("K", bound="KernelSchedule")


@dataclass(frozen=True, eq=False, repr=False)
class KernelSchedule(Schedule, Report):
    """The schedule of a kernel of a session.

    Every call returns a new one; an illegal directive raises ScheduleError with the Reason.

    Attributes
    ----------
    kernel : str
        The name of the kernel.
    start, nest : LoopNest
        The plain nest, and the nest after the directives.
    directives : tuple of Directive
        The directives in order; `str(schedule)` is their text.
    written_by : str
        The source of the kernel that runs: `user` or `policy` by this schedule, or a `writer`
        without nests.
    refused : tuple of (str, Reason)
        Directives of the policy that were refused.
    """

    session: Compilation = field(kw_only=True)
    instruction: HloInstruction = field(kw_only=True)
    written_by: str = field(kw_only=True, default="writer")
    refused: tuple[tuple[str, Reason], ...] = field(kw_only=True, default=())

    @property
    def kernel(self) -> str:
        """The name of the kernel."""
        return self.instruction.name

    def _refusal(self, directive: Directive) -> Reason | None:
        """Return the refusal of the nest or of the machine.

        A CPU has no blocks and threads of a launch.
        """
        reason = super()._refusal(directive)
        return (
            reason
            if reason is not None or not has_scans(self.session)
            else why_launched(directive.changed(self.nest))
        )

    def by(self: K, policy: Callable[[Plan], object]) -> K:
        """Return the schedule with the directives of a function over handles.

        Parameters
        ----------
        policy : function of a Plan
            `plan.axis("j")` is the handle of an axis. Each directive is a method of a handle, and
            returns handles of the axes that it makes.
        """
        plan = Plan(self.nest)
        try:
            policy(plan)
        except DirectiveRefusedError as refused:
            raise directive_refused(refused.directive, refused.reason) from None
        return self.then(*plan.directives)

    def estimate(self) -> Estimate:
        """Return the estimated time on one core, or as a launch on the session's GPU.

        It ranks schedules.
        """
        return estimate_for(self.nest, self.session.passes.record.target)

    def run(self, *arrays: Any, repeats: int = 21) -> KernelRun:
        """Compile this kernel alone, check its values, and time it beside the default kernel.

        A GPU's kernels are counted by the emulator.

        Parameters
        ----------
        *arrays
            The kernel's operands; random ones without.
        repeats : int
            Timed rounds of both, in alternation.

        Returns
        -------
        KernelRun
            The verdict on the values, both times, the estimate, llvm-mca's figures if it is
            installed, and the differences of nest and assembly. A GPU's kernel has the emulator's
            counters instead of times.
        """
        return run_beside_default(self, self.session, self.instruction, arrays, repeats)

    def access_patterns(self) -> AccessPatterns:
        """Return the loads and stores of the nest: strides, bytes by cache level, coalescing."""
        return access_patterns_of(self.kernel, self.nest, self.session.passes.record.target)

    def headline(self) -> str:
        """Return the kernel and the text of the schedule."""
        return f"schedule of %{self.kernel}: {str(self) or 'plain'}"

    def blocks(self) -> Blocks:
        """Yield the nest, the directives and the estimate."""
        if self.written_by == "writer" and not self.directives:
            yield Sentence(
                "the kernel that runs is not made from this nest; "
                "session.override(schedules=[...]) makes it so"
            )
        kernels = launched_schedules(self.session, self.instruction) if not self.directives else []
        if kernels:
            texts = "; then ".join(map(str, kernels))
            yield Sentence(
                f"the policy makes {len(kernels)} kernels of this nest, one launched after the "
                f"other: {texts}"
            )
        yield Code("nest", nest_text(self.nest).rstrip())
        if self.directives or self.refused:
            yield self.records()
        found = self.estimate()
        yield Sentence(
            f"estimate: {found.nanoseconds / 1e3:.1f} us {found.where}, limited by "
            f"{found.limit}; {found.registers} registers"
        )

    def records(self) -> Table:
        """Return a row per directive."""
        rows = [(str(step.directive), "done", _facts(step.facts), "") for step in self.steps]
        rows += [(text, "refused", "", reason.message) for text, reason in self.refused]
        return Table(["directive", "verdict", "facts", "reason"], rows)

    def json_data(self) -> Any:
        """Return the kernel, the text, and the writer of the kernel that runs."""
        return {"kernel": self.kernel, "schedule": str(self), "written_by": self.written_by}

    def __repr__(self) -> str:
        return f"<{self.headline()}>"


def schedule_of(session: Compilation, kernel: str | int | HloInstruction) -> KernelSchedule:
    """See `Session.schedule`."""
    i = kernel_of(session, kernel)
    nest = nest_as_written(session, i)
    if isinstance(nest, Reason):
        meaning = meaning_of("loop-nest", nest.code)
        raise ScheduleError(
            f"%{i.name} has no loop nest: {nest}",
            meaning.remedy if meaning is not None else "",
            nest,
        )
    written_by, directives = directives_of(session, i)
    made = KernelSchedule(nest, nest, session=session, instruction=i, written_by=written_by)
    return made.with_policy_directives(directives)  # which were proved when the kernel was written


def nest_as_written(session: Compilation, i: HloInstruction) -> LoopNest | Reason:
    """Return the plain nest of an instruction's kernel, or of its form if it has none."""
    written = _written(session).get(i.id)
    if written is not None and written.start is not None:
        return written.start
    is_launched = not has_scans(session)
    form = written.form if written is not None else "" if is_launched else form_of_nest(i)
    return nest_in_form(i, form, scans=not is_launched)


def has_scans(session: Compilation) -> bool:
    """Return True if scans are made from nests; on GPUs they have their own emitter."""
    target = session.passes.record.target
    return target is None or not target.is_launched


def directives_of(session: Compilation, i: HloInstruction) -> tuple[str, Sequence[Directive]]:
    """Return (the writer of the kernel that runs, its directives)."""
    written = _written(session).get(i.id)
    return ("writer", ()) if written is None else (written.by, parse_directives(written.directives))


def launched_schedules(session: Compilation, i: HloInstruction) -> list[Schedule]:
    """Return the schedules of the kernels that a policy makes of one nest, not applied yet.

    The kernels are launched in order. The list is empty if the policy makes one kernel.
    """
    written = _written(session).get(i.id)
    parts = () if written is None else written.parts
    return [Schedule(start, start, parse_directives(directives)) for start, directives in parts]


@kept
def _written(session: Compilation) -> Mapping[int, WrittenSchedule]:
    """Return the schedules of the kernels that run, here or in a child process."""
    executable = session.result.executable if session.result is not None else None
    if isinstance(executable, RemoteExecutable):
        return executable.written_schedules
    return written_schedules(getattr(executable, "program", None))


def schedules_beside(
    session: Compilation, schedules: Iterable[KernelSchedule | str] | KernelSchedule | str
) -> str | None:
    """Return the session's schedules and further ones as one text; None without further ones."""
    further = [
        given_schedules(s)
        for s in ([schedules] if isinstance(schedules, str | KernelSchedule) else schedules)
    ]
    texts = [str(session.options.backend_options.get("schedules") or ""), *further]
    return (
        schedules_text(
            {
                name: directives
                for text in texts
                for name, directives in parse_schedules(text).items()
            }
        )
        if further
        else None
    )


def _facts(facts: dict[str, Any]) -> str:
    return ", ".join(
        [name if value is True else f"{name} {value}" for name, value in facts.items()]
    )
