"""Collective-permutes of a select whose predicate is equal on all senders.

Source: xla/backends/gpu/transforms/collectives/collective_select_folder.cc.

=========================================  ====================================================
handled by XLA                             here
=========================================  ====================================================
compare of partition-id with a constant,   the same, if the permute has a channel
compare of replica-id with a constant      the same, if the permute has no channel
directions EQ and NE, either operand order the same
a broadcast of the predicate               the same
every sender on one branch                 the same: the receiver gets that branch
senders on both branches                   refused
asynchronous and several-operand permutes  not handled by either
=========================================  ====================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def sent_branch(permute: HloInstruction) -> HloInstruction | None:
    """Return the branch of the permuted select that every sender takes, or None."""
    select = permute.operands[0]
    if len(permute.operands) != 1 or select.opcode.name != "select":
        return None
    predicate = select.operands[0]
    if predicate.opcode.name == "broadcast":
        predicate = predicate.operands[0]
    if predicate.opcode.name != "compare" or not predicate.shape.is_scalar:
        return None
    direction = predicate.attributes["direction"]
    number = "partition-id" if permute.attributes.get("channel_id") else "replica-id"
    for device, constant in (predicate.operands, predicate.operands[::-1]):
        value = as_integer(constant)
        if device.opcode.name == number and value is not None and direction in ("EQ", "NE"):
            pairs = permute.attributes.value("source_target_pairs")
            taken = {(source == value) == (direction == "EQ") for source, _ in pairs}
            return select.operands[1 if taken.pop() else 2] if len(taken) == 1 else None
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectiveSelectFolder:
    """Permute one branch of a select if every sender takes it.

    The select stays for later passes to remove, as in XLA.
    """

    name: ClassVar[str] = "collective-select-folder"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every collective-permute."""
        changed = False
        for computation in list(module.computations.values()):
            for i in computation.post_order():
                branch = sent_branch(i) if i.opcode.name == "collective-permute" else None
                if branch is not None and context.decide(self.name, (), (), i) is None:
                    context.rewrote(self.name, i, i, (), {"sent": branch.name})
                    computation.replace_operand(i, 0, branch)
                    changed = True
        return changed
