"""Building of a `fusion` instruction and its computation from a planned group.

Instructions of one fusion only move there, with id and name, so their history stays in one piece.
Instructions of several fusions are cloned for all but the last.
"""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction, new_instruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import FUSION

LOOP: Attributes = attributes_of({"kind": "kLoop"})
INPUT: Attributes = attributes_of({"kind": "kInput"})
_SILENT = frozenset({"constant", "parameter", "broadcast", "bitcast", "reshape", "convert", "copy"})


def _check_order(root: HloInstruction, members: list[HloInstruction]) -> None:
    """Raise XlaExplorerError unless the root is first, and each member before its operands."""
    number = {member: place for place, member in enumerate(members)}
    if not members or members[0] is not root:
        raise XlaExplorerError(
            f"the root %{root.name} must be the first member of its fusion",
            "give the members users before producers",
        )
    for member in members:
        for operand in member.operands:
            if number.get(operand, len(members)) < number[member]:
                message = (
                    f"%{operand.name} comes before its user %{member.name} among the members of "
                    "a fusion"
                )
                raise XlaExplorerError(
                    message, "give the members users before producers, the root first"
                )


def build_fusion(
    computation: HloComputation,
    root: HloInstruction,
    members: Iterable[HloInstruction],
    *,
    name: str | None = None,
    computation_name: str = "fused_computation",
    kind: Attributes | None = None,
) -> HloInstruction:
    """Replace `root` by a fusion of `members` (root first, users before producers).

    Members without other users are removed. kind: by default kInput for a reduction, else kLoop.
    """
    members = list(members)
    inside = set(members)
    _check_order(root, members)
    operands: dict[
        HloInstruction, None
        # in XLA's order: the root's first, then those of fused instructions, one after the other
    ] = {}
    for member in members:
        for operand in member.operands:
            if operand not in inside:
                operands.setdefault(operand)
    fused = computation.module.add_computation(computation.module.names.unique(computation_name))
    fused.execution_thread = computation.execution_thread
    fusion = computation.add(
        FUSION,
        root.shape,
        operands,
        _with_sharding(kind or (INPUT if root.opcode is fusible.REDUCE else LOOP), root),
        called=(fused,),
        name=name or fusion_name(members),
        metadata=root.metadata,
    )
    fusion.line = root.line
    inner: dict[HloInstruction, HloInstruction] = {
        operand: fused.add_parameter(number, operand.shape)
        for number, operand in enumerate(operands)
    }
    computation.replace(root, fusion)
    moved = set()
    for member in members:
        if not member.users and member is not computation.root:
            computation.remove(member)
            moved.add(member)
    for member in reversed(members):
        arguments = tuple([inner[o] for o in member.operands])
        if member in moved:
            member.operands = arguments
            member._record = None
            inner[member] = fused.insert(member)
        else:
            copy = new_instruction(
                computation.module.take_instruction_id(),
                computation.module.names.unique(f"{member.name}.clone"),
                member.opcode,
                member.shape,
                arguments,
                member.attributes,
                member.called,
                member.payload,
            )
            copy.metadata, copy.line = member.metadata, member.line
            inner[member] = fused.insert(copy)
    fused.root = inner[root]
    return fusion


def _with_sharding(kind: Attributes, root: HloInstruction) -> Attributes:
    """Return a fusion's attributes with the sharding and frontend attributes of its root."""
    beside = root.attributes
    if not beside.sharding_text:
        return kind
    return kind.with_values(
        sharding=beside.get("sharding"), frontend_attributes=beside.get("frontend_attributes")
    )


def fusion_name(members: list[HloInstruction]) -> str:
    """Return a name such as `multiply_add_fusion`: the last computing opcodes in order."""
    words: list[str] = []
    for member in members:
        word = member.opcode.name
        if word not in _SILENT and (not words or words[-1] != word):
            words.append(word)
            if len(words) == 3:
                break
    return "_".join(reversed(words or [members[0].opcode.name])) + "_fusion"


def order_callees_first(module: HloModule) -> None:
    """Restore the order of a module's computations after some were added."""
    order = module.post_order_computations()
    reached = set(order)
    unreached = [c for c in module.computations.values() if c not in reached]
    module.computations = {c.name: c for c in (*unreached, *order)}
