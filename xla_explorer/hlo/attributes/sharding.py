"""Shardings as tiles (HLO's `{devices=[2,4]<=[8]}`); `axis_sharding.py` has mesh axes.

Source: xla/hlo/ir/hlo_sharding.cc, tile_assignment.cc; Shardy's docs/sharding_representation.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from typing import Any, Final

import numpy as np

from xla_explorer.hlo.attributes.dictionary_text import dictionary_end
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh, read_axis_parts

_TILES = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))")
_LAST: Final = re.compile(r"last_tile_dims=\{([^}]*)\}")
_GROUP: Final = re.compile(r"shard_(?:as|like) \d+")
_DEVICE = re.compile(r"device_id=(\d+)")
_DIMENSIONS = re.compile(r"[,\])]\s*\[((?:\s*\{[^{}]*\}\s*,?)*)\s*\]")
_AXES_OF_KIND = re.compile(r"(manual|unreduced|replicated)=\{([^{}]*)\}")
_KINDS: Final = ("replicated", "maximal", "manual", "unknown", "unreduced")


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple([int(n) for n in text.split(",")]) if text else ()


@dataclass(frozen=True)
class Sharding:
    """The sharding of one array over devices; equal shardings compare equal in any spelling.

    Attributes
    ----------
    kind : str
        tiled, replicated, maximal (one device has it), manual, unknown or unreduced.
    tiles : tuple of int
        If tiled: the number of parts of each dimension, then the sizes of the subgroups.
    devices : tuple of int
        If tiled: the devices in the row-major order of the tiles; if maximal: the device.
    subgroups : tuple of str
        Kinds of the trailing tile dimensions: replicated, manual, unreduced or maximal.
    group : str
        `shard_as 1`, `shard_like 1` or "".

    Examples
    --------
    >>> from xla_explorer.hlo.attributes.sharding import Sharding
    >>> a = Sharding.read("{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}")
    >>> print(a)
    {devices=[2,1,2]<=[4] last_tile_dim_replicate}
    >>> a.part((6, 8), 2)
    (slice(3, 6, None), slice(0, 8, None))
    """

    kind: str = "replicated"
    tiles: tuple[int, ...] = ()
    devices: tuple[int, ...] = ()
    subgroups: tuple[str, ...] = ()
    group: str = ""

    @classmethod
    @lru_cache(maxsize=4096)
    def read(cls, text: str) -> Sharding:
        """Read the sharding of one array, in any of its forms.

        ValueError for other text, such as the sharding of a tuple.
        """
        if text.startswith(("{mesh", "{maximal_mesh")):
            return cls._read_named(text)
        group = found.group() if (found := _GROUP.search(text)) else ""
        tiled = _TILES.search(text)
        if text.startswith("{{") or text == "{}":
            raise ValueError(f"{text} is the sharding of a tuple")
        if tiled is None:
            kind = next((k for k in _KINDS if re.match(r"\{\s*" + k, text)), None)
            if kind is None:
                raise ValueError(
                    f"expects a sharding such as {{replicated}} or {{devices=[2,1]<=[2]}} but "
                    f"sees {text}"
                )
            device = re.search(r"device=(\d+)", text)
            return cls(
                kind, (), (int(device.group(1)),) if kind == "maximal" and device else (), (), group
            )
        tiles, iota, order, listed = map(_numbers, tiled.groups())
        devices = (
            np.arange(math.prod(iota)).reshape(iota).transpose(order or None)
            if iota
            else np.array(listed)
        )
        if devices.size != math.prod(tiles):
            raise ValueError(
                f"devices=[{','.join(map(str, tiles))}] has {math.prod(tiles)} places for "
                f"{devices.size} devices"
            )
        last = _LAST.search(text)
        subgroups = tuple([part.strip() for part in last.group(1).split(",")]) if last else ()
        if "last_tile_dim_replicate" in text:
            subgroups = ("replicated",)
        return cls("tiled", tiles, tuple(map(int, devices.flatten())), subgroups, group)._plain()

    @classmethod
    def _read_named(cls, text: str) -> Sharding:
        """Read `{mesh['x'=2,'y'=4], [{'x'}, {}], manual={'y'}}`, which names axes of a mesh."""
        one = _DEVICE.search(text)
        if one is not None:
            return cls("maximal", (), (int(one.group(1)),))
        mesh = Mesh.read(text)
        dimensions = _DIMENSIONS.search(text)
        if dimensions is None:
            kind = next((k for k in _KINDS if re.search(r",\s*" + k, text)), "replicated")
            return cls(kind)
        axes = [read_axis_parts(one) for one in re.findall(r"\{([^{}]*)\}", dimensions.group(1))]
        named = dict(_AXES_OF_KIND.findall(text))
        return cls.of_axes(
            mesh,
            axes,
            read_axis_parts(named.get("manual", "")),
            read_axis_parts(named.get("unreduced", "")),
        )

    @classmethod
    def read_all(cls, text: str) -> list[Sharding]:
        """Read the shardings of a tuple's elements, `{{a}, {b}}`, or the one of an array."""
        return list(cls._all(text))

    @classmethod
    @lru_cache(maxsize=1024)
    def _all(cls, text: str) -> tuple[Sharding, ...]:
        found, at = [], text.find("{", text.index("{") + 1)
        if at < 0 or text[: at + 1].split() not in (["{{"], ["{", "{"]):
            return (cls.read(text),)
        while at >= 0:
            end = dictionary_end(text, at)
            found.append(cls.read(text[at:end]))
            at = text.find("{", end)
        return tuple(found)

    @classmethod
    def of_axes(
        cls,
        mesh: Mesh,
        dimensions: Sequence[Sequence[AxisPart]],
        manual: Sequence[AxisPart] = (),
        unreduced: Sequence[AxisPart] = (),
    ) -> Sharding:
        """Return the sharding whose dimensions are split by axes, from major to minor.

        The remaining axes hold copies. manual, unreduced: axes that are manual, or hold terms of a
        sum.
        """
        used = [part for axes in dimensions for part in axes]
        pieces = mesh.parts([*used, *manual, *unreduced])
        made = [mesh_pieces(mesh, pieces, axes) for axes in dimensions]
        hand, terms = mesh_pieces(mesh, pieces, manual), mesh_pieces(mesh, pieces, unreduced)
        taken = [one for axes in made for one in axes]
        rest = [one for one in pieces if one not in [*taken, *hand, *terms]]
        tiles = [math.prod([mesh.size(one) for one in axes]) for axes in made]
        over, by_hand, added = [
            math.prod([mesh.size(one) for one in some]) for some in (rest, hand, terms)
        ]
        for size, kind in ((by_hand, "manual"), (added, "unreduced")):
            if size == mesh.count and size > 1:
                return cls(kind)
        if math.prod(tiles) == by_hand == added == 1:
            return cls()
        subgroups = [
            (size, kind)
            for size, kind in ((over, "replicated"), (by_hand, "manual"), (added, "unreduced"))
            if size > 1
        ]
        devices = mesh.devices([*taken, *rest, *hand, *terms]).flatten()
        sizes, kinds = [size for size, _ in subgroups], [kind for _, kind in subgroups]
        return cls("tiled", (*tiles, *sizes), tuple(map(int, devices)), tuple(kinds))._plain()

    def _plain(self) -> Sharding:
        """Return the canonical form of the sharding.

        It has no subgroups of one device and its replicas ascend; an unsplit sharding is
        replicated.
        """
        kept = [k for k, size in enumerate(self.tiles) if k < self.rank or size > 1]
        tiles, subgroups = (
            tuple([self.tiles[k] for k in kept]),
            tuple([self.subgroups[k - self.rank] for k in kept if k >= self.rank]),
        )
        if subgroups in ((), ("replicated",)) and math.prod(tiles[: self.rank]) == 1:
            return Sharding(group=self.group)
        devices = self.devices
        if subgroups == ("replicated",):
            devices = tuple(
                map(int, np.sort(np.array(devices).reshape(-1, tiles[-1]), axis=1).flatten())
            )
        return Sharding("tiled", tiles, devices, subgroups, self.group)

    @property
    def rank(self) -> int:
        """Dimensions of the value."""
        return len(self.tiles) - len(self.subgroups)

    @property
    def is_replicated(self) -> bool:
        """True if every device has the whole array."""
        return self.kind in ("replicated", "unknown")

    def _iota(self) -> str:
        """Return the devices as `[8]` or `[2,4]T(1,0)`; "" if they have no such form."""
        found = np.array(self.devices)
        if (found == np.arange(found.size)).all():
            return f"[{found.size}]"
        found_steps = mixed_radix(found)
        if found_steps is None:
            return ""
        falling = sorted(range(len(found_steps)), key=lambda k: -found_steps[k][1])
        sizes = [found_steps[k][0] for k in falling]
        order = [falling.index(k) for k in range(len(found_steps))]
        if not np.array_equal(
            np.arange(found.size).reshape(sizes).transpose(order).flatten(), found
        ):
            return ""
        return f"[{','.join(map(str, sizes))}]T({','.join(map(str, order))})"

    def __str__(self) -> str:
        group = f" {self.group}" if self.group else ""
        if self.kind == "maximal":
            return f"{{maximal device={self.devices[0]}{group}}}"
        if self.kind != "tiled":
            return f"{{{self.kind}{group}}}"
        iota = self._iota()
        last = " last_tile_dim_replicate" if self.subgroups == ("replicated",) else ""
        if self.subgroups and not last:
            last = f" last_tile_dims={{{', '.join(self.subgroups)}}}"
        where = f"<={iota}" if iota else ",".join(map(str, self.devices))
        return f"{{devices=[{','.join(map(str, self.tiles))}]{where}{last}{group}}}"

    def place(self, device: int) -> tuple[int, ...]:
        """Return the tile of a device, an index for each dimension. ValueError if it has none."""
        if self.kind != "tiled":
            return ()
        at = np.unravel_index(self.devices.index(device), self.tiles)
        return tuple([int(k) for k in at[: self.rank]])

    def of_subgroup(self, kind: str, device: int) -> int:
        """Return the index of a device in the subgroup of a kind; 0 without such a subgroup."""
        if self.kind == kind:
            return device
        if kind not in self.subgroups:
            return 0
        at = np.unravel_index(self.devices.index(device), self.tiles)
        return int(at[self.rank + self.subgroups.index(kind)])

    def terms_first(self, count: int, rank: int) -> Sharding:
        """Return the sharding of the stacked terms of an unreduced value.

        The first dimension of the stacked array numbers the terms. count: the number of all
        devices.
        """
        if self.kind == "unreduced":
            return Sharding("tiled", (count, *(1,) * rank), tuple(range(count)))._plain()
        at = self.rank + self.subgroups.index("unreduced")
        order = [at, *[k for k in range(len(self.tiles)) if k != at]]
        devices = np.array(self.devices).reshape(self.tiles).transpose(order).flatten()
        rest = tuple([kind for kind in self.subgroups if kind != "unreduced"])
        tiles = tuple([self.tiles[k] for k in order])
        return Sharding("tiled", tiles, tuple(map(int, devices)), rest, self.group)._plain()

    def part(self, dimensions: Sequence[int], device: int) -> tuple[slice, ...]:
        """Return the slices of an array that a device holds.

        The last tiles may be short or empty.
        """
        if self.kind != "tiled":
            return tuple([slice(0, n) for n in dimensions])
        return tuple(
            [
                slice(min(k * -(-n // tile), n), min((k + 1) * -(-n // tile), n))
                for n, tile, k in zip(dimensions, self.tiles, self.place(device), strict=False)
            ]
        )

    def axes(self, mesh: Mesh) -> tuple[tuple[AxisPart, ...], ...]:
        """Return, for each dimension, the axes of a mesh that split it.

        ValueError if no axes of the mesh result in this sharding.
        """
        return self.tile_axes(mesh)[: self.rank]

    def tile_axes(self, mesh: Mesh) -> tuple[tuple[AxisPart, ...], ...]:
        """Return, for each tile dimension, the axes of a mesh that split it, subgroups included.

        The axes of a replicated subgroup are left out. ValueError if no axes of the mesh result in
        this sharding.
        """
        if sorted(self.devices) == list(range(mesh.count)):
            for pieces in product(*[_prime_parts(name, size) for name, size in mesh.axes]):
                found = self._cut_by(mesh, [piece for some in pieces for piece in some])
                if found is not None:
                    return found
        raise ValueError(f"no axes of {mesh} cut an array as {self} does")

    def _cut_by(
        self, mesh: Mesh, pieces: list[AxisPart]
    ) -> tuple[tuple[AxisPart, ...], ...] | None:
        """Return the pieces along which each tile index changes, the major first."""
        places = np.unravel_index(np.argsort(self.devices), self.tiles)
        numbers = mesh.devices(pieces)  # pieces in the order of the axes
        origin = numbers[(0,) * len(pieces)]
        first = [
            numbers[tuple(int(k == j) for j in range(len(pieces)))] for k in range(len(pieces))
        ]
        found: list[tuple[AxisPart, ...]] = []
        for k, kind in enumerate([*[""] * self.rank, *self.subgroups]):
            steps = [int(places[k][device] - places[k][origin]) for device in first]
            chosen = sorted(
                [j for j in range(len(pieces)) if steps[j] and kind != "replicated"],
                key=lambda j: -steps[j],
            )
            joined = _joined(mesh, [pieces[j] for j in chosen])
            if kind != "replicated":
                along = sum(
                    [index * steps[j] for j, index in enumerate(np.indices(numbers.shape))],
                    np.zeros(numbers.shape, int),
                )
                if places[k][origin] or not np.array_equal(along, places[k][numbers]):
                    return None
                if math.prod([mesh.size(part) for part in joined]) != self.tiles[k]:
                    return None
            found.append(tuple(joined))
        return tuple(found)


def _joined(mesh: Mesh, pieces: Sequence[AxisPart]) -> list[AxisPart]:
    """Join adjacent parts of one axis; all parts of an axis are the axis."""
    joined: list[AxisPart] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and last.name == piece.name and last.before * last.size == piece.before:
            joined[-1] = AxisPart(last.name, last.before, last.size * piece.size)
        else:
            joined.append(piece)
    sizes = dict(mesh.axes)
    return [AxisPart(part.name) if part.size == sizes[part.name] else part for part in joined]


def mesh_pieces(mesh: Mesh, pieces: Sequence[AxisPart], axes: Sequence[AxisPart]) -> list[AxisPart]:
    """Return the pieces that some axes consist of, from major to minor."""
    found = []
    for part in axes:
        end = part.before * mesh.size(part)
        found += [
            one
            for one in pieces
            if one.name == part.name
            and part.before <= one.before
            and one.before * mesh.size(one) <= end
        ]
    return found


def mixed_radix(found: np.ndarray[Any, Any]) -> list[tuple[int, int]] | None:
    """Return (size, step) of each dimension that an array of numbers runs through, slowest first.

    None if the steps are uneven.
    """
    dimensions: list[tuple[int, int]] = []
    rest = found
    while rest.size > 1:
        step = int(rest[1] - rest[0])
        run = next((k for k in range(2, rest.size) if rest[k] - rest[k - 1] != step), rest.size)
        if rest.size % run or step < 1:
            return None
        dimensions.insert(0, (run, step))
        rest = rest.reshape(-1, run)[:, 0]
    counted = sum(
        [
            i * step
            for i, (_, step) in zip(np.indices([n for n, _ in dimensions]), dimensions, strict=True)
        ]
    )
    return dimensions if np.array_equal(np.ravel(counted) + found[0], found) else None


def _prime_parts(name: str, size: int) -> list[list[AxisPart]]:
    """Return an axis as parts of prime sizes, in every order of the primes."""
    primes, rest, divisor = [], size, 2
    while rest > 1:
        while rest % divisor:
            divisor += 1
        primes.append(divisor)
        rest //= divisor
    found = []
    for order in dict.fromkeys(permutations(primes)):
        before, parts = 1, []
        for prime in order:
            parts.append(AxisPart(name, before, prime))
            before *= prime
        found.append(parts)
    return found
