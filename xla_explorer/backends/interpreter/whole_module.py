"""Modules that a backend cannot run: the evaluator runs them as a whole, with a reason."""

from __future__ import annotations

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.interpreter.interpreter_platform import (
    InterpreterCompiler,
    InterpreterExecutable,
)
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.transforms.copies.flatten_call_graph import why_not_flat
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.call_graph import shared_sequential_computations
from xla_explorer.hlo.analysis.custom_calls import is_padded_parameter
from xla_explorer.hlo.module import HloModule


def dynamic_dimension(module: HloModule, sizes: bool = False) -> Reason | None:
    """Return a refusal of native code for sizes known only at run time, else None.

    sizes: arguments bring their own sizes.
    """
    for i in module.instructions():
        if sizes and is_padded_parameter(i):
            continue
        for _, leaf in i.shape.leaves():
            if any(leaf.dynamic):
                message = (
                    f"%{i.name} is {leaf.text_without_layout}: buffers need known sizes, so the "
                    "whole module runs on the evaluator"
                )
                return Reason("dynamic-dimension", message, {"shape": leaf.text_without_layout})
    return None


def why_no_native_code(module: HloModule, sizes: bool = False) -> Reason | None:
    """Return why the (optimised) module as a whole gets no native code; None if it does.

    sizes: see `dynamic_dimension`.
    """
    return dynamic_dimension(module, sizes) or _shared_computation(module)


def _shared_computation(module: HloModule) -> Reason | None:
    """Return a refusal of native code for a computation with several callers, else None.

    Buffers of a computation have fixed places, so one with several callers has none.
    """
    shared = shared_sequential_computations(module)
    if not shared:
        return None
    reason = why_not_flat(module)
    why = reason.message if reason is not None else "the pass flatten-call-graph did not run"
    message = (
        f"%{shared[0].name} has several callers, and {why}: the whole module runs on the evaluator"
    )
    return Reason(
        "too-many-instructions" if reason is not None else "shared-computation",
        message,
        reason.facts if reason else {},
    )


def on_the_evaluator(trace: PassTrace, options: CompileOptions, reason: Reason) -> CompileResult:
    """Return the result of `run_backend` for such a module; every step names the reason."""
    result = InterpreterCompiler().run_backend(trace, options)
    assert isinstance(result.executable, InterpreterExecutable)
    result.executable.steps = [step._replace(reason=reason) for step in result.executable.steps]
    return result
