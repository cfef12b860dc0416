"""The program of one device of a sharded module, and the shards of its arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.hlo.analysis.manual_regions import device_count
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
_WHOLE = Sharding()


@dataclass(frozen=True)
class PartitionedProgram:
    """A module partitioned by its shardings.

    module: the program of one device. parameters, results: the shape of each leaf of the whole
    program, and its sharding.
    """

    module: HloModule
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


def is_whole_program(module: HloModule) -> bool:
    """Return True if a module is to be partitioned.

    It states shardings, or has nothing that only a device's program has: collectives and device
    numbers.
    """
    if device_count(module) > 1:
        return True
    local = False
    for i in module.instructions():
        given = str(i.attributes.get("frontend_attributes", ""))
        if "sharding" in i.attributes or "xla.sdy.sharding" in given:
            return True
        attributes = i.opcode.attributes
        local |= "replica_groups" in attributes or "source_target_pairs" in attributes
        local |= i.opcode.name in ("partition-id", "replica-id")
    return not local


def partitioned_program(
    module: HloModule, count: int, *, policy: str = "cost", propagation: str = "shardy-xla"
) -> PartitionedProgram:
    """Propagate the shardings of a copy of a module, and partition it.

    propagation: the name of a pass; "" if every instruction has its sharding. ShardingError if a
    sharding does not fit.
    """
    local = module.clone()
    local.attributes["num_partitions"] = count
    context = PassContext()
    if propagation:
        make_pass(propagation).run(local, context)
    given = [
        pair
        for p in local.entry.parameters()
        for pair in _leaves(p.shape, p.attributes.get("sharding"))
    ]
    root = local.entry.root
    results = _leaves(root.shape, root.attributes.get("sharding"))
    make_pass("spmd-partitioning", num_partitions=count, policy=policy).run(local, context)
    return PartitionedProgram(local, count, tuple(given), tuple(results))


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
