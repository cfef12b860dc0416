"""Several loop fusions made into one fusion with several results."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.transforms.fusion.building import LOOP
from xla_explorer.compiler.transforms.fusion.cost_model import emitted_instructions
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION, GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.shape import tuple_shape


class LoopCluster:
    """Loop fusions that will share one loop. emitted: LLVM instructions per element, about. first: place of the earliest."""

    __slots__ = ("emitted", "first", "members")

    def __init__(self, fusion: HloInstruction, place: int) -> None:
        self.members = [fusion]
        self.first = place
        self.emitted = sum([emitted_instructions(i) for i in fusion.called[0].instructions.values()])

    def take(self, other: LoopCluster) -> None:
        """Join another cluster to this one."""
        self.members.extend(other.members)
        self.first = min(self.first, other.first)
        self.emitted += other.emitted


def merge_cluster(computation: HloComputation, cluster: LoopCluster, place: dict[HloInstruction, int]) -> HloInstruction:
    """Replace the members by one fusion; what nobody outside reads is no result of it. place: an order of the members."""
    members = sorted(cluster.members, key=place.__getitem__)
    inside = set(members)
    module = computation.module
    operands = list(dict.fromkeys([o for m in members for o in m.operands if o not in inside]))
    results = [m for m in members if m is computation.root or any(u not in inside for u in m.users)] or members[-1:]  # (dead code)
    fused = module.add_computation(module.names.unique("fused_computation"))
    inner = {o: fused.add_parameter(number, o.shape) for number, o in enumerate(operands)}
    made: dict[Any, HloInstruction] = {}
    for member in members:
        body = member.called[0]
        known: dict[HloInstruction, HloInstruction] = {}
        for i in list(body.post_order()):
            if i.opcode is PARAMETER:
                known[i] = inner[member.operands[int(i.payload)]]
        for i in list(body.post_order()):
            if i.opcode is not PARAMETER:
                arguments = tuple([known[o] for o in i.operands])
                key = (i.opcode, i.shape, arguments, i.attributes, i.called, i.payload)
                same = made.get(key)  # what several members compute is computed once
                if same is None:
                    i.operands, i.users, i._record = arguments, {}, None
                    same = made[key] = fused.insert(i)
                known[i] = same
        inner[member] = known[body.root]
        module.remove_computation(body)
    if len(results) == 1:
        fused.root, shape = inner[results[0]], results[0].shape
    else:
        shape = tuple_shape([m.shape for m in results])
        fused.root = fused.add(TUPLE, shape, [inner[m] for m in results])
    words = list(dict.fromkeys([m.name.removesuffix("_fusion").split(".")[0].removesuffix("_fusion").split("_")[-1] for m in results]))
    fusion = computation.add(
        FUSION, shape, operands, LOOP, called=(fused,), name="_".join(words[:4]) + "_fusion", metadata=results[-1].metadata
    )
    fusion.line = results[-1].line
    for number, member in enumerate(results):
        element = (
            fusion if len(results) == 1 else computation.add(GET_TUPLE_ELEMENT, member.shape, (fusion,), attributes_of({"index": number}))
        )
        computation.replace(member, element)
    for member in reversed(members):
        member.called = ()
        computation.remove(member)
    return fusion
