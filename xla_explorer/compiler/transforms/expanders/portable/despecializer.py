"""Removal of what a module has for one target: schedule, control edges, fusions, mixed precision.

Source: xla/service/despecializer.cc, xla/service/hlo_memory_scheduler.cc (HloDescheduler).

============================================  ================================================
handled by XLA                                here
============================================  ================================================
hlo-descheduler: the schedule                 the same
control-dep-remover: control edges            the same
defuser: every fusion                         the same; a body that runs step by step too
bf16 mixed precision                          operations with bf16 and f32 operands become f32
deconstruct-reduce-window-to-reduce-          the same, also as the option
broadcast: a window over all of one           `deconstruct_reduce_window`
dimension, for every element
strides, dilations, several dimensions,       unchanged, as in XLA
another shape
============================================  ================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.expanders.float_normalization import in_wide_type
from xla_explorer.compiler.transforms.expanders.portable.control_dep_remover import (
    ControlDepRemover,
)
from xla_explorer.compiler.transforms.expanders.portable.deconstruct_reduce_window import (
    DeconstructReduceWindow,
)
from xla_explorer.compiler.transforms.expanders.portable.hlo_descheduler import HloDescheduler
from xla_explorer.compiler.transforms.inlining.defuser import Defuser
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import BF16, F32


def mixes_precisions(i: HloInstruction) -> bool:
    """Return True for an operation on bf16 and f32 together."""
    kinds = {o.shape.element_type for o in (i, *i.operands) if o.shape.is_array}
    return (
        {BF16, F32} <= kinds
        and i.opcode.name not in ("convert", "bitcast-convert", "custom-call")
        and not i.opcode.side_effect
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class Despecializer:
    """Remove schedule, control edges, fusions and mixed precision.

    deconstruct_reduce_window: also reduce whole dimensions once (AddReduceWindowToReduceBroadcast
    Deconstruct in XLA).
    """

    name: ClassVar[str] = "despecializer"
    deconstruct_reduce_window: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Run the parts in XLA's order."""
        changed = HloDescheduler().run(module, context)
        changed |= ControlDepRemover().run(module, context)
        changed |= Defuser(every=True).run(module, context)
        for computation in list(module.computations.values()):
            for i in computation.post_order():
                if mixes_precisions(i):
                    changed |= in_wide_type(i, BF16, F32)
        if self.deconstruct_reduce_window:
            changed |= DeconstructReduceWindow().run(module, context)
        return changed
