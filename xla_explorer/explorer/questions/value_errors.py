"""The error of a program's values after each pass and rewrite, by the evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import (
    PassContext,
    PassControl,
    PassPipeline,
    PassStep,
    PassTrace,
    run_pipeline,
)
from xla_explorer.compiler.pipeline.value_check import ValueCheck
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.explorer.sessions.progress import counted
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses

COLUMNS = ["step", "pass", "rewrite", "by", "instructions", "error", "agrees", "reason"]
MOST_REWRITES = 400


@as_one_run
def value_errors(
    passes: RecordedPasses[RecordedPass], arrays: Sequence[Any], *, rewrites: bool
) -> pandas.DataFrame:
    """Return the error after each pass as a table: see `Passes.errors`."""
    trace = passes.record
    if trace.initial is None:
        raise XlaExplorerError(
            "the passes have no snapshots to compare", 'compile with journal="passes" or more'
        )
    source = passes[0].module
    check = ValueCheck(source, list(arrays) or list(random_arguments(source)))
    rows: list[list[Any]] = []
    changed = [
        step
        for step in trace.steps
        if step.changed and step.after is not None and step.after is not step.before
    ]
    for step in counted(changed, "evaluating after passes", noun="passes"):
        if rewrites:
            rows += _run_with_each_action(trace, step, check)
        assert step.after is not None
        error, fine, problem = check.compare(HloModule.from_snapshot(step.after))
        rows.append(
            [step.number, step.name, None, "", step.instructions_after, error, fine, problem]
        )
    return wide_frame(rows, COLUMNS)


def _run_with_each_action(trace: PassTrace, step: PassStep, check: ValueCheck) -> list[list[Any]]:
    """Run the pass alone on its input module, with one more action each time."""
    if not step.actions or step.before is None:
        return []
    if step.actions > MOST_REWRITES:
        message = f"{step.name} acts {step.actions} times, more than the {MOST_REWRITES} that are tried one by one"
        raise XlaExplorerError(message, "rewrites=False, or session.bisect(*arrays)")
    alone = PassPipeline(step.name, (step.hlo_pass,))
    rows = []
    for limit in range(1, step.actions + 1):
        control = PassControl(
            trace.control.force, trace.control.forbid, trace.control.skipped_rules, limit
        )
        context = PassContext(Journal("decisions"), control, trace.target)
        found = run_pipeline(HloModule.from_snapshot(step.before), alone, context, snapshots=False)
        acted = (
            [event for event in found.journal.events if event.acted]
            if found.journal is not None
            else []
        )
        about = acted[limit - 1] if len(acted) >= limit else None
        by = (
            f"{about.by} on {', '.join([f'%{name}' for name in about.names[:2]])}"
            if about is not None
            else ""
        )
        if found.error is not None:
            rows.append(
                [step.number, step.name, limit, by, 0, float("inf"), False, str(found.error)]
            )
            continue
        error, fine, problem = check.compare(found.module)
        rows.append(
            [
                step.number,
                step.name,
                limit,
                by,
                found.module.instruction_count(),
                error,
                fine,
                problem,
            ]
        )
    return rows
