"""Modules that a backend cannot run at all: the evaluator runs them as a whole, and says why."""

from __future__ import annotations

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.interpreter.interpreter_platform import InterpreterCompiler, InterpreterExecutable
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.module import HloModule


def dynamic_dimension(module: HloModule) -> Reason | None:
    """Why a size that is known only at run time keeps the module from native code; None when there is none."""
    for i in module.instructions():
        for _, leaf in i.shape.leaves():
            if any(leaf.dynamic):
                message = f"%{i.name} is {leaf.text_without_layout}: buffers need known sizes, so the whole module runs on the evaluator"
                return Reason("dynamic-dimension", message, {"shape": leaf.text_without_layout})
    return None


def on_the_evaluator(trace: PassTrace, options: CompileOptions, reason: Reason) -> CompileResult:
    """What a compiler's `run_backend` returns for such a module: every step names the reason."""
    result = InterpreterCompiler().run_backend(trace, options)
    assert isinstance(result.executable, InterpreterExecutable)
    result.executable.steps = [step._replace(reason=reason) for step in result.executable.steps]
    return result
