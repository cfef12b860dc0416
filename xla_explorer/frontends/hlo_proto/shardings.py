"""Shardings, meshes and groups of devices of a proto as HLO text.

Source: hlo_sharding.cc FromProto and Print, mesh_and_axis.cc, named_sharding.cc.
"""

from __future__ import annotations

from typing import Final

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.metadata import metadata_list
from xla_explorer.frontends.hlo_proto.shapes import joined
from xla_explorer.frontends.protobuf import Message, ProtoError

SHARDING_TYPES: Final = (
    "replicated",
    "maximal",
    "tuple",
    "other",
    "manual",
    "unknown",
    "unreduced",
)
_REPLICATED, _MAXIMAL, _TUPLE, _OTHER = range(4)


def sharding_text(sharding: Message, *, inside: bool = False) -> str:
    """Return the text of a sharding, such as `{devices=[2,1]<=[2]}`.

    inside: the sharding is an element of a tuple. ProtoError for an unknown type.
    """
    if (named := sharding.message("named_sharding", schema.NAMED_SHARDING)) is not None:
        return "{" + _named(named) + "}"
    kind = sharding.number("type")
    if not 0 <= kind < len(SHARDING_TYPES) or (kind == _TUPLE and inside):
        raise ProtoError(
            f"OpSharding.type {kind} is not a sharding",
            "read the file with a newer version of xla_explorer",
        )
    if kind == _TUPLE:
        return (
            "{"
            + ", ".join(
                [
                    sharding_text(part, inside=True)
                    for part in sharding.messages("tuple_shardings", schema.SHARDING)
                ]
            )
            + "}"
        )
    devices = sharding.numbers("tile_assignment_devices")
    if kind == _OTHER:
        body = f"devices=[{joined(sharding.numbers('tile_assignment_dimensions'))}]"
        iota = sharding.numbers("iota_reshape_dims")
        body += (
            f"<={_iota(iota, sharding.numbers('iota_transpose_perm'))}" if iota else joined(devices)
        )
        if sharding.flag("replicate_on_last_tile_dim"):
            body += " last_tile_dim_replicate"
        if last := sharding.numbers("last_tile_dims"):
            words = [
                SHARDING_TYPES[one] if 0 <= one < len(SHARDING_TYPES) else str(one) for one in last
            ]
            body += f" last_tile_dims={{{', '.join(words)}}}"
    else:
        body = (
            f"maximal device={devices[0] if devices else 0}"
            if kind == _MAXIMAL
            else SHARDING_TYPES[kind]
        )
    if sharding.flag("is_shard_group"):
        body += (
            f" {'shard_like' if sharding.number('shard_group_type') else 'shard_as'} "
            f"{sharding.number('shard_group_id')}"
        )
    return "{" + body + metadata_list(sharding, " metadata=") + "}"


def _iota(sizes: list[int], order: list[int]) -> str:
    return f"[{joined(sizes)}]" + (f"T({joined(order)})" if len(sizes) > 1 else "")


def _mesh(mesh: Message | None) -> tuple[str, list[str]]:
    """Return (text, names of the axes) of a mesh."""
    if mesh is None:
        raise ProtoError("a sharding over axes has no mesh", "check that the file is complete")
    axes = [
        (axis.text("name"), axis.number("size")) for axis in mesh.messages("axes", schema.MESH_AXIS)
    ]
    text = f"mesh[{','.join([f'{_quoted(name)}={size}' for name, size in axes])}]"
    transform = mesh.message("iota_transform", schema.IOTA_TRANSFORM)
    if devices := mesh.numbers("device_ids"):
        text = (
            f"maximal_mesh[device_id={devices[0]}]"
            if not axes
            else f"{text}, device_ids=({joined(devices)})"
        )
    elif transform is not None and (sizes := transform.numbers("reshape_dims")):
        text += f", device_ids=({_iota(sizes, transform.numbers('transpose_perm'))})"
    return text, [name for name, _ in axes]


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "").replace("'", "").replace("\n", " ") + "'"


def _axis(reference: Message, names: list[str]) -> str:
    number = reference.number("mesh_axis_index")
    if not 0 <= number < len(names):
        raise ProtoError(
            f"AxisRefProto.mesh_axis_index {number}: the mesh has {len(names)} axes",
            "check that the file is complete",
        )
    part = reference.message("sub_axis_info", schema.SUB_AXIS)
    return _quoted(names[number]) + (
        f":({part.number('pre_size')}){part.number('size')}" if part is not None else ""
    )


def _axes(message: Message, field: str, names: list[str]) -> list[str]:
    return [_axis(reference, names) for reference in message.messages(field, schema.AXIS_REFERENCE)]


def _named(sharding: Message) -> str:
    text, names = _mesh(sharding.message("mesh", schema.MESH))
    dimensions = []
    for dimension in sharding.messages("dim_shardings", schema.DIMENSION_SHARDING):
        parts = _axes(dimension, "axes", names) + ([] if dimension.flag("is_closed") else ["?"])
        dimensions.append("{" + ", ".join(parts) + "}")
    if not text.startswith("maximal_mesh"):
        text += f", [{', '.join(dimensions)}]"
        for field, word in (
            ("replicated_axes", "replicated"),
            ("unreduced_axes", "unreduced"),
            ("manual_axes", "manual"),
        ):
            if axes := _axes(sharding, field, names):
                text += f", {word}={{{', '.join(axes)}}}"
    return text + metadata_list(sharding, ", metadata=")


def device_groups_text(instruction: Message) -> str | None:
    """Return replica groups from any of the four fields that can hold them, or None."""
    if (iota := instruction.message("iota_collective_device_list", schema.IOTA_GROUPS)) is not None:
        return _iota_groups(iota)
    if (
        mesh := instruction.message("mesh_axes_replica_group_list", schema.MESH_GROUPS)
    ) is not None:
        text, names = _mesh(mesh.message("mesh", schema.MESH))
        return f"{text} {{{', '.join(_axes(mesh, 'axes', names))}}}"
    holder = instruction
    if (devices := instruction.message("collective_device_list", schema.DEVICE_LIST)) is not None:
        if (iota := devices.message("iota_replica_group_list", schema.IOTA_GROUPS)) is not None:
            return _iota_groups(iota)
        holder = devices
    groups = [
        joined(group.numbers("replica_ids"))
        for group in holder.messages("replica_groups", schema.REPLICA_GROUP)
    ]
    return "{" + ",".join([f"{{{group}}}" for group in groups]) + "}" if groups else None


def _iota_groups(iota: Message) -> str:
    sizes = [iota.number("num_replica_groups"), iota.number("num_devices_per_group")]
    return f"[{joined(sizes)}]<={_iota(iota.numbers('iota_reshape_dims'), iota.numbers('iota_transpose_perm'))}"
