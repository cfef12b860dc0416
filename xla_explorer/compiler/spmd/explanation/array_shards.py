"""The shards of a partitioned program's arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
_WHOLE = Sharding()


@dataclass(frozen=True)
class ArrayShards:
    """The shards of a program's arguments and results.

    count: of devices. parameters, results: the shape of each leaf of the whole program, and its
    sharding.
    """

    count: int
    parameters: tuple[tuple[Shape, Sharding], ...]
    results: tuple[tuple[Shape, Sharding], ...]

    def shards(self, arrays: Sequence[Array]) -> list[list[Array]]:
        """Return each device's shards of the whole arguments."""
        return [
            [
                shard_of(array, sharding, device)
                for array, (_, sharding) in zip(arrays, self.parameters, strict=True)
            ]
            for device in range(self.count)
        ]

    def whole(self, per_device: Sequence[Sequence[Array]]) -> list[Array]:
        """Return the whole results, assembled from those of each device."""
        return [
            assembled([one[k] for one in per_device], shape, sharding)
            for k, (shape, sharding) in enumerate(self.results)
        ]

    def classes(self) -> list[tuple[int, ...]]:
        """Return for each leaf of the arguments a number per device, equal for equal shards."""
        found = []
        for shape, sharding in self.parameters:
            parts = [
                (
                    *[(s.start, s.stop) for s in sharding.part(shape.dimensions, d)],
                    sharding.of_subgroup("unreduced", d),
                )
                for d in range(self.count)
            ]
            numbers = {part: number for number, part in enumerate(dict.fromkeys(parts))}
            found.append(tuple([numbers[part] for part in parts]))
        return found


def shards_of_program(module: HloModule, count: int) -> ArrayShards:
    """Return the shards by the shardings of the entry's parameters and root."""
    given = [
        pair
        for p in module.entry.parameters()
        for pair in _leaves(p.shape, p.attributes.get("sharding"))
    ]
    root = module.entry.root
    results = _leaves(root.shape, root.attributes.get("sharding"))
    return ArrayShards(count, tuple(given), tuple(results))


def _leaves(shape: Shape, text: str | None) -> list[tuple[Shape, Sharding]]:
    """Return each array of a shape with its sharding; without one it is whole."""
    leaves = [leaf for _, leaf in shape.leaves()]
    found = Sharding.read_all(text) if text else []
    if len(found) != len(leaves):
        found = [found[0] if found else _WHOLE] * len(leaves)
    pairs = zip(leaves, found, strict=True)
    return [(leaf, sharding) for leaf, sharding in pairs if leaf.is_array]


def shard_of(array: Array, sharding: Sharding, device: int) -> Array:
    """Return a device's part of an array, with zeros up to the size of a full tile."""
    own = array[sharding.part(array.shape, device)]
    if sharding.kind != "tiled":
        return own
    sizes = tuple([-(-n // t) for n, t in zip(array.shape, sharding.tiles, strict=False)])
    if own.shape != sizes:
        padded = np.zeros(sizes, array.dtype)
        padded[tuple([slice(0, n) for n in own.shape])] = own
        own = padded
    return own if sharding.of_subgroup("unreduced", device) == 0 else np.zeros_like(own)


def assembled(shards: Sequence[Array], shape: Shape, sharding: Sharding) -> Array:
    """Return the array whose shards the devices have; terms of a sum are added."""
    if sharding.kind == "maximal":
        return shards[sharding.devices[0]]
    devices = range(len(shards))
    if sharding.kind == "unreduced":
        return np.asarray(sum(shards[1:], start=shards[0]))
    if sharding.kind != "tiled":
        return shards[0]
    terms = [sharding.of_subgroup("unreduced", device) for device in devices]
    total: Array | None = None
    for number in sorted(set(terms)):
        whole = np.empty(shape.dimensions, shards[0].dtype)
        for device in [d for d in devices if terms[d] == number]:
            part = sharding.part(shape.dimensions, device)
            sizes = tuple([slice(0, s.stop - s.start) for s in part])
            whole[part] = shards[device][sizes]
        total = whole if total is None else np.asarray(total + whole)
    assert total is not None
    return total
