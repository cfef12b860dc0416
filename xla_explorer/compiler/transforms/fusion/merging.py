"""Several fusions made into one fusion with several results: which may be, and how."""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.transforms.fusion.building import LOOP
from xla_explorer.compiler.transforms.fusion.cost_model import emitted_instructions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION, GET_TUPLE_ELEMENT, PARAMETER, TUPLE
from xla_explorer.hlo.shape import tuple_shape

_SEARCH_LIMIT = 400


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


def would_create_cycle(
    a: LoopCluster, b: LoopCluster, cluster_of: dict[HloInstruction, LoopCluster], place: dict[HloInstruction, int]
) -> Reason | None:
    """Is there no way from one cluster to the other through something else? cluster_of: of every fusion that may be in one; place: an
    order of execution."""
    inside = {*a.members, *b.members}
    last = max([place[m] for m in inside])
    seen: set[HloInstruction] = set(inside)
    stack = [u for m in inside for u in m.users]
    budget = _SEARCH_LIMIT
    while stack:
        i = stack.pop()
        if i in seen:
            continue
        cluster = cluster_of.get(i)
        if place[i] >= last and (cluster is None or cluster.first >= last):
            continue  # no way back from there: everything that follows stands later still
        budget -= 1
        if budget < 0:
            names = f"%{a.members[0].name} and %{b.members[0].name}"
            return refuse("would-create-cycle", f"the search for a path between {names} was given up", searched=_SEARCH_LIMIT)
        for member in cluster.members if cluster is not None else (i,):
            seen.add(member)
            for user in member.users:
                if user in inside:
                    return refuse("would-create-cycle", f"%{user.name} needs one of them through %{member.name}", through=member.name)
                if user not in seen:
                    stack.append(user)
    return None


def merge_cluster(
    computation: HloComputation, cluster: LoopCluster, place: dict[HloInstruction, int], kind: Attributes = LOOP
) -> HloInstruction:
    """Replace the members by one fusion; what nobody outside reads is no result of it (a member with several results keeps them all).
    place: an order of the members."""
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
        roots = [leaf for m in results for leaf in (inner[m].operands if m.shape.is_tuple else (inner[m],))]
        shape = tuple_shape([leaf.shape for leaf in roots])
        fused.root = fused.add(TUPLE, shape, roots)
        for tuple_inside in dict.fromkeys([inner[m] for m in results if m.shape.is_tuple]):
            fused.remove(tuple_inside)
    words = list(dict.fromkeys([m.name.removesuffix("_fusion").split(".")[0].removesuffix("_fusion").split("_")[-1] for m in results]))
    fusion = computation.add(
        FUSION, shape, operands, kind, called=(fused,), name="_".join(words[:4]) + "_fusion", metadata=results[-1].metadata
    )
    fusion.line = results[-1].line
    number = 0
    for member in results:
        if len(results) == 1:
            computation.replace(member, fusion)
            break
        leaves = member.shape.tuple_shapes if member.shape.is_tuple else (member.shape,)
        read = list(member.users)
        made_elements = [
            computation.add(GET_TUPLE_ELEMENT, leaf, (fusion,), attributes_of({"index": number + k})) for k, leaf in enumerate(leaves)
        ]
        number += len(leaves)
        if not member.shape.is_tuple:
            computation.replace(member, made_elements[0])
            continue
        for element in read:
            computation.replace(element, made_elements[int(element.attribute("index"))])
            computation.remove(element)
    for member in reversed(members):
        member.called = ()
        computation.remove(member)
    return fusion


def is_taken_apart(fusion: HloInstruction) -> bool:
    """Whether a fusion has one result, or nobody reads the tuple of its results as a whole."""
    return fusion.shape.is_array or (
        not fusion.is_root and all(u.opcode is GET_TUPLE_ELEMENT and not u.is_root and not u.control_predecessors for u in fusion.users)
    )
