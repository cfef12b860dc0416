"""Passes, pipelines as data, the runner, and the trace of a run."""

from __future__ import annotations

from xla_explorer.compiler.pipeline.context import PassContext, PassControl, StopRequestedError
from xla_explorer.compiler.pipeline.default_pipelines import as_pipeline
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import (
    HloPass,
    make_pass,
    register_pass,
    registered_passes,
)
from xla_explorer.compiler.pipeline.pipeline import (
    PassPipeline,
    PipelineSyntaxError,
    parse_pipeline,
    pass_options,
    pass_text,
)
from xla_explorer.compiler.pipeline.runner import (
    PassChangeReportError,
    PassFailedError,
    run_pipeline,
)
from xla_explorer.compiler.pipeline.trace import PassStep, PassTrace
from xla_explorer.compiler.pipeline.value_check import ValuesDifferError

__all__ = [
    "HloPass",
    "PassChangeReportError",
    "PassContext",
    "PassControl",
    "PassFailedError",
    "PassPipeline",
    "PassStep",
    "PassTrace",
    "PipelineSyntaxError",
    "StopRequestedError",
    "ValuesDifferError",
    "as_pipeline",
    "make_pass",
    "optimize",
    "parse_pipeline",
    "pass_options",
    "pass_text",
    "register_pass",
    "registered_passes",
    "run_pipeline",
]
