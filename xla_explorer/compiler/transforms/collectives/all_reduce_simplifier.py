"""Simplification of collectives on replicated values, and over groups of one device.

Source: xla/hlo/transforms/collectives/all_reduce_simplifier.cc.

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
sums of replicated values                   a product with the number of devices
minimum, maximum, and, or of them           the value
groups of one device: sums, gathers         the operand, if the shape is the same
channels without global device ids          unchanged: their groups span all partitions
replicated parameters, constants, results   the same, by a walk over elementwise operations; hole:
of all-reduces                              tuples, loops and calls
==========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32

# Reductions of equal values that give the value, over any number of devices.
_IDEMPOTENT = frozenset(["minimum", "maximum", "and", "or"])


def group_size(i: HloInstruction, replicas: int) -> int | None:
    """Return the number of devices in each group; None if unknown or different."""
    groups = i.attributes.get("replica_groups")
    sizes = {len(g) for g in groups.groups} if groups is not None and groups.groups else {replicas}
    found = sizes.pop() if len(sizes) == 1 else 0
    return found or None


def replicated(i: HloInstruction) -> bool:
    """Return True if every device holds the same value."""
    name = i.opcode.name
    if name == "parameter":
        return i.attributes.get("parameter_replication") == "{true}" or "replicated" in (
            i.attributes.get("sharding") or ""
        )
    if name in ("constant", "iota"):
        return True
    if name == "all-reduce":
        groups = i.attributes.get("replica_groups")
        return groups is None or len(groups.groups) <= 1
    return (
        bool(i.operands)
        and (i.opcode.elementwise or name in ("broadcast", "reshape", "transpose"))
        and all(map(replicated, i.operands))
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceSimplifier(OpExpanderPass):
    """Replace all-reduces of replicated values, and collectives over groups of one device.

    A sum of equal values becomes a product with the number of devices; a minimum or maximum becomes
    the value. A collective over one device becomes its operand. replica_count: number of devices if
    the groups do not list them.
    """

    name: ClassVar[str] = "all-reduce-simplifier"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-reduce", "reduce-scatter", "all-gather"])
    replica_count: int = 0

    def matches(self, i: HloInstruction) -> bool:
        """Return True for one operand and groups of a known size."""
        across = i.attributes.get("channel_id") and not i.attributes.get("use_global_device_ids")
        if len(i.operands) != 1 or across:  # groups of replicas, summed over their partitions
            return False
        size = group_size(
            i, self.replica_count or int(i.parent.module.attributes.get("replica_count", 0) or 0)
        )
        known = size is not None or reduction_kind(i) in _IDEMPOTENT
        return size == 1 or (
            known
            and i.opcode.name == "all-reduce"
            and replicated(i.operands[0])
            and reduction_kind(i) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the replacement for the kind of reduction, or None."""
        [x] = values_of(b, i)
        size = group_size(
            i, self.replica_count or int(i.parent.module.attributes.get("replica_count", 0) or 0)
        )
        kind = reduction_kind(i)
        if size == 1 or kind in _IDEMPOTENT:
            return x if i.shape.base is x.shape.base else None
        if kind != "add":
            return None
        return x * b.broadcast(b.constant(size, S32).astype(x.dtype), i.shape.dimensions, ())
