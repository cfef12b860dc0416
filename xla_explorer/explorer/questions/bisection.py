"""`bisect`: the first pass, and its first action, after which a value is wrong.

Passes are checked one after another, since a later pass may repair (or remove) what an earlier one
broke. The guilty pass is run with one more of its actions (rewrites, merges, accepted decisions)
each time. A pass that changes the graph without consulting its context is stopped after each of its
graph changes instead.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from typing import Any

from xla_explorer.compiler.pipeline import (
    PassContext,
    PassControl,
    PassPipeline,
    PassStep,
    PassTrace,
    run_pipeline,
)
from xla_explorer.compiler.pipeline.context import StopRequestedError
from xla_explorer.compiler.pipeline.pass_interface import ForeignPass
from xla_explorer.compiler.pipeline.value_check import ValueCheck, largest_error
from xla_explorer.explorer.display.blocks import Blocks, Code, Sentence
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps, recompiled
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event, Journal
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule, ModuleSnapshot
from xla_explorer.hlo.text.print_options import PrintOptions

# Up to this number, actions are tried one by one; beyond it by halving (a later action may then
# hide an earlier one).
ONE_BY_ONE = 256
_SHOWN = 40  # lines of a difference
_KERNELS = 3  # named in a sentence
_CONTRACTING = ("cpu", "gpu")
_FUNCTION = re.compile(
    r"^define [^@\n]*@\"?([\w.$-]+)\"?\([^\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
_PRODUCT = re.compile(r"^\s*(%[\w.$-]+) = fmul [\w ]*contract", re.MULTILINE)
_SUM = re.compile(r"^\s*%[\w.$-]+ = f(?:add|sub) [\w ]*contract.*$", re.MULTILINE)
_NAME = re.compile(r"%[\w.$-]+")


class BisectionResult(Report):
    """The result of `bisect`.

    Attributes
    ----------
    step : int, optional
        The first pass after which the value differs, as `session.passes` counts. -1 if only the
        generated code differs, None if nothing does.
    pass_name : str
        The name of that pass.
    rewrite : int, optional
        Its first wrong action, from 1.
    event : Event, optional
        The journal's event of that action. For a pass that does not consult its context, the first
        graph change after which the value stays wrong.
    error : float
        The largest relative error; inf if the module cannot be evaluated, with the reason in
        `problem`.
    evaluations : int
        The number of evaluated modules.
    before, after : str
        The module's HLO text around the pass; empty if no pass is guilty.
    """

    before = after = ""
    contracted: tuple[str, ...] = ()
    """Kernels that round a product and a sum once, if the value is right without that contraction.
    """

    def __init__(
        self,
        step: int | None,
        pass_name: str,
        rewrite: int | None,
        event: Event | None,
        error: float,
        evaluations: int,
        problem: str = "",
    ) -> None:
        self.step, self.pass_name, self.rewrite, self.event = step, pass_name, rewrite, event
        self.error, self.evaluations, self.problem = error, evaluations, problem

    @property
    def rule(self) -> str:
        """The guilty rule (merge, kind of decision, pass); empty if nothing differs."""
        return self.event.by if self.event is not None else self.pass_name

    def __bool__(self) -> bool:
        return self.step is not None

    def blocks(self) -> Blocks:
        """Yield one sentence, and a diff of the module if the guilty action is unknown."""
        yield Sentence(self._sentence())
        if self.step is not None and self.step > 0 and self.event is None:
            around = difflib.unified_diff(
                self.before.split("\n"), self.after.split("\n"), "before", "after", n=1, lineterm=""
            )
            lines = list(itertools.islice(around, _SHOWN + 1))
            more = ["... (.before and .after are the whole texts)"] if len(lines) > _SHOWN else []
            yield Code(f"what {self.pass_name} changed", "\n".join(lines[:_SHOWN] + more), "diff")

    def _sentence(self) -> str:
        if self.step is None:
            counted = f"largest error {self.error:.2g}, {number_of(self.evaluations, 'evaluation')}"
            return f"every pass keeps the value, and the compiled program agrees ({counted})"
        if self.step < 0 and self.contracted:
            named = ", ".join([f"%{name}" for name in self.contracted[:_KERNELS]])
            more = (
                f" and {len(self.contracted) - _KERNELS} more"
                if len(self.contracted) > _KERNELS
                else ""
            )
            kernels = "kernels" if len(self.contracted) > 1 else "kernel"
            return (
                f"every pass keeps the value; the generated code of {self.pass_name} differs (largest "
                f"error {self.error:.2g}) because a product and the sum that it goes into are rounded "
                f"once (LLVM's contract, one fma) in {kernels} {named}{more}; with contraction=False "
                "each is rounded, and the value is kept"
            )
        if self.step < 0:
            return f"every pass keeps the value; the generated code of {self.pass_name} differs (largest error {self.error:.2g})"
        how_far = self.problem or f"largest error {self.error:.2g}"
        text = f"pass {self.step}, {self.pass_name}, is the first after which the value differs ({how_far})"
        if self.event is not None:
            names = [f"%{name}" for name in self.event.names]
            about = " and ".join(names)
            if self.rewrite is not None:
                text += f"; its action number {self.rewrite} is the first that does it: {self.event.by} on {about}"
            else:
                change = (
                    " was replaced by ".join(names)
                    if self.event.kind == "replaced"
                    else f"{about} was {self.event.kind}"
                )
                text += f"; it does not consult its context; the value is wrong after {change}"
        return text + f" ({number_of(self.evaluations, 'evaluation')})"


@as_one_run
def bisect(session: Compilation, arrays: Sequence[Any]) -> BisectionResult:
    """Compare values after each pass with those of the module as written.

    Needs snapshots (journal `passes` or more; XlaExplorerError without). Without arrays the
    arguments are random.
    """
    trace = session.passes.record
    if trace.initial is None:
        raise XlaExplorerError(
            "the passes have no snapshots to compare", 'compile with journal="passes" or more'
        )
    arguments = (
        list(arrays)
        if arrays or not session.signature.shapes
        else list(random_arguments(session.source))
    )
    check = ValueCheck(session.source, session.signature.leaves(arguments))
    for step in trace.steps:
        if not step.changed or step.after is None or step.after is step.before:
            continue
        error, fine, problem = check.compare(HloModule.from_snapshot(step.after))
        if not fine:
            action, event = None, None
            if not isinstance(
                step.hlo_pass, ForeignPass
            ):  # a pass of another compiler cannot run again
                action, event = _first_action(trace, step, check)
                event = event or _first_change(trace, step, check)
            found = BisectionResult(
                step.number, step.name, action, event, error, check.evaluations, problem
            )
            found.before, found.after = [_text(snapshot) for snapshot in (step.before, step.after)]
            return found
    if session.error is None and program_steps(session):
        error, fine = largest_error(check.reference, session.executable.execute(check.leaves))
        found = BisectionResult(
            None if fine else -1, session.backend, None, None, error, check.evaluations
        )
        if not fine:
            found.contracted = _contracted_kernels(session, check)
        return found
    return BisectionResult(None, "", None, None, 0.0, check.evaluations)


def _contracted_kernels(session: Compilation, check: ValueCheck) -> tuple[str, ...]:
    """Return the kernels that contract products, if the value is right without contraction."""
    if (
        session.backend not in _CONTRACTING
        or session.options.backend_options.get("contraction", True) is False
    ):
        return ()
    exact = recompiled(session, contraction=False, control=None)
    if not largest_error(check.reference, exact.executable.execute(check.leaves))[1]:
        return ()
    found = []
    for head, body in _FUNCTION.findall(str(session.stage("llvm-ir").text)):
        products = set(_PRODUCT.findall(body))
        if any(products.intersection(_NAME.findall(line)) for line in _SUM.findall(body)):
            found.append(head)
    return tuple(dict.fromkeys(found))


def _text(snapshot: ModuleSnapshot | None) -> str:
    """Return the HLO text of a module: names, shapes and opcodes."""
    plain = PrintOptions.default.but(metadata=False)
    return HloModule.from_snapshot(snapshot).to_text(plain) if snapshot is not None else ""


def _before(step: PassStep) -> HloModule:
    assert step.before is not None
    return HloModule.from_snapshot(step.before)


def _first_action(
    trace: PassTrace, step: PassStep, check: ValueCheck
) -> tuple[int | None, Event | None]:
    """Run the pass alone on its input module, with a limited number of actions."""
    if not step.actions:
        return None, None
    alone = PassPipeline(step.name, (step.hlo_pass,))

    def run(limit: int) -> PassTrace:
        control = PassControl(
            trace.control.force, trace.control.forbid, trace.control.skipped_rules, limit
        )
        return run_pipeline(
            _before(step),
            alone,
            PassContext(Journal("decisions"), control, trace.target),
            snapshots=False,
        )

    def fine(limit: int) -> bool:
        found = run(limit)
        return found.error is None and check.compare(found.module)[1]

    if not fine(0):
        return (
            None,
            None,
        )  # wrong with no action allowed: it does not consult its context
    low, high = 1, step.actions
    if high <= ONE_BY_ONE:
        while low <= high and fine(low):
            low += 1
        if low > high:
            return None, None
    else:
        if fine(high):
            return None, None
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if fine(middle) else (low, middle)
    journal = run(low).journal
    acted = [e for e in journal.events if e.acted] if journal is not None else []
    return low, acted[low - 1] if len(acted) >= low else None


def _first_change(trace: PassTrace, step: PassStep, check: ValueCheck) -> Event | None:
    """Return the pass's first graph change after which the value stays wrong.

    At most the last `ONE_BY_ONE` changes are tried.
    """

    def run(limit: int | None) -> tuple[HloModule, list[Event]]:
        module, changes = _before(step), []  # type: ignore[var-annotated]

        def listen(kind: str, i: HloInstruction, other: HloInstruction | None) -> None:
            about = (i,) if other is None else (i, other)
            names = tuple([x.name for x in about])
            changes.append(
                Event(len(changes), -1, kind, step.name, tuple([x.id for x in about]), names)
            )
            if len(changes) == limit:
                raise StopRequestedError

        module.set_listener(listen)
        try:
            step.hlo_pass.run(module, PassContext(None, trace.control, trace.target))
        except StopRequestedError:
            pass
        finally:
            module.set_listener(None)
        return module, changes

    changes = run(None)[1]
    first = None
    for number in range(len(changes), max(0, len(changes) - ONE_BY_ONE), -1):
        if changes[number - 1].kind in ("created", "removed"):
            continue  # neither alone changes a value
        before = run(number)[0]
        try:
            wrong = not check.compare(before)[1]
        except (TimeoutError, MemoryError):  # of the whole call
            raise
        except Exception:  # half a change may leave a graph that cannot be evaluated
            wrong = True
        if not wrong:
            break
        first = changes[number - 1]
    return first
