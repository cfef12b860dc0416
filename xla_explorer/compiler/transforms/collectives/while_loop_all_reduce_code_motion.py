"""Motion of accumulated sums over devices out of loops: gradients are summed once, after the loop.

Source: xla/service/while_loop_all_reduce_code_motion.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass, register_pass
from xla_explorer.compiler.rewriting.construction import scalar_shape, splat_constant
from xla_explorer.compiler.rewriting.removal import replace_root
from xla_explorer.compiler.transforms.collectives.accumulated_sums import (
    Accumulation,
    SumsOfLoop,
    rebuilt,
    wide_shape,
)
from xla_explorer.compiler.transforms.collectives.stored_reductions import (
    StoredReduction,
    stored_reductions,
)
from xla_explorer.compiler.transforms.loops.loop_state import (
    WHILE,
    element,
    initial_parts,
    may_be_reshaped,
    own_computations,
    parameter_of,
    readers_of,
    replace_loop,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import TUPLE
from xla_explorer.hlo.shape import Shape, tuple_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class WhileLoopAllReduceCodeMotion:
    """Sum over devices after a loop what the loop accumulates, instead of in each iteration.

    The accumulator begins with zero; its initial value is added after the loop. Floats are added in
    another order. A buffer that a loop fills with reductions, a part in each iteration, is reduced
    after the loop. enable_reduce_scatter: move reduce-scatters too; the accumulator then has the
    size before scattering. run_setup_passes: first merge sums of collectives.
    """

    name: ClassVar[str] = "while-loop-all-reduce-code-motion"
    enable_reduce_scatter: bool = False
    run_setup_passes: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop, inner ones first."""
        changed = False
        if self.run_setup_passes:
            for name in ("all-reduce-reassociate", "reduce-scatter-reassociate"):
                changed |= make_pass(name).run(module, context)
        opcodes = frozenset(
            ["all-reduce", *(["reduce-scatter"] if self.enable_reduce_scatter else [])]
        )
        for computation in module.post_order_computations():
            for loop in [i for i in computation.post_order() if i.opcode is WHILE]:
                changed |= self._visit(loop, opcodes, context)
        return changed

    def _visit(self, loop: HloInstruction, opcodes: frozenset[str], context: PassContext) -> bool:
        sums = SumsOfLoop(loop, opcodes)
        candidates = [i for i in loop.called[1].post_order() if i.opcode.name in opcodes]
        if not candidates:
            return False
        found = may_be_reshaped(loop) or sums.accumulations()
        stored = [] if may_be_reshaped(loop) else stored_reductions(loop)
        if isinstance(found, Reason) and not stored:
            context.refused(self.name, candidates[0], found)
            return False
        own_computations(loop)
        sums = SumsOfLoop(loop, opcodes)
        found = sums.accumulations()
        _move(sums, [] if isinstance(found, Reason) else found, stored_reductions(loop))
        return True


def _move(sums: SumsOfLoop, found: list[Accumulation], stored: list[StoredReduction]) -> None:
    """Rewrite the loop with accumulators and buffers of the devices' own terms."""
    loop, computation = sums.loop, sums.loop.parent
    reductions = {one.number: one.reduction for one in stored}
    by_number = {one.number: one for one in found}
    origins = {one.number: one.sums[0] for one in found}
    old_shapes = loop.shape.tuple_shapes
    shapes = [
        wide_shape(s, by_number[k]) if k in by_number else s for k, s in enumerate(old_shapes)
    ]
    parts = initial_parts(loop)
    starts = list(parts)
    for k in by_number:
        starts[k] = splat_constant(computation, shapes[k], 0)
    _change_body(sums, by_number, tuple_shape(shapes))
    for reduction in reductions.values():
        sums.body.replace(reduction, reduction.operands[0])

    def after(made: HloInstruction, k: int) -> HloInstruction:
        value = element(computation, made, k)
        if k in reductions:
            return _reduced(computation, value, reductions[k], None, old_shapes[k])
        if k not in by_number:
            return value
        dimension = by_number[k].dimension
        total = _reduced(computation, value, origins[k], dimension, old_shapes[k])
        if _is_zero(parts[k]):
            return total
        return computation.add("add", old_shapes[k], (parts[k], total))

    replace_loop(loop, starts, after, same_numbers=True)
    for called in loop.called:
        remove_dead_instructions(called)


def _change_body(sums: SumsOfLoop, by_number: dict[int, Accumulation], shape: Shape) -> None:
    """Give condition and body the new state, and the body the sums' operands."""
    body, root = sums.body, sums.body.root
    for called in (sums.condition, body):
        called.set_shape(parameter_of(called), shape)
        for k in by_number:
            for reader in readers_of(called, k):
                called.set_shape(reader, shape.tuple_shapes[k])
    made = [
        rebuilt(sums, value, by_number[k], by_number[k].old) if k in by_number else value
        for k, value in enumerate(root.operands)
    ]
    replace_root(body, body.add(TUPLE, shape, made, name=root.name))


def _reduced(
    computation: HloComputation,
    value: HloInstruction,
    origin: HloInstruction,
    dimension: int | None,
    shape: Shape,
) -> HloInstruction:
    """Add the reduction over devices of a value, with the groups of one in the loop.

    dimension: the one that it scatters.
    """
    module = computation.module
    attributes = origin.attributes.with_values(sharding=None)
    if "channel_id" in attributes:
        used = [int(i.attributes.get("channel_id") or 0) for i in module.instructions()]
        attributes = attributes.with_values(channel_id=max(used) + 1)
    if dimension is not None:
        attributes = attributes.with_values(dimensions=(dimension,))
    reducer = origin.called[0]
    if origin.shape.element_type is not shape.element_type:
        reducer = _addition(module, scalar_shape(shape))
    return computation.add(
        origin.opcode,
        shape,
        (value,),
        attributes,
        called=(reducer,),
        name=origin.name,
        metadata=origin.metadata,
    )


def _addition(module: HloModule, scalar: Shape) -> HloComputation:
    """Add the computation of a sum of two scalars."""
    made = module.add_computation(f"add_{scalar.element_type.name}")
    made.set_root(
        made.add("add", scalar, (made.add_parameter(0, scalar), made.add_parameter(1, scalar)))
    )
    return made


def _is_zero(i: HloInstruction) -> bool:
    constant = i.operands[0] if i.opcode.name == "broadcast" else i
    return constant.opcode.name == "constant" and not constant.literal.array.any()
