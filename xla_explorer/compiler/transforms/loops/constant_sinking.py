"""Sinking of constants into loop bodies. Source: xla/service/while_loop_constant_sinking.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.compiler.transforms.loops.loop_state import (
    own_computations,
    parameter_of,
    read_only_by_elements,
)
from xla_explorer.compiler.transforms.loops.while_loop_simplifier import invariant_elements
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def _constant(i: HloInstruction, broadcasts: bool) -> bool:
    if i.opcode.name == "broadcast" and broadcasts:
        i = i.operands[0]
    return i.opcode.name == "constant"


def sinkable(loop: HloInstruction, *, scalars_only: bool, broadcasts: bool) -> list[int]:
    """Return the elements of the state that start from a constant and never change."""
    start = loop.operands[0]
    if start.opcode.name != "tuple" or loop.called[1].root.opcode.name != "tuple":
        return []
    values = [(k, start.operands[k]) for k in sorted(invariant_elements(loop))]
    return [
        k for k, v in values if _constant(v, broadcasts) and (v.shape.is_scalar or not scalars_only)
    ]


def _read_constant(computation: HloComputation, index: int, value: HloInstruction) -> bool:
    """Replace reads of an element by a copy of the constant, except where the body forwards it."""
    changed = False
    made: HloInstruction | None = None
    for reader in [
        u
        for u in parameter_of(computation).users
        if u.opcode.name == "get-tuple-element" and u.attributes["index"] == index
    ]:
        for user in list(reader.users):
            keeps = user is computation.root and user.opcode.name == "tuple"
            if keeps and all(o is not reader or k == index for k, o in enumerate(user.operands)):
                continue
            if made is None:
                of = [computation.add_constant(o.literal) for o in (value.operands or (value,))]
                made = (
                    of[0]
                    if value.opcode.name == "constant"
                    else computation.add("broadcast", value.shape, of, value.attributes)
                )
            kept = [
                o if o is not reader or (keeps and k == index) else made
                for k, o in enumerate(user.operands)
            ]
            computation.set_operands(user, kept)
            changed = True
        if reader.is_root and made is not None:
            computation.set_root(made)
    return changed


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopConstantSinking:
    """Read invariant state that starts constant as a constant, in condition and body.

    sink_broadcast_of_constants: broadcasts of constants too. sink_only_scalar_constants: no arrays.
    """

    name: ClassVar[str] = "while-loop-constant-sinking"
    sink_broadcast_of_constants: bool = False
    sink_only_scalar_constants: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop, outer ones first, so that a constant may sink through several."""
        changed = False
        for computation in reversed(module.post_order_computations()):
            for loop in [i for i in computation.post_order() if i.opcode.name == "while"]:
                found = sinkable(
                    loop,
                    scalars_only=self.sink_only_scalar_constants,
                    broadcasts=self.sink_broadcast_of_constants,
                )
                if not found or not all(
                    read_only_by_elements(parameter_of(c)) for c in loop.called
                ):
                    continue
                own_computations(loop)
                sunk = sum(
                    [
                        _read_constant(c, k, loop.operands[0].operands[k])
                        for k in found
                        for c in loop.called
                    ]
                )
                if sunk:
                    context.rewrote(self.name, loop, loop, (), {"constants": sunk})
                    changed = True
        if changed:
            order_callees_first(module)
        return changed
