"""Comparison of two partitioned programs: figures, and collectives that came and went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Listing, Table
from xla_explorer.explorer.display.quantities import byte_count, microseconds
from xla_explorer.explorer.display.report import Report

if TYPE_CHECKING:
    import pandas

Figures = Mapping[str, float]


class Figure(NamedTuple):
    """A figure of a step, before and after."""

    figure: str
    before: float
    after: float
    change: float


class DevicesComparison(Report):
    """The change by other annotations, another machine or another policy.

    Attributes
    ----------
    figures : list of Figure
        sent_bytes, collectives, step_us, compute_us, exposed_us and peak_bytes of one device.
    came, went : list of str
        Collectives of one side only, by kind, axes, operation and bytes.
    """

    def __init__(self, figures: list[Figure], came: list[str], went: list[str]) -> None:
        self.figures, self.came, self.went = figures, came, went

    def figure(self, name: str) -> Figure:
        """Return a figure by name. KeyError for others."""
        found = {one.figure: one for one in self.figures}
        return found[name]

    def headline(self) -> str:
        """Return the bytes, the step and the memory before and after."""
        sent, step, peak = [self.figure(n) for n in ("sent_bytes", "step_us", "peak_bytes")]
        return (
            f"sends {byte_count(sent.before)} -> {byte_count(sent.after)},"
            f" step {microseconds(step.before)} -> {microseconds(step.after)} (estimates),"
            f" peak memory {byte_count(peak.before)} -> {byte_count(peak.after)} a device"
        )

    def blocks(self) -> Blocks:
        """Yield the figures, then the collectives that came and went."""
        yield Table(Figure._fields, self.figures)
        if self.went:
            yield Listing("gone", self.went)
        if self.came:
            yield Listing("new", self.came)


def compare_devices(
    before: Figures, after: Figures, collectives: tuple[pandas.DataFrame, pandas.DataFrame]
) -> DevicesComparison:
    """Return what changes. collectives: the tables before and after."""
    figures = [_figure(name, before, after) for name in before]
    old, new = map(_collectives, collectives)
    return DevicesComparison(figures, _listed(new - old), _listed(old - new))


def _figure(name: str, one: Figures, other: Figures) -> Figure:
    return Figure(name, one[name], other[name], other[name] - one[name])


def _collectives(frame: pandas.DataFrame) -> Counter[str]:
    return Counter(
        [
            f"{row.opcode} over {row.axes or 'devices'} for {row.cause.split(':')[0].split(' ')[0]},"
            f" {byte_count(row.sent_bytes)}"
            for row in frame.itertuples()
        ]
    )


def _listed(counts: Counter[str]) -> list[str]:
    return [f"{count} x {name}" if count > 1 else name for name, count in counts.items()]
