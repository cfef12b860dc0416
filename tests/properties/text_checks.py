"""Checks of any HLO text: a clear refusal, or a printed fixed point with the evaluator's values.

    python tests/properties/text_checks.py show SEED [--own]   # the text of a seed, its findings
    python tests/properties/text_checks.py check FILE [SEED]   # a file, with a seed's arguments

`serve` is the child of `ledger.py`. It prints each step before it starts the step, so that a crash
or a hang has a seed and a step.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import xla_explorer as xe
from tests.backends.cpu.guard_pages import as_if_large, run_guarded
from tests.properties.hostile_arguments import KINDS, MOST_BYTES, argument_bytes, arguments
from tests.properties.noisy_evaluator import ReferenceTooLongError, reference
from tests.properties.seed_texts import corpus
from tests.properties.text_mutations import mutated
from tests.properties.value_classes import differing, explain, rounds_only
from xla_explorer.backends.llvm import early_objects
from xla_explorer.compiler.codegen import parallel_plan
from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.compiler.transforms.expanders.logistic_expander import EXPANDING_RULES
from xla_explorer.compiler.transforms.simplifiers.algebraic.algsimp import ALGEBRAIC_RULES
from xla_explorer.explorer.sessions.compilation import CompileFailedError
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.cost import instruction_cost, module_cost
from xla_explorer.hlo.evaluator import EvaluationError, UnsupportedOpcodeError, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import HloParseError
from xla_explorer.hlo.verifier import HloVerifyError, verify

MEMORY = 6 << 30  # bytes of address space
RESIDENT = 1500 << 20  # a child with more is replaced by a fresh one
REFERENCE_SECONDS = 1.0
MOST_WORK = 1e8  # operations and bytes: some seconds of unoptimised code
MOST_EVALUATED_WORK = 1e5  # the same where each step of a loop is the evaluator's
_NO_NATIVE_CODE = ("s1", "u1")
_OVER_THE_REALS = [
    rule.name
    for rule in (*ALGEBRAIC_RULES, *EXPANDING_RULES)
    if rule.exactness.kind not in ("bitwise", "numeric")
]
_USUAL_SHARE = parallel_plan.TASK_WAKES
# Valid refusals of a verified module, each with its reason.
REFUSALS = {
    "several-devices": ("devices", "a collective over several devices runs on as many, not on one CPU"),
    "unknown-custom-call": ("custom call", "nobody has registered the target of a custom call"),
}  # fmt: skip
_NOTHING_TO_COMPARE = frozenset(
    (
        "rng",
        "rng-get-and-update-state",
        "infeed",
        "outfeed",
        "send",
        "recv",
        "recv-done",
        "custom-call",
        "rng-bit-generator",
    )
)


class Outcome(NamedTuple):
    """The verdict on a text, the classes of its explained differences, and a finding's detail.

    kind: `refused`, `unverified`, `printed`, `large-constants`, `compiled`, `no-reference`,
    `equal`, `explained`; or a finding: `crash`, `exception`, ...
    """

    kind: str
    classes: tuple[str, ...] = ()
    detail: str = ""

    @property
    def is_finding(self) -> bool:
        return bool(self.detail)


class _TooLongError(BaseException):
    """The reference takes too long; no `except Exception` between here and there may take it."""


Step = Callable[[str], None]


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """_TooLongError after so much processor time of Python code."""

    def ring(signum: int, frame: Any) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _found(kind: str, problem: BaseException) -> Outcome:
    root = problem
    while root.__cause__ is not None:
        root = root.__cause__
    places = [
        f"{Path(f.filename).name}:{f.name}:{f.lineno}"
        for f in traceback.extract_tb(root.__traceback__)[-3:]
    ]
    return Outcome(kind, detail=f"{type(root).__name__}: {str(root)[:300]} {' '.join(places)}")


def kind_of(outcome: Outcome) -> str:
    """Return what findings of one cause have in common."""
    return f"{outcome.kind} {re.sub(r'%[^ ,)]+|[0-9][0-9.e+-]*', '#', outcome.detail)[:160]}"


def check_text(text: str, step: Step = lambda _: None) -> tuple[Outcome, HloModule | None]:
    """Parse, verify, print, parse again: what is printed then is what was printed before."""
    step("parse")
    try:
        module = xe.parse_hlo(text)
    except HloParseError as problem:
        str(problem)
        return Outcome("refused"), None
    except Exception as problem:
        return _found("exception-parse", problem), None
    step("verify")
    try:
        verify(module)
    except HloVerifyError as problem:
        str(problem)
        return Outcome("unverified"), module
    except Exception as problem:
        return _found("exception-verify", problem), None
    step("print")
    try:
        printed = xe.parse_hlo(module.to_text()).to_text()
        again = xe.parse_hlo(printed)
        verify(again)
        if again.to_text() != printed:
            return Outcome(
                "print-differs", detail=_first_difference(printed, again.to_text())
            ), None
    except Exception as problem:
        return _found("exception-print", problem), None
    return Outcome("printed"), module


def _first_difference(one: str, two: str) -> str:
    for a, b in zip(one.split("\n"), two.split("\n"), strict=False):
        if a != b:
            return f"{a.strip()[:150]!r} became {b.strip()[:150]!r}"
    return "lines are missing"


class Setting(NamedTuple):
    """Options with which a text is compiled and run.

    guard: `behind`, `front` or none, where memory must not be touched. large: as for large arrays.
    backend: the compiler; only a CPU has guards, threads and an optimisation level.
    """

    preset: str
    threads: int
    share: float
    guard: str
    passes: str
    large: bool = False
    backend: str = "cpu"

    @classmethod
    def of(cls, seed: int, guards: bool) -> Setting:
        choice = random.Random(~seed)
        preset = choice.choice(("none", "none", "none", "fast", "full"))
        threads = choice.choice((1, 1, 2))
        return cls(
            preset,
            threads,
            choice.choice((_USUAL_SHARE, 1e-3)),
            choice.choice(("behind", "front")) if guards else "",
            choice.choice(("default",) * 9 + ("none",)),
            choice.random() < 0.25,
        )


_PLAIN_OPTIMIZE = early_objects.optimize_and_emit


def check_run(
    module: HloModule, setting: Setting, seed: int, step: Step = lambda _: None
) -> Outcome:
    """Compile a verified module, run it on each kind of arguments, compare."""
    early_objects.optimize_and_emit = functools.partial(_PLAIN_OPTIMIZE, preset=setting.preset)
    parallel_plan.TASK_WAKES = setting.share
    names = {i.opcode.name for i in module.instructions()}
    if (
        sum(
            i.shape.byte_size
            for i in module.instructions()
            if i.opcode.name == "constant" and i.shape.is_array
        )
        > MOST_BYTES
    ):
        return Outcome("large-constants")
    step("compile")
    with as_if_large(setting.large):
        try:
            session = xe.compile(
                module,
                backend=setting.backend,
                cache=False,
                journal="off",
                verify=False,
                threads=setting.threads,
                passes=setting.passes,
            )
        except CompileFailedError as problem:
            cause = problem.__cause__
            clear = isinstance(cause, UnsupportedOpcodeError) or type(cause).__name__.startswith(
                "Unsupported"
            )
            return Outcome("unsupported") if clear else _found("compile-failed", problem)
        except Exception as problem:
            return _found("exception-compile", problem)
        if not _is_small(module) or _work_done_again(session.module) > MOST_WORK:
            return Outcome("compiled")
        classes: set[str] = set()
        outcome = Outcome("no-reference")
        for kind in KINDS:
            outcome = _check_values(module, session, kind, seed, setting, names, step)
            classes.update(outcome.classes)
            if outcome.is_finding or outcome.kind not in ("equal", "explained"):
                return outcome
    return Outcome("explained" if classes else "equal", tuple(sorted(classes)))


def _is_small(module: HloModule) -> bool:
    """Return True if a text runs within its time."""
    leaves = [leaf for i in module.instructions() for _, leaf in i.shape.leaves() if leaf.is_array]
    if any(size < 0 for leaf in leaves for size in leaf.dimensions):
        return False  # `?`: bounded by nothing
    results = sum(leaf.byte_size for _, leaf in module.result_shape().leaves() if leaf.is_array)
    cost = module_cost(module)
    most = (
        MOST_WORK
        if not any(leaf.element_type.name in _NO_NATIVE_CODE for leaf in leaves)
        else MOST_EVALUATED_WORK
    )
    return (
        argument_bytes(module) <= MOST_BYTES
        and results <= MOST_BYTES
        and cost.flops + cost.transcendentals + cost.bytes_accessed <= most
    )


def _work_done_again(module: HloModule) -> float:
    """Count the operations that fused sums repeat for each result element that reads them.

    Fusions run as written.

    Fusions run as written.
    """
    work = 0.0
    for fusion in module.instructions():
        if fusion.opcode.name != "fusion" or not fusion.shape.is_array:
            continue
        for i in fusion.called[0].instructions.values():
            if (
                i.opcode.name in ("reduce", "reduce-window", "dot", "convolution")
                and i.shape.is_array
            ):
                work += (
                    instruction_cost(i).flops
                    * fusion.shape.element_count
                    / max(i.shape.element_count, 1)
                )
    return work


def _without_rules_over_the_reals(module: HloModule, given: Any) -> list[Any]:
    """Return the module's result leaves after passes without rules over the reals."""
    control = PassControl(skipped_rules=_OVER_THE_REALS)
    return reference(
        xe.compile(module, cache=False, journal="off", verify=False, control=control).module, given
    )


def _check_values(
    module: HloModule,
    session: Any,
    kind: str,
    seed: int,
    setting: Setting,
    names: set[str],
    step: Step,
) -> Outcome:
    given = arguments(module, kind, seed)
    hostile = kind == "hostile"
    step("evaluate")
    try:
        with _within(REFERENCE_SECONDS):
            expected = reference(module, given)
    except _TooLongError:
        return Outcome("no-reference")
    except (EvaluationError, UnsupportedOpcodeError):
        return Outcome("no-reference")
    except Exception as problem:
        return _found("exception-evaluate", problem)
    step(f"run-{kind}")
    try:
        leaves = [leaf if leaf is None else np.asarray(leaf) for leaf in flatten_value(given)]
        if setting.guard:
            results = run_guarded(session, leaves, at_end=setting.guard == "behind")
        else:
            results = session.run_flat(leaves)
        kept = [leaf.is_array for _, leaf in module.result_shape().leaves()]
        actual = (
            [np.asarray(leaf) for leaf, wanted in zip(results, kept, strict=True) if wanted]
            if len(results) == len(kept)
            else list(results)
        )
    except AssertionError as problem:
        return _found("argument-written", problem)
    except (EvaluationError, UnsupportedOpcodeError):
        return Outcome("no-reference")
    except XlaExplorerError as problem:
        return _found("run-failed", problem)
    except Exception as problem:
        return _found("exception-run", problem)
    if names & _NOTHING_TO_COMPARE:
        return Outcome("no-reference")
    step("compare")
    return _compare(module, session, given, expected, actual, hostile)


def _as_without_rules(expected: list[Any], optimised: list[Any], without: list[Any]) -> list[Any]:
    """Return the values after the passes, or those without the rules over real numbers.

    The second are returned where the passes only rounded differently. A number that became an
    infinity or NaN, or an infinity that became another value, is not a rounding and stays.
    """
    leaves = []
    for want, got, other in zip(expected, optimised, without, strict=True):
        rounded = rounds_only(want, got)
        leaves.append(np.where(rounded, other, got) if want.shape else (other if rounded else got))
    return leaves


def _compare(
    module: HloModule,
    session: Any,
    given: Any,
    expected: list[Any],
    actual: list[Any],
    hostile: bool,
) -> Outcome:
    if [(a.shape, a.dtype) for a in expected] != [(a.shape, a.dtype) for a in actual]:
        return Outcome(
            "shape-differs",
            detail=f"{[(a.dtype.name, a.shape) for a in expected]} became {[(a.dtype.name, a.shape) for a in actual]}",
        )
    if not any(differing(a, b).any() for a, b in zip(expected, actual, strict=True)):
        return Outcome("equal")
    # First the code beside the optimised module, to the bit except for open choices of operations;
    # then that module beside the original one.
    where, classes = "code", set[str]()
    try:
        with _within(10 * REFERENCE_SECONDS):
            optimised = reference(session.module, given)
            found = explain(
                session.module, given, optimised, actual, hostile=hostile, loose=False, seconds=3
            )
            if found is not None:
                classes.update(found)
                where, actual = "passes", optimised
                found = explain(
                    module, given, expected, optimised, hostile=hostile, loose=True, seconds=3
                )
                if found is None:
                    without = _as_without_rules(
                        expected, optimised, _without_rules_over_the_reals(module, given)
                    )
                    found = explain(
                        module, given, expected, without, hostile=hostile, loose=True, seconds=3
                    )
                    found = ["rewrites-over-the-reals", *found] if found is not None else None
            else:
                expected = optimised
    except (_TooLongError, ReferenceTooLongError, EvaluationError):
        return Outcome("no-reference")
    except Exception as problem:
        return _found("exception-evaluate", problem)
    if found is not None:
        return Outcome("explained", tuple(sorted({*classes, *found})))
    for number, (a, b) in enumerate(zip(expected, actual, strict=True)):
        wrong = differing(a, b)
        if wrong.any():
            at = tuple(map(int, np.argwhere(wrong)[0])) if wrong.ndim else ()
            opcodes = sorted(
                {i.opcode.name for i in module.instructions()}
                - {"parameter", "constant", "tuple", "get-tuple-element", "broadcast"}
            )
            detail = f"{a.dtype.name} {','.join(opcodes)[:80]} | {'hostile' if hostile else 'ordinary'}: leaf {number}{list(at)} of {list(a.shape)} is {b[at]!r}, expected {a[at]!r}; {int(wrong.sum())} of {wrong.size}"
            return Outcome(f"value-{where}", detail=detail)
    return Outcome("value", detail="explained in part only")


def check(seed: int, texts: tuple[str, ...], mode: str, step: Step) -> tuple[Outcome, str]:
    """Return the outcome of a seed's text, and the text; `mode` is `text` or `run`."""
    if mode == "text" and seed % 4 == 0:
        from tests.hlo.text.fuzz import mutate

        choice = random.Random(seed)
        text = mutate(choice.choice(texts), choice, list(texts[:50]))
    else:
        text = mutated(seed, texts)
    outcome, module = check_text(text, step)
    if mode == "run" and outcome.kind == "printed" and module is not None:
        outcome = check_run(module, Setting.of(seed, guards=True), seed, step)
    return outcome, text


def serve(mode: str, first: int, last: int, shared: bool) -> None:
    """Check texts of seeds first ... last - 1, reporting steps; stop if memory grew large."""
    import faulthandler
    import json

    faulthandler.enable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    texts = corpus(shared=shared).texts
    out = os.dup(1)
    for seed in range(first, last):
        os.write(out, f"S {seed}\n".encode())
        outcome, _ = check(
            seed, texts, mode, lambda name: os.write(out, f"P {name}\n".encode()) and None
        )
        os.write(
            out,
            (
                "R "
                + json.dumps([seed, *outcome, kind_of(outcome) if outcome.is_finding else ""])
                + "\n"
            ).encode(),
        )
        if seed % 64 == 0 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 > RESIDENT:
            return


def _show(text: str, seed: int) -> None:
    print(text)
    warnings.simplefilter("ignore")
    started = time.process_time()
    say = lambda name: print(f"-- {name} {time.process_time() - started:.2f} s", flush=True)  # noqa: E731
    outcome, module = check_text(text, say)
    if outcome.kind == "printed" and module is not None:
        for setting in (
            Setting.of(seed, guards=True),
            Setting("full", 1, _USUAL_SHARE, "", "default"),
            Setting("none", 1, _USUAL_SHARE, "", "none"),
        ):
            outcome = check_run(module, setting, seed, say)
            print(setting, outcome)
    else:
        print(outcome)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "serve":
        serve(rest[0], int(rest[1]), int(rest[2]), rest[3] == "shared")
    elif command == "show":
        _show(mutated(int(rest[0]), corpus(shared="--own" not in rest).texts), int(rest[0]))
    else:
        _show(Path(rest[0]).read_text(), int(rest[1]) if len(rest) > 1 else 0)
