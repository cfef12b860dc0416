"""Shardings of values from constraints, manual regions and parameters of a program."""

from __future__ import annotations

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import meshes_of
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.instruction import HloInstruction


def sharding_of(value: HloInstruction, element: int = 0) -> Sharding | None:
    """Return the sharding of a value, or of an element of a tuple; None if it is unknown.

    Elementwise operations and broadcasts keep the sharding of their operand.
    """
    meshes, seen = meshes_of(value.parent.module), set()

    def walk(i: HloInstruction, element: int, calls: tuple[HloInstruction, ...]) -> Sharding | None:
        name, target = i.opcode.name, custom_call_target(i)
        if (i.id, element, calls) in seen:
            return None
        seen.add((i.id, element, calls))
        if target == "xla.sdy.LocalToGlobalShape":
            given = frontend_attribute_values(i.attributes.get("frontend_attributes") or "")
            axes = AxisSharding.read_all(given.get("xla.sdy.out_shardings", ""))[element]
            tiles = axes.tiles(meshes[axes.mesh])
            # If the manual axes split nothing, the free ones are sharded as inside the region.
            return (walk(i.operands[element], 0, calls) if tiles.is_replicated else None) or tiles
        if target == "Sharding" or (
            name == "parameter" and not calls and i.attributes.get("sharding")
        ):
            return Sharding.read(i.attributes["sharding"])
        if name == "parameter" and calls:
            return walk(calls[-1].operands[int(i.payload)], element, calls[:-1])
        if name == "call":
            return walk(i.called[0].root, element, (*calls, i))
        if name == "tuple":
            return walk(i.operands[element], 0, calls)
        if name == "get-tuple-element":
            return walk(i.operands[0], int(i.attributes["index"]), calls)
        if name == "broadcast":
            found = walk(i.operands[0], 0, calls)
            return found and _spread(found, i.attributes.get("dimensions") or (), i.shape.rank)
        if i.opcode.elementwise or name in ("copy", "convert"):
            alike = [
                o
                for o in i.operands
                if o.shape.is_array and o.shape.dimensions == i.shape.dimensions
            ]
            return next((found for o in alike if (found := walk(o, 0, calls)) is not None), None)
        return None

    return walk(value, element, ())


def _spread(sharding: Sharding, dimensions: tuple[int, ...], rank: int) -> Sharding | None:
    """Return the sharding of a broadcast, given the dimensions of its operand in the result."""
    if sharding.kind != "tiled" or list(dimensions) != sorted(dimensions):
        return None
    tiles = dict(zip(dimensions, sharding.tiles, strict=False))
    sizes = (*[tiles.get(k, 1) for k in range(rank)], *sharding.tiles[sharding.rank :])
    return Sharding("tiled", sizes, sharding.devices, sharding.subgroups)
