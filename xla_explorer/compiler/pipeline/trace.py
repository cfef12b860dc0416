"""The trace of a pipeline run: one `PassStep` for each pass that ran, with snapshots around it.

`run_pipeline` fills the trace. Pages and tables read it; `to_frame` has the columns of users.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.pipeline.pass_interface import ForeignPass, HloPass
from xla_explorer.compiler.target import UNSTATED, Target
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event, Journal
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.module import (
    HloModule,
    ModuleSnapshot,
    SnapshotDifference,
    snapshot_difference,
)

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.pipeline.pipeline import PassPipeline


class UnknownStepError(XlaExplorerError, IndexError, KeyError):
    """The trace has no step of the given index or name."""


class PassStep:
    """One run of one pass.

    index: the index in `PassTrace.steps`, from 0; `number` is one more. path: names of the
    enclosing pipelines; a fixed point appends `#n` in its n-th iteration (from 2). seconds: wall
    time of the pass alone. before, after: snapshots (None with the journal off). span: id of its
    span in the journal, or -1. hlo_pass: the pass itself. instructions_before, instructions_after,
    rewrites: counts. actions: number of rewrites and positive decisions. error: text of the
    exception that the pass raised.
    """

    __slots__ = (
        "actions",
        "after",
        "before",
        "changed",
        "error",
        "hlo_pass",
        "index",
        "instructions_after",
        "instructions_before",
        "name",
        "options",
        "path",
        "rewrites",
        "seconds",
        "span",
    )

    def __init__(
        self, index: int, path: tuple[str, ...], hlo_pass: HloPass, options: dict[str, Any]
    ) -> None:
        self.index, self.path, self.hlo_pass, self.name, self.options = (
            index,
            path,
            hlo_pass,
            hlo_pass.name,
            options,
        )
        self.seconds = 0.0
        self.changed = False
        self.before: ModuleSnapshot | None = None
        self.after: ModuleSnapshot | None = None
        self.span = -1
        self.instructions_before = self.instructions_after = self.rewrites = self.actions = 0
        self.error: str | None = None

    @property
    def number(self) -> int:
        """The number that users see: 1 for the first pass, 0 for the module as written."""
        return self.index + 1

    @property
    def known_seconds(self) -> float | None:
        """Wall time of the pass alone; None for a pass of another compiler, read from a dump."""
        return None if isinstance(self.hlo_pass, ForeignPass) else self.seconds

    @property
    def time_text(self) -> str:
        """The wall time as text."""
        return "time not known" if self.known_seconds is None else f"{self.seconds * 1e3:.2f} ms"

    @property
    def pipeline(self) -> str:
        """The path as one text, `simplification/inner#2`."""
        return "/".join(self.path)

    @cleaned
    def __repr__(self) -> str:
        state = self.error or ("changed" if self.changed else "unchanged")
        return (
            f"<{self.number} {self.pipeline}/{self.name}: {state}, {self.instructions_after} "
            f"instructions, {self.time_text}>"
        )


class PassTrace:
    """The steps of a run, its result and its journal.

    steps: every pass that ran, in order. module: the result (up to the failure, if `error` is set).
    journal: the events.
    initial: snapshot before the first pass. error: the exception of a failed pass, else None.
    pipeline: the pipeline that ran. control, target: the arguments of the passes.
    repeated_decisions: by step index, the decisions of passes that were run again to record
    checklists.
    """

    __slots__ = (
        "control",
        "error",
        "initial",
        "journal",
        "module",
        "pipeline",
        "repeated_decisions",
        "seconds",
        "steps",
        "target",
    )

    def __init__(
        self,
        module: HloModule,
        pipeline: PassPipeline,
        journal: Journal | None,
        initial: ModuleSnapshot | None,
        control: PassControl | None = None,
        target: Target | None = None,
    ) -> None:
        self.control = control or PassControl()
        self.target = target or UNSTATED
        self.steps: list[PassStep] = []
        self.module = module
        self.pipeline = pipeline
        self.journal = journal
        self.initial = initial
        self.error: BaseException | None = None
        self.seconds = 0.0
        self.repeated_decisions: dict[int, list[Decision]] = {}

    def without_steps(self) -> PassTrace:
        """Return a trace without steps, from whose result a backend can generate code again."""
        level = "off" if self.journal is None else self.journal.level.name.lower()
        return PassTrace(
            self.module, self.pipeline, Journal(level), self.initial, self.control, self.target
        )

    def _snapshots(self, index: int) -> tuple[ModuleSnapshot, ModuleSnapshot]:
        step = self.step_at(index)
        if step.before is None or step.after is None:
            raise XlaExplorerError(
                f"step {step.index} ({step.name}) has no snapshots",
                'run with journal="passes" or more',
            )
        return step.before, step.after

    def step_at(self, index: int) -> PassStep:
        """Return the step with an index (negative: from the end).

        UnknownStepError (an IndexError) lists the valid indices.
        """
        if isinstance(index, str):
            hint = f"trace.step({index!r}).index is its index"
            raise UnknownStepError(f"expected the index of a step, got the name {index!r}", hint)
        if not -len(self.steps) <= index < len(self.steps):
            hint = (
                f"steps are 0 to {len(self.steps) - 1}, or -1 for the last"
                if self.steps
                else "no pass was run"
            )
            raise UnknownStepError(f"the trace has no step {index}", hint)
        return self.steps[index]

    @property
    def changed(self) -> bool:
        """True if any pass changed the module."""
        return any(step.changed for step in self.steps)

    def at(self, index: int) -> HloModule:
        """Return the module after step `index` (negative: from the end); names and ids stay."""
        return HloModule.from_snapshot(self._snapshots(index)[1])

    def before(self, index: int) -> HloModule:
        """Return the module before step `index`."""
        return HloModule.from_snapshot(self._snapshots(index)[0])

    def diff(self, index: int) -> SnapshotDifference:
        """Return the ids of instructions that step `index` added, removed and changed."""
        return snapshot_difference(*self._snapshots(index))

    def text_diff(self, index: int, context_lines: int = 3) -> str:
        """Return a unified diff of the module's text before and after step `index`.

        It is empty if the step changed nothing.
        """
        step = self.step_at(index)
        old, new = [
            HloModule.from_snapshot(s).to_text().splitlines(keepends=True)
            for s in self._snapshots(index)
        ]
        return "".join(
            difflib.unified_diff(
                old, new, f"before {step.name}", f"after {step.name}", n=context_lines
            )
        )

    def events_of(self, step: PassStep) -> list[Event]:
        """Return the journal's events of a step."""
        return (
            self.journal.of_span(step.span) if self.journal is not None and step.span >= 0 else []
        )

    def numbered(self, number: int | None) -> PassStep | None:
        """Return the step with a number, from 1; None for 0 (the module as written) and None."""
        return self.steps[number - 1] if number else None

    def name_of(self, number: int | None) -> str:
        """Return the name of a pass by its number; empty for 0 (the module as written) and None."""
        return step.name if (step := self.numbered(number)) is not None else ""

    def step(self, name: str, occurrence: int = 0) -> PassStep:
        """Return the n-th step of a pass by name.

        UnknownStepError (a KeyError) if the pass ran less often.
        """
        found = [s for s in self.steps if s.name == name]
        if not -len(found) <= occurrence < len(found):
            ran = list(dict.fromkeys([s.name for s in self.steps]))
            near = [] if found else nearest(name, ran, 3)
            hint = (
                f"near: {', '.join(near)}"
                if near
                else f"passes that ran: {', '.join(ran) or 'none'}"
            )
            times = "once" if len(found) == 1 else f"{len(found)} times" if found else "not at all"
            raise UnknownStepError(f"pass {name!r} ran {times}", hint)
        return found[occurrence]

    def to_frame(self) -> pandas.DataFrame:
        """Return a table with a row per step.

        Columns: pipeline, pass, changed, seconds, instructions before and after, added, removed,
        modified, rewrites.
        """
        import pandas

        rows = []
        for step in self.steps:
            difference = (
                self.diff(step.index)
                if step.changed and step.before is not None and step.after is not None
                else None
            )
            rows.append(
                {
                    "pipeline": step.pipeline,
                    "pass": step.name,
                    "changed": step.changed,
                    "seconds": step.known_seconds,
                    "instructions_before": step.instructions_before,
                    "instructions_after": step.instructions_after,
                    "added": len(difference.added) if difference else 0,
                    "removed": len(difference.removed) if difference else 0,
                    "modified": len(difference.changed) if difference else 0,
                    "rewrites": step.rewrites,
                    "error": step.error,
                }
            )
        return pandas.DataFrame(
            rows,
            columns=[
                "pipeline",
                "pass",
                "changed",
                "seconds",
                "instructions_before",
                "instructions_after",
                "added",
                "removed",
                "modified",
                "rewrites",
                "error",
            ],
        )

    def __len__(self) -> int:
        return len(self.steps)

    @cleaned
    def __repr__(self) -> str:
        changed = len([s for s in self.steps if s.changed])
        failed = f", failed: {self.error}" if self.error else ""
        return (
            f"<PassTrace {self.pipeline.name}: {len(self.steps)} steps, {changed} changed the "
            "module, "
            f"{self.module.instruction_count()} instructions, {self.seconds * 1e3:.1f} ms{failed}>"
        )

    @cleaned
    def __str__(self) -> str:
        lines = [repr(self)[1:-1]]
        lines += [
            f"  {s.number:3d} {s.pipeline + '/' + s.name:50s} {'changed' if s.changed else '-':8s} "
            f"{s.instructions_before:6d} -> "
            f"{s.instructions_after:6d} {s.time_text:>12s}"
            for s in self.steps
        ]
        return "\n".join(lines)
