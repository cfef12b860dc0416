"""The outcome of a module on a backend: ok, refused, wrong or crashed, judged by the evaluator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.interfaces import CompileOptions, CompileResult, Platform
from xla_explorer.backends.testing.opcode_program import draw
from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
STATUSES = ("ok", "refused", "wrong", "crashed")


class Outcome(NamedTuple):
    """The outcome of a module on a backend.

    status: one of STATUSES. code: of the Reason if refused; the exception's name if crashed.
    runs_on: places of its steps, with commas; a refused module that ran did so on the evaluator.
    """

    status: str
    code: str = ""
    message: str = ""
    runs_on: str = ""


# (outcome, arguments, what the evaluator says, what the backend says or None)
Run = tuple[Outcome, list[Array], list[Array] | None, list[Array] | None]


def run_module(backend: Platform, module: HloModule, values: str, seed: int) -> Run:
    """Compile and run on random arguments (see `values`).

    Raises the evaluator's exceptions, never the backend's.
    """
    arguments, expected = reference(module, values, seed)
    compiler, options = backend.compiler(), CompileOptions(cache=False)
    try:
        result = compiler.run_backend(compiler.run_hlo_passes(module, options), options)
    except Exception as problem:
        return crash_or_refusal(problem), arguments, expected, None
    outcome, got = judge(result, arguments, expected)
    return outcome, arguments, expected, got


def reference(module: HloModule, values: str, seed: int) -> tuple[list[Array], list[Array]]:
    """Return (arguments, one per array leaf of the parameters; the evaluator's results)."""
    leaves = [
        leaf for p in module.entry.parameters() for _, leaf in p.shape.leaves() if leaf.is_array
    ]
    arguments = [draw(leaf, values, seed + k) for k, leaf in enumerate(leaves)]
    return arguments, flatten_value(evaluate(module, *arguments))


def judge(
    result: CompileResult, arguments: list[Array], expected: list[Array]
) -> tuple[Outcome, list[Array] | None]:
    """Run the executable and return (outcome, results or None)."""
    if result.executable is None:
        why = result.why_not
        if why is None:
            return Outcome(
                "crashed",
                "no-reason",
                "the compile gave neither an executable nor a reason (why_not is None)",
            ), None
        return Outcome("refused", why.code, why.message), None
    try:
        got = [np.asarray(a) for a in result.executable.execute([np.array(a) for a in arguments])]
    except Exception as problem:
        return crash_or_refusal(problem), None
    steps = result.executable.steps
    runs_on = ",".join(dict.fromkeys([step.runs_on for step in steps]))
    outcome = judged(got, expected, runs_on)
    for step in steps if outcome.status == "ok" else ():
        if step.runs_on == "evaluator" and step.reason is not None:
            return Outcome("refused", step.reason.code, step.reason.message, runs_on), got
    return outcome, got


def judged(got: list[Array], expected: list[Array], runs_on: str) -> Outcome:
    """Compare results with the evaluator's."""
    error, fine = largest_error(expected, got)
    if not fine:
        return Outcome("wrong", "values-differ", _difference(expected, got, error), runs_on)
    return Outcome("ok", "", "", runs_on)


def crash_or_refusal(problem: Exception) -> Outcome:
    """Return the outcome of an exception: a refusal if it carries a Reason, else a crash."""
    reason = reason_of(problem)
    if reason is not None:
        return Outcome("refused", reason.code, reason.message)
    return Outcome("crashed", type(problem).__name__, str(problem).split("\n")[0])


def reason_of(problem: BaseException | None) -> Reason | None:
    """Return the Reason that an exception, or its cause, carries as `.reason`."""
    while problem is not None:
        reason = getattr(problem, "reason", None)
        if isinstance(reason, Reason):
            return reason
        problem = problem.__cause__
    return None


def _difference(expected: list[Array], got: list[Array], error: float) -> str:
    if len(expected) != len(got):
        return f"{len(got)} results, expected {len(expected)}"
    for number, (want, have) in enumerate(zip(expected, got, strict=True)):
        if want.shape != have.shape or want.dtype != have.dtype:
            return (
                f"result {number} is {have.dtype}{list(have.shape)}, expected "
                f"{want.dtype}{list(want.shape)}"
            )
    return f"largest error {error:.3g} of the largest value"
