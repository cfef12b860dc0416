"""What a schedule comes to: its kernel alone beside the default one, values, times, code."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Sequence
from typing import Any

from xla_explorer.compiler.codegen.nest.estimate import estimate
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.explorer.code.counted_run import CountedRun, counted_beside_default
from xla_explorer.explorer.code.kernel_alone import compiled_alone, module_of_kernel, operands_of_kernel, same_bits
from xla_explorer.explorer.code.llvm_views import LOOP_COLUMNS, inner_loops
from xla_explorer.explorer.display import Blocks, Code, Report, Sentence, Table, microseconds
from xla_explorer.explorer.measures.paired_timing import PairedTiming, timed_in_turns
from xla_explorer.explorer.sessions.arguments import largest_error
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.instruction import HloInstruction

MOST_DIFF_LINES = 200


class KernelRun(Report):
    """A scheduled kernel beside the default one.

    Attributes
    ----------
    kernel, schedule : str
        Its name and the text of its directives.
    equal : bool
        Whether the values are the evaluator's (within its tolerance) and, unless a directive reorders sums, the plain nest's bit by bit.
    values : str
        The same in a sentence, with the largest error.
    default_us, scheduled_us : float
        Least times of one run.
    ratio, iqr : float
        The median of scheduled / default over rounds taken in turns, and its spread.
    estimated_us : float
        What the estimate says of the scheduled nest.
    nest_diff, assembly_diff : str
        The nest against the plain one; the assembly against the default kernel's.
    loops : list of rows
        llvm-mca's figures of the innermost loops of both, where it is installed.
    """

    def __init__(
        self, kernel: str, schedule: str, equal: bool, values: str, times: PairedTiming, estimated_us: float, threads: int,
        nest_diff: str, assembly_diff: str, loops: Sequence[Sequence[Any]],
    ) -> None:  # fmt: skip
        self.kernel, self.schedule, self.equal, self.values = kernel, schedule, equal, values
        self.default_us, self.scheduled_us, self.ratio, self.iqr = times
        self.estimated_us, self.threads = estimated_us, threads
        self.nest_diff, self.assembly_diff, self.loops = nest_diff, assembly_diff, list(loops)

    def headline(self) -> str:
        """Equal or not, and both times."""
        return (
            f"%{self.kernel}: {'equal' if self.equal else 'NOT EQUAL'}, {microseconds(self.scheduled_us)} beside "
            f"{microseconds(self.default_us)} by default, ratio {self.ratio:.3f} (iqr {self.iqr:.3f})"
        )

    def blocks(self) -> Blocks:
        """Values, times, estimate, loops, diffs."""
        yield self.records()
        yield Sentence(f"values: {self.values}")
        if self.loops:
            yield Table(["kernel", *LOOP_COLUMNS[1:-1]], self.loops, title="llvm-mca, innermost loops")
        if self.nest_diff:
            yield Code("nest, beside the plain one", self.nest_diff, "diff")
        lines = self.assembly_diff.splitlines()
        if lines:
            rest = [f"... {len(lines) - MOST_DIFF_LINES} more lines: .assembly_diff"] if len(lines) > MOST_DIFF_LINES else []
            yield Code("assembly, beside the default one", "\n".join([*lines[:MOST_DIFF_LINES], *rest]), "diff")

    def records(self) -> Table:
        """A row for each of the two."""
        rows = [("default", self.default_us, 1.0, None), (self.schedule or "plain", self.scheduled_us, self.ratio, self.estimated_us)]
        note = f"{self.threads} threads, wall time" if self.threads > 1 else "one thread, its own processor time"
        return Table(["schedule", "us", "ratio", "estimated_us"], rows, note=note)


def run_beside_default(
    schedule: Schedule, session: Compilation, i: HloInstruction, arrays: Sequence[Any], repeats: int
) -> KernelRun | CountedRun:
    """See `KernelSchedule.run`."""
    if repeats < 1:
        raise XlaExplorerError(f"repeats is {repeats}", "time at least one round")
    module = module_of_kernel(i)
    given = tuple(arrays) or operands_of_kernel(i, module)
    default, plain, scheduled = [compiled_alone(session, module, text) for text in (None, "", str(schedule))]
    equal, values = checked_values(schedule, module, given, default, plain, scheduled)
    if session.backend == "gpu":
        return counted_beside_default(schedule, i.name, equal, values, default, scheduled, default.signature.leaves(given))
    times, threads = times_of(default, scheduled, given, repeats)
    diff = "\n".join(difflib.unified_diff(_assembly(default), _assembly(scheduled), "default", "scheduled", lineterm="", n=2))
    loops = [[who, *row[1:-1]] for who, one in (("default", default), ("scheduled", scheduled)) for row in _loops(one)]
    estimated = estimate(schedule.nest).nanoseconds / 1e3
    return KernelRun(i.name, str(schedule), equal, values, times, estimated, threads, schedule.diff(), diff, loops)


def checked_values(
    schedule: Schedule, module: Any, given: Sequence[Any], default: Compilation, plain: Compilation, scheduled: Compilation
) -> tuple[bool, str]:
    """(whether the values are right, a sentence): the evaluator's within its tolerance, and the plain nest's bit by bit unless a directive
    reorders sums."""
    leaves = default.signature.leaves(given)
    wanted = [session.executable.execute(leaves) for session in (default, plain)]
    found = scheduled.executable.execute(leaves)
    error, close = largest_error(flatten_value(evaluate(module, *leaves)), found)
    said = f"{'agree with' if close else 'DIFFER from'} the evaluator's (largest error {error:.2g})"
    reorders = [str(step.directive) for step in schedule.steps if step.facts.get("reorders-sum")]
    exact = same_bits(wanted[1], found)
    said += f"; {'bit for bit' if exact else 'not bit for bit'} those of the plain nest"
    said += f" ({', '.join(reorders)} {'reorder' if len(reorders) > 1 else 'reorders'} a sum)" if reorders else ""
    said += f"; {'bit for bit' if same_bits(wanted[0], found) else 'not bit for bit'} those of the default kernel"
    return bool(close and (exact or reorders)), said


def times_of(default: Compilation, scheduled: Compilation, given: Sequence[Any], repeats: int) -> tuple[PairedTiming, int]:
    """(both timed in turns on the same arguments, the threads that may work on them)."""
    executables: list[Any] = [default.executable, scheduled.executable]
    leaves = executables[0].place(default.signature.leaves(given))
    calls = [executable.calls_of(leaves) for executable in executables]  # kept: the arrays must live
    threads = max([executable.program.threads for executable in executables])
    return timed_in_turns(calls[0][0], calls[1][0], repeats, own_time=threads == 1), threads


def _assembly(session: Compilation) -> list[str]:
    text = session.stage("assembly").text
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith((".", "#"))]


def _loops(session: Compilation) -> list[Any]:
    return inner_loops(session).values.tolist() if shutil.which("llvm-mca") else []
