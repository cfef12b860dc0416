"""Copies of a fusion's result as further results of the fusion.

Source: xla/backends/gpu/transforms/copy_fusion.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
fusions of the entry, only elementwise from  the same
their parameters
copies behind an element or a bitcast        the same
roots that reduce, scatter, or slice in all  unchanged
results
dynamic-update-slice roots                   unchanged, unless other results are none
copies with control edges or another layout  not fused
the budget of operands and results           max_operands_and_outputs
large constant fills, copied anew            hole: the copies become results as elsewhere
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, substitute
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape


def only_elementwise_from_parameters(body: HloComputation) -> bool:
    """Return True if parameters reach elementwise operations, bitcasts and tuples only."""
    work, seen = list(body.parameters()), set(body.parameters())
    while work:
        i = work.pop()
        for user in i.users:
            name = user.opcode.name
            elementwise = user.opcode.elementwise and name != "copy"
            if not elementwise and name not in ("bitcast", "tuple"):
                return False
            if user not in seen:
                seen.add(user)
                work.append(user)
    return True


def _results(body: HloComputation) -> tuple[HloInstruction, ...]:
    return body.root.operands if body.root.opcode.name == "tuple" else (body.root,)


def _defines_update(i: HloInstruction) -> bool:
    while i.opcode.name in ("bitcast", "copy"):
        i = i.operands[0]
    return i.opcode.name == "dynamic-update-slice"


def may_get_results(fusion: HloInstruction) -> bool:
    """Return True if the kind of the fusion's roots allows further results."""
    body = fusion.called[0]
    root = body.root
    if fusion.attributes.get("kind") == "kCustom" or not only_elementwise_from_parameters(body):
        return False
    if root.opcode.name in ("reduce", "scatter"):
        return False
    several = root.opcode.name == "tuple"
    return not (several and all(r.opcode.name == "slice" for r in root.operands))


def copies_behind(fusion: HloInstruction) -> list[tuple[HloInstruction, ...]]:
    """Return the chains of element, bitcast and copy behind the fusion, the copy last."""
    found = []
    targets = control_targets(fusion.parent)
    several = fusion.called[0].root.opcode.name == "tuple"
    for user in fusion.users:
        chain = [user]
        if user.opcode.name == "get-tuple-element" and len(user.users) == 1:
            result = fusion.called[0].root.operands[int(user.attributes["index"])]
            if not several or result.opcode.name == "reduce":
                continue
            chain += user.users
        if chain[-1].opcode.name == "bitcast" and len(chain[-1].users) == 1:
            chain += chain[-1].users
        copy = chain[-1]
        if (
            copy.opcode.name == "copy"
            and copy.shape is copy.operands[0].shape
            and copy.shape.is_array
            and not copy.control_predecessors
            and copy not in targets
        ):
            found.append(tuple(chain))
    return found


@register_pass()
@dataclasses.dataclass(frozen=True)
class CopyFusion:
    """Write a copy of a result in the kernel that makes the result.

    max_operands_and_outputs: the most arrays of one kernel.
    """

    name: ClassVar[str] = "copy_fusion"
    max_operands_and_outputs: int = 96

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit the entry: elsewhere a copy may share its buffer with a parameter."""
        changed = False
        for fusion in list(module.entry.post_order()):
            if fusion.opcode.name != "fusion" or not may_get_results(fusion):
                continue
            chains = copies_behind(fusion)
            results = _results(fusion.called[0])
            updates = [r for r in results if _defines_update(r)]
            in_place = bool(updates) and len(updates) == len(results)
            count = len(fusion.operands) + len(results) + len(chains)
            if not chains or in_place or count > self.max_operands_and_outputs:
                continue
            if context.decide(self.name, (), (), fusion) is None:
                context.rewrote(self.name, fusion, fusion, (), {"copies": len(chains)})
                _add_results(fusion, chains)
                changed = True
        return changed


def _add_results(fusion: HloInstruction, chains: list[tuple[HloInstruction, ...]]) -> None:
    """Make each chain a further result of the fusion."""
    body, computation = fusion.called[0], fusion.parent
    old_root, results = body.root, list(_results(body))
    several = old_root.opcode.name == "tuple"
    before = computation.module.next_instruction_id
    for chain in chains:
        value = results[int(chain[0].attributes["index"])] if several else old_root
        for i in chain[1:] if several else chain:
            value = body.add(i.opcode, i.shape, (value,), i.attributes, metadata=i.metadata)
        results.append(value)
    body.set_root(body.add("tuple", tuple_shape([r.shape for r in results]), results))
    if several:
        body.remove(old_root)
    readers = [] if several else [u for u in fusion.users if all(u is not c[0] for c in chains)]
    was_root = fusion.is_root and not several
    computation.set_shape(fusion, body.root.shape)
    computation.set_attributes(fusion, fusion.attributes.with_values(sharding=None))

    def element(number: int) -> HloInstruction:
        index = attributes_of({"index": number})
        return computation.add("get-tuple-element", results[number].shape, (fusion,), index)

    first = len(results) - len(chains)
    if readers or was_root:
        whole = element(0)
        for user in readers:
            operands = [whole if o is fusion else o for o in user.operands]
            computation.set_operands(user, operands)
        if was_root:
            computation.set_root(whole)
    for number, chain in enumerate(chains, first):
        substitute(chain[-1], element(number), before)
