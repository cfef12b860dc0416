"""Programs for several virtual devices, run once on whole arrays.

The devices' shards are joined before the run, and its results are split after it. A partitioner's
decisions do not affect the values. The pass `device-joining` joins manual regions (`shard_map`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.frontends.protobuf.writing import bytes_field, number_field, numbers_field
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape
from xla_explorer.pjrt.errors import PjrtError
from xla_explorer.pjrt.sharded.known_shardings import sharding_of
from xla_explorer.pjrt.sharded.unreduced_values import NO_TERMS, Terms

Array = np.ndarray[Any, Any]


class Layout:
    """The shardings of a program's parameters and results over its devices."""

    def __init__(
        self,
        module: HloModule,
        count: int,
        terms: Terms = NO_TERMS,
        propagated: Sequence[Sharding | None] = (),
    ) -> None:
        """Read the shardings of a module's entry.

        terms: parameters and results whose first dimension numbers the terms of unreduced values.
        propagated: shardings of results that are open to propagation, in whole or along some
        dimensions.
        """
        self.count, self.terms = count, terms
        self.parameters = [
            Sharding.read(p.attributes.get("sharding") or "{replicated}")
            for p in module.entry.parameters()
        ]
        self.parameter_shapes = [p.shape for p in module.entry.parameters()]
        self.result_shapes = [leaf for _, leaf in module.result_shape().leaves()]
        text = module.entry.root.attributes.get("sharding")
        self.results = (
            Sharding.read_all(text) if text else [Sharding("unknown")] * len(self.result_shapes)
        )
        for k, (sharding, shape) in enumerate(zip(self.results, self.result_shapes, strict=True)):
            is_propagated = k not in terms.results and k < len(propagated)
            found: Sharding | None = (propagated[k] if is_propagated else None) or sharding
            if found is not None and found.kind == "unknown":
                found = sharding_of(module.entry.root, k) if not propagated else None
            # A constraint may cut unevenly; JAX's arrays cannot.
            self.results[k] = (
                found if found is not None and _is_even(found, shape.dimensions) else Sharding()
            )
        self.is_tuple = module.result_shape().is_tuple

    def shard_dimensions(self, k: int) -> tuple[int, ...]:
        """Return the dimensions of result k on the first device."""
        shape = self.result_shapes[k]
        sizes = (
            tuple([s.stop - s.start for s in self.results[k].part(shape.dimensions, 0)])
            if shape.is_array
            else ()
        )
        return sizes[1:] if k in self.terms.results else sizes

    def device_bytes(self) -> tuple[list[int], list[int]]:
        """Return the bytes that one device has of each parameter and of each result."""
        rows = ((self.parameter_shapes, self.parameters), (self.result_shapes, self.results))
        given, made = [[_device_bytes(*pair) for pair in zip(*row, strict=True)] for row in rows]
        return given, made

    def whole(self, k: int, shards: Sequence[Array]) -> Array:
        """Return parameter k, joined from its shards on all devices."""
        sharding, dimensions = self.parameters[k], self.parameter_shapes[k].dimensions
        if sharding.kind == "maximal":
            return shards[sharding.devices[0]]
        terms = [sharding.of_subgroup("unreduced", device) for device in range(self.count)]
        if sharding.kind != "tiled" and not any(terms):
            return shards[0]
        whole: Array | None = None
        for number in sorted(set(terms)):
            made = np.empty(dimensions, shards[0].dtype)
            for device in [d for d in range(self.count - 1, -1, -1) if terms[d] == number]:
                made[sharding.part(dimensions, device)] = shards[device]
            combine = getattr(np, self.terms.combiners.of_parameter(k))
            whole = made if whole is None else combine(whole, made)
        assert whole is not None
        return whole

    def shard(self, k: int, result: Array, device: int) -> Array:
        """Return a device's part of result k."""
        part: Array = result[self.results[k].part(self.result_shapes[k].dimensions, device)]
        if k in self.terms.results:
            return np.asarray(part[0])
        first = not self.results[k].of_subgroup("unreduced", device)
        # Every term of a maximum can be the whole value.
        return part if first or self.terms.combiners.of_result(k) != "add" else np.zeros_like(part)

    def root_sharding(self) -> str:
        """Return the text of the shardings of all results, in JAX's form."""
        made = [str(self.terms.results.get(k, s)) for k, s in enumerate(self.results)]
        return "{" + ", ".join(made) + "}" if self.is_tuple else made[0]

    def fields(self) -> bytes:
        """Return `HloModuleProto.spmd_output_sharding` and `.spmd_parameters_shardings`.

        JAX reads the shardings that its user left open.
        """
        # XLA counts one sharding for an empty tuple.
        terms, combiners = self.terms, self.terms.combiners
        made = [
            sharding_proto(terms.results.get(k, s), combiners.of_result(k))
            for k, s in enumerate(self.results)
        ] or [sharding_proto(Sharding())]
        given = [
            sharding_proto(terms.parameters.get(k, s), combiners.of_parameter(k))
            for k, s in enumerate(self.parameters)
        ]
        whole = (
            number_field(1, 2) + b"".join([bytes_field(5, one) for one in made])
            if self.is_tuple
            else made[0]
        )
        return bytes_field(12, whole) + b"".join([bytes_field(14, one) for one in given])


def _device_bytes(shape: Shape, sharding: Sharding) -> int:
    if not shape.is_array:
        return 0
    sizes: list[int] = [s.stop - s.start for s in sharding.part(shape.dimensions, 0)]
    return math.prod(sizes) * shape.byte_size // max(math.prod(shape.dimensions), 1)


def _is_even(sharding: Sharding, dimensions: Sequence[int]) -> bool:
    """Return True if all devices have parts of one size."""
    return sharding.kind != "tiled" or not any(
        n % tiles for n, tiles in zip(dimensions, sharding.tiles, strict=False)
    )


# OpSharding.type
_TYPES = {"replicated": 0, "maximal": 1, "tiled": 3, "manual": 4, "unknown": 5, "unreduced": 6}


# XLA's sharding metadata of unreduced values that are not sums (OpMetadata.op_type, .op_name).
_REDUCTIONS = {"maximum": b"MAX", "minimum": b"MIN"}


def sharding_proto(s: Sharding, combiner: str = "add") -> bytes:
    """Return XLA's OpSharding.

    combiner: the opcode that combines the terms of an unreduced value.
    """
    if s.kind not in _TYPES:
        raise PjrtError(
            "unimplemented",
            f"the sharding {s} of an argument or result",
            "return what the devices have summed up",
        )
    head = number_field(1, _TYPES[s.kind]) if _TYPES[s.kind] else b""
    tiles = (1,) if s.kind == "maximal" else s.tiles
    made = (
        head
        + (numbers_field(3, tiles) if tiles else b"")
        + (numbers_field(4, s.devices) if s.devices else b"")
    )
    if s.subgroups == ("replicated",):
        made += number_field(6, 1)
    elif s.subgroups:
        made += numbers_field(8, [_TYPES[kind] for kind in s.subgroups])
    if combiner in _REDUCTIONS:
        how = bytes_field(1, b"sdy::reduction_op") + bytes_field(2, _REDUCTIONS[combiner])
        made += bytes_field(7, how)
    return made
