"""The pass `fusion-wrapper`: fusions of one for single elementally emitted instructions.

Code generation then has only fusions, library calls and control flow. Source:
xla/service/cpu/fusion_wrapper.cc, xla/backends/gpu/transforms/fusion_wrapper.cc.

==========================================  ===================================================
handled by XLA                              here
==========================================  ===================================================
CPU: elementwise operations, reduce-window, policy `xla`: the same
scatter, map, copies that are no byte copy
GPU: these, dots, convolutions, gathers,    policy `gpu`: the same
slices, concatenations, copies
GPU: kind kInput for reductions, scatters   the same; a tiled transpose is kLoop here
and tiled transposes
GPU: control dependencies                   the same: the fusion gets them
GPU: bodies of asynchronous computations    the same
what our kernels need                       policy `time`
==========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, Final, Literal

from xla_explorer.compiler.decisions.formatters import control_edges, described, layouts
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import (
    INPUT,
    LOOP,
    build_fusion,
    order_callees_first,
)
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode

# Left to other emitters by XLA:CPU: they copy faster than its loop emitter.
_COPIED = frozenset({fusible.CONCATENATE, fusible.DYNAMIC_UPDATE_SLICE, fusible.TRANSPOSE})
_XLA_ALSO = frozenset([opcode(name) for name in ("reshape", "map", "reduce-window", "scatter")])
_GPU_ALSO = frozenset(
    [
        opcode(name)
        for name in (
            "convolution", "copy", "dot", "dynamic-slice", "gather", "reduce", "reverse",
            "select-and-scatter", "slice", "stochastic-convert", "topk",
        )
    ]
)  # fmt: skip
_RUNS = frozenset(["async-start", "call", "conditional", "while"])  # step by step
_INPUT_HEROES = frozenset(["reduce", "scatter"])
_ASKED: Final = {
    "time": fusible.CONSUMERS,
    "xla": fusible.CONSUMERS | _XLA_ALSO | {fusible.COPY},
    "gpu": fusible.CONSUMERS | _XLA_ALSO | _GPU_ALSO,
}


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
    of XLA:CPU, `gpu` those of XLA:GPU, alone.
    """

    name: ClassVar[str] = "fusion-wrapper"
    policy: Literal["time", "xla", "gpu"] = "time"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Wrap in every computation that is a program."""
        changed = False
        computations = sequential_computations(module)
        if self.policy == "gpu":
            applied = {
                c for i in module.instructions() if i.opcode.name not in _RUNS for c in i.called
            }
            computations = [c for c in module.computations.values() if c not in applied]
        for computation in computations:
            pinned = fusible.control_successors(computation)
            is_free_to_move = functools.partial(free_to_move, pinned)
            for i in reversed(computation.post_order()):
                if i.opcode not in _ASKED[self.policy]:
                    continue
                checks: tuple[Predicate, ...] = {
                    "time": (is_elemental, is_free_to_move),
                    "xla": (is_wrapped_by_xla, is_free_to_move),
                    "gpu": (),
                }[self.policy]
                if context.decide("fusion-wrapper", checks, (), i) is None:
                    self._wrap(i, context)
                    changed = True
        if changed:
            order_callees_first(module)
        return changed

    def _constants(self, i: HloInstruction, context: PassContext) -> list[HloInstruction]:
        """Return the scalar constants that are inside of the fusion."""
        if self.policy != "time":
            return []
        # the updated buffer is an operand of the fusion
        operands = i.operands[1:] if i.opcode is fusible.DYNAMIC_UPDATE_SLICE else i.operands
        buffer = i.operands[:1] if i.opcode is fusible.DYNAMIC_UPDATE_SLICE else ()
        return [
            o
            for o in dict.fromkeys(operands)
            if fusible.is_small_constant(o)
            and o not in buffer
            and not context.control.kept_apart((o,), (i,))
        ]

    def _wrap(self, i: HloInstruction, context: PassContext) -> None:
        computation, word = i.parent, i.opcode.name.replace("-", "_")
        before = tuple(i.control_predecessors)
        after = [u for u in computation.instructions.values() if i in u.control_predecessors]
        if before:
            computation.set_control_predecessors(i, ())
        waiting = {u: [p for p in u.control_predecessors if p is not i] for u in after}
        for user, others in waiting.items():
            computation.set_control_predecessors(user, others)
        kind = None if self.policy == "time" else LOOP
        if self.policy == "gpu" and i.opcode.name in _INPUT_HEROES:
            kind = INPUT
        made = build_fusion(
            computation,
            i,
            (i, *self._constants(i, context)),
            name=f"wrapped_{word}",
            computation_name=f"wrapped_{word}_computation",
            kind=kind,
        )
        if before:
            computation.set_control_predecessors(made, before)
        for user, others in waiting.items():
            computation.set_control_predecessors(user, [*others, made])


@value_formatter(lambda pinned, i: control_edges((i,), pinned))
def free_to_move(pinned: set[HloInstruction], i: HloInstruction) -> Reason | None:
    """Require no control dependencies: they would stay outside the new computation."""
    if i.control_predecessors or i in pinned:
        return refuse("control-dependency", f"%{i.name} has control dependencies")
    return None
