"""The base class of passes that replace single operations by others.

A subclass names its opcodes and writes the replacement with the builder of `hlo/builder`, at the
place of the operation. Source: xla/hlo/transforms/expanders/op_expander_pass.h.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.removal import order_callees_first, remove_if_dead, substitute
from xla_explorer.foundation.reason import Predicate, Reason, value_formatter
from xla_explorer.hlo.builder.attribute_arguments import ON_EVERY_OPCODE
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def builder_at(computation: HloComputation) -> HloBuilder:
    """Return a builder that writes into an existing computation."""
    b = HloBuilder("", locations=False)
    b.module, b.computation = computation.module, computation
    return b


def values_of(b: HloBuilder, i: HloInstruction) -> list[HloValue]:
    """Return the operands as values of the builder."""
    return [HloValue(b, o) for o in i.operands]


def own_attributes(i: HloInstruction) -> dict[str, Any]:
    """Return the attributes of the opcode: no sharding, frontend attributes and the like."""
    return {name: value for name, value in i.attributes.items() if name in i.opcode.attributes}


def written_attributes(i: HloInstruction) -> dict[str, Any]:
    """Return all attributes that the builder accepts, sharding and the like included.

    HLO text may hold other attributes, which have no meaning.
    """
    return {
        name: value
        for name, value in i.attributes.items()
        if name in i.opcode.attributes or name in ON_EVERY_OPCODE
    }


@value_formatter(
    lambda expander, i: f"{described(i)}; expanded: {', '.join(sorted(expander.opcodes))}"
)
def opcode_is_expanded(expander: OpExpanderPass, i: HloInstruction) -> Reason | None:
    """Require an opcode that the pass expands; always true when checked."""
    return None


class OpExpanderPass:
    """The base of passes that replace each matching instruction of the named opcodes.

    An instruction stays if a check refuses it.
    """

    name: ClassVar[str]
    opcodes: ClassVar[frozenset[str]]
    in_fusions: ClassVar[bool] = False

    def matches(self, i: HloInstruction) -> bool:
        """Return True if the pass applies to the instruction; a mismatch is not recorded."""
        return True

    def legality(self) -> tuple[Predicate, ...]:
        """Return the checks that keep the values equal."""
        return ()

    def profitability(self) -> tuple[Predicate, ...]:
        """Return the checks of the benefit, which the user may override."""
        return ()

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | Reason | None:
        """Return the replacement of `i`, of the same shape.

        If it returns None or a Reason, nothing may have been added.
        """
        raise NotImplementedError

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Expand in every computation (fusion bodies only if `in_fusions`)."""
        changed = False
        known = len(module.computations)
        skipped = set() if self.in_fusions else module.fusion_computations()
        for computation in list(module.computations.values()):
            if computation not in skipped:
                for i in [i for i in computation.post_order() if i.opcode.name in self.opcodes]:
                    if i.id in computation.instructions:
                        changed |= self._visit(computation, i, context)
        if len(module.computations) != known:
            order_callees_first(module)
        return changed

    def _visit(self, computation: HloComputation, i: HloInstruction, context: PassContext) -> bool:
        if not self.matches(i):
            return False
        if (
            context.decide(
                self.name,
                (functools.partial(opcode_is_expanded, self), *self.legality()),
                self.profitability(),
                i,
            )
            is not None
        ):
            return False
        before = computation.module.next_instruction_id
        made = self.expand(builder_at(computation), i)
        if made is None or isinstance(made, Reason):
            if made is not None:
                context.refused(self.name, i, made)
            return False
        result = made.instruction
        if (
            result.shape is not i.shape
            and result.shape.base is i.shape.base
            and result.id >= before
        ):
            computation.set_shape(result, i.shape)
        created = range(before, computation.module.next_instruction_id)
        context.rewrote(self.name, i, result, [n for n in created if n in computation.instructions])
        substitute(i, result, before)
        for number in reversed(created):  # steps of the expansion that its result does not use
            if number in computation.instructions:
                remove_if_dead(computation, computation.instructions[number])
        return True
