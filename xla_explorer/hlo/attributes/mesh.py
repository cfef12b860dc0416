"""A mesh of devices, its axes and parts of axes.

Source: Shardy's docs/sharding_representation.md; xla/hlo/ir/mesh_and_axis.cc.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

_AXIS = re.compile(r"""["']([^"']+)["']\s*=\s*(\d+)""")
_IDS = re.compile(r"device_ids\s*=\s*[\[(]([\d,\s]*)[\])]")
_IOTA = re.compile(r"device_ids\s*=\s*\(\[([\d,]+)\](?:T\(([\d,]+)\))?\)")
_REFERENCE = re.compile(r"""["']([^"']+)["'](?::\((\d+)\)(\d+))?""")


@dataclass(frozen=True)
class AxisPart:
    """An axis of a mesh, or a part: `"x":(2)4` are the 4 steps of "x" inside its first 2.

    Attributes
    ----------
    name : str
        Of the axis.
    before : int
        The product of the sizes of the parts before this one; 1 for the first.
    size : int
        0 for the whole axis.
    """

    name: str
    before: int = 1
    size: int = 0

    def __str__(self) -> str:
        return f'"{self.name}":({self.before}){self.size}' if self.size else f'"{self.name}"'


def read_axis_parts(text: str) -> tuple[AxisPart, ...]:
    """Return the axis parts of `"x", "y":(1)2`; other text is skipped."""
    return tuple(
        [
            AxisPart(name, int(before or 1), int(size or 0))
            for name, before, size in _REFERENCE.findall(text)
        ]
    )


def _numbers(text: str | None) -> list[int]:
    return [int(n) for n in text.split(",")] if text else []


@dataclass(frozen=True)
class Mesh:
    """Devices in the order of axes, the last axis the fastest.

    Attributes
    ----------
    axes : tuple of (str, int)
        Names and sizes.
    device_ids : tuple of int
        The devices in the mesh's order; () for 0, 1, 2 ...
    """

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] = ()

    @classmethod
    def read(cls, text: str) -> Mesh:
        """Read `<["x"=2, "y"=4], device_ids=[...]>` or `mesh['x'=2,'y'=4], device_ids=(...)`.

        ValueError if the devices do not fill the axes.
        """
        axes = tuple([(name, int(size)) for name, size in _AXIS.findall(text)])
        listed = _IDS.search(text)
        ids = tuple([int(n) for n in listed.group(1).split(",") if n.strip()]) if listed else ()
        if iota := _IOTA.search(text):
            sizes, order = [_numbers(part) for part in iota.groups()]
            places = np.arange(math.prod(sizes)).reshape(sizes).transpose(order or None)
            ids = tuple(map(int, places.flatten()))
        if ids == tuple(range(len(ids))):
            ids = () if axes else ids
        if axes and ids and len(ids) != math.prod([size for _, size in axes]):
            raise ValueError(
                f"the mesh has {math.prod([size for _, size in axes])} places, but {len(ids)} "
                "devices"
            )
        return cls(axes, ids)

    def __str__(self) -> str:
        ids = f", device_ids=[{', '.join(map(str, self.device_ids))}]" if self.device_ids else ""
        named = ", ".join([f'"{name}"={size}' for name, size in self.axes])
        return f"<[{named}]{ids}>"

    @property
    def count(self) -> int:
        """Number of devices."""
        return math.prod([size for _, size in self.axes])

    def size(self, part: AxisPart) -> int:
        """Return the size of an axis or of a part of one. KeyError if the mesh has no such axis."""
        return part.size or dict(self.axes)[part.name]

    def parts(self, cut: Iterable[AxisPart]) -> list[AxisPart]:
        """Return all axes, split at the borders of the given parts.

        Each given part is one of the returned parts or a product of adjacent ones.
        """
        ends: dict[str, set[int]] = {name: {1, size} for name, size in self.axes}
        for part in cut:
            if part.size:
                ends[part.name] |= {part.before, part.before * part.size}
        found = []
        for name, _ in self.axes:
            steps = sorted(ends[name])
            found += (
                [AxisPart(name, a, b // a) for a, b in pairwise(steps)]
                if len(steps) > 2
                else [AxisPart(name)]
            )
        return found

    def devices(self, order: Sequence[AxisPart]) -> np.ndarray[Any, Any]:
        """Return the devices as an array with one dimension per part.

        The parts must cover every axis, in any order.
        """
        ids = np.array(self.device_ids) if self.device_ids else np.arange(self.count)
        own = sorted(
            order, key=lambda part: ([name for name, _ in self.axes].index(part.name), part.before)
        )
        return ids.reshape([self.size(part) for part in own]).transpose(
            [own.index(part) for part in order]
        )

    def coordinates(self, parts: Sequence[AxisPart]) -> dict[int, int]:
        """Return each device's index along some parts, from major to minor, as one number."""
        chosen, rest = self._split(parts)
        width = math.prod([self.size(one) for one in rest])
        return {
            int(device): place // width
            for place, device in enumerate(self.devices([*chosen, *rest]).flatten())
        }

    def groups(self, parts: Sequence[AxisPart]) -> list[list[int]]:
        """Return the groups of devices that differ only along some parts, the major part first."""
        chosen, rest = self._split(parts)
        rows: list[list[int]] = (
            self.devices([*rest, *chosen])
            .reshape(-1, math.prod([self.size(one) for one in chosen]))
            .tolist()
        )
        return rows

    def _split(self, parts: Sequence[AxisPart]) -> tuple[list[AxisPart], list[AxisPart]]:
        """Return (the pieces of the given parts in their order, the other pieces of the mesh)."""
        pieces = self.parts(parts)
        chosen = [one for part in parts for one in pieces if _inside(one, part, self)]
        return chosen, [one for one in pieces if one not in chosen]


def _inside(one: AxisPart, part: AxisPart, mesh: Mesh) -> bool:
    if one.name != part.name:
        return False
    return part.before <= one.before and one.before * mesh.size(one) <= part.before * mesh.size(
        part
    )
