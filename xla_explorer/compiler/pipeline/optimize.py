"""The entry point of the session and the command line: run passes on a module, return the trace."""

from __future__ import annotations

from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike, as_pipeline
from xla_explorer.compiler.pipeline.runner import PassFailedError, Verifier, run_pipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.foundation.journal import Journal, Level
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify as verify_module


@default_floating_point()
def optimize(
    module: HloModule,
    pipeline: PipelineLike = "default",
    journal: str | Level | Journal = "decisions",
    *,
    control: PassControl | None = None,
    target: Target | None = None,
    verify: bool = False,
    in_place: bool = False,
    keep_errors: bool = False,
) -> PassTrace:
    """Run passes on a copy of the module (on itself with in_place) and return the trace.

    The trace's `module` is the result. journal: `off`, `passes`, `decisions`, `everything`, or a
    Journal to write to. verify: run the verifier after each pass that changed something. If a pass
    fails, PassFailedError (with `.trace`) is raised; with keep_errors its trace is returned
    instead.
    """
    made = journal if isinstance(journal, Journal) else Journal(journal)
    context = PassContext(made, control, target)
    verifier: Verifier | None = None
    if verify:
        verifier = verify_module
    trace = run_pipeline(
        module if in_place else module.clone(), as_pipeline(pipeline), context, verifier=verifier
    )
    if trace.error is not None and not keep_errors:
        raise PassFailedError(trace.steps[-1].name, trace.error, trace) from trace.error
    return trace
