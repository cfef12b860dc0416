"""Collectives in a program of one device: copies, zeros, or unsupported."""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

COPIES = frozenset(
    {
        "all-reduce",
        "all-gather",
        "all-to-all",
        "reduce-scatter",
        "collective-permute",
        "collective-broadcast",
        "collective-reduce",
    }
)
IDENTIFIERS = frozenset({"replica-id", "partition-id"})  # zero on the only device


def runs_on_several(module: HloModule) -> bool:
    """Return True if the module states several replicas or partitions."""
    names = ("replica_count", "num_partitions")
    return any(int(module.attributes.get(name) or 1) > 1 for name in names)


def collective_on_one_device(i: HloInstruction, module: HloModule) -> Reason | None:
    """Return a refusal unless a collective is a copy or zero on one device.

    For the opcodes of COPIES and IDENTIFIERS.
    """
    devices = [module.attributes.get(name) or 1 for name in ("replica_count", "num_partitions")]
    if devices != [1, 1]:
        return refuse(
            "several-devices",
            f"the module runs on {devices[0]} replicas of {devices[1]} partitions",
            devices=devices,
        )
    if i.opcode.name in IDENTIFIERS:
        return None
    results = [leaf for _, leaf in i.shape.leaves()]
    same = len(results) == len(i.operands) and all(
        o.shape.is_array and o.shape == leaf for o, leaf in zip(i.operands, results, strict=True)
    )
    if not same:
        return refuse(
            "shape-changes", f"operand and result of %{i.name} must have one shape on one device"
        )
    if i.opcode.name == "collective-permute":
        pairs = [tuple(pair) for pair in i.attributes.get("source_target_pairs") or ()]
        if pairs != [(0, 0)]:
            return refuse("other-devices", f"%{i.name} sends between devices {pairs}", pairs=pairs)
        return None
    groups = i.attributes.get("replica_groups")
    if groups is not None and any(group not in ((), (0,)) for group in groups.groups):
        return refuse(
            "other-devices", f"%{i.name} names other devices: {groups.text}", groups=groups.text
        )
    return None
