"""Collectives whose results are only stored, moved to the next iteration of their loop.

The collective of an iteration then runs beside the computation of the next one. The first iteration
is peeled off in front of the loop without its collectives; they run last after the loop. Source:
xla/service/collective_pipeliner.cc, direction kForward.

========================================  ======================================================
handled by XLA                            here
========================================  ======================================================
one collective, a slice of the state      the same
formatting between them                   the same opcodes; element-wise with `use_tree`
operands of the formatting                carried in the state; constants are copied
should_process                            `opcodes`
max_pipelining_per_loop                   `max_per_loop`
process_different_sized_ops               `different_sizes`
reuse_pipelined_op_buffer                 `reuse_buffer`: the operand waits in the slice itself
index: start, step and range are known    the same: equal steps, computed for each iteration
loops of one iteration                    unchanged
several collectives into one slice        the same: one leads, the others are formatting
_xla_send_recv_validation bounds          the same
level_to_operate_on, last_run             hole: one level, no custom calls between the runs
sinks of tokens                           hole: refused
acceptable_formatting, postprocessing     hooks of the caller in XLA; not here
========================================  ======================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.compiler.transforms.collectives.pipelining.copies import (
    Copies,
    only_first,
    refresh_channels,
    set_bounds,
    without_first,
)
from xla_explorer.compiler.transforms.collectives.pipelining.loops import (
    pipelined_loops,
    slices_of,
)
from xla_explorer.compiler.transforms.collectives.pipelining.stored_slices import (
    UPDATE,
    Search,
    StoredSlice,
)
from xla_explorer.compiler.transforms.inlining.call_inliner import inline_call
from xla_explorer.compiler.transforms.loops.induction import InductionVariable
from xla_explorer.compiler.transforms.loops.loop_state import (
    element,
    initial_parts,
    parameter_of,
    replace_loop,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, TUPLE
from xla_explorer.hlo.shape import tuple_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectivePipelinerForward:
    """Run a collective whose result is only stored in the iteration after its own.

    opcodes: the collectives. max_per_loop: at most so many. use_tree: results with several users
    too, and element-wise operations between collective and slice. different_sizes: the slice may
    have another shape than the collective's operand. reuse_buffer: keep the operand in the slice
    until the next iteration, if it fits.
    """

    name: ClassVar[str] = "collective-pipeliner-forward"
    opcodes: tuple[str, ...] = ("all-reduce",)
    max_per_loop: int = 1 << 30
    use_tree: bool = False
    different_sizes: bool = True
    reuse_buffer: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop, inner ones first."""
        search = Search(
            self.opcodes, self.use_tree, self.different_sizes, sinks=False, most=self.max_per_loop
        )
        changed = False
        for loop, induction in pipelined_loops(module, self.opcodes, self.name, context):
            found = slices_of(loop, induction, search, self.name, context)
            if found:
                _Forward(loop, induction, found, self.reuse_buffer).run()
                changed = True
        return changed


class _Forward:
    """The rewrite of one loop.

    waiting: slices that keep the collective's operand until the next iteration. carried: values of
    the body that the next iteration reads from the state.
    """

    def __init__(
        self,
        loop: HloInstruction,
        induction: InductionVariable,
        slices: list[StoredSlice],
        reuse: bool,
    ) -> None:
        self.loop, self.induction, self.slices = loop, induction, slices
        self.condition, self.body = loop.called
        self.parts = initial_parts(loop)
        self.numbers = {one: one.number(one.updates[0]) for one in slices}
        self.waiting = [
            one
            for one in slices
            if reuse and _operand(one).shape.base is one.updates[0].operands[1].shape.base
        ]
        carried = [one.index for one in slices]
        carried += [_operand(one) for one in slices if one not in self.waiting]
        carried += [i for one in slices for i in one.needed]
        self.carried = list(dict.fromkeys(carried))
        self.old_values = list(self.body.root.operands)

    def run(self) -> None:
        """Peel the first iteration, rewrite the body, and finish the last slices."""
        body, computation = self.body, self.loop.parent
        self._set_root({one: one.updates[0].operands[0] for one in self.slices})
        first = body.clone()
        remove_dead_instructions(first)
        self._rewrite_body()
        parts, unused = self._peeled(first)
        values: dict[int, HloInstruction] = {}

        def after(made: HloInstruction, k: int) -> HloInstruction:
            if k not in values:
                values[k] = element(computation, made, k)
                for one in [one for one in self.slices if self.numbers[one] == k]:
                    values[k] = self._finished(made, one, values[k])
            return values[k]

        replace_loop(self.loop, parts, after)
        for i in unused:
            remove_if_dead(computation, i)
        for called in (body, self.condition):
            remove_dead_instructions(called)

    def _set_root(self, buffers: dict[StoredSlice, HloInstruction]) -> None:
        """Set the body's root: the old state with other slices, then the carried values."""
        body, values = self.body, list(self.old_values)
        for one, buffer in buffers.items():
            update = one.updates[0]
            if one in self.waiting:
                given = [buffer, _operand(one), *update.operands[2:]]
                buffer = body.add(UPDATE, update.shape, given, name=update.name)
            values[self.numbers[one]] = buffer
        values += self.carried
        shape = tuple_shape([i.shape for i in values])
        body.set_root(body.add(TUPLE, shape, values, name=body.root.name))

    def _rewrite_body(self) -> None:
        """Finish the slices of the iteration before at the state of this one."""
        for called in (self.condition, self.body):
            called.set_shape(parameter_of(called), self.body.root.shape)
        state = parameter_of(self.body)
        self._set_root(
            {one: self._finished(state, one, one.updates[0].operands[0]) for one in self.slices}
        )
        remove_dead_instructions(self.body)
        set_bounds(self.body, without_first)

    def _finished(
        self, state: HloInstruction, one: StoredSlice, buffer: HloInstruction
    ) -> HloInstruction:
        """Add the collective of the iteration before, and the update of its slice."""
        computation, update = state.parent, one.updates[0]
        wanted = {one.index, *one.needed}
        if one not in self.waiting:
            wanted.add(_operand(one))
        at = {i: k for k, i in enumerate(self.carried, len(self.parts)) if i in wanted}
        copies = Copies(computation, {i: element(computation, state, k) for i, k in at.items()})
        indices = [copies.of(i) for i in update.operands[2:]]
        x = _operand(one)
        if one in self.waiting:
            sizes = attributes_of({"dynamic_slice_sizes": x.shape.dimensions})
            given = computation.add("dynamic-slice", x.shape, [buffer, *indices], sizes)
        else:
            given = copies.of(x)
        copies.add(one.collectives[0], operands=[given])
        for i in one.formatting:
            copies.add(i)
        value = copies.of(update.operands[1])
        return computation.add(UPDATE, update.shape, [buffer, value, *indices], name=update.name)

    def _peeled(self, first: HloComputation) -> tuple[list[HloInstruction], list[HloInstruction]]:
        """Add the first iteration in front of the loop; return the state after it.

        Also returns the tuples that are no longer needed.
        """
        computation, induction = self.loop.parent, self.induction
        refresh_channels(first)
        set_bounds(first, only_first)
        state = computation.add(TUPLE, tuple_shape([p.shape for p in self.parts]), self.parts)
        call = computation.add("call", first.root.shape, (state,), called=(first,))
        root = inline_call(call)[first.root]
        computation.module.remove_computation(first)
        for user in list(state.users):
            if user.opcode is GET_TUPLE_ELEMENT:
                computation.replace(user, self.parts[int(user.attributes["index"])])
                computation.remove(user)
        values = list(root.operands)
        counter = values[induction.element].shape
        values[induction.element] = scalar_constant(
            computation, counter, induction.first + induction.step
        )
        return values, [root, state]


def _operand(one: StoredSlice) -> HloInstruction:
    """Return the operand of the collective."""
    return one.collectives[0].operands[0]
