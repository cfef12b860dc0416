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
from xla_explorer.compiler.rewriting.construction import broadcast, with_dimensions
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.expanders.float_normalization import in_wide_type
from xla_explorer.compiler.transforms.inlining.defuser import Defuser
from xla_explorer.hlo.attributes.values import Window, WindowDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import BF16, F32


@register_pass()
@dataclasses.dataclass(frozen=True)
class HloDescheduler:
    """Drop the order in which instructions run."""

    name: ClassVar[str] = "hlo-descheduler"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Drop the schedule of every computation."""
        changed = False
        for computation in module.computations.values():
            if computation.schedule is not None:
                computation.set_schedule(None)
                changed = True
        return changed


@register_pass()
@dataclasses.dataclass(frozen=True)
class ControlDepRemover:
    """Drop control dependencies."""

    name: ClassVar[str] = "control-dep-remover"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Drop the control predecessors of every instruction."""
        changed = False
        for computation in module.computations.values():
            for i in computation.instructions.values():
                if i.control_predecessors:
                    computation.set_control_predecessors(i, ())
                    context.rewrote(self.name, i, i)
                    changed = True
        return changed


def whole_dimension(i: HloInstruction) -> int | None:
    """Return the dimension that every window of a reduce-window holds as a whole, or None."""
    window: Window | None = i.attributes.get("window")
    if window is None or len(i.operands) != 2 or i.operands[0].shape is not i.shape:
        return None
    reduced = [d for d, row in enumerate(window.dimensions) if row.size != 1]
    if len(reduced) != 1:
        return None
    n = i.shape.dimensions[reduced[0]]
    wanted = [WindowDimension(1)] * i.shape.rank
    wanted[reduced[0]] = WindowDimension(2 * n - 1, 1, n - 1, n - 1)
    return reduced[0] if list(window.dimensions) == wanted else None


@register_pass()
@dataclasses.dataclass(frozen=True)
class DeconstructReduceWindow(OpExpanderPass):
    """Reduce a dimension once and broadcast the result, if every window holds all of it."""

    name: ClassVar[str] = "deconstruct-reduce-window-to-reduce-broadcast"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce-window"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for windows that hold all elements of one dimension."""
        return whole_dimension(i) is not None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the broadcast of a reduce."""
        dimension, computation = whole_dimension(i), b.computation
        if dimension is None:
            return None
        kept = [d for d in range(i.shape.rank) if d != dimension]
        reduced = computation.add(
            "reduce",
            i.shape.with_dimensions([i.shape.dimensions[d] for d in kept]),
            i.operands,
            with_dimensions([dimension]),
            called=i.called,
            metadata=i.metadata,
        )
        return HloValue(b, broadcast(computation, reduced, i.shape, kept))


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
