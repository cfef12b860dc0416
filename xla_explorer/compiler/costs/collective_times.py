"""Estimated times of collectives: rings, trees, switches, tori and nodes of devices.

n devices have B bytes in all, b = B/n each; a device sends W bytes per microsecond one way; a step
takes `a` microseconds. Source: jax-ml/scaling-book, sharding.md and tpus.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class CollectiveStage:
    """A group of devices on links of one class.

    Attributes
    ----------
    link : str
        The class of the links.
    n : int
        The devices of the group.
    a, w : float
        Microseconds of a step, and bytes that a device sends in a microsecond.
    ring : bool
        True if the devices form a ring of neighbours, as on a torus.
    hops : int
        Steps until each device has reached the others; 0 for n-1. On a torus the rings along
        several axes run one after another, each with the steps of its own size.
    """

    link: str
    n: int
    a: float
    w: float
    ring: bool = False
    hops: int = 0

    @property
    def steps(self) -> int:
        """The steps of an all-gather."""
        return self.hops or self.n - 1


@dataclass(frozen=True)
class EstimatedTime:
    """An estimate and its formula.

    Attributes
    ----------
    us : float
        Microseconds.
    formula : str
        The formula with its numbers.
    """

    us: float
    formula: str

    def __add__(self, other: EstimatedTime) -> EstimatedTime:
        return EstimatedTime(self.us + other.us, f"{self.formula} + {other.formula}")


NO_TIME = EstimatedTime(0.0, "0")


def all_gather(stage: CollectiveStage, whole: float) -> EstimatedTime:
    """Return (n-1)a + (n-1)/n B/W. whole: bytes of the gathered array."""
    n = stage.n
    us = stage.steps * stage.a + (n - 1) / n * whole / stage.w
    return EstimatedTime(us, f"{stage.steps} a + {n - 1}/{n} x {_bytes(whole)} / {_rate(stage)}")


def reduce_scatter(stage: CollectiveStage, whole: float) -> EstimatedTime:
    """Return (n-1)a + (n-1)/n B/W. whole: bytes of the unreduced array of a device."""
    return all_gather(stage, whole)


def ring_all_reduce(stage: CollectiveStage, whole: float) -> EstimatedTime:
    """Return twice the time of an all-gather."""
    half = all_gather(stage, whole)
    return EstimatedTime(2 * half.us, f"2 ({half.formula})")


def tree_all_reduce(stage: CollectiveStage, whole: float) -> EstimatedTime:
    """Return 2 log2(n) a + 2 B/W."""
    steps = math.log2(stage.n)
    us = 2 * steps * stage.a + 2 * whole / stage.w
    return EstimatedTime(us, f"2 x {steps:g} a + 2 x {_bytes(whole)} / {_rate(stage)}")


def all_reduce(stage: CollectiveStage, whole: float) -> EstimatedTime:
    """Return the faster of ring and tree; a torus has rings alone."""
    ring = ring_all_reduce(stage, whole)
    if stage.ring or stage.n < 2:
        return ring
    return min(ring, tree_all_reduce(stage, whole), key=lambda one: one.us)


def all_to_all(stage: CollectiveStage, part: float) -> EstimatedTime:
    """Return (n-1)a + (n-1)/n b/W on a switch; a quarter of an all-gather's bytes on a ring.

    part: bytes of one device.
    """
    n = stage.n
    if stage.ring:
        us = stage.steps * stage.a + (n - 1) / n * part * n / stage.w / 4
        text = f"{stage.steps} a + 1/4 x {n - 1}/{n} x {_bytes(part * n)} / {_rate(stage)}"
        return EstimatedTime(us, text)
    us = (n - 1) * stage.a + (n - 1) / n * part / stage.w
    return EstimatedTime(us, f"{n - 1} a + {n - 1}/{n} x {_bytes(part)} / {_rate(stage)}")


def permute(stage: CollectiveStage, part: float, hops: int = 1) -> EstimatedTime:
    """Return a + b/W x hops, of the slowest pair."""
    us = stage.a + part / stage.w * hops
    return EstimatedTime(us, f"a + {_bytes(part)} / {_rate(stage)} x {hops}")


def hierarchical(
    kind: str, inner: CollectiveStage, outer: CollectiveStage, size: float
) -> EstimatedTime:
    """Return the time on nodes of `inner.n` devices, `outer.n` nodes; the terms add.

    size: bytes of the whole array for all-gather, all-reduce and reduce-scatter, else of one
    device.
    """
    if outer.n < 2:
        return flat(kind, inner, size)
    if inner.n < 2:
        return flat(kind, outer, size)
    between = size / inner.n
    if kind == "all-reduce":
        return reduce_scatter(inner, size) + all_reduce(outer, between) + all_gather(inner, size)
    if kind in ("all-gather", "reduce-scatter"):
        return all_gather(outer, between) + all_gather(inner, size)
    return all_to_all(inner, size) + all_to_all(outer, size)


def flat(kind: str, stage: CollectiveStage, size: float) -> EstimatedTime:
    """Return the time of a collective on links of one class."""
    if stage.n < 2:
        return NO_TIME
    return _FLAT[kind](stage, size)


_FLAT = {
    "all-gather": all_gather,
    "reduce-scatter": reduce_scatter,
    "all-reduce": all_reduce,
    "all-to-all": all_to_all,
    "ragged-all-to-all": all_to_all,
    "collective-broadcast": all_gather,
    "collective-permute": permute,
}


def _bytes(size: float) -> str:
    return f"{size:,.0f} B"


def _rate(stage: CollectiveStage) -> str:
    return f"{stage.w / 1e3:g} GB/s"
