"""Axes that a local reshape keeps: shardings through the factors that both shapes share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, DeviceAxes, Tiling


def segments(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return the groups of dimensions with equal products, in order."""
    found: list[tuple[list[int], list[int]]] = []
    a = b = 0
    while a < len(old) or b < len(new):
        left: list[int] = []
        right: list[int] = []
        m = n = 1
        while True:
            if m == n and left and right:
                break
            if (m <= n and a < len(old)) or b >= len(new):
                if a >= len(old):
                    break
                left.append(a)
                m *= old[a]
                a += 1
            else:
                right.append(b)
                n *= new[b]
                b += 1
        found.append((left, right))
    return found


def carried(axes: DeviceAxes, old: Sequence[int], new: Sequence[int], tiling: Tiling) -> Tiling:
    """Return the tiling of the reshaped array: the axes that a local reshape keeps."""
    dims: list[Axes] = [()] * len(new)
    if 0 in old:
        return Tiling(tuple(dims), tiling.manual)
    for left, right in segments(old, new):
        real_left = [d for d in left if old[d] > 1]
        real_right = [d for d in right if new[d] > 1]
        if len(real_left) == len(real_right) == 1:
            dims[real_right[0]] = tiling.dims[real_left[0]]
            continue
        found = _refined(
            axes,
            [old[d] for d in real_left],
            [new[d] for d in real_right],
            [tiling.dims[d] for d in real_left],
        )
        for d, some in zip(real_right, found, strict=True):
            dims[d] = some
    return Tiling(tuple(dims), tiling.manual)


def kept(axes: DeviceAxes, old: Sequence[int], new: Sequence[int], tiling: Tiling) -> Tiling:
    """Return the part of a tiling that a local reshape keeps, so that both arrays have its axes."""
    while True:
        back = carried(axes, new, old, carried(axes, old, new, tiling))
        if back == tiling:
            return tiling
        tiling = back


def _refined(
    axes: DeviceAxes, old: Sequence[int], new: Sequence[int], given: Sequence[Axes]
) -> list[Axes]:
    """Return the axes of the new dimensions of one group, through the common factors."""
    left, right = _ends(old), _ends(new)
    ends = sorted({*left, *right})
    if any(b % a for a, b in itertools.pairwise(ends)):
        # Without common factors only the leading dimension can keep its axes.
        kept = _fitting(axes, given[0], math.gcd(old[0], new[0]))
        return [kept if k == 0 else () for k in range(len(new))]
    sizes = [b // a for a, b in zip([1, *ends], ends, strict=False)]
    parts: list[Axes] = []
    at = 0
    for size, some in zip(old, given, strict=True):
        rest, product = list(some), 1
        while product < size:
            taken, at, product = sizes[at], at + 1, product * sizes[at]
            mine = _fitting(axes, tuple(rest), taken)
            parts.append(mine)
            rest = rest[len(mine) :] if axes.tiles(mine) == taken else []
    found: list[Axes] = []
    at = 0
    for size in new:
        mine, product, full = (), 1, True
        while product < size:
            if full:
                mine = (*mine, *parts[at])
                full = axes.tiles(parts[at]) == sizes[at]
            product *= sizes[at]
            at += 1
        found.append(mine)
    return found


def _ends(sizes: Sequence[int]) -> list[int]:
    found, product = [], 1
    for size in sizes:
        product *= size
        found.append(product)
    return found


def _fitting(axes: DeviceAxes, given: Axes, size: int) -> Axes:
    """Return the leading axes whose tiles divide a size."""
    for length in range(len(given), -1, -1):
        if size % axes.tiles(given[:length]) == 0:
            return given[:length]
    return ()
