"""Times per kernel and of the whole program: n, median, spread, work and share of the roofline."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.compiler.decisions.recorded import decision_of
from xla_explorer.explorer.display import Blocks, Report, Sentence, cell_text, microseconds
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM
from xla_explorer.explorer.questions.decisions import decision_events
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, source_line
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.cost import Cost, instruction_cost, module_cost
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    # Start-up time: only rooflines need them.
    from xla_explorer.backends.cpu.machine_limits import MachineLimits
    from xla_explorer.explorer.measures.profile_frame import ProfileFrame

SHORTEST_US = 0.2  # of shorter kernels the counter's steps are too coarse for a share of the roof


class Timing(Report):
    """Whole calls of a session from Python.

    samples_us: microseconds, one a call, after one warm-up call. n, median_us, iqr_us. load: the
    machine's load average over one minute (None where unknown): above the number of cores the times
    are inflated.
    """

    def __init__(
        self, name: str, backend: str, samples_us: Sequence[float], load: float | None
    ) -> None:
        self.name, self.backend, self.samples_us, self.load = name, backend, tuple(samples_us), load
        self.n = len(self.samples_us)
        self.median_us, self.iqr_us = spread(self.samples_us)

    def blocks(self) -> Blocks:
        """Yield one sentence."""
        load = f", load average {self.load:.1f}" if self.load is not None else ""
        noisy = " NOISY:" if self.iqr_us > 0.3 * self.median_us else ""
        yield Sentence(
            f"{self.name} on {self.backend}:{noisy} {microseconds(self.median_us)} median, {microseconds(self.iqr_us)} iqr "
            f"(n {self.n}, 1 warm-up, calls return when done{load})"
        )


@as_one_run
def timing(session: Compilation, arrays: Sequence[Any], repeats: int | None) -> Timing:
    """Time whole calls.

    repeats: None takes as many as fit into about a quarter of a second, from 5 to 200.
    """
    if repeats is None:
        once = time_calls(session, arrays, 1)[0]
        repeats = int(min(200, max(5, 250_000 / max(once, 1.0))))
    elif repeats < 1:
        raise XlaExplorerError(f"repeats is {repeats}", "time at least one call")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Timing(session.source.name, session.backend, time_calls(session, arrays, repeats), load)


def spread(samples: Sequence[float]) -> tuple[float, float]:
    """Return (median, interquartile range)."""
    low, middle, high = np.percentile(np.asarray(samples, dtype=float), [25, 50, 75]).tolist()
    return middle, high - low


def is_emulated(session: Compilation) -> bool:
    """Return True if the program runs on the PTX emulator, whose time is not that of a device."""
    executor = getattr(
        session.result.executable if session.result is not None else None, "executor", None
    )
    return bool(getattr(getattr(executor, "facts", None), "emulated", False))


@as_one_run
def profile(session: Compilation, arrays: Sequence[Any], repeats: int) -> ProfileFrame:
    """Run a program; return a row per kernel and one for the whole: `PROFILE_COLUMNS`.

    - n: runs.
    - median_us, iqr_us: microseconds per run; of a kernel inside a loop all its calls together.
    - cycles: the same median in steps of the processor's counter, if it timed the kernel.
    - bytes, flops: per run, estimates of XLA's cost model.
    - intensity: flops over bytes.
    - gb_per_s: bytes over the median.
    - roof_share: the machine's lower bound on the kernel's cores, over the median. Kernels with
      streaming stores use the bandwidth of those. Data in a cache may give a share above 1.

    The whole program is timed without instrumentation, the kernels with it. `frame.kernels` has the
    rows of kernels alone, for sums and groups; `frame.whole` that of the whole program.
    `frame.attrs["note"]` names the arguments and the cost of the instrumentation.
    """
    note = "the arguments given"
    if not arrays and session.signature.shapes:
        arrays, note = (
            random_arguments(session.source),
            "random arguments (xe.random_arguments, seed 0)",
        )
    if repeats < 1:
        raise XlaExplorerError(f"repeats is {repeats}", "profile at least one run")
    leaves = session.signature.leaves(arrays)
    session.executable.execute(leaves)
    result = session.executable.profile(leaves, repeats)
    costs = _costs(session)
    machine = _Machine(limits_here() if session.backend == "cpu" else None, result.cycles_per_us)
    threads = kernel_threads(session)
    streaming = streaming_kernels(session)
    whole = module_cost(session.module)
    widest = _widest([i.shape for i in session.module.entry.instructions.values()])
    everything = _Work(whole, widest, max(threads.values(), default=1), bool(streaming))
    place = "evaluator" if session.backend == "interpreter" else session.backend
    label = Kernel(WHOLE_PROGRAM, runs_on=place)
    rows = [_row(label, result.total_us, everything, machine)]
    for timing in result.kernels:
        step = timing.step
        cost, dtype = (
            (whole, widest)
            if step.opcode == "entry"
            else costs.get(step.instruction, (Cost(), "f32"))
        )
        calls = max(timing.calls, 1)
        work = _Work(
            cost.times(calls), dtype, threads.get(step.name, 1), step.function in streaming
        )
        samples = [sample * calls for sample in timing.samples_us]
        label = Kernel(
            f"%{step.name}",
            step.opcode,
            runs_on=step.runs_on,
            line=source_line(session, step.instruction),
            instruction=step.instruction,
        )
        rows.append(_row(label, samples, work, machine))
    if is_emulated(session):
        note += "; the times are those of the PTX emulator, not of a device"
        rows = [row._replace(runs_on="PTX emulator") for row in rows]
    # Start-up time: pandas takes longer to import than the whole package.
    from xla_explorer.explorer.measures.profile_frame import ProfileFrame

    frame = ProfileFrame.of(session, rows)
    frame.attrs["note"] = (
        f"{note}; instrumentation costs about {cell_text(result.instrumentation_cost_us)} us per call; bytes and flops are estimates"
    )
    session.last_profile = frame
    return frame


def measured_kernels(session: Compilation) -> dict[int, tuple[float, int]]:
    """Return (median microseconds, runs) of each kernel by the last profile, by instruction id.

    It is empty without a profile, and for the emulator's.
    """
    frame = None if is_emulated(session) else session.last_profile
    rows = (
        ()
        if frame is None
        else zip(
            frame["instruction"].tolist(),
            frame["median_us"].tolist(),
            frame["n"].tolist(),
            strict=True,
        )
    )
    return {
        int(key): (float(us), int(n))
        for key, us, n in rows
        if key is not None and key == key and us is not None and us == us
    }


def time_calls(session: Compilation, arrays: Sequence[Any], repeats: int) -> list[float]:
    """Return the microseconds of whole calls from Python, after one warm-up."""
    leaves = session.signature.leaves(arrays)
    execute, samples = session.executable.execute, []
    execute(leaves)
    for _ in range(repeats):
        started = time.perf_counter_ns()
        execute(leaves)
        samples.append((time.perf_counter_ns() - started) / 1e3)
    return samples


def _costs(session: Compilation) -> dict[int, tuple[Cost, str]]:
    """Return the cost of one execution and its element type, by instruction id.

    Steps inside loops are included.
    """
    steps = [
        i
        for computation in sequential_computations(session.module)
        for i in computation.instructions.values()
    ]
    return {
        i.id: (instruction_cost(i), _widest([i.shape, *[o.shape for o in i.operands]]))
        for i in steps
    }


def _widest(shapes: Iterable[Shape]) -> str:
    """Return `f64` if an array has double precision, which has a peak of its own; else `f32`."""
    return (
        "f64"
        if any(
            leaf.is_array and leaf.element_type.name in ("f64", "c128")
            for s in shapes
            for _, leaf in s.leaves()
        )
        else "f32"
    )


def limits_here() -> MachineLimits | None:
    """Return the limits of this machine's cores and memory; None if they cannot be measured."""
    from xla_explorer.backends.cpu.machine_limits import machine_limits

    try:
        return machine_limits()
    except (OSError, RuntimeError):
        return None


def streaming_kernels(session: Compilation) -> frozenset[str]:
    """Return the functions of kernels with streaming stores, if the backend has such."""
    # A program in a child process, or one that is not compiled, has none.
    program = getattr(session.executable, "program", None)
    return program.streaming if isinstance(program, HostProgram) else frozenset()


def kernel_threads(session: Compilation) -> dict[str, int]:
    """Return the number of threads of each kernel that uses more than one.

    Such kernels are partitioned into tasks, or run in cache blocks.
    """
    found: dict[str, int] = {}
    if session.backend == "cpu":
        for kind in ("parallel", "cache-blocking"):
            for event in decision_events(session.passes.record, kind):
                decision = decision_of(event, session.passes.lineage.step_of(event))
                if decision.verdict == "accepted" and decision.facts.get("threads", 1) > 1:
                    found[decision.names[0].lstrip("%")] = int(decision.facts["threads"])
    return found


class _Work(NamedTuple):
    """A kernel's work in one run, its widest type, its threads and its kind of stores."""

    cost: Cost
    dtype: str
    threads: int
    streaming: bool


class _Machine(NamedTuple):
    """The limits of the machine, if they are known, and the rate of its counter."""

    limits: MachineLimits | None
    cycles_per_us: float | None


def _row(label: Kernel, samples_us: Sequence[float], work: _Work, machine: _Machine) -> Kernel:
    """Return a row with times and rates. label: its name and place."""
    median, iqr = spread(samples_us) if samples_us else (float("nan"), float("nan"))
    moved, flops = int(work.cost.bytes_accessed), int(work.cost.flops + work.cost.transcendentals)
    share = None
    if machine.limits is not None and median >= SHORTEST_US and (moved or flops):
        share = machine.limits.roofline_share(
            median / 1e6, flops, moved, work.dtype, work.threads, streaming=work.streaming
        )
    per_us = machine.cycles_per_us
    row = label._replace(
        bytes=moved,
        flops=flops,
        cycles=median * per_us if per_us is not None else None,
        roof_share=share,
    )
    return row.measured(median, iqr, len(samples_us))
