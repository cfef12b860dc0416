"""An all-reduce over partitions and one over replicas behind it, as one over all devices.

Source: xla/service/ar_crs_combiner.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
bitcasts, transposes, reshapes, converts       the same, each with one reader
within floats or integers, float additions,
subtractions and products between the two
several all-reduces before one over replicas   the one farthest away
another summand                                divided by the number of partitions, or its own
                                               all-reduce removed
programs of one partition each (MPMD)          the chains of all partitions must be equal
SPMD programs                                  the values between must be equal on partitions
groups of one replica with all partitions      required
a replicated all-reduce of at least 8 replicas the same: over all devices, then divided
a partition (f32, SPMD)
equal tuples of loops and conditionals (MPMD)  only by equal structure; hole for the rest
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.transforms.collectives.decomposers.collective_permute_cycle_decomposer import (
    next_channel,
)
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.hlo.analysis.replication import Replication
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_MOVES = frozenset(["bitcast", "transpose", "reshape"])
_SUMS = frozenset(["add", "subtract"])
_LEAST_REPLICAS = 8  # a partition


class Pair(NamedTuple):
    """An all-reduce over partitions, the one over replicas behind it, and the steps between."""

    first: HloInstruction
    second: HloInstruction
    distance: int


def over_partitions(i: HloInstruction) -> bool:
    """Return True for an all-reduce with a channel."""
    return i.opcode.name == "all-reduce" and bool(i.attributes.get("channel_id"))


def over_replicas(i: HloInstruction) -> bool:
    """Return True for an all-reduce without a channel."""
    return i.opcode.name == "all-reduce" and not i.attributes.get("channel_id")


def _passes(i: HloInstruction) -> bool:
    """Return True if a sum over partitions may move past the instruction."""
    if len(i.users) != 1 or not i.shape.is_array:
        return False
    name, kind = i.opcode.name, i.shape.element_type
    if name == "convert":
        return kind.is_float == i.operands[0].shape.element_type.is_float
    return name in _MOVES or (name in (*_SUMS, "multiply") and kind.is_float)


def has_own_groups(i: HloInstruction, replicas: int, partitions: int) -> bool:
    """Return True if each replica is a group of its own, with all of its partitions."""
    found = i.attributes.get("replica_groups")
    groups = found.groups if found is not None else ()
    if not i.attributes.get("use_global_device_ids"):
        return len(groups) == replicas
    return len(groups) == replicas and all(
        len(set(g)) == partitions and len({d // partitions for d in g}) == 1 for g in groups
    )


def pair_of(i: HloInstruction, replicas: int, partitions: int) -> Pair | None:
    """Return the pair that starts with the all-reduce, or None."""
    if (
        not over_partitions(i)
        or len(i.users) != 1
        or reduction_kind(i) != "add"
        or not has_own_groups(i, replicas, partitions)
    ):
        return None
    distance, [next_] = 1, i.users
    while not over_replicas(next_):
        if not _passes(next_):
            return None
        [next_] = next_.users
        distance += 1
    groups = next_.attributes.get("replica_groups")
    alone = groups is not None and groups.groups and all(len(g) == 1 for g in groups.groups)
    if alone or reduction_kind(next_) != "add":
        return None
    return Pair(i, next_, distance)


def compute_same(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if both compute the same value, taking equal channels for equal values."""
    if a is b:
        return True
    rows = [x.attributes.with_values(sharding=None) for x in (a, b)]
    if a.opcode is not b.opcode or a.shape is not b.shape or rows[0] is not rows[1]:
        return False
    if over_partitions(a):
        return True
    if a.opcode.name == "parameter" or len(a.operands) != len(b.operands):
        return False
    if a.opcode.name == "constant":
        return bool(a.literal == b.literal)
    return all(compute_same(x, y) for x, y in zip(a.operands, b.operands, strict=True))


def chain_between(pair: Pair) -> list[HloInstruction]:
    """Return the instructions behind the first all-reduce, the second one last."""
    chain = list(pair.first.users)
    while chain[-1] is not pair.second:
        chain += chain[-1].users
    return chain


@register_pass()
@dataclasses.dataclass(frozen=True)
class ArCrsCombiner:
    """Sum once over all devices, after the values between have passed the first sum.

    num_spatial_partitions: the number of partitions. spmd_partition: one program runs on all.
    replica_count: the number of replicas, if the module does not state it.
    """

    name: ClassVar[str] = "ar-crs-combiner"
    num_spatial_partitions: int = 2
    spmd_partition: bool = True
    replica_count: int = 0

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Combine the pairs by channel, then replicated sums."""
        stated = self.replica_count or int(module.attributes.get("replica_count") or 1)
        replicas = self._replicas_in_groups(module, stated)
        groups = self._groups(module, replicas)
        changed = False
        for pairs in groups:
            if self._is_legal(module, pairs):
                if context.decide(self.name, (), (), pairs[0].first) is None:
                    for pair in pairs:
                        context.rewrote(self.name, pair.first, pair.second)
                        self._combine(pair)
                    changed = True
        if self.spmd_partition and replicas >= _LEAST_REPLICAS * self.num_spatial_partitions:
            changed |= self._replicated(module, context)
        return changed

    @staticmethod
    def _replicas_in_groups(module: HloModule, stated: int) -> int:
        """Return the number of replicas; groups of one name it where the module does not."""
        if "replica_count" in module.attributes or stated > 1:
            return stated
        found = [
            i.attributes["replica_groups"].groups
            for i in module.instructions()
            if over_replicas(i) and i.attributes.get("replica_groups") is not None
        ]
        return max([sum(map(len, groups)) for groups in found], default=stated) or stated

    def _groups(self, module: HloModule, replicas: int) -> list[list[Pair]]:
        """Return the pairs by channel; of several before one sum, the farthest."""
        by_second: dict[HloInstruction, Pair] = {}
        for i in list(module.instructions()):
            pair = pair_of(i, replicas, self.num_spatial_partitions)
            if pair is not None:
                known = by_second.get(pair.second)
                if known is None or known.distance < pair.distance:
                    by_second[pair.second] = pair
        channels: dict[int, list[Pair]] = {}
        for pair in by_second.values():
            channels.setdefault(pair.first.attributes["channel_id"], []).append(pair)
        return list(channels.values())

    def _is_legal(self, module: HloModule, pairs: list[Pair]) -> bool:
        chains = [chain_between(pair) for pair in pairs]
        if self.spmd_partition:
            replication = Replication(module, self.num_spatial_partitions)
            return all(replication.is_replicated(i) for chain in chains for i in chain)
        return len(pairs) == self.num_spatial_partitions and all(
            len(chain) == len(chains[0])
            and all(compute_same(x, y) for x, y in zip(chains[0], chain, strict=True))
            for chain in chains[1:]
        )

    def _combine(self, pair: Pair) -> None:
        """Remove the first sum, divide the other summands, and sum over all devices."""
        computation, channel = pair.first.parent, pair.first.attributes["channel_id"]
        chain = chain_between(pair)
        before = pair.first.operands[0]
        computation.replace(pair.first, before)
        computation.remove(pair.first)
        for i in chain[:-1]:
            if i.opcode.name in _SUMS:
                number = 1 if i.operands[0] is before else 0
                other = i.operands[number]
                if over_partitions(other) and len(other.users) == 1:
                    computation.replace(other, other.operands[0])
                    computation.remove(other)
                else:
                    count = splat_constant(computation, other.shape, self.num_spatial_partitions)
                    part = computation.add("divide", other.shape, (other, count))
                    computation.replace_operand(i, number, part)
            before = i
        attributes = pair.second.attributes.with_values(channel_id=channel)
        computation.set_attributes(pair.second, attributes)

    def _replicated(self, module: HloModule, context: PassContext) -> bool:
        """Sum replicated values over all devices, and divide by the number of partitions."""
        replication = Replication(module, self.num_spatial_partitions)
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                groups = i.attributes.get("replica_groups")
                if (
                    over_replicas(i)
                    and (groups is None or len(groups.groups) <= 1)
                    and i.shape.is_array
                    and i.shape.element_type.name == "f32"
                    and replication.is_replicated(i)
                    and context.decide(self.name, (), (), i) is None
                ):
                    users, was_root = list(i.users), i.is_root
                    count = splat_constant(computation, i.shape, self.num_spatial_partitions)
                    mean = computation.add("divide", i.shape, (i, count))
                    context.rewrote(self.name, i, mean, (mean.id,))
                    channel = next_channel(module)
                    computation.set_attributes(i, i.attributes.with_values(channel_id=channel))
                    for user in users:
                        operands = [mean if o is i else o for o in user.operands]
                        computation.set_operands(user, operands)
                    if was_root:
                        computation.set_root(mean)
                    changed = True
        return changed
