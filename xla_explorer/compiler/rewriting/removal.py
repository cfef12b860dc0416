"""Replacing and removing instructions with all that belongs to it: metadata, control edges, operands that die with
them."""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import PARAMETER

ENTRY_OUTPUT_SHARDING = "sharding"


def has_side_effect(i: HloInstruction) -> bool:
    """Whether removing, repeating or merging it could be noticed; looks into called computations.

    Source: HloInstruction::HasSideEffect. A custom call says it by its attribute, a call by what it calls.
    """
    if not i.called or i.opcode.side_effect or i.opcode.name == "custom-call":
        return _has_itself(i)
    pending, seen = (
        list(i.called),
        set(i.called),
    )  # each computation once, however often it is called
    while pending:
        for inner in pending.pop().instructions.values():
            if _has_itself(inner):
                return True
            if inner.called and inner.opcode.name != "custom-call":
                new = [c for c in inner.called if c not in seen]
                seen.update(new)
                pending += new
    return False


def _has_itself(i: HloInstruction) -> bool:
    if i.opcode.name == "custom-call":
        return bool(i.attributes.get("custom_call_has_side_effect"))
    return i.opcode.side_effect


def control_targets(computation: HloComputation) -> frozenset[HloInstruction]:
    """Instructions that another one names as its control predecessor."""
    return frozenset(
        [
            p
            for i in computation.instructions.values()
            if i.control_predecessors
            for p in i.control_predecessors
        ]
    )


def compatible_replacement(
    old: HloInstruction, new: HloInstruction, targets: frozenset[HloInstruction]
) -> Reason | None:
    """XLA's "compatible replace": why `new` may not take the place of `old`, or None.

    Refuses other shapes (layouts may differ), control edges at `old`, and the loss of a sharding.
    """
    if old.shape is not new.shape and old.shape.base is not new.shape.base:
        return refuse(
            "shape-differs",
            f"%{old.name} is {old.shape}, %{new.name} is {new.shape}",
            old=old.shape.text,
            new=new.shape.text,
        )
    if old.control_predecessors or old in targets:
        return refuse(
            "control-dependency", f"%{old.name} has control edges that a replacement would lose"
        )
    mine = old.attributes.get(ENTRY_OUTPUT_SHARDING)
    if mine is not None and new.attributes.get(ENTRY_OUTPUT_SHARDING) not in (None, mine):
        return refuse("sharding-differs", f"%{old.name} and %{new.name} are sharded differently")
    return None


def replace_instruction(
    computation: HloComputation, old: HloInstruction, new: HloInstruction, created_from: int
) -> None:
    """Replace; the new instruction inherits sharding that it lacks and, if it was just made (id >= created_from),
    metadata."""
    if new.id >= created_from and new.metadata is None and old.metadata is not None:
        new.metadata = old.metadata
        new._record = None
    inherit_sharding(old, new)
    computation.replace(old, new)


def inherit_sharding(
    old: HloInstruction,
    new: HloInstruction,
    names: tuple[str, ...] = ("sharding", "frontend_attributes"),
) -> None:
    """What takes the place of an instruction of the same shape takes over the named attributes that it lacks."""
    if old.attributes.sharding_text and old.shape.base is new.shape.base:
        inherited = {
            name: old.attributes[name]
            for name in names
            if name in old.attributes and name not in new.attributes
        }
        if inherited:
            new.parent.set_attributes(new, new.attributes.with_values(**inherited))


def remove_if_dead(
    computation: HloComputation,
    start: HloInstruction,
    targets: frozenset[HloInstruction] = frozenset(),
    on_single: Callable[[HloInstruction], None] | None = None,
) -> int:
    """Remove `start` when nobody uses it, then operands that die with it. Returns the number removed.

    Parameters, the root, what has side effects and what control edges name all stay. on_single: told about operands
    that have one user left, because rules that demand a single use may fit now.
    """
    removed, work, root = 0, [start], computation.root
    while work:
        i = work.pop()
        if (
            i.users
            or i is root
            or i.opcode is PARAMETER
            or i in targets
            or i.control_predecessors
            or i.id not in computation.instructions
            or has_side_effect(i)
        ):
            continue
        operands = i.operands
        computation.remove(i)
        removed += 1
        for operand in operands:
            if not operand.users:
                work.append(operand)
            elif on_single is not None and len(operand.users) == 1:
                on_single(operand)
    return removed


def replace_root(computation: HloComputation, new: HloInstruction) -> None:
    """`new` becomes the root, runs after what the old root ran after, and the old one goes with what only it read.

    For a root that nobody else reads: as what it was an element of changes, it must not stay, whatever control edges it has.
    """
    old = computation.root
    computation.set_root(new)
    if old.control_predecessors and old is not new:
        computation.set_control_predecessors(
            new, dict.fromkeys([*new.control_predecessors, *old.control_predecessors])
        )
        computation.set_control_predecessors(old, ())
    remove_if_dead(computation, old)


def substitute(old: HloInstruction, new: HloInstruction, created_from: int | None = None) -> None:
    """`new` takes the place of `old` with its control edges, and `old` goes, side effects or not, with what only it read.

    created_from: instructions of this computation with an id from there on inherit the metadata of `old` where they have none.
    Source: HloComputation::ReplaceInstruction with its control dependencies relayed.
    """
    computation = old.parent
    if created_from is not None and old.metadata is not None:
        for number in range(created_from, computation.module.next_instruction_id):
            made = computation.instructions.get(number)
            if made is not None and made.metadata is None:
                made.metadata, made._record = old.metadata, None
    inherit_sharding(old, new, ("sharding", "frontend_attributes", "origin"))
    if old.control_predecessors:
        computation.set_control_predecessors(
            new, dict.fromkeys([*new.control_predecessors, *old.control_predecessors])
        )
        computation.set_control_predecessors(old, ())
    for after in [i for i in control_users(computation, old) if i is not new]:
        computation.set_control_predecessors(
            after, dict.fromkeys([new if p is old else p for p in after.control_predecessors])
        )
    computation.replace(old, new)
    operands = old.operands
    computation.remove(old)
    targets = control_targets(computation)
    for operand in dict.fromkeys(operands):
        remove_if_dead(computation, operand, targets)


def control_users(computation: HloComputation, i: HloInstruction) -> list[HloInstruction]:
    """Instructions that must run after `i` by a control edge."""
    return [
        x
        for x in computation.instructions.values()
        if x.control_predecessors and i in x.control_predecessors
    ]


def order_callees_first(module: HloModule) -> None:
    """Put the module's computations in order again after new ones were added: uncalled ones first, then callees before callers."""
    order = module.post_order_computations()
    reached = set(order)
    module.computations = {
        c.name: c for c in [*[c for c in module.computations.values() if c not in reached], *order]
    }
