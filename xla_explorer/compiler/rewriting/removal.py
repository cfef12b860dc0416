"""Replacement and removal of instructions with metadata, control edges and dead operands."""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import PARAMETER

ENTRY_OUTPUT_SHARDING = "sharding"


def control_targets(computation: HloComputation) -> frozenset[HloInstruction]:
    """Return the instructions that are control predecessors of others."""
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
    """Return why `new` may not replace `old` (XLA's "compatible replace"), or None.

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
        return refuse("sharding-differs", f"%{old.name} and %{new.name} have different shardings")
    return None


def replace_instruction(
    computation: HloComputation, old: HloInstruction, new: HloInstruction, created_from: int
) -> None:
    """Replace `old`; `new` inherits a sharding that it lacks.

    A new instruction (id >= created_from) inherits the metadata too.
    """
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
    """Copy the named attributes that `new` lacks from `old`, if both have the same shape."""
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
    """Remove `start` if it has no users, then operands that become dead; return the number removed.

    The root, parameters, instructions with side effects and those with control edges stay.
    on_single: called with operands that have one user left, because rules that demand a single use
    may match now.
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
    """Make `new` the root; remove the old root and operands that become dead.

    `new` inherits the control predecessors of the old root. For a root without other users.
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
    """Replace `old` by `new` with its control edges; remove `old`, side effects or not.

    Operands that become dead are removed. created_from: instructions of this computation with an id
    from there on inherit the metadata of `old` if they have none. Source:
    HloComputation::ReplaceInstruction with its control dependencies relayed.
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
    """Return the instructions that must run after `i` by a control edge."""
    return [
        x
        for x in computation.instructions.values()
        if x.control_predecessors and i in x.control_predecessors
    ]


def order_callees_first(module: HloModule) -> None:
    """Restore the order of the module's computations after new ones were added.

    Uncalled computations come first, then callees before callers.
    """
    order = module.post_order_computations()
    reached = set(order)
    module.computations = {
        c.name: c for c in [*[c for c in module.computations.values() if c not in reached], *order]
    }
