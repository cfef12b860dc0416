"""Which pass, and which rewrite of it, first made the value wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import PassControl, StopRequested, make_pass
from xla_explorer.compiler.pipeline.optimize import optimize as run_passes
from xla_explorer.explorer.arguments import largest_error, random_arguments
from xla_explorer.explorer.display import pre_html
from xla_explorer.foundation.journal import Event
from xla_explorer.hlo.evaluator import EvaluationError, evaluate, flatten_value
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    from xla_explorer.explorer.session import Session


class BisectionResult:
    """step: number of the first pass after which the value differs (as `trace.steps` counts), -1 when the generated code differs
    though no pass does, None when nothing differs. pass_name; rewrite: its first wrong rewrite (1-based) or None; event: what the journal
    says of that rewrite. error: largest relative error. evaluations: how many modules were evaluated."""

    def __init__(self, step: int | None, pass_name: str, rewrite: int | None, event: Event | None, error: float, evaluations: int) -> None:
        self.step, self.pass_name, self.rewrite, self.event = step, pass_name, rewrite, event
        self.error, self.evaluations = error, evaluations

    def __bool__(self) -> bool:
        return self.step is not None

    def __str__(self) -> str:
        if self.step is None:
            counted = f"largest error {self.error:.2g}, {self.evaluations} evaluations"
            return f"every pass keeps the value, and the compiled program agrees ({counted})"
        if self.step < 0:
            return f"every pass keeps the value; the generated code of {self.pass_name} differs (largest error {self.error:.2g})"
        text = f"pass {self.step}, {self.pass_name}, is the first after which the value differs (largest error {self.error:.2g})"
        if self.rewrite is not None:
            what = f": rule {self.event.by} on %{self.event.names[0]}" if self.event is not None and self.event.names else ""
            text += f"; its rewrite number {self.rewrite} is the first that does it{what}"
        return text + f" ({self.evaluations} evaluations)"

    __repr__ = __str__

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": pre_html(str(self))}


def bisect(session: Session, arrays: Sequence[Any]) -> BisectionResult:
    """Compare values after passes with those of the module as written, by halving; a pass that repairs an earlier error hides it.

    Needs snapshots (journal `passes` or more). Without arrays: random ones.
    """
    arguments = list(arrays) if arrays or not session.signature.shapes else list(random_arguments(session.source))
    leaves = session.signature.leaves(arguments)
    want = flatten_value(evaluate(session.source, *leaves))
    counted = [0]

    def error_of(module: HloModule) -> tuple[float, bool]:
        counted[0] += 1
        try:
            return largest_error(want, flatten_value(evaluate(module, *leaves)))
        except EvaluationError:
            return float("inf"), False

    steps = [s for s in session.trace.steps if s.changed and s.after is not None]
    if steps:
        last_error, good = error_of(session.trace.at(steps[-1].index))
        if not good:
            low, high = 0, len(steps) - 1  # the first wrong step is in [low, high]
            while low < high:
                middle = (low + high) // 2
                value, fine = error_of(session.trace.at(steps[middle].index))
                if fine:
                    low = middle + 1
                else:
                    high, last_error = middle, value
            guilty = steps[low]
            rewrite, event = _first_rewrite(session, guilty.index, error_of)
            return BisectionResult(guilty.index, guilty.name, rewrite, event, last_error, counted[0])
    if session.error is None and session.program_steps:
        value, fine = largest_error(want, session.executable.execute(leaves))
        return BisectionResult(None if fine else -1, session.backend, None, None, value, counted[0])
    return BisectionResult(None, "", None, None, 0.0, counted[0])


def _first_rewrite(session: Session, index: int, error_of: Any) -> tuple[int | None, Event | None]:
    """Run the pass alone on what it was given, with fewer and fewer rewrites allowed."""
    step = session.trace.steps[index]
    if not step.rewrites:
        return None, None

    def run(limit: int) -> Any:
        again = make_pass(step.name, **step.options)
        return run_passes(
            session.trace.before(index), again, "decisions", control=PassControl(rewrite_limit=limit), in_place=True, keep_errors=True
        )

    low, high = 1, step.rewrites
    if error_of(run(high).module)[1]:
        return None, None
    while low < high:
        middle = (low + high) // 2
        try:
            fine = error_of(run(middle).module)[1]
        except StopRequested:
            fine = True
        low, high = (middle + 1, high) if fine else (low, middle)
    applied = [e for e in run(low).journal.events if e.kind == "applied"]
    return low, applied[low - 1] if len(applied) >= low else None
