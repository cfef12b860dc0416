"""Runs of a kernel alone, by a schedule and by default: values, times or counters, code."""

from __future__ import annotations

import difflib
import shutil
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.compiler.codegen.nest.estimate import estimate
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.explorer.code.kernel_alone import (
    compiled_alone,
    module_of_kernel,
    operands_of_kernel,
    same_bits,
)
from xla_explorer.explorer.code.llvm.llvm_views import inner_loops
from xla_explorer.explorer.display import Blocks, Code, Report, Sentence, Table, microseconds
from xla_explorer.explorer.measures.profiling import spread
from xla_explorer.explorer.sessions.arguments import largest_error
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.explorer.tables.code_rows import MachineLoop
from xla_explorer.explorer.tables.rows import columns_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.rounds import rounds
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.instruction import HloInstruction

COUNTERS = ("warp_instructions", "thread_instructions", "sectors", "requests", "divergent_branches")
MOST_DIFF_LINES = 200


class Checked(NamedTuple):
    """A check of values: the kernel, the schedule, the verdict, and the verdict in a sentence."""

    kernel: str
    schedule: Schedule
    equal: bool
    values: str


class KernelRun(Report):
    """A scheduled kernel beside the default one.

    Attributes
    ----------
    kernel, schedule : str
        Its name and the text of its directives.
    equal : bool
        True if the values are right: they agree with the evaluator's within its tolerance. Unless a
        directive reorders sums, they also equal the plain nest's bit by bit.
    values : str
        The same in a sentence, with the largest error.
    nest_diff, code_diff : str
        The nest against the plain one; the assembly, or a GPU's PTX, against the default kernel's.
    """

    language: str

    def __init__(self, checked: Checked, default: Sequence[str], scheduled: Sequence[str]) -> None:
        self.kernel, self.equal, self.values = checked.kernel, checked.equal, checked.values
        self.schedule, self.nest_diff = str(checked.schedule), checked.schedule.diff()
        self.code_diff = "\n".join(
            difflib.unified_diff(default, scheduled, "default", "scheduled", lineterm="", n=2)
        )

    def work(self) -> str:
        """Return the work of both kernels, and the ratio."""
        raise NotImplementedError

    def further(self) -> Blocks:
        """Yield further facts about the scheduled kernel."""
        raise NotImplementedError

    def headline(self) -> str:
        """Return the verdict on the values, and the work of both kernels."""
        return f"%{self.kernel}: {'equal' if self.equal else 'NOT EQUAL'}, {self.work()}"

    def blocks(self) -> Blocks:
        """Yield the values, the work of both, the findings and the diffs."""
        yield self.records()
        yield Sentence(f"values: {self.values}")
        yield from self.further()
        if self.nest_diff:
            yield Code("nest, beside the plain one", self.nest_diff, "diff")
        lines = self.code_diff.splitlines()
        if lines:
            rest = (
                [f"... {len(lines) - MOST_DIFF_LINES} more lines: .code_diff"]
                if len(lines) > MOST_DIFF_LINES
                else []
            )
            yield Code(
                f"{self.language}, beside the default one",
                "\n".join([*lines[:MOST_DIFF_LINES], *rest]),
                "diff",
            )


class TimedRun(KernelRun):
    """A scheduled kernel beside the default one, timed.

    Attributes
    ----------
    default_us, scheduled_us : float
        The minima over runs.
    ratio, iqr : float
        The median of scheduled / default over alternating rounds, and its spread.
    predicted_us : float
        The estimate of the scheduled nest.
    threads : int
        The largest number of threads of a kernel.
    loops : list of rows
        llvm-mca's figures of the innermost loops of both, if it is installed.
    """

    language = "assembly"

    def __init__(
        self,
        checked: Checked,
        default: Compilation,
        scheduled: Compilation,
        given: Sequence[Any],
        repeats: int,
    ) -> None:
        super().__init__(checked, _assembly(default), _assembly(scheduled))
        times, self.threads = times_of(default, scheduled, given, repeats)
        self.default_us, self.scheduled_us, self.ratio, self.iqr = times
        self.predicted_us = estimate(checked.schedule.nest, described_cpu()).nanoseconds / 1e3
        self.loops = [
            [who, *row[1:-1]]
            for who, one in (("default", default), ("scheduled", scheduled))
            for row in _loops(one)
        ]

    def work(self) -> str:
        """Return both times."""
        return (
            f"{microseconds(self.scheduled_us)} beside {microseconds(self.default_us)} by default, "
            f"ratio {self.ratio:.3f} (iqr {self.iqr:.3f})"
        )

    def further(self) -> Blocks:
        """Yield llvm-mca's figures."""
        if self.loops:
            columns = ["kernel", *columns_of(MachineLoop)[1:-1]]
            yield Table(columns, self.loops, title="llvm-mca, innermost loops")

    def records(self) -> Table:
        """Return a row for each of the two kernels."""
        rows = [
            ("default", self.default_us, 1.0, None),
            (self.schedule or "plain", self.scheduled_us, self.ratio, self.predicted_us),
        ]
        note = (
            f"{self.threads} threads, wall time"
            if self.threads > 1
            else "one thread, its own processor time"
        )
        return Table(["schedule", "median_us", "ratio", "predicted_us"], rows, note=note)


class CountedRun(KernelRun):
    """A scheduled kernel of a GPU beside the default one, counted on the emulator.

    Attributes
    ----------
    default, scheduled : dict of int
        Counters of the emulator; `conflicts` are the further passes of accesses to shared memory.
    findings : list of str
        The emulator's findings in the scheduled kernel. A race makes the values unequal.
    """

    language = "PTX"

    def __init__(
        self, checked: Checked, default: Compilation, scheduled: Compilation, given: Sequence[Any]
    ) -> None:
        super().__init__(
            checked, *[one.stage("ptx").text.splitlines() for one in (default, scheduled)]
        )
        leaves = default.signature.leaves(given)
        self.default, _ = _counters(default, leaves)
        self.scheduled, self.findings = _counters(scheduled, leaves)
        self.equal = self.equal and not self.findings

    @property
    def ratio(self) -> float:
        """Warp instructions, scheduled / default."""
        return self.scheduled["warp_instructions"] / max(self.default["warp_instructions"], 1)

    def work(self) -> str:
        """Return both numbers of warp instructions."""
        mine, theirs = self.scheduled["warp_instructions"], self.default["warp_instructions"]
        return f"{mine} warp instructions beside {theirs} by default, ratio {self.ratio:.3f}"

    def further(self) -> Blocks:
        """Yield the emulator's findings."""
        yield from map(Sentence, self.findings)

    def records(self) -> Table:
        """Return a row for each of the two kernels."""
        rows = [
            ("default", *self.default.values()),
            (self.schedule or "plain", *self.scheduled.values()),
        ]
        return Table(["schedule", *self.default], rows, note="counted on the emulator")


def _counters(session: Compilation, leaves: Sequence[Any]) -> tuple[dict[str, int], list[str]]:
    """Return (totals, findings) of one kernel."""
    executable: Any = session.executable
    found = executable.emulate(list(leaves))
    totals = {name: sum([int(row[name] or 0) for row in found.rows]) for name in COUNTERS}
    totals["conflicts"] = round(
        sum([(row["requests"] or 0) * ((row["bank_conflict"] or 1) - 1) for row in found.rows])
    )
    return totals, [str(finding) for finding in found.findings]


def run_beside_default(
    schedule: Schedule, session: Compilation, i: HloInstruction, arrays: Sequence[Any], repeats: int
) -> KernelRun:
    """See `KernelSchedule.run`."""
    if repeats < 1:
        raise XlaExplorerError(f"repeats is {repeats}", "time at least one round")
    module = module_of_kernel(i)
    given = tuple(arrays) or operands_of_kernel(i, module)
    default, plain, scheduled = [
        compiled_alone(session, module, text) for text in (None, "", str(schedule))
    ]
    checked = Checked(
        i.name, schedule, *checked_values(schedule, module, given, default, plain, scheduled)
    )
    if session.backend == "gpu":
        return CountedRun(checked, default, scheduled, given)
    return TimedRun(checked, default, scheduled, given, repeats)


@as_one_run
def checked_values(
    schedule: Schedule,
    module: Any,
    given: Sequence[Any],
    default: Compilation,
    plain: Compilation,
    scheduled: Compilation,
) -> tuple[bool, str]:
    """Return (True if the values are right, a sentence).

    They must agree with the evaluator's within its tolerance. Unless a directive reorders sums,
    they must equal the plain nest's bit by bit.
    """
    leaves = default.signature.leaves(given)
    wanted = [session.executable.execute(leaves) for session in (default, plain)]
    found = scheduled.executable.execute(leaves)
    error, close = largest_error(flatten_value(evaluate(module, *leaves)), found)
    sentence = (
        f"{'agree with' if close else 'DIFFER from'} the evaluator's (largest error {error:.2g})"
    )
    reorders = [str(step.directive) for step in schedule.steps if step.facts.get("reorders-sum")]
    exact = same_bits(wanted[1], found)
    sentence += f"; {'bit for bit' if exact else 'not bit for bit'} those of the plain nest"
    sentence += (
        f" ({', '.join(reorders)} {'reorder' if len(reorders) > 1 else 'reorders'} a sum)"
        if reorders
        else ""
    )
    sentence += (
        f"; {'bit for bit' if same_bits(wanted[0], found) else 'not bit for bit'} those of the "
        "default kernel"
    )
    return bool(close and (exact or reorders)), sentence


def times_of(
    default: Compilation, scheduled: Compilation, given: Sequence[Any], repeats: int
) -> tuple[PairedTiming, int]:
    """Return (times of both in alternation on the same arguments, number of threads)."""
    executables: list[Any] = [default.executable, scheduled.executable]
    if not hasattr(executables[0], "place"):  # its code runs in a child process
        return _timed_in_child(default, scheduled, given, repeats), threads_of(default)
    leaves = executables[0].place(default.signature.leaves(given))
    calls = [
        executable.calls_of(leaves) for executable in executables
    ]  # kept: the arrays must live
    threads = max([threads_of(session) for session in (default, scheduled)])
    return timed_alternately(calls[0][0], calls[1][0], repeats, own_time=threads == 1), threads


def threads_of(session: Compilation) -> int:
    """Return the number of threads of a program for a CPU.

    For a program in a child process it is the requested number.
    """
    program = getattr(session.executable, "program", None)
    return program.threads if isinstance(program, HostProgram) else session.options.threads or 1


def _timed_in_child(
    default: Compilation, scheduled: Compilation, given: Sequence[Any], repeats: int
) -> PairedTiming:
    """Time both kernels in alternation in the child process."""
    leaves = default.signature.leaves(given)
    pairs = [
        [
            min(session.executable.profile(leaves, _RUNS_IN_CHILD).total_us)
            for session in (default, scheduled)
        ]
        for _ in rounds(repeats)
    ]
    ratio, iqr = spread([second / max(first, 1e-6) for first, second in pairs])
    return PairedTiming(min([a for a, _ in pairs]), min([b for _, b in pairs]), ratio, iqr)


def _assembly(session: Compilation) -> list[str]:
    text = session.stage("assembly").text
    return [
        line
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith((".", "#"))
    ]


def _loops(session: Compilation) -> list[Any]:
    return inner_loops(session).values.tolist() if shutil.which("llvm-mca") else []


_RUNS_IN_CHILD = 20  # in a child process, each round
SAMPLE_NS = 200_000  # a sample repeats its call for about so long, at least once


class PairedTiming(NamedTuple):
    """Times of two programs that ran in alternation.

    first_us, second_us: minima. ratio: median of second / first of the rounds; iqr: its spread.
    """

    first_us: float
    second_us: float
    ratio: float
    iqr: float


def timed_alternately(
    first: Callable[[], object],
    second: Callable[[], object],
    repeats: int,
    *,
    own_time: bool = True,
) -> PairedTiming:
    """Time two calls.

    own_time: processor time of this thread, which no other process lengthens; else wall time, for
    calls that wake threads.
    """
    clock = time.thread_time_ns if own_time else time.perf_counter_ns

    def sample(call: Callable[[], object], times: int) -> float:
        started = clock()
        for _ in range(times):
            call()
        return (clock() - started) / 1e3 / times

    once = [
        min(sample(call, 1), sample(call, 1)) for call in (first, second)
    ]  # the first call also warms the caches
    counts = [max(1, int(SAMPLE_NS / 1e3 / max(microseconds, 0.01))) for microseconds in once]
    pairs = [(sample(first, counts[0]), sample(second, counts[1])) for _ in rounds(repeats)]
    ratio, iqr = spread([b / max(a, 1e-6) for a, b in pairs])
    return PairedTiming(min([a for a, _ in pairs]), min([b for _, b in pairs]), ratio, iqr)
