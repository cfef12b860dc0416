"""`why_slow`: one page on a program's time on real XLA: bounds, missing fusions, and advice."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.backends.cpu.machine_limits import MachineLimits
from xla_explorer.explorer.advice.captured_constants import captured_constants, captured_sentence
from xla_explorer.explorer.advice.rules import Advice, Facts, KernelFact
from xla_explorer.explorer.display.blocks import Blocks, Listing, Sentence, Table
from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.measures.kernel_costs import measured_bound
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.explorer.xla.advice import advise
from xla_explorer.explorer.xla.host_calls import HostCalls
from xla_explorer.explorer.xla.places import short_place
from xla_explorer.explorer.xla.profile import XlaProfile
from xla_explorer.explorer.xla.replay import ReplayedFusion

_MOST = 5  # rows of a table


_COLUMNS = ("kernel", "median_us", "share", "bound", "roof_share", "line")


class RunTimes(NamedTuple):
    """Medians of whole calls, in microseconds.

    xla_us: by XLA, in the clock that XLA_EXPLORER_WORKER_CLOCK sets. wall_us: the same in wall
    time. ours_us: by our compiler, None if it was not run.
    """

    xla_us: float
    wall_us: float
    ours_us: float | None = None


class WhySlow(Report):
    """The time of a run on XLA by kernel and line, and advice.

    Attributes
    ----------
    profile, replay
        The recording of XLA's profiler, and XLA's fusions with their reasons (None if XLA fused
        nothing).
    run_us, ours_us
        Whole calls, median, in microseconds: by XLA, and by our compiler (None if it was not run).
    slowdown
        A recorded run over one that is not recorded, both in wall time. The times of kernels are as
        recorded, the gains of advice as without a recorder.
    kernels
        By time.
    advice
        Changes to try: first those that were tried, with measured times and the interval;
        then those marked as not tried, with an upper bound.
    without_gain
        Flags and rewritten programs that a rule would have proposed, but that did not help.
    notes
        Further facts: a function that is called without `jax.jit`, calls of Python, or several
        devices.
    host
        Calls of Python in each run, with their cost; None if there are none.
    captured
        A CapturedConstant for each constant of a MiB or more in the program as it was given.
    """

    def __init__(
        self,
        profile: XlaProfile,
        replay: ReplayedFusion | None,
        limits: MachineLimits | None,
        times: RunTimes,
    ) -> None:
        self.profile, self.replay = profile, replay
        self.run_us, self.ours_us = times.xla_us, times.ours_us
        runs = profile.runs()
        self.idle_us = float(runs["idle_us"].median())
        self._limits = limits
        # By the median of runs, as it is shown: one long run of a loaded machine would put others
        # first.
        self._rows = sorted(profile.kernel_rows, key=lambda row: -(row[0].per_run_us or 0.0))
        whole = sum([row.per_run_us or 0.0 for row, _ in self._rows])
        self.kernels = [_slow_kernel(row, limits, whole) for row, _ in self._rows]
        recorded_us = float(runs["wall_us"].median())
        # A recording has wall times: no other clock is compared with them.
        self.slowdown = max(recorded_us / times.wall_us, 1.0) if times.wall_us > 0 else 1.0
        self.advice: list[Advice] = advise(self._facts(len(runs)))
        self.without_gain: list[Advice] = []
        self.notes: list[str] = []
        self.host: HostCalls | None = None
        session = profile.session
        self.captured = captured_constants(session) if session is not None else []

    def _facts(self, runs: int) -> Facts:
        """Return the facts for the rules: times without a recorder."""
        kernels = []
        for one, (row, i) in zip(self.kernels, self._rows, strict=True):
            if i is not None:
                us = one.time_us / self.slowdown
                least = None if one.roof_share is None else min(one.roof_share * one.time_us, us)
                kernels.append(KernelFact(i, us, max(round(row.n / runs), 1), row.line, least))
        return Facts(self.run_us, self.idle_us / self.slowdown, kernels, self.ours_us)

    def headline(self) -> str:
        """Return the time of a run, the time between kernels, and the joined share."""
        return (
            f"{self.profile.name} on XLA:CPU: {microseconds(self.run_us)} a run; recording takes "
            f"{self.slowdown:.2f} times as long, "
            f"with no kernel running for {microseconds(self.idle_us)}; "
            f"{self.profile.lines_share:.1%} of kernel time has a source line"
        )

    def blocks(self) -> Blocks:
        """Yield at most a screen of tables and sentences."""
        yield from map(Sentence, self.notes)
        yield Table(
            ["line", "median_us", "share", "kernels"], self._lines()[:_MOST], "source lines"
        )
        longest = [
            kernel._replace(line=short_place(kernel.line)) for kernel in self.kernels[:_MOST]
        ]
        yield Table(_COLUMNS, [row.cells(_COLUMNS) for row in longest], "kernels")
        if self.replay is not None:
            yield self._refusals_table(self.replay)
        yield Sentence(self._comparison_with_ours())
        if self.advice:
            yield Listing("try first:", [_advice_text(one) for one in self.advice], numbered=True)
        else:
            seen = (
                "no loop of short kernels, no layout copies, no slow library kernels, no known "
                "slow form, no 64-bit arithmetic"
            )
            yield Sentence(
                f"no rule has a change to propose: {seen} that takes a notable part of a run"
            )
        if self.captured:
            yield Sentence(captured_sentence(self.captured))
        if self.without_gain:
            yield Listing(
                "tried, no gain:",
                [_without_gain_text(one) for one in self.without_gain],
            )

    def _lines(self) -> list[tuple[str, float, float, int]]:
        """Return (place, microseconds, share, kernels) of each source line, by kernel time."""
        found: dict[str, list[Kernel]] = {}
        for kernel in self.kernels:
            found.setdefault(short_place(kernel.line) or "(no line)", []).append(kernel)
        rows = [
            (line, sum(k.time_us for k in of), sum(k.share or 0.0 for k in of), len(of))
            for line, of in found.items()
        ]
        return sorted(rows, key=lambda row: -row[1])

    def _refusals_table(self, replay: ReplayedFusion) -> Table:
        rows = [
            (
                f"%{edge.producer}",
                f"%{edge.consumer}",
                edge.bytes,
                self._saved_us(edge.bytes),
                edge.reason or "unknown",
            )
            for edge in replay.refused()[:_MOST]
        ]
        note = f"the replay of XLA's policy agrees with XLA in {replay.agreed:.1%} of the edges"
        return Table(
            ["producer", "consumer", "cost_bytes", "cost_us", "reason"],
            rows,
            "not fused by XLA",
            note,
        )

    def _saved_us(self, size: int) -> float | str:
        """Return the time to write and read a value again."""
        return (
            2e6 * size / self._limits.bandwidth(self._limits.cores, 2 * size)
            if self._limits is not None
            else "unknown"
        )

    def _comparison_with_ours(self) -> str:
        if self.ours_us is None:
            return "our compiler was not timed for comparison"
        ratio = self.ours_us / self.run_us
        return (
            f"our compiler takes {microseconds(self.ours_us)} a run, {ratio:.2f} of XLA's time "
            "(calls from Python, one after the other)"
        )

    def records(self) -> Table:
        """Return a row for each kernel."""
        return Table(_COLUMNS, [row.cells(_COLUMNS) for row in self.kernels])


def _advice_text(advice: Advice) -> str:
    place = f" ({short_place(advice.line)})" if advice.line else ""
    return f"{advice.sentence}{place}; {advice.evidence}"


def _without_gain_text(advice: Advice) -> str:
    change = f"XLA_FLAGS={advice.flags}" if advice.flags else advice.sentence.rpartition(": ")[2]
    return f"{change}; {advice.evidence}"


def _slow_kernel(row: Kernel, limits: MachineLimits | None, whole: float) -> Kernel:
    """Return a kernel with the time of its executions in one run, and the limit of one execution.

    `roof_share` is the least possible time over the measured.
    """
    bound, roof, median = "unknown", None, row.median_us or 0.0
    if limits is not None and median > 0:
        moved, flops = row.bytes or 0, row.flops or 0
        memory = 1e6 * moved / limits.bandwidth(limits.cores, moved)
        arithmetic = 1e6 * flops / limits.flops(threads=limits.cores)
        roof, bound = max(memory, arithmetic) / median, measured_bound(median, memory, arithmetic)
    us = row.per_run_us or 0.0
    share = us / whole if whole else 0.0
    return row._replace(median_us=us, share=share, bound=bound, roof_share=roof)
