"""Merging of fusions into one fusion with several results."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.costs.opcode_cost import emitted_instructions
from xla_explorer.compiler.transforms.fusion.building import LOOP
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION, GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.shape import tuple_shape


class LoopCluster:
    """Loop fusions that will share one loop.

    emitted: approximate LLVM instructions per element. reads: operands of the members.
    """

    __slots__ = ("emitted", "members", "reads")

    def __init__(self, fusion: HloInstruction) -> None:
        self.members = [fusion]
        self.reads = set(fusion.operands)
        self.emitted = sum(
            [emitted_instructions(i) for i in fusion.called[0].instructions.values()]
        )

    def take(self, other: LoopCluster) -> None:
        """Add another cluster to this one."""
        self.members.extend(other.members)
        self.reads |= other.reads
        self.emitted += other.emitted


def merge_cluster(
    computation: HloComputation,
    cluster: LoopCluster,
    place: dict[HloInstruction, int],
    kind: Attributes = LOOP,
) -> HloInstruction:
    """Replace the members by one fusion; values without outside readers are not results.

    A member with several results keeps them all. place: an order of the members.
    """
    members = sorted(cluster.members, key=place.__getitem__)
    inside = set(members)
    operands = list(dict.fromkeys([o for m in members for o in m.operands if o not in inside]))
    results = [
        m for m in members if m is computation.root or any(u not in inside for u in m.users)
    ] or members[-1:]  # dead code
    fused = _merged_bodies(members, operands, results)
    fusion = computation.add(
        FUSION,
        fused.root.shape,
        operands,
        kind,
        called=(fused,),
        name=_cluster_name(results),
        metadata=results[-1].metadata,
    )
    fusion.line = results[-1].line
    if len(results) == 1:
        computation.replace(results[0], fusion)
    else:
        _replace_by_elements(computation, results, fusion)
    for member in reversed(members):
        member.called = ()
        computation.remove(member)
    return fusion


def _merged_bodies(
    members: list[HloInstruction], operands: list[HloInstruction], results: list[HloInstruction]
) -> HloComputation:
    """Return the fused computation of all members, and remove theirs."""
    module = members[0].parent.module
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
                same = made.get(key)  # values of several members are computed once
                if same is None:
                    i.operands, i.users, i._record = arguments, {}, None
                    same = made[key] = fused.insert(i)
                known[i] = same
        inner[member] = known[body.root]
        module.remove_computation(body)
    if len(results) == 1:
        fused.root = inner[results[0]]
        return fused
    roots = [
        leaf for m in results for leaf in (inner[m].operands if m.shape.is_tuple else (inner[m],))
    ]
    fused.root = fused.add(TUPLE, tuple_shape([leaf.shape for leaf in roots]), roots)
    for tuple_inside in dict.fromkeys([inner[m] for m in results if m.shape.is_tuple]):
        fused.remove(tuple_inside)
    return fused


def _cluster_name(results: list[HloInstruction]) -> str:
    """Return a name such as `add_reduce_fusion`."""
    words = [
        m.name.removesuffix("_fusion").split(".")[0].removesuffix("_fusion").split("_")[-1]
        for m in results
    ]
    return "_".join(list(dict.fromkeys(words))[:4]) + "_fusion"


def _replace_by_elements(
    computation: HloComputation, results: list[HloInstruction], fusion: HloInstruction
) -> None:
    """Replace members, or the elements of their tuples, by elements of the fusion's tuple."""
    number = 0
    for member in results:
        leaves = member.shape.tuple_shapes if member.shape.is_tuple else (member.shape,)
        read = list(member.users)
        made_elements = [
            computation.add(
                GET_TUPLE_ELEMENT, leaf, (fusion,), attributes_of({"index": number + k})
            )
            for k, leaf in enumerate(leaves)
        ]
        number += len(leaves)
        if not member.shape.is_tuple:
            computation.replace(member, made_elements[0])
            continue
        for element in read:
            computation.replace(element, made_elements[int(element.attribute("index"))])
            computation.remove(element)


def is_read_only_by_elements(fusion: HloInstruction) -> bool:
    """Return True if a fusion has one result, or its tuple is read only by elements."""
    return fusion.shape.is_array or (
        not fusion.is_root
        and all(
            u.opcode is GET_TUPLE_ELEMENT and not u.is_root and not u.control_predecessors
            for u in fusion.users
        )
    )
