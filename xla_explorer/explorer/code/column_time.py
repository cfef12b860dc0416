"""Times of the kernels of one column in words: measured, counted by the emulator, or estimated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.compiler.costs.gpu_kernel_costs import finished_kernel_estimate
from xla_explorer.explorer.display import microseconds, number_of
from xla_explorer.explorer.measures.kernel_costs import KernelCost
from xla_explorer.explorer.measures.profiling import is_emulated, measured_kernels
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.hlo.analysis.cost import instruction_cost


def column_time(session: Compilation, steps: Sequence[ProgramStep], emulation: Any = None) -> str:
    """Return the time of some kernels of a compile in words; empty if it is unknown.

    emulation: of the same program, if there was one. Measured times name the machine. An emulated
    program has the emulator's counts and the estimate of the device's cost model, never the
    emulator's time.
    """
    if not steps:
        return ""
    known = measured_kernels(session)
    measured = [known[step.instruction] for step in steps if step.instruction in known]
    if len(measured) == len(steps):
        total, runs = sum([us for us, _ in measured]), min([n for _, n in measured])
        return f"{microseconds(total)} measured on {_machine(session)} (n {runs})"
    texts = []
    if is_emulated(session) and (counted := _counted(emulation, steps)):
        texts.append(f"{number_of(counted, 'warp instruction')} on the emulator")
    if (guess := estimated_microseconds(session, steps)) is not None:
        where = f"for {_machine(session)}" if session.backend == "gpu" else "on one core"
        texts.append(f"~{microseconds(guess)} an execution, estimated {where}")
    return ", ".join(texts)


def _machine(session: Compilation) -> str:
    executable: Any = session.result.executable if session.result is not None else None
    facts = getattr(getattr(executable, "executor", None), "facts", None)
    if facts is None or facts.emulated:
        architecture = getattr(getattr(executable, "ptx", None), "architecture", "")
        return (
            f"{architecture or session.backend}"
            if session.backend == "gpu"
            else f"this machine ({session.backend})"
        )
    return str(facts.name)


def _counted(emulation: Any, steps: Sequence[ProgramStep]) -> int:
    if emulation is None:
        return 0
    names = {step.function for step in steps}
    frame = emulation.counters
    return int(frame[frame["kernel"].isin(names)]["warp_instructions"].sum())


def estimated_microseconds(session: Compilation, steps: Sequence[ProgramStep]) -> float | None:
    """Return the time by the backend's cost model; None if it has none."""
    found = [session.module.find(step.instruction) for step in steps if step.opcode != "entry"]
    if not found:
        return None
    if session.backend == "gpu":
        return (
            sum(
                [
                    finished_kernel_estimate(session.passes.record.target, i).nanoseconds
                    for i in found
                ]
            )
            / 1e3
        )
    if session.backend not in ("cpu", "xla"):
        return None
    return sum([KernelCost(i, 1.0, instruction_cost(i)).nanoseconds for i in found]) / 1e3
