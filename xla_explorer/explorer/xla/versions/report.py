"""The answer of `xla-explorer versions`."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Listing, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.xla.flipped import Flipped

_SHOWN: Final = 10
_DIFFERENT: Final = 1e-3  # of the largest magnitude, as `sweep_flags` marks other results


class VersionRow(NamedTuple):
    """A version, or a set of flags, on the script and on its main program.

    Attributes
    ----------
    label : str
        The version or environment, with its flags.
    jaxlib : str
        The version that ran.
    script_s, compile_s, peak_mib : float
        Of the script: wall time without the import of jax, all compiles, largest resident memory.
    run_us : float
        A run of the main program, the median of turns; NaN if it was not timed.
    ratio : float
        The first version's time over this one's: below 1 this one is slower.
    difference : float
        Of the main program's results from the first's, by the largest magnitude.
    kernels : int
        Of the main program.
    error : str
        Why the script or the program failed.
    """

    label: str
    jaxlib: str
    script_s: float
    compile_s: float
    peak_mib: float
    run_us: float
    ratio: float
    difference: float
    kernels: int
    error: str = ""


class Versions(Report):
    """A script under several versions.

    Attributes
    ----------
    script, program : str
        The file, and the name of its main module.
    rows : list of VersionRow
        In the order given; the first is the base.
    slower : float
        From this ratio of times on a version counts as slower.
    flips : list of Flipped
        Decisions of XLA that differ between the two versions around the first regression.
    between : tuple of (str, str) or None
        These two versions.
    """

    __slots__ = ("between", "flips", "program", "rows", "script", "slower")

    def __init__(self, script: str, program: str, rows: list[VersionRow], slower: float) -> None:
        self.script, self.program, self.rows, self.slower = script, program, rows, slower
        self.flips: list[Flipped] = []
        self.between: tuple[str, str] | None = None

    def why_worse(self, row: VersionRow) -> str:
        """Return why a version counts as a regression; empty if it is none."""
        first = self.rows[0]
        if row.error:
            return f"fails: {row.error}"
        if not math.isnan(row.ratio) and row.ratio * self.slower < 1:
            return f"{1 / row.ratio:.2f} times the time a run"
        if row.difference > _DIFFERENT:
            return f"results differ by {row.difference:.1e}"
        for name, now, base in (
            ("compile time", row.compile_s, first.compile_s),
            ("peak memory", row.peak_mib, first.peak_mib),
        ):
            if base and now > _WORSE[name] * base:
                return f"{now / base:.2f} times the {name}"
        return ""

    @property
    def worse(self) -> list[VersionRow]:
        """The versions that are regressions from the first."""
        return [row for row in self.rows[1:] if self.why_worse(row)]

    def headline(self) -> str:
        """Return the first regression, or that there is none."""
        if not self.worse:
            return f"{self.script}: no version is worse than {self.rows[0].label}"
        first = self.worse[0]
        return f"{self.script}: {first.label} is the first that is worse: {self.why_worse(first)}"

    def blocks(self) -> Blocks:
        """Yield the versions, and the decisions that differ at the first regression."""
        yield self.records()
        if self.worse:
            texts = [f"{row.label}: {self.why_worse(row)}" for row in self.worse]
            yield Listing("worse than the first:", texts)
        if self.between is not None and self.flips:
            rows = [
                (one.kind, one.subject, one.consumer, one.first, one.second, one.bytes, one.reason)
                for one in self.flips[:_SHOWN]
            ]
            head = ["kind", "subject", "consumer", *self.between, "bytes", "reason"]
            yield Table(head, rows, "decisions of XLA that differ, the most bytes first")

    def records(self) -> Table:
        """Return a row for each version."""
        note = "ratio: the first's time over this one's, in turns"
        return Table(VersionRow._fields, self.rows, "versions", note)


_WORSE: Final = {"compile time": 1.5, "peak memory": 1.2}
"""Ratios from which a version counts as worse; compile times of one run vary."""
