"""Dissolving of input fusions that cannot be one kernel.

Source of the name: xla/service/defuser.cc, which dissolves all.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.codegen.dispatch import kernel_is_emitted
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.target import Kind
from xla_explorer.compiler.transforms.inlining.call_inliner import inline_call, wanted_inline
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_OFTEN = 8  # least recomputations of a reduced element, and least elements of a reduction


def reduces_per_element(fusion: HloInstruction) -> bool:
    """Return True if many result elements would each recompute one large reduction."""
    body = fusion.called[0]
    results = max(
        [leaf.element_count for _, leaf in body.root.shape.leaves() if leaf.is_array], default=0
    )
    for i in body.instructions.values():
        if (
            i.opcode.name != "reduce"
            or not i.shape.is_array
            or not i.shape.element_count
            or all(u is body.root for u in i.users)
        ):
            continue
        if (
            results >= _OFTEN * i.shape.element_count
            and i.operands[0].shape.element_count >= _OFTEN * i.shape.element_count
        ):
            return True
    return False


_RUN_STEP_BY_STEP = frozenset(
    ["while", "conditional", "call", "async-start"]
)  # computations with kernels of their own inside


@register_pass()
@dataclasses.dataclass(frozen=True)
class Defuser:
    """Dissolve input fusions that cannot be one efficient kernel.

    These are fusions inside fused computations and reducers, fusions without a kernel emitter on
    the target, and fusions that recompute a reduction per element. Other fusions of the input stay.
    every: dissolve all fusions, as XLA's pass does.
    """

    name: ClassVar[str] = "defuser"
    kinds: ClassVar[tuple[str, ...]] = ("inlining",)
    every: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Dissolve, callees first, so that each decision sees the dissolved body."""
        changed = False
        inside = {
            c
            for i in module.instructions()
            if i.opcode.name not in _RUN_STEP_BY_STEP
            for c in i.called
        }
        for computation in module.post_order_computations():
            for fusion in sorted(
                [i for i in computation.instructions.values() if i.opcode.name == "fusion"],
                key=lambda i: i.id,
            ):
                if (
                    context.decide(
                        "inlining",
                        (wanted_inline,),
                        () if self.every else (self._check(inside, context.target.kind),),
                        fusion,
                    )
                    is None
                ):
                    inline_call(fusion)
                    changed = True
        if changed:
            DeadCodeElimination().run(module, context)
        return changed

    def _check(self, inside: set[HloComputation], target: Kind) -> Predicate:
        @value_formatter(
            lambda fusion: (
                f"%{fusion.name} in %{fusion.parent.name}: "
                f"{kernel_is_emitted(fusion, target) or 'a kernel'}"
            )
        )
        def has_no_kernel(fusion: HloInstruction) -> Reason | None:
            if (
                fusion.parent in inside
                or kernel_is_emitted(fusion, target) is not None
                or reduces_per_element(fusion)
            ):
                return None
            return refuse("is-a-kernel", f"%{fusion.name} can be one kernel as it is")

        return has_no_kernel
