"""Borders of manual regions (JAX's `shard_map`): transitions between whole arrays and shards.

Two forms are supported: Shardy's custom calls `xla.sdy.GlobalToLocalShape` and `LocalToGlobalShape`
with shardings over axes of a mesh, and GSPMD's `SPMDFullToShardShape` and `SPMDShardToFullShape`
with tiles. Source: xla/service/spmd/shardy/constants.h, sdy_round_trip/.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh, read_axis_parts
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import TOKEN

INTO: Final = frozenset(["xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape"])
OUT_OF: Final = frozenset(["xla.sdy.LocalToGlobalShape", "SPMDShardToFullShape"])
BORDERS: Final = INTO | OUT_OF
_MESH: Final = re.compile(
    r"([\w.$-]+|\"[^\"]*\")\s*=\s*#sdy\.mesh(<\[[^\]]*\](?:\s*,\s*device_ids\s*=\s*\[[^\]]*\])?>)"
)
REGION_BODY: Final = "xla.sdy.manual_computation_body"


class Border(NamedTuple):
    """A custom call at the border of a manual region.

    into: True from whole arrays to shards. parts: for each operand the elements of each device.
    groups: for each device the devices whose shards form its whole array. terms: for each operand
    and device the number of its term, if the devices' values are terms of one value; on the way in,
    the first term of a sum is the whole value, the others are 0. combiners: for each operand the
    opcode that combines its terms.
    """

    into: bool
    parts: tuple[dict[int, tuple[slice, ...]], ...]
    groups: dict[int, tuple[int, ...]]
    terms: tuple[dict[int, int], ...]
    combiners: tuple[str, ...]


def is_region(i: HloInstruction) -> bool:
    """Return True if a call runs a manual region, by Shardy's name of the computation."""
    return i.opcode.name == "call" and i.called[0].name.startswith(REGION_BODY)


def device_count(module: HloModule) -> int:
    """Return the number of partitions of a module with manual regions; 0 without regions."""
    if not {"num_partitions", "frontend_attributes"} & set(module.attributes):
        return 0
    if not any(custom_call_target(i) in BORDERS for i in module.instructions()):
        return 0
    return max(
        [
            int(module.attributes.get("num_partitions") or 1),
            *[mesh.count for mesh in meshes_of(module).values()],
        ]
    )


def meshes_of(module: HloModule) -> dict[str, Mesh]:
    """Return the meshes in the header's `xla.sdy.meshes`."""
    text = frontend_attribute_values(module.attributes.get("frontend_attributes") or "").get(
        "xla.sdy.meshes", ""
    )
    return {name.strip('"'): Mesh.read(mesh) for name, mesh in _MESH.findall(text)}


def border(i: HloInstruction) -> Border | None:
    """Return the border of an instruction, or None; ValueError if its shardings are incomplete."""
    target = custom_call_target(i)
    if target not in INTO | OUT_OF:
        return None
    into = target in INTO
    shapes = [leaf for _, leaf in i.shape.leaves()]
    if not i.operands or len(i.operands) != len(shapes):
        raise ValueError(
            f"it has {len(i.operands)} operands and {len(shapes)} results, each operand must "
            "have a result"
        )
    pairs = [
        (o.shape, s) if into else (s, o.shape) for o, s in zip(i.operands, shapes, strict=True)
    ]
    for whole, part in pairs:
        if whole.element_type is TOKEN and part.element_type is TOKEN:
            continue  # every device has all of it
        fit = (
            whole.is_array
            and part.is_array
            and whole.element_type is part.element_type
            and whole.rank == part.rank
        )
        if not fit or any(n > m for m, n in zip(whole.dimensions, part.dimensions, strict=True)):
            raise ValueError(
                f"{part.text_without_layout} must be a part of {whole.text_without_layout}"
            )
    sizes = [(whole.dimensions, part.dimensions) for whole, part in pairs]
    return _by_axes(i, into, sizes) if target.startswith("xla.sdy.") else _by_tiles(i, into, sizes)


def _by_axes(
    i: HloInstruction, into: bool, sizes: list[tuple[tuple[int, ...], tuple[int, ...]]]
) -> Border:
    given = frontend_attribute_values(i.attributes.get("frontend_attributes") or "")
    name = "xla.sdy.in_shardings" if into else "xla.sdy.out_shardings"
    if name not in given:
        raise ValueError(f"frontend_attributes must have {name}")
    shardings = AxisSharding.read_all(given[name])
    manual = {part.name for part in read_axis_parts(given.get("xla.sdy.manual_axes", ""))}
    meshes = meshes_of(i.parent.module)
    absent = [s.mesh for s in shardings if s.mesh not in meshes]
    if absent or len(shardings) != len(sizes):
        raise ValueError(
            f"the module names no mesh {absent[0]}"
            if absent
            else f"{name} must have a sharding for each operand"
        )
    mesh = next(
        (m for s in shardings if (m := meshes[s.mesh]).count > 1), meshes[shardings[0].mesh]
    )
    parts, terms = [], []
    for sharding, (whole, part) in zip(shardings, sizes, strict=True):
        at = [
            meshes[sharding.mesh].coordinates([axis for axis in axes if axis.name in manual])
            for axes in sharding.dimensions
        ]
        of_device = {}
        for device in range(mesh.count):
            cuts = zip(at, whole, part, strict=True)
            of_device[device] = tuple(
                [
                    slice(k[device] * n, (k[device] + 1) * n) if n < m else slice(0, m)
                    for k, m, n in cuts
                ]
            )
        parts.append(of_device)
        added = [axis for axis in sharding.unreduced if axis.name in manual]
        # Every term of a maximum can be the whole value.
        terms.append(mesh.coordinates([] if into and sharding.reduction else added))
    free = mesh.coordinates([AxisPart(name) for name, _ in mesh.axes if name not in manual])
    groups: dict[int, list[int]] = {}
    for device in sorted(free):
        groups.setdefault(free[device], []).append(device)
    members = {device: tuple(groups[free[device]]) for device in free}
    return Border(into, tuple(parts), members, tuple(terms), tuple([s.combiner for s in shardings]))


def _by_tiles(
    i: HloInstruction, into: bool, sizes: list[tuple[tuple[int, ...], tuple[int, ...]]]
) -> Border:
    text = (i.operands[0] if into else i).attributes.get("sharding") or "{replicated}"
    sharding = Sharding.read(text)
    count = int(i.parent.module.attributes.get("num_partitions") or 1)
    whole, part = sizes[0]
    devices = tuple(range(count))
    none = (dict.fromkeys(devices, 0),)
    if sharding.kind != "tiled":
        return Border(
            into,
            (dict.fromkeys(devices, tuple([slice(0, n) for n in whole])),),
            dict.fromkeys(devices, devices),
            none,
            ("add",),
        )

    def own(device: int) -> tuple[slice, ...]:
        # A dimension may also be split by non-manual axes, which are the inner ones.
        cuts = [m // n if n else 1 for m, n in zip(whole, part, strict=True)]
        at = [
            k // max(tile // cut, 1)
            for k, tile, cut in zip(sharding.place(device), sharding.tiles, cuts, strict=False)
        ]
        return tuple(
            [
                slice(k * n, (k + 1) * n) if cut > 1 else slice(0, n)
                for k, n, cut in zip(at, part, cuts, strict=True)
            ]
        )

    parts = {device: own(device) for device in devices}
    return Border(into, (parts,), dict.fromkeys(devices, devices), none, ("add",))
