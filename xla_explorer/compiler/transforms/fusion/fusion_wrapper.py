"""The pass `fusion-wrapper`: fusions of one for single elementally emitted instructions.

Code generation then has only fusions, library calls and control flow. Source:
xla/service/cpu/fusion_wrapper.cc.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, Literal

from xla_explorer.compiler.decisions.formatters import control_edges, described, layouts
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import LOOP, build_fusion, order_callees_first
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode

# Left to other emitters by XLA:CPU: they copy faster than its loop emitter.
_COPIED = frozenset({fusible.CONCATENATE, fusible.DYNAMIC_UPDATE_SLICE, fusible.TRANSPOSE})
_XLA_ALSO = frozenset([opcode(name) for name in ("reshape", "map", "reduce-window", "scatter")])
_ASKED_OF_XLA = fusible.CONSUMERS | _XLA_ALSO | {fusible.COPY}


@value_formatter(lambda i: f"{described(i)}, {layouts((i,))}")
def is_elemental(i: HloInstruction) -> Reason | None:
    """Require an instruction that the code generator emits as a loop nest over its result."""
    if i.opcode not in fusible.CONSUMERS:
        return refuse(
            "consumer-not-fusible", f"%{i.name} ({i.opcode.name}) is not a loop over its result"
        )
    if not fusible.has_default_layout(i):
        return refuse(
            "layout-differs", f"%{i.name} has layout {i.shape.layout}, a fusion is row-major inside"
        )
    if not fusible.is_consumer(i):
        return refuse(
            "consumer-not-fusible",
            f"%{i.name} has a dynamic dimension or changes the width of elements",
        )
    return None


@value_formatter(described)
def is_wrapped_by_xla(i: HloInstruction) -> Reason | None:
    """Require XLA:CPU's loop emitter (`FusionWrapper::MustWrapInstruction`)."""
    if i.opcode is fusible.COPY:
        if i.shape is i.operands[0].shape:
            return refuse("copied-as-bytes", f"%{i.name} copies bytes in one piece")
        kind = i.shape.element_type
        wrapped = (
            kind.is_pred
            or (kind.is_signed and kind.bits >= 8)
            or (kind.is_float and kind.bits >= 16)
        )
    else:
        wrapped = i.opcode in _XLA_ALSO or (
            i.opcode in fusible.CONSUMERS and i.opcode not in _COPIED
        )
    return (
        None
        if wrapped
        else refuse(
            "consumer-not-fusible", f"%{i.name} ({i.opcode.name}) has an emitter of its own"
        )
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class FusionWrapper:
    """Wrap single instructions in fusions.

    policy: `time` wraps the instructions of our kernels, scalar constants inside; `xla` wraps those
    of XLA:CPU, alone.
    """

    name: ClassVar[str] = "fusion-wrapper"
    policy: Literal["time", "xla"] = "time"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Wrap in every computation that is a program."""
        changed = False
        for computation in sequential_computations(module):
            pinned = fusible.control_successors(computation)
            is_free_to_move = functools.partial(free_to_move, pinned)
            for i in reversed(computation.post_order()):
                if i.opcode not in (fusible.CONSUMERS if self.policy == "time" else _ASKED_OF_XLA):
                    continue
                checks = (
                    is_elemental if self.policy == "time" else is_wrapped_by_xla,
                    is_free_to_move,
                )
                if context.decide("fusion-wrapper", checks, (), i) is None:
                    constants = (
                        {}
                        if self.policy == "xla"
                        else dict.fromkeys(
                            [
                                o
                                for o in i.operands
                                if fusible.is_small_constant(o)
                                and not context.control.kept_apart((o,), (i,))
                            ]
                        )
                    )
                    if i.opcode is fusible.DYNAMIC_UPDATE_SLICE:
                        constants.pop(
                            i.operands[0], None
                        )  # the updated buffer is an operand of the fusion
                    word = i.opcode.name.replace("-", "_")
                    build_fusion(
                        computation,
                        i,
                        (i, *constants),
                        name=f"wrapped_{word}",
                        computation_name=f"wrapped_{word}_computation",
                        kind=None if self.policy == "time" else LOOP,
                    )
                    changed = True
        if changed:
            order_callees_first(module)
        return changed


@value_formatter(lambda pinned, i: control_edges((i,), pinned))
def free_to_move(pinned: set[HloInstruction], i: HloInstruction) -> Reason | None:
    """Require no control dependencies: they would stay outside the new computation."""
    if i.control_predecessors or i in pinned:
        return refuse("control-dependency", f"%{i.name} has control dependencies")
    return None
