"""The runner: spans, times, snapshots, verification, and the check of each pass's change report."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from xla_explorer.compiler.pipeline.context import PassContext, StopRequestedError
from xla_explorer.compiler.pipeline.pass_interface import HloPass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline, pass_options
from xla_explorer.compiler.pipeline.trace import PassStep, PassTrace
from xla_explorer.compiler.pipeline.value_check import ValueCheck
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.limits import check_deadline
from xla_explorer.foundation.rounds import counting, present
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule, ModuleSnapshot
from xla_explorer.hlo.schedule_update import update_schedules

Verifier = Callable[[HloModule], None]


class PassChangeReportError(XlaExplorerError):
    """A wrong change report: a pass changed the module and returned False, or the reverse.

    `pass_name` is the pass.
    """

    def __init__(self, pass_name: str, reported: bool) -> None:
        said = (
            "said that it changed the module, but nothing differs"
            if reported
            else "changed the module and said that it did not"
        )
        super().__init__(
            f"pass {pass_name} {said}", "its run() must return whether it changed the module"
        )
        self.pass_name = pass_name
        self.reported = reported


class PassFailedError(XlaExplorerError):
    """The failure of a pass; its cause is the exception of the pass.

    `pass_name` is the pass, `trace` all steps, the failed one last.
    """

    def __init__(self, pass_name: str, problem: BaseException, trace: PassTrace) -> None:
        super().__init__(
            f"pass {pass_name} failed: {type(problem).__name__}: {problem}",
            "its .trace holds every step up to there",
        )
        self.pass_name = pass_name
        self.trace = trace


class _StopError(Exception):
    """The end of the run after a failed step; the trace holds the error."""


class _Runner:
    def __init__(
        self, module: HloModule, trace: PassTrace, context: PassContext, verifier: Verifier | None
    ) -> None:
        self.module, self.trace, self.context, self.verifier = module, trace, context, verifier
        self.journal = context.journal or Journal("off")
        self.last: ModuleSnapshot | None = trace.initial
        self.count = module.instruction_count()
        wanted = context.control.check_values
        self.values = ValueCheck(module, wanted) if wanted is not None else None
        # A repeated pass whose last run had no effect is skipped while the module is unchanged.
        self.version = 0
        self.quiet_at: dict[int, int] = {}

    def pipeline(self, pipeline: PassPipeline, path: tuple[str, ...]) -> bool:
        changed = False
        with self.journal.span("pipeline", pipeline.name) as span:
            for repetition in range(pipeline.limit if pipeline.fixed_point else 1):
                here = (*path, f"{pipeline.name}#{repetition + 1}" if repetition else pipeline.name)
                again = False
                for step in pipeline.steps:
                    if isinstance(step, PassPipeline):
                        again |= self.pipeline(step, here)
                    elif not (repetition and self.quiet_at.get(id(step)) == self.version):
                        again |= self.hlo_pass(step, here)
                changed |= again
                if not again:
                    break
            span.changed = changed
        return changed

    def hlo_pass(self, hlo_pass: HloPass, path: tuple[str, ...]) -> bool:
        context, module = self.context, self.module
        check_deadline(f"optimising {module.name}")
        step = PassStep(len(self.trace.steps), path, hlo_pass, pass_options(hlo_pass))
        step.before, step.instructions_before = self.last, self.count
        rewrites, actions = context.rewrites, context.actions
        context.acting = hlo_pass.name
        if present.owner == threading.get_ident():
            present.done = len(self.trace.steps)
            present.total = max(
                present.total, present.done + 1
            )  # a fixed point runs its passes several times
        if context.control.on_pass is not None:
            context.control.on_pass(hlo_pass.name)
        problem: BaseException | None = None
        with self.journal.span("pass", hlo_pass.name) as span:
            if context.journal is not None:
                step.span = span.id
            started = time.perf_counter()
            try:
                step.changed = hlo_pass.run(module, context)
            except (Exception, StopRequestedError) as raised:
                problem = raised
                span.error = step.error = f"{type(raised).__name__}: {raised}"
            if step.changed and problem is None:
                update_schedules(module)
            step.seconds = time.perf_counter() - started
            span.changed = step.changed
        step.rewrites, step.actions = context.rewrites - rewrites, context.actions - actions
        self.trace.steps.append(step)
        try:
            self.finish(step, hlo_pass)
        except Exception as raised:
            if problem is None:
                problem = raised
                step.error = f"{type(raised).__name__}: {raised}"
        if problem is not None:
            self.trace.error = problem
            raise _StopError
        if step.changed:
            self.version += 1
        else:
            self.quiet_at[id(hlo_pass)] = self.version
        return step.changed

    def finish(self, step: PassStep, hlo_pass: HloPass) -> None:
        """Snapshot, count, check the report, verify."""
        module = self.module
        before = self.last
        if before is not None:
            after = module.snapshot()
            differs = after != before
            step.after = self.last = after if differs else before
        else:
            differs = step.changed
        if differs:
            self.count = module.instruction_count()
        step.instructions_after = self.count
        if step.error is None and differs != step.changed:
            raise PassChangeReportError(hlo_pass.name, step.changed)
        if step.changed and self.verifier is not None and step.error is None:
            self.verifier(module)
        if step.changed and self.values is not None and step.error is None:
            self.values.require(module, hlo_pass.name)


def _graph_listener(
    context: PassContext,
) -> Callable[[str, HloInstruction, HloInstruction | None], None]:
    journal = context.journal
    assert journal is not None

    def listen(kind: str, i: HloInstruction, other: HloInstruction | None) -> None:
        if other is None:
            journal.write(kind, context.acting, (i.id,), (i.name,))
        else:
            journal.write(kind, context.acting, (i.id, other.id), (i.name, other.name))

    return listen


def run_pipeline(
    module: HloModule,
    pipeline: PassPipeline,
    context: PassContext | None = None,
    *,
    verifier: Verifier | None = None,
    snapshots: bool | None = None,
) -> PassTrace:
    """Run the pipeline on the module, in place.

    verifier: called after each pass that changed something; an exception of the verifier ends the
    run.
    snapshots: keep the module before and after each pass (by default if there is a journal).
    Without them the runner does not check change reports.
    A failing pass does not raise here: the trace ends with its step and holds the exception as
    `error`.
    """
    context = context or PassContext()
    if snapshots is None:
        snapshots = context.journal is not None
    started = time.perf_counter()
    with collector_paused():
        trace = PassTrace(
            module,
            pipeline,
            context.journal,
            module.snapshot() if snapshots else None,
            context.control,
            context.target,
        )
        if context.everything_on:
            module.set_listener(_graph_listener(context))
        try:
            with counting(len(list(pipeline.passes())), "passes"):
                _Runner(module, trace, context, verifier).pipeline(pipeline, ())
        except _StopError:
            pass
        finally:
            if context.everything_on:
                module.set_listener(None)
    trace.seconds = time.perf_counter() - started
    return trace
