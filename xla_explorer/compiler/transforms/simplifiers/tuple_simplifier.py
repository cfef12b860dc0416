"""Removal of tuples that are only taken apart.

Source: xla/hlo/transforms/simplifiers/tuple_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import (
    control_targets,
    inherit_sharding,
    remove_if_dead,
)
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, TUPLE


def _source_of_elements(i: HloInstruction) -> HloInstruction | None:
    """Return t for a tuple(get-tuple-element(t, 0), ...) of all elements of t, or None."""
    source: HloInstruction | None = None
    for number, operand in enumerate(i.operands):
        if operand.opcode is not GET_TUPLE_ELEMENT or operand.attributes["index"] != number:
            return None
        if source is None:
            source = operand.operands[0]
        elif source is not operand.operands[0]:
            return None
    return source if source is not None and source.shape.base is i.shape.base else None


def simplify_tuples(computation: HloComputation) -> int:
    """Replace tuples until nothing changes; return the number of replacements."""
    count = 0
    targets = control_targets(computation)
    for i in list(computation.post_order()):
        if i.id not in computation.instructions or i.control_predecessors or i in targets:
            continue
        found: HloInstruction | None = None
        if i.opcode is GET_TUPLE_ELEMENT and i.operands[0].opcode is TUPLE:
            found = i.operands[0].operands[i.attributes["index"]]
            if found.shape.base is not i.shape.base:
                continue
        elif i.opcode is TUPLE and i.operands:
            found = _source_of_elements(i)
        if found is not None:
            inherit_sharding(i, found, ("sharding",))
            computation.replace(i, found)
            remove_if_dead(computation, i, targets)
            count += 1
    return count


@register_pass()
@dataclasses.dataclass(frozen=True)
class TupleSimplifier:
    """Rewrite get-tuple-element(tuple(a, b), 1) as b, and tuple(gte(t, 0), gte(t, 1)) as t.

    exclude_entry_computation: leave the entry alone.
    """

    name: ClassVar[str] = "tuple-simplifier"
    exclude_entry_computation: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Simplify in every computation."""
        chosen = [
            c
            for c in module.computations.values()
            if not (self.exclude_entry_computation and c is module.entry)
        ]
        return sum([simplify_tuples(c) for c in chosen]) > 0
