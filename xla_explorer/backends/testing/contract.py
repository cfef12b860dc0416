"""`xe.backends.contract(name)`: every promise of a backend, checked one by one.

Each failure has a remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xla_explorer.backends.interfaces import (
    CompileOptions,
    Compiler,
    Platform,
    StreamExecutor,
    TransferManager,
)
from xla_explorer.backends.registry import platform
from xla_explorer.backends.testing import device_checks as device
from xla_explorer.backends.testing.outcome import judge, reason_of, reference
from xla_explorer.backends.testing.programs import PROGRAMS
from xla_explorer.backends.testing.subject import SMALL, CheckSkippedError, Subject
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.text import parse_hlo

if TYPE_CHECKING:
    import pandas

_HONESTY_TYPES = ("f32", "s32", "pred")  # supports() is checked for every opcode with these
_PLACES = ("kernel", "library", "copy", "evaluator", "exchange")


class ContractCheck(NamedTuple):
    """The outcome of a check.

    status: `ok`, `failed`, `skipped`. message: the fault with a remedy, or the reason of a skip.
    """

    name: str
    status: str
    message: str


class ContractError(XlaExplorerError, AssertionError):
    """A backend breaks its contract; the message lists every broken promise."""


class Contract:
    """The result of a contract run: one ContractCheck for each requirement."""

    def __init__(self, backend: str, checks: list[ContractCheck]) -> None:
        self.backend, self.checks = backend, checks

    @property
    def failures(self) -> list[ContractCheck]:
        """The failed checks."""
        return [check for check in self.checks if check.status == "failed"]

    @property
    def kept(self) -> bool:
        """Nothing is broken."""
        return not self.failures

    def require(self) -> None:
        """Raise ContractError if something is broken, with one line a check."""
        if self.failures:
            lines = [f"- {check.name}: {check.message}" for check in self.failures]
            raise ContractError(
                f"{self.backend} breaks {len(lines)} of {len(self.checks)} promises:\n"
                + "\n".join(lines)
            )

    def to_frame(self) -> pandas.DataFrame:
        """Return a row per check: name, status, message."""
        import pandas

        return pandas.DataFrame(self.checks, columns=list(ContractCheck._fields))

    def __repr__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = [
            f"{check.status:8}{check.name:{width + 2}}{check.message}".rstrip()
            for check in self.checks
        ]
        return "\n".join(
            [
                (
                    f"<Contract of {self.backend}: "
                    f"{'kept' if self.kept else f'{len(self.failures)} promises broken'}>"
                ),
                *lines,
            ]
        )


def _missing(part: object, protocol: type) -> list[str]:
    names = getattr(protocol, "__protocol_attrs__", None) or {
        n for n in vars(protocol) if not n.startswith("_")
    }
    return sorted([name for name in names if not hasattr(part, name)])


def parts_have_their_interfaces(s: Subject) -> str | None:
    """Check that platform, compiler, executor and transfers have every name of their protocols."""
    parts: list[tuple[object, type]] = [(s.backend, Platform), (s.backend.compiler(), Compiler)]
    if s.backend.availability() is None:
        parts += [
            (s.backend.stream_executor(), StreamExecutor),
            (s.backend.transfer_manager(), TransferManager),
        ]
    lacking = [
        f"{type(part).__name__} ({protocol.__name__}): {', '.join(_missing(part, protocol))}"
        for part, protocol in parts
        if _missing(part, protocol)
    ]
    return (
        f"missing: {'; '.join(lacking)}. Add these names; see xla_explorer/backends/interfaces"
        if lacking
        else None
    )


def platform_describes_itself(s: Subject) -> str | None:
    """Check that the description is one sentence."""
    if s.backend.description.strip().endswith("."):
        return None
    return (
        "Platform.description is one sentence with a full stop: what the device is and where it "
        "runs"
    )


def source_is_not_changed(s: Subject) -> str | None:
    """Check that compilation does not touch the given module."""
    before = s.module.to_text()
    s.compile()
    if s.module.to_text() == before:
        return None
    s.module = parse_hlo(SMALL)
    return (
        "run_hlo_passes changed the module it was given: work on a copy (`optimize(module, ...)` "
        "makes one)"
    )


def stages_come_in_order(s: Subject) -> str | None:
    """Check the order `hlo`, `hlo-optimized`, the backend's own, and the ids of the lines."""
    names = list(s.result.stages)
    if names[:2] != ["hlo", "hlo-optimized"]:
        return (
            f"stages are {names}: the first two must be `hlo` and `hlo-optimized` (use hlo_stage)"
        )
    known = {i.id for i in s.result.trace.module.instructions()}
    for stage in s.result.stages.values():
        if not stage.is_text:
            continue
        if not stage.text.strip():
            return f"stage {stage.name} is empty: leave it out, or give it its text"
        unknown = {origin for origin in stage.origins if origin is not None} - known
        if unknown and stage.name != "hlo":
            return (
                f"stage {stage.name}: lines claim the instruction ids {sorted(unknown)[:5]}, "
                "which the optimised module does not have"
            )
        if len(stage.origins) > len(stage.text.splitlines()) + 2:
            return (
                f"stage {stage.name} has {len(stage.origins)} origins for "
                f"{len(stage.text.splitlines())} lines: one origin a line"
            )
    return None


def no_executable_has_a_reason(s: Subject) -> str | None:
    """Check that a result without an executable has a why_not."""
    if s.result.executable is None and s.result.why_not is None:
        return (
            "CompileResult.executable is None without a why_not: give the Reason that keeps it "
            "from running"
        )
    return None


def values_are_the_evaluators(s: Subject) -> str | None:
    """Check that dtypes, shapes and values are those of the evaluator."""
    got, want = s.executable.execute([np.array(a) for a in s.inputs]), s.expected(s.inputs)
    if len(got) != len(want):
        return (
            f"execute gave {len(got)} results, the module has {len(want)} leaves: return them "
            "all, depth first"
        )
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return (
                f"result {number} is {a.dtype}{list(a.shape)}, the module says "
                f"{b.dtype}{list(b.shape)}: copy back in the shape's type"
            )
        if not np.allclose(a, b, rtol=1e-5):
            return (
                f"result {number} is wrong by up to {float(np.max(np.abs(a - b))):.3g}: compare "
                "session.bisect() and the stages"
            )
    return None


def inputs_are_not_written(s: Subject) -> str | None:
    """Check that execute() does not write to its arguments."""
    given = [np.array(a) for a in s.inputs]
    s.executable.execute(given)
    if all(np.array_equal(a, b) for a, b in zip(given, s.inputs, strict=True)):
        return None
    return (
        "execute wrote to its arguments: copy them to the device, or give results buffers of "
        "their own"
    )


def results_own_their_memory(s: Subject) -> str | None:
    """Check that a later run leaves earlier results unchanged."""
    first = s.executable.execute([np.array(a) for a in s.inputs])
    kept = [np.array(a) for a in first]
    s.executable.execute([np.zeros_like(a) for a in s.inputs])
    if all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True)):
        return None
    return (
        "a second execute changed the results of the first: results must not be views of memory "
        "that is used again; copy them out"
    )


def steps_have_a_known_place(s: Subject) -> str | None:
    """Check that runs_on is a known place, and steps without native code have a Reason."""
    for step in s.executable.steps:
        if step.runs_on not in _PLACES:
            return f"step %{step.name} runs on {step.runs_on!r}: one of {', '.join(_PLACES)}"
        if step.runs_on == "evaluator" and step.reason is None and s.backend.name != "interpreter":
            return (
                f"step %{step.name} ({step.opcode}) runs on the evaluator without a reason: put "
                "the Reason of supports() into the step"
            )
    return None


def supports_tells_the_truth(s: Subject) -> str | None:
    """Check supports() by running programs.

    An instruction without a refusal must run natively and give the right result; a refused one must
    not run natively.
    """
    _ = s.result  # skipped where nothing compiles
    compiler, options = s.backend.compiler(), CompileOptions(cache=False)
    # Without a device, only compilation and refusals can be checked, and one type is enough.
    types = _HONESTY_TYPES if s.backend.availability() is None else _HONESTY_TYPES[:1]
    for program in PROGRAMS[:: s.sample]:
        for element_type in [t for t in types if t in program.types]:
            what = f"{program.opcode} on {element_type}"
            module = parse_hlo(program.text(element_type, (2, 3)))
            trace = compiler.run_hlo_passes(module, options)
            refused = [
                i
                for c in trace.module.computations.values()
                if c not in trace.module.fusion_computations()
                for i in c.instructions.values()
                if compiler.supports(i) is not None
            ]
            try:
                result = compiler.run_backend(trace, options)
            except Exception as problem:
                if reason_of(problem) is None:
                    return (
                        f"{what}: run_backend raised {type(problem).__name__}: {problem}. Refuse "
                        "with a Reason in CompileResult.why_not"
                    )
                continue
            if result.executable is None:
                if not refused and s.backend.availability() is None and result.why_not is not None:
                    return (
                        f"{what}: supports() claims every instruction, but the compile is refused "
                        f"({result.why_not}): let supports() say so"
                    )
                continue
            for step in result.executable.steps:
                says_no = compiler.supports(trace.module.find(step.instruction)) is not None
                if says_no != (step.runs_on == "evaluator") and s.backend.name != "interpreter":
                    there = "on the evaluator" if step.runs_on == "evaluator" else "natively"
                    return (
                        f"{what}: supports() says {'no' if says_no else 'yes'} to %{step.name}, "
                        f"which runs {there}: make them agree"
                    )
            outcome, _ = judge(result, *reference(module, program.values, 0))
            if outcome.status in ("wrong", "crashed"):
                return (
                    f"{what}: supports() claims it, but it is {outcome.status} "
                    f"({outcome.message}): "
                    f"return a Reason for {program.opcode} until there is code for it"
                )
    return None


CHECKS: tuple[Callable[[Subject], str | None], ...] = (
    parts_have_their_interfaces,
    platform_describes_itself,
    source_is_not_changed,
    stages_come_in_order,
    no_executable_has_a_reason,
    values_are_the_evaluators,
    inputs_are_not_written,
    results_own_their_memory,
    steps_have_a_known_place,
    supports_tells_the_truth,
    device.copies_keep_to_their_size,
    device.copies_that_do_not_fit_are_refused,
    device.literals_travel,
    device.synchronize_waits,
    device.results_are_read_after_synchronize,
    device.runs_deallocate_what_they_allocate,
    device.events_go_forward,
    device.tuples_are_tables_of_addresses,
    device.feeds_keep_their_order,
)


def contract(backend: str | Platform, *, sample: int = 1) -> Contract:
    """Check a backend, by its registered name or as a Platform.

    `.require()` raises for a broken promise; this function never raises itself.

    sample: supports() is checked with every `sample`-th program only; running all takes long.
    """
    found = platform(backend) if isinstance(backend, str) else backend
    subject = Subject(found, sample)
    checks = []
    for check in CHECKS:
        name = check.__name__.replace("_", "-")
        try:
            problem = check(subject)
            checks.append(ContractCheck(name, "failed" if problem else "ok", problem or ""))
        except CheckSkippedError as why:
            checks.append(ContractCheck(name, "skipped", str(why)))
        except Exception as raised:
            checks.append(
                ContractCheck(
                    name,
                    "failed",
                    f"raised {type(raised).__name__}: {raised}. {(check.__doc__ or '').strip()}",
                )
            )
    return Contract(found.name, checks)
