"""The pass `move_copy_to_users`: layout copies move behind operations, so that copies cancel.

Source: xla/hlo/transforms/simplifiers/move_copy_to_users.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead
from xla_explorer.foundation.reason import refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode

COPY = opcode("copy")
# Number of leading operands that are arrays and may come from a copy; the others are numbers.
_ARRAYS = {"dynamic-slice": 1, "pad": 1, "reduce-window": 1, "reverse": 1, "slice": 1}


def _copied_arrays(i: HloInstruction) -> tuple[HloInstruction, ...] | None:
    """Return the operands that must all be copies from one layout; None for other operations."""
    name = i.opcode.name
    if name == "concatenate" or (
        i.opcode.elementwise and name != "copy" and 0 < len(i.operands) < 3
    ):
        return i.operands
    count = _ARRAYS.get(name)
    return i.operands[:count] if count is not None else None


@register_pass()
@dataclasses.dataclass(frozen=True)
class MoveCopyToUsers:
    """Rewrite f(copy(x)) as copy(f(x)) for elementwise operations, moves and windows.

    A reduce reads the operand of the copy.
    """

    name: ClassVar[str] = "move_copy_to_users"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that is not a fusion body."""
        bodies = module.fusion_computations()
        changed = False
        for computation in module.computations.values():
            if computation not in bodies:
                for i in list(computation.post_order()):
                    changed |= self._move(i, context)
        return changed

    def _move(self, i: HloInstruction, context: PassContext) -> bool:
        computation = i.parent
        if (
            i.opcode.name == "reduce"
            and len(i.operands) == 2
            and i.operands[0].opcode is COPY
            and not i.shape.is_tuple
        ):
            copied = i.operands[0]
            computation.replace_operand(i, 0, copied.operands[0])
            remove_if_dead(computation, copied, control_targets(computation))
            context.rewrote(self.name, i, i, ())
            return True
        arrays = _copied_arrays(i)
        if (
            not arrays
            or not i.shape.is_array
            or any(o.opcode is not COPY or not o.shape.rank for o in arrays)
        ):
            return False
        sources = [o.operands[0] for o in arrays]
        layout = sources[0].shape.layout
        same_before = all(s.shape.layout is layout for s in sources)
        # The whole layout: if its elements are packed differently, the source's layout does not fit
        # the result.
        same_after = (
            all(o.shape.layout is i.shape.layout for o in arrays)
            and layout.properties == i.shape.layout.properties
        )
        if not same_before or not same_after or i.shape.rank != sources[0].shape.rank:
            context.refused(
                self.name,
                i,
                refuse(
                    "layouts-differ",
                    f"%{i.name} cannot be computed in the layout that was copied from",
                ),
            )
            return False
        before = computation.module.next_instruction_id
        operands = [*sources, *i.operands[len(arrays) :]]
        early = computation.add(
            i.opcode,
            i.shape.with_layout(layout),
            operands,
            i.attributes,
            called=i.called,
            metadata=i.metadata,
        )
        late = computation.add(COPY, i.shape, (early,), metadata=i.metadata)
        context.rewrote(
            self.name, i, late, tuple(range(before, computation.module.next_instruction_id))
        )
        computation.replace(i, late)
        remove_if_dead(computation, i, control_targets(computation))
        return True
