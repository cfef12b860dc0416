"""Times: a row a kernel and one for the whole program, with n, median, spread, work and the share of the machine's roof."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.backends.interfaces import KernelTiming
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.compiler.decisions.recorded import decision_of
from xla_explorer.explorer.display import Blocks, Report, Sentence, cell_text, microseconds
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM
from xla_explorer.explorer.questions.decisions import decision_events
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, source_line
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.cost import Cost, instruction_cost, module_cost
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    # Start-up time: only what shows a roof needs them.
    from xla_explorer.backends.cpu.machine_limits import MachineLimits
    from xla_explorer.explorer.measures.profile_frame import ProfileFrame

SHORTEST_US = (
    0.2  # below this the counter's steps are too coarse to say how near the roof a kernel is
)
COLUMNS = [
    "kernel",
    "opcode",
    "runs_on",
    "n",
    "median_us",
    "iqr_us",
    "cycles",
    "bytes",
    "flops",
    "intensity",
    "gb_per_s",
    "roofline_share",
    "line",
    "instruction",
]


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
        """One sentence."""
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
    """(median, interquartile range)."""
    low, middle, high = np.percentile(np.asarray(samples, dtype=float), [25, 50, 75]).tolist()
    return middle, high - low


def is_emulated(session: Compilation) -> bool:
    """Whether the program runs on the PTX emulator, whose own time says nothing about a device."""
    executor = getattr(
        session.result.executable if session.result is not None else None, "executor", None
    )
    return bool(getattr(getattr(executor, "facts", None), "emulated", False))


@as_one_run
def profile(session: Compilation, arrays: Sequence[Any], repeats: int) -> ProfileFrame:
    """A row a kernel and one for the whole program; columns `COLUMNS`.

    n: runs. median_us, iqr_us: microseconds per run (a kernel inside a loop: all its calls of a run
    together); cycles: the same median as steps of the processor's counter, where kernels are timed
    by it. bytes, flops: per run by the cost model of XLA (estimates); intensity: flops over bytes.
    GB/s: bytes over median. roofline_share: least time that this machine allows, with as many cores
    as the kernel uses, over the median, where the backend knows the machine (by its figure for
    streaming stores where the kernel has them); data that stays in a cache may exceed 1. The whole
    program is timed without instrumentation, the kernels with it. `frame.kernels` has the rows of kernels
    alone, for sums and groups; `frame.whole` that of the whole program. `frame.attrs["note"]` says
    what inputs were used and what instrumentation costs.
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
    limits = limits_here() if session.backend == "cpu" else None
    per_us = result.cycles_per_us
    threads = kernel_threads(session)
    streaming = streaming_kernels(session)
    median, iqr = spread(result.total_us)
    whole = module_cost(session.module)
    most = max(threads.values(), default=1)
    widest = _widest([i.shape for i in session.module.entry.instructions.values()])
    rows = [
        _row(
            WHOLE_PROGRAM,
            "",
            session.backend,
            len(result.total_us),
            median,
            iqr,
            per_us,
            whole,
            widest,
            limits,
            most,
            "",
            None,
            streaming=bool(streaming),
        )
    ]
    for timing in result.kernels:
        cost, dtype = (
            (whole, widest)
            if timing.step.opcode == "entry"
            else costs.get(timing.step.instruction, (Cost(), "f32"))
        )
        rows.append(
            _kernel_row(
                session,
                timing,
                per_us,
                cost,
                dtype,
                limits,
                threads.get(timing.step.name, 1),
                streaming,
            )
        )
    if is_emulated(session):
        note += "; the times are those of the PTX emulator, not of a device"
        rows = [{**row, "runs_on": "PTX emulator"} for row in rows]
    # Start-up time: pandas takes longer to import than the whole package.
    from xla_explorer.explorer.measures.profile_frame import ProfileFrame

    frame = ProfileFrame.of(session, rows, COLUMNS)
    frame.attrs["note"] = (
        f"{note}; instrumentation costs about {cell_text(result.instrumentation_cost_us)} us per call; bytes and flops are estimates"
    )
    session.last_profile = frame
    return frame


def measured_kernels(session: Compilation) -> dict[int, tuple[float, int]]:
    """(median microseconds, runs) of each kernel by the last profile, by the instruction's id; empty without one, and of an emulator's."""
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
    """Microseconds of whole calls from Python, one per run, after one warm-up."""
    leaves = session.signature.leaves(arrays)
    execute, samples = session.executable.execute, []
    execute(leaves)
    for _ in range(repeats):
        started = time.perf_counter_ns()
        execute(leaves)
        samples.append((time.perf_counter_ns() - started) / 1e3)
    return samples


def _costs(session: Compilation) -> dict[int, tuple[Cost, str]]:
    """Cost of one execution and the type that it is computed in, by instruction id; the steps inside loops too."""
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
    """`f64` where anything is computed in double precision, whose peak is another one; else `f32`."""
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
    """What this machine's cores and memory can do at most; None where that cannot be measured."""
    from xla_explorer.backends.cpu.machine_limits import machine_limits

    try:
        return machine_limits()
    except (OSError, RuntimeError):
        return None


def streaming_kernels(session: Compilation) -> frozenset[str]:
    """Functions of the kernels that write their results past the cache, where the backend has such."""
    program = getattr(
        session.executable, "program", None
    )  # not of one in a child process, nor of one that is not compiled
    return program.streaming if isinstance(program, HostProgram) else frozenset()


def kernel_threads(session: Compilation) -> dict[str, int]:
    """How many threads the kernels use, by name, where it is more than one: those that are partitioned into tasks or run in blocks of rows."""
    found: dict[str, int] = {}
    if session.backend == "cpu":
        for kind in ("parallel", "cache-blocking"):
            for event in decision_events(session.passes.record, kind):
                decision = decision_of(event, session.passes.lineage.step_of(event))
                if decision.verdict == "accepted" and decision.facts.get("threads", 1) > 1:
                    found[decision.names[0].lstrip("%")] = int(decision.facts["threads"])
    return found


def _kernel_row(
    session: Compilation,
    timing: KernelTiming,
    per_us: float | None,
    cost: Cost,
    dtype: str,
    limits: Any,
    threads: int,
    streaming: frozenset[str],
) -> dict[str, Any]:
    step, calls = timing.step, max(timing.calls, 1)
    median, iqr = (
        spread([sample * calls for sample in timing.samples_us])
        if timing.samples_us
        else (float("nan"), float("nan"))
    )
    runs_on = "evaluator (not compiled)" if step.runs_on == "evaluator" else step.runs_on
    return _row(
        f"%{step.name}",
        step.opcode,
        runs_on,
        len(timing.samples_us),
        median,
        iqr,
        per_us,
        cost.times(calls),
        dtype,
        limits,
        threads,
        source_line(session, step.instruction),
        step.instruction,
        streaming=step.function in streaming,
    )


def _row(
    kernel: str,
    opcode: str,
    runs_on: str,
    n: int,
    median: float,
    iqr: float,
    per_us: float | None,
    cost: Cost,
    dtype: str,
    limits: Any,
    threads: int,
    line: str,
    instruction: int | None,
    *,
    streaming: bool,
) -> dict[str, Any]:
    moved, flops = int(cost.bytes_accessed), int(cost.flops + cost.transcendentals)
    share = None
    if limits is not None and median >= SHORTEST_US and (moved or flops):
        share = limits.roofline_share(
            median / 1e6, flops, moved, dtype, threads, streaming=streaming
        )
    return {
        "kernel": kernel,
        "opcode": opcode,
        "runs_on": runs_on,
        "n": n,
        "median_us": median,
        "iqr_us": iqr,
        "cycles": median * per_us if per_us is not None else None,
        "bytes": moved,
        "flops": flops,
        "intensity": flops / moved if moved else None,
        "gb_per_s": moved / median / 1e3 if median > 0 else None,
        "roofline_share": share,
        "line": line,
        "instruction": instruction,
    }
