"""Shardings as mesh axes (Shardy's), and their conversion from and to tiles.

Source: Shardy's docs/sharding_representation.md; xla/hlo/ir/named_sharding.h.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np

from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh, read_axis_parts
from xla_explorer.hlo.attributes.sharding import Sharding, mixed_radix

_VALUE = re.compile(r"<@([\w$.\-]+|\"[^\"]*\")\s*,\s*\[((?:[^\[\]]|\[[^\]]*\])*)\]([^<>]*)>")
_DIMENSION = re.compile(r"\{([^{}]*)\}(?:p(\d+))?")
_NAMED = re.compile(r"(replicated|unreduced|manual)\s*=\s*(\w*)\s*\{([^{}]*)\}")
_COMBINERS: Final = {"max": "maximum", "min": "minimum"}


@dataclass(frozen=True)
class AxisSharding:
    """One sharding of Shardy: `<@mesh, [{"x"}, {"y", ?}p1], replicated={"z"}>`.

    Attributes
    ----------
    mesh : str
        Name of the mesh.
    dimensions : tuple of tuple of AxisPart
        The axes of each dimension, from major to minor.
    open : tuple of bool
        True for a dimension to which propagation may add axes.
    priorities : tuple of (int or None)
        The priority of each dimension.
    replicated, unreduced : tuple of AxisPart
        Axes over which every device has a copy, or a term of an unfinished reduction.
    reduction : str
        The operation that combines the terms: "" for a sum, max or min.
    manual : tuple of AxisPart
        Axes along which the value is local already; Shardy's own text has none.
    """

    mesh: str
    dimensions: tuple[tuple[AxisPart, ...], ...]
    open: tuple[bool, ...] = ()
    priorities: tuple[int | None, ...] = ()
    replicated: tuple[AxisPart, ...] = ()
    unreduced: tuple[AxisPart, ...] = ()
    reduction: str = ""
    manual: tuple[AxisPart, ...] = ()

    @classmethod
    def read_all(cls, text: str) -> list[AxisSharding]:
        """Return every sharding in a text.

        The text has `#sdy.sharding<...>`, or several in `#sdy.sharding_per_value<[...]>`.
        """
        found = []
        for name, dimensions, rest in _VALUE.findall(text):
            listed = _DIMENSION.findall(dimensions)
            others = {key: (how, read_axis_parts(axes)) for key, how, axes in _NAMED.findall(rest)}
            reduction, unreduced = others.get("unreduced", ("", ()))
            found.append(
                cls(
                    name.strip('"'),
                    tuple([read_axis_parts(axes) for axes, _ in listed]),
                    tuple(["?" in axes for axes, _ in listed]),
                    tuple([int(priority) if priority else None for _, priority in listed]),
                    others.get("replicated", ("", ()))[1],
                    unreduced,
                    reduction if reduction in _COMBINERS else "",
                    others.get("manual", ("", ()))[1],
                )
            )
        return found

    def __str__(self) -> str:
        shown = []
        for axes, is_open, priority in zip(
            self.dimensions, self.open, self.priorities, strict=True
        ):
            inner = [*map(str, axes), *(["?"] if is_open else [])]
            shown.append(
                "{" + ", ".join(inner) + "}" + (f"p{priority}" if priority is not None else "")
            )
        named = (
            ("replicated=", self.replicated),
            (f"unreduced={self.reduction}", self.unreduced),
            ("manual=", self.manual),
        )
        rest = [f"{key}{{{', '.join(map(str, axes))}}}" for key, axes in named if axes]
        return ", ".join([f"<@{self.mesh}, [{', '.join(shown)}]", *rest]) + ">"

    @property
    def combiner(self) -> str:
        """The opcode that combines two terms of an unreduced value."""
        return _COMBINERS.get(self.reduction, "add")

    @lru_cache(maxsize=4096)  # noqa: B019  # the value is frozen; many have the same
    def tiles(self, mesh: Mesh) -> Sharding:
        """Return the equivalent tiled sharding. KeyError if the mesh lacks an axis."""
        return Sharding.of_axes(mesh, self.dimensions, self.manual, self.unreduced)

    @classmethod
    def of_tiles(
        cls, sharding: Sharding, mesh: Mesh, rank: int, name: str = "mesh"
    ) -> AxisSharding:
        """Return a tiled sharding as axes of a mesh; every dimension is closed.

        ValueError if no axes of the mesh result in the sharding, or one device has the value.
        """
        whole = tuple([AxisPart(axis) for axis, _ in mesh.axes])
        dimensions: tuple[tuple[AxisPart, ...], ...] = ((),) * rank
        kinds: dict[str, tuple[AxisPart, ...]] = {}
        if sharding.kind == "maximal":
            raise ValueError(f"{sharding} names a device, not axes")
        if sharding.kind == "tiled":
            found = sharding.tile_axes(mesh)
            dimensions = found[:rank]
            kinds = dict(zip(sharding.subgroups, found[rank:], strict=True))
        elif not sharding.is_replicated:
            kinds = {sharding.kind: whole}
        return cls(
            name,
            dimensions,
            (False,) * rank,
            (None,) * rank,
            unreduced=kinds.get("unreduced", ()),
            manual=kinds.get("manual", ()),
        )

    def named_text(self, mesh: Mesh) -> str:
        """Return HLO's text of a named sharding: `{mesh['x'=2], [{'x'}, {}], manual={'y'}}`."""
        if not any([*self.dimensions, self.replicated, self.unreduced, self.manual]):
            return "{replicated}"
        ids = f", device_ids=({','.join(map(str, mesh.device_ids))})" if mesh.device_ids else ""
        sizes = ",".join([f"'{axis}'={size}" for axis, size in mesh.axes])
        shown = []
        for k, axes in enumerate(self.dimensions):
            is_open = bool(self.open) and self.open[k]
            shown.append("{" + ", ".join([*map(str, axes), *(["?"] if is_open else [])]) + "}")
        rest = [
            f"{kind}={{{', '.join(map(str, axes))}}}"
            for kind, axes in (
                ("replicated", self.replicated),
                ("unreduced", self.unreduced),
                ("manual", self.manual),
            )
            if axes
        ]
        body = ", ".join([f"[{', '.join(shown)}]", *rest]).replace('"', "'")
        return f"{{mesh[{sizes}]{ids}, {body}}}"


def smallest_mesh(shardings: Iterable[Sharding]) -> Mesh:
    """Return the mesh with the fewest axes that can express every given sharding.

    The axes are named `axis_0`, `axis_1` ..., the slowest first. ValueError if the shardings need
    axes that do not fit one mesh.

    Examples
    --------
    >>> from xla_explorer.hlo.attributes.sharding import Sharding
    >>> texts = ("{devices=[2,4]<=[8]}", "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}")
    >>> print(smallest_mesh([Sharding.read(text) for text in texts]))
    <["axis_0"=2, "axis_1"=4]>
    """
    tiled = list(dict.fromkeys([one for one in shardings if one.kind == "tiled"]))
    if not tiled:
        return Mesh(())
    counts = {len(one.devices) for one in tiled}
    if len(counts) > 1:
        raise ValueError(f"shardings of {' and of '.join(map(str, sorted(counts)))} devices")
    for order in (tuple(range(max(counts))), *[one.devices for one in tiled]):
        borders = {1, max(counts)}
        for one in tiled:
            found = _borders(one, order)
            if found is None:
                break
            borders |= found
        else:
            steps = sorted(borders, reverse=True)
            if all(a % b == 0 for a, b in pairwise(steps)):
                axes = [(f"axis_{k}", a // b) for k, (a, b) in enumerate(pairwise(steps))]
                return Mesh(tuple(axes), () if order == tuple(sorted(order)) else order)
    raise ValueError("no mesh has axes for all of these shardings")


def _borders(sharding: Sharding, order: Sequence[int]) -> set[int] | None:
    """Return the steps in an order of devices at which tile indices change; None if uneven."""
    if sorted(sharding.devices) != list(range(len(order))):
        return None
    places = np.argsort(order)[list(sharding.devices)].reshape(sharding.tiles)
    if sharding.subgroups == ("replicated",):
        places = np.sort(places, axis=-1)
    found: set[int] = set()
    whole: np.ndarray[Any, Any] = np.zeros((), int)
    for k in range(places.ndim):
        along = places[tuple(slice(None) if j == k else 0 for j in range(places.ndim))]
        if places.shape[k] == 1:
            whole = whole[..., None]
            continue
        radix = mixed_radix(along - along[0])
        if radix is None:
            return None
        for size, step in radix:
            found |= {step, step * size}
        whole = whole[..., None] + (along - along[0])
    return found if np.array_equal(whole, places) and math.prod(places.shape) > 1 else None
