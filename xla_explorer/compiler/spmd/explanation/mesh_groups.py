"""Groups of devices and shardings in the names of a mesh's axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh
from xla_explorer.hlo.attributes.sharding import Sharding


def _prime_parts(mesh: Mesh) -> list[AxisPart]:
    """Return every axis as parts of prime sizes."""
    found = []
    for name, size in mesh.axes:
        before, divisor = 1, 2
        while before < size:
            while (size // before) % divisor:
                divisor += 1
            found.append(AxisPart(name, before, divisor))
            before *= divisor
    return found


def _joined(mesh: Mesh, parts: Sequence[AxisPart]) -> tuple[str, ...]:
    """Return parts as texts: `x` for a whole axis, `x:(1)2` for a part."""
    found: list[AxisPart] = []
    for part in parts:
        last = found[-1] if found else None
        if last is not None and last.name == part.name and last.before * last.size == part.before:
            found[-1] = AxisPart(part.name, last.before, last.size * part.size)
        else:
            found.append(part)
    sizes = dict(mesh.axes)
    return tuple(
        [p.name if p.size == sizes[p.name] else f"{p.name}:({p.before}){p.size}" for p in found]
    )


def axes_of_groups(mesh: Mesh, groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Return the axes along which the devices of a group differ; () if no axes explain them.

    Examples
    --------
    >>> axes_of_groups(Mesh((("x", 2), ("y", 4))), [(0, 4), (1, 5), (2, 6), (3, 7)])
    ('x',)
    """
    varying = _varying(mesh, groups)
    if not varying or math.prod([part.size for part in varying]) != len(groups[0]):
        return ()
    return _joined(mesh, varying)


def axes_between(mesh: Mesh, pairs: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return the axes along which a permute moves data."""
    return _joined(mesh, _varying(mesh, [pair for pair in pairs if pair[0] != pair[1]]))


def _varying(mesh: Mesh, groups: Sequence[Sequence[int]]) -> list[AxisPart]:
    found = []
    for part in _prime_parts(mesh):
        place = mesh.coordinates([part])
        if any(len({place.get(device, 0) for device in group}) > 1 for group in groups):
            found.append(part)
    return found


def spec_text(sharding: AxisSharding) -> str:
    """Return a sharding as JAX's users write it: `P('data', None)`.

    Examples
    --------
    >>> spec_text(AxisSharding("mesh", ((AxisPart("x"), AxisPart("y")), ())))
    "P(('x', 'y'), None)"
    """
    shown = []
    for axes in sharding.dimensions:
        names = [repr(str(axis).replace('"', "")) for axis in axes]
        shown.append(
            "None" if not names else names[0] if len(names) == 1 else f"({', '.join(names)})"
        )
    return f"P({', '.join(shown)})"


def named_tiles(mesh: Mesh, tiles: Sharding, rank: int) -> str:
    """Return tiles in axis names, or their own text if no axes of the mesh express them."""
    try:
        return spec_text(AxisSharding.of_tiles(tiles, mesh, rank))
    except ValueError:
        return str(tiles)
