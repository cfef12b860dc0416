"""Factors of an operation: the sizes that its dimensions share, and assignments of axes to them.

A dot has batch, free and contracted factors. An assignment of axes to factors determines the
tilings of all operands and of the result; axes of a contracted factor leave partial results.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, DeviceAxes, Tiling


@dataclass(frozen=True)
class Factor:
    """A size that dimensions of several arrays share.

    Attributes
    ----------
    size : int
        Of the dimension.
    dims : tuple of (int or None)
        The dimension of each array (operands, then the result) that has the factor.
    """

    size: int
    dims: tuple[int | None, ...]

    @property
    def contracted(self) -> bool:
        """True if the result lacks the factor."""
        return self.dims[-1] is None


@dataclass(frozen=True)
class Assignment:
    """The axes of each factor."""

    factors: tuple[Factor, ...]
    axes: tuple[Axes, ...]
    manual: frozenset[int] = frozenset()

    def tiling(self, array: int, rank: int) -> Tiling:
        """Return the tiling of an array (its number among operands and result)."""
        dims: list[Axes] = [()] * rank
        for factor, axes in zip(self.factors, self.axes, strict=True):
            dim = factor.dims[array]
            if dim is not None:
                dims[dim] = axes
        return Tiling(tuple(dims), self.manual)

    @property
    def partial(self) -> Axes:
        """Axes over which the results are terms of a sum."""
        return tuple(
            [
                k
                for factor, axes in zip(self.factors, self.axes, strict=True)
                if factor.contracted
                for k in axes
            ]
        )

    def work(self, devices: DeviceAxes) -> int:
        """Return the product of one device's factors."""
        return math.prod(
            [
                -(-factor.size // devices.tiles(axes))
                for factor, axes in zip(self.factors, self.axes, strict=True)
            ]
        )


class FactorTable:
    """The factors of one operation and where the axes of its arrays stand among them."""

    def __init__(
        self, devices: DeviceAxes, factors: Sequence[Factor], tilings: Sequence[Tiling]
    ) -> None:
        self.devices, self.factors, self.tilings = devices, tuple(factors), tuple(tilings)
        self.manual = tilings[-1].manual
        self.places: dict[int, dict[int, int]] = {}  # axis -> array -> factor
        for array, tiling in enumerate(tilings):
            for number, factor in enumerate(factors):
                dim = factor.dims[array]
                for k in tiling.dims[dim] if dim is not None else ():
                    self.places.setdefault(k, {})[array] = number

    def of(self, chosen: dict[int, int | None]) -> Assignment:
        """Return the assignment that gives each axis the named factor."""
        axes: list[Axes] = []
        for number in range(len(self.factors)):
            mine = [k for k, factor in chosen.items() if factor == number]
            axes.append(self._ordered(number, mine))
        return Assignment(self.factors, tuple(axes), self.manual)

    def _ordered(self, number: int, axes: list[int]) -> Axes:
        """Return axes in the order of an array that has the most of them on this factor."""
        runs = []
        for array, tiling in enumerate(self.tilings):
            dim = self.factors[number].dims[array]
            if dim is not None:
                runs.append([k for k in tiling.dims[dim] if k in axes])
        best: list[int] = max(runs, key=len, default=[])
        return (*best, *[k for k in axes if k not in best])

    def like(self, array: int) -> Assignment:
        """Return the assignment that the tiling of one array implies."""
        return self.of({k: where.get(array) for k, where in self.places.items()})

    def candidates(self, most: int = 512) -> Iterator[Assignment]:
        """Yield assignments of each axis to a factor that some array splits by it, or to none."""
        atoms = self._atoms()
        options: list[list[int | None]] = []
        for atom in atoms:
            found = dict.fromkeys(self.places[atom[0]].values())
            options.append([*found, None])
        for picked in itertools.islice(itertools.product(*options), most):
            yield self.of({k: n for atom, n in zip(atoms, picked, strict=True) for k in atom})

    def _atoms(self) -> list[Axes]:
        """Return the axes that stand on the same factors of the same arrays, together."""
        found: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for k, where in self.places.items():
            found.setdefault(tuple(sorted(where.items())), []).append(k)
        return [tuple(axes) for axes in found.values()]
