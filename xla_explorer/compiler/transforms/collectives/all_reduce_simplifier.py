"""Collective reductions of what every device holds alike, and of groups of one.

Source: xla/hlo/transforms/collectives/all_reduce_simplifier.cc and all_reduce_folder.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.compiler.transforms.expanders.op_expander_pass import OpExpanderPass, own_attributes, values_of
from xla_explorer.hlo.attributes import CODECS
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


def group_size(i: HloInstruction, replicas: int) -> int | None:
    """Devices in each group; None when unknown or different."""
    groups = i.attributes.get("replica_groups")
    sizes = {len(g) for g in groups.groups} if groups is not None and groups.groups else {replicas}
    found = sizes.pop() if len(sizes) == 1 else 0
    return found or None


def replicated(i: HloInstruction) -> bool:
    """Whether every device holds the same value."""
    name = i.opcode.name
    if name == "parameter":
        return i.attributes.get("parameter_replication") == "{true}" or "replicated" in (i.attributes.get("sharding") or "")
    if name in ("constant", "iota"):
        return True
    if name == "all-reduce":
        groups = i.attributes.get("replica_groups")
        return groups is None or len(groups.groups) <= 1
    return bool(i.operands) and (i.opcode.elementwise or name in ("broadcast", "reshape", "transpose")) and all(map(replicated, i.operands))


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceSimplifier(OpExpanderPass):
    """A sum of equal values is a product with the number of devices, their minimum or maximum the value; a group of one does nothing.

    replica_count: devices when the groups do not say.
    """

    name: ClassVar[str] = "all-reduce-simplifier"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-reduce", "reduce-scatter", "all-gather"])
    replica_count: int = 0

    def matches(self, i: HloInstruction) -> bool:
        """One operand of a known group."""
        if len(i.operands) != 1:
            return False
        size = group_size(i, self.replica_count or int(i.parent.module.attributes.get("replica_count", 0) or 0))
        return size == 1 or (
            size is not None and i.opcode.name == "all-reduce" and replicated(i.operands[0]) and reduction_kind(i) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """By kind."""
        [x] = values_of(b, i)
        size = group_size(i, self.replica_count or int(i.parent.module.attributes.get("replica_count", 0) or 0))
        kind = reduction_kind(i)
        if size == 1 or kind in ("minimum", "maximum", "and", "or"):
            return x if i.shape.base is x.shape.base else None
        if kind != "add":
            return None
        return x * b.broadcast(b.constant(size, S32).astype(x.dtype), i.shape.dimensions, ())


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceFolder(OpExpanderPass):
    """all-reduce of an all-reduce over other groups becomes one over their product."""

    name: ClassVar[str] = "all-reduce-folder"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-reduce"])

    def matches(self, i: HloInstruction) -> bool:
        """Two of the same kind whose groups cross."""
        inner = i.operands[0]
        return (
            len(i.operands) == 1
            and inner.opcode.name == "all-reduce"
            and len(inner.operands) == 1
            and len(inner.users) == 1
            and reduction_kind(i) is not None
            and reduction_kind(i) == reduction_kind(inner)
            and folded_groups(i, inner) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """One all-reduce."""
        groups = folded_groups(i, i.operands[0]) or []
        text = "{" + ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups]) + "}"
        given = own_attributes(i) | {"replica_groups": CODECS["replica_groups"].read(text), "to_apply": i.called[0]}
        return b.emit("all-reduce", values_of(b, i.operands[0]), given)


def folded_groups(outer: HloInstruction, inner: HloInstruction) -> list[list[int]] | None:
    """The groups of one reduction that does what both do; None when some device would count twice or the groups are not explicit."""
    groups, inner_groups = [i.attributes.value("replica_groups") for i in (outer, inner)]
    if groups is None or inner_groups is None or not groups.groups or not inner_groups.groups:
        return None
    of = {device: group for group in inner_groups.groups for device in group}
    made = []
    for group in groups.groups:
        if any(device not in of for device in group):
            return None
        members = [device for each in group for device in of[each]]
        if len(set(members)) != len(members):
            return None
        made.append(sorted(members))
    unique = [list(g) for g in dict.fromkeys(map(tuple, made))]
    return unique if len({d for g in unique for d in g}) == sum(map(len, unique)) else None
