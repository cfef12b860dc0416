"""Errors for a failed child process of an isolated session: they name the kernel and its HLO.

`failure` writes the message from the progress that the child recorded in shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.explorer.sessions.isolation.blackboard import Progress
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule


class IsolatedError(XlaExplorerError, RuntimeError):
    """The child process of an isolated session crashed or was killed.

    The session and the calling process can continue.

    Attributes
    ----------
    kernel : str
        Name of the step that was running; empty if no step ran or the backend does not record it.
    hlo : str
        The step's instruction as text.
    phase : str
        One of loading, parsing, in the passes, compiling, running, measuring or evaluating.
    hlo_pass : str
        The running pass, if the phase is `in the passes`.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> endless = '''c { i = s32[] parameter(0)  ROOT p = pred[] constant(true) }
    ... b { ROOT i = s32[] parameter(0) }
    ... ENTRY main { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=c, body=b }'''
    >>> with xe.options.set(timeout=1):
    ...     try:
    ...         xe.compile(endless, isolate=True)(1)
    ...     except xe.errors.IsolatedError as problem:
    ...         print(problem.phase)
    running
    """

    kernel = ""
    hlo = ""
    phase = ""
    hlo_pass = ""


class IsolatedCrashError(IsolatedError):
    """The process died: an invalid address, an illegal instruction, an abort."""


class IsolatedTimeoutError(IsolatedError, TimeoutError):
    """The work took longer than the timeout."""


class IsolatedMemoryError(IsolatedError, MemoryError):
    """The work needed more memory than the limit."""


def failure(
    kind: type[IsolatedError],
    what: str,
    hint: str,
    name: str,
    module: HloModule | None,
    steps: Sequence[ProgramStep],
    progress: Progress,
) -> IsolatedError:
    """Return the error of a failed child.

    what: the predicate of the first sentence, such as `was killed after 20 s`; its subject is the
    code that was running. name: the program. module: the optimized module, None before it exists.
    """
    doing = (
        f" in the pass {progress.hlo_pass}"
        if progress.hlo_pass
        else f" {progress.phase}"
        if progress.phase.startswith("in ")
        else ""
    )
    place, kernel, text = (
        name + (doing or f" while {progress.phase}" if progress.phase != "idle" else ""),
        "",
        "",
    )
    if module is not None and progress.running and progress.running[-1] < len(steps):
        step = steps[progress.running[-1]]
        kernel, text = step.name, _instruction_text(module, step.instruction)
        place = f"kernel %{step.name} ({step.opcode}, {step.runs_on}) of {name}"
    lines = [f"{place} {what}"]
    if text:
        lines.append(f"    {text}")
    lines += _loop_note(steps, progress)
    made = kind("\n".join(lines), hint)
    made.kernel, made.hlo, made.phase, made.hlo_pass = (
        kernel,
        text,
        progress.phase,
        progress.hlo_pass,
    )
    return made


def _loop_note(steps: Sequence[ProgramStep], progress: Progress) -> list[str]:
    """Return a line with the steps that ran most often; empty if none ran twice."""
    calls = progress.calls[: len(steps)]
    most = max(calls, default=0)
    if most < 2:
        return []
    inside = [f"%{steps[k].name}" for k, n in enumerate(calls) if n >= most - 1]
    more = f" and {len(inside) - 4} more" if len(inside) > 4 else ""
    return [f"    these steps ran {most:,} times in a loop: {', '.join(inside[:4])}{more}"]


def _instruction_text(module: HloModule, instruction: int) -> str:
    try:
        return str(module.find(instruction)).strip()[:400]
    except (KeyError, LookupError):
        return ""
