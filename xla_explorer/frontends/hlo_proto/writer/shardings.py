"""Shardings, meshes and groups of devices as protos, from the canonical text of each.

Source: hlo_sharding.cc ToProto, named_sharding.cc, mesh_and_axis.cc, collective_device_list.cc.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.shardings import SHARDING_TYPES
from xla_explorer.frontends.hlo_proto.writer.metadata import metadata_proto
from xla_explorer.frontends.hlo_proto.writer.shapes import numbers_of
from xla_explorer.frontends.protobuf.writing import message
from xla_explorer.hlo.attributes import ReplicaGroups
from xla_explorer.hlo.attributes.dictionary_text import dictionary_end
from xla_explorer.hlo.attributes.mesh import AxisPart, read_axis_parts

_TUPLE, _OTHER = 2, 3
_IOTA: Final = r"\[([\d,]+)\](?:T\(([\d,]+)\))?"
_TILES: Final = re.compile(rf"devices=\[([-\d,]+)\](?:<={_IOTA}|([-\d,]+))")
_GROUPS: Final = re.compile(rf"\[(\d+),(\d+)\]<={_IOTA}")
_MESH: Final = re.compile(
    r"(maximal_)?mesh\[([^\]]*)\](?:,\s*device_ids=\(((?:\[[\d,]+\](?:T\([\d,]+\))?)|[\d,]*)\))?"
)


def elements_of(text: str) -> list[str] | None:
    """Return the shardings of `{{a}, {b}}`; None for the sharding of one array."""
    if text == "{}":
        return []
    if not text.startswith("{{"):
        return None
    found, at = [], 1
    while (at := text.find("{", at)) >= 0:
        end = dictionary_end(text, at)
        found.append(text[at:end])
        at = end
    return found


def sharding_proto(text: str) -> bytes:
    """Return the `OpSharding` of a sharding's text, such as `{devices=[2,1]<=[2]}`."""
    parts = elements_of(text)
    if parts is not None:
        return message(
            schema.SHARDING, type=_TUPLE, tuple_shardings=[sharding_proto(one) for one in parts]
        )
    body, listed = _without_metadata(text)
    if "mesh[" in body:
        return message(schema.SHARDING, named_sharding=_named_proto(body, listed))
    fields: dict[str, Any] = {"metadata": listed}
    if (tiles := _TILES.search(body)) is not None:
        fields |= {"type": _OTHER, "tile_assignment_dimensions": numbers_of(tiles[1])}
        if tiles[2]:
            sizes = numbers_of(tiles[2])
            order = numbers_of(tiles[3]) if tiles[3] else list(range(len(sizes)))
            fields |= {"iota_reshape_dims": sizes, "iota_transpose_perm": order}
        else:
            fields["tile_assignment_devices"] = numbers_of(tiles[4])
        fields["replicate_on_last_tile_dim"] = "last_tile_dim_replicate" in body or None
        if (last := re.search(r"last_tile_dims=\{([^}]*)\}", body)) is not None:
            fields["last_tile_dims"] = [
                SHARDING_TYPES.index(one.strip()) for one in last[1].split(",")
            ]
    else:
        kind = next(one for one in SHARDING_TYPES if one in body)
        fields["type"] = SHARDING_TYPES.index(kind)
        if kind == "maximal" and (device := re.search(r"device=(-?\d+)", body)):
            fields["tile_assignment_devices"] = [int(device[1])]
            fields["tile_assignment_dimensions"] = [1]
    if (group := re.search(r"shard_(as|like) (\d+)", body)) is not None:
        fields |= {
            "is_shard_group": True,
            "shard_group_id": int(group[2]),
            "shard_group_type": int(group[1] == "like"),
        }
    return message(schema.SHARDING, **fields)


def _without_metadata(text: str) -> tuple[str, list[bytes]]:
    """Return the text of a sharding before its metadata, and the metadata as protos."""
    at = text.find("metadata=")
    if at < 0:
        return text, []
    listed = elements_of(text[at + len("metadata=") : -1].rstrip())
    rows = listed if listed is not None else [text[at + len("metadata=") : -1]]
    return text[:at], [metadata_proto(row) for row in rows]


def mesh_proto(text: str) -> tuple[bytes, list[str], int]:
    """Return (`MeshProto`, names of the axes, end) of the mesh that a text begins with."""
    found = _MESH.search(text)
    assert found is not None, text
    if found[1]:
        device = re.search(r"device_id=(\d+)", found[2])
        return message(schema.MESH, device_ids=[int(device[1]) if device else 0]), [], found.end()
    axes = re.findall(r"['\"]([^'\"]+)['\"]=(\d+)", found[2])
    fields: dict[str, Any] = {
        "axes": [message(schema.MESH_AXIS, name=name, size=int(size)) for name, size in axes]
    }
    if (iota := re.fullmatch(_IOTA, found[3] or "")) is not None:
        sizes = numbers_of(iota[1])
        order = numbers_of(iota[2]) if iota[2] else list(range(len(sizes)))
        fields["iota_transform"] = message(
            schema.IOTA_TRANSFORM, reshape_dims=sizes, transpose_perm=order
        )
    elif found[3]:
        fields["device_ids"] = numbers_of(found[3])
    return message(schema.MESH, **fields), [name for name, _ in axes], found.end()


def _axes(parts: Sequence[AxisPart], names: list[str]) -> list[bytes]:
    return [
        message(
            schema.AXIS_REFERENCE,
            mesh_axis_index=names.index(part.name),
            sub_axis_info=message(schema.SUB_AXIS, pre_size=part.before, size=part.size)
            if part.size
            else None,
        )
        for part in parts
    ]


def _named_proto(body: str, metadata: list[bytes]) -> bytes:
    mesh, names, end = mesh_proto(body)
    rest = body[end:]
    fields: dict[str, Any] = {"mesh": mesh, "metadata": metadata}
    if (dimensions := re.search(r"\[((?:[^\[\]])*)\]", rest)) is not None:
        fields["dim_shardings"] = [
            message(
                schema.DIMENSION_SHARDING,
                axes=_axes(read_axis_parts(one), names),
                is_closed="?" not in one or None,
            )
            for one in re.findall(r"\{([^{}]*)\}", dimensions[1])
        ]
    for word in ("replicated", "unreduced", "manual"):
        if (found := re.search(rf"{word}=\{{([^{{}}]*)\}}", rest)) is not None:
            fields[f"{word}_axes"] = _axes(read_axis_parts(found[1]), names)
    return message(schema.NAMED_SHARDING, **fields)


def device_groups_fields(groups: ReplicaGroups) -> dict[str, Any]:
    """Return the fields of an instruction that hold its replica groups."""
    if groups.text.startswith("mesh"):
        mesh, names, end = mesh_proto(groups.text)
        chosen = _axes(read_axis_parts(groups.text[end:]), names)
        return {"mesh_axes_replica_group_list": message(schema.MESH_GROUPS, mesh=mesh, axes=chosen)}
    if (iota := _GROUPS.fullmatch(groups.text)) is not None:
        sizes = numbers_of(iota[3])
        listed = message(
            schema.IOTA_GROUPS,
            num_replica_groups=int(iota[1]),
            num_devices_per_group=int(iota[2]),
            iota_reshape_dims=sizes,
            iota_transpose_perm=numbers_of(iota[4]) if iota[4] else list(range(len(sizes))),
        )
        return {"iota_collective_device_list": listed}
    rows = [message(schema.REPLICA_GROUP, replica_ids=list(group)) for group in groups.groups]
    return {"collective_device_list": message(schema.DEVICE_LIST, replica_groups=rows)}
