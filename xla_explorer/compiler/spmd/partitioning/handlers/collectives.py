"""Collectives and device numbers of manual regions: kept, with fresh channels."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.sharding_errors import sharding_error
from xla_explorer.compiler.spmd.partitioning.whole_dims import first_tiling
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import tuple_shape

_POINTWISE = ("all-reduce", "collective-permute", "collective-broadcast")


@handles(*_POINTWISE, "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all")
def collective(p: Partitioner, i: HloInstruction) -> Value:
    """Keep a collective; the dimensions that it changes are whole."""
    wanted = first_tiling(p, i)
    gone = () if i.opcode.name in _POINTWISE else i.attributes.value("dimensions")
    tiling = wanted.replicated(gone)
    if tiling.manual:
        _check_groups(p, i, tiling.manual)
    operands = []
    for o in i.operands:
        value = p.value(o)
        same = value.shape.rank == len(tiling.dims)
        operands.append(
            p.to(value, tiling if same else p.axes.unsplit(value.shape.rank, tiling.manual))
        )
    changes: dict[str, Any] = (
        {"channel_id": p.run.state.channel()} if "channel_id" in i.attributes else {}
    )
    shape = (
        tuple_shape([p.local_shape(s, tiling) for s in i.shape.tuple_shapes])
        if i.shape.is_tuple
        else p.local_shape(i.shape, tiling)
    )
    local = p.w.copied(i, [v.local for v in operands], shape, **changes)
    p.w.collectives.append(local)
    if not i.shape.is_tuple:
        return ShardedValue(local, i.shape, tiling)
    return [
        ShardedValue(p.w.element(local, k), part, tiling)
        for k, part in enumerate(i.shape.tuple_shapes)
    ]


def _check_groups(p: Partitioner, i: HloInstruction, manual: frozenset[int]) -> None:
    """Raise ShardingError for groups that leave a manual subgroup."""
    groups = i.attributes.get("replica_groups")
    free = p.axes.index(tuple([k for k in range(len(p.axes.sizes)) if k not in manual]))
    for group in groups.groups if groups is not None else ():
        if max(group) < len(free) and len({free[device] for device in group}) > 1:
            raise sharding_error(
                i,
                f"Manual {i.opcode.name} across devices that belong to different manual subgroups: {list(group)}",
                "group devices that differ only along manual axes",
            )
