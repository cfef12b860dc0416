"""Collectives whose results fill a buffer row by row, run once after the loop on all rows.

The loop keeps the operand of each iteration. Source: xla/service/collective_pipeliner.cc,
direction kForwardSink.

========================================  ======================================================
handled by XLA                            here
========================================  ======================================================
one row of dimension 0 in each iteration  the same; each row once, checked by computing the indices
several slices, several collectives       the same: groups that share a slice move together
element-wise, reshape, convert            the same
all-reduce, collective-permute            the same
all-gather, reduce, broadcast, slice      the same: their dimensions move by one
dynamic-slice, pad, transpose             the same; indices and padding are equal in all iterations
an update of one element per row          a select by the index of each iteration
layout constraints                        the same
concatenate, reduce-scatter, tuples       refused in both
other operands of the formatting          kept for each iteration; invariant ones once
dependent collectives                     the same: the pass runs until nothing changes
SunkByPreviousStep markers, size limit    hole: chains are sunk without a limit
========================================  ======================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import reshape, splat_constant
from xla_explorer.compiler.transforms.collectives.pipelining.batched_rows import BatchedRows
from xla_explorer.compiler.transforms.collectives.pipelining.loops import (
    pipelined_loops,
    slices_of,
)
from xla_explorer.compiler.transforms.collectives.pipelining.stored_slices import (
    UPDATE,
    Search,
    StoredSlice,
)
from xla_explorer.compiler.transforms.loops.induction import element_index
from xla_explorer.compiler.transforms.loops.loop_state import (
    element,
    initial_parts,
    parameter_of,
    passed_on,
    replace_loop,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import TUPLE
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectivePipelinerForwardSink:
    """Run collectives whose results fill a buffer row by row once, after the loop.

    opcodes: the collectives. max_per_loop: at most so many groups. use_tree: results with several
    users too, and element-wise operations between collective and row. different_sizes: the row may
    have another shape than the collective's operand.
    """

    name: ClassVar[str] = "collective-pipeliner-forwardsink"
    opcodes: tuple[str, ...] = ("all-reduce",)
    max_per_loop: int = 1 << 30
    use_tree: bool = True
    different_sizes: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop until nothing changes: of a chain, the last collective moves first."""
        changed = False
        while self._once(module, context):
            changed = True
        return changed

    def _once(self, module: HloModule, context: PassContext) -> bool:
        search = Search(
            self.opcodes, self.use_tree, self.different_sizes, sinks=True, most=self.max_per_loop
        )
        changed = False
        for loop, induction in pipelined_loops(module, self.opcodes, self.name, context):
            found = slices_of(loop, induction, search, self.name, context)
            found = [one for one in found if BatchedRows.handles(one)]
            if found:
                _Sink(loop, found, induction.trip_count).run()
                changed = True
        return changed


class _Sink:
    """The rewrite of one loop.

    rows: values of the body that are kept for each iteration. once: values that are equal in all
    iterations.
    """

    def __init__(self, loop: HloInstruction, groups: list[StoredSlice], trips: int) -> None:
        self.loop, self.groups, self.trips = loop, groups, trips
        self.condition, self.body = loop.called
        self.parts = initial_parts(loop)
        self.invariant = passed_on(self.body)
        self.rows: dict[HloInstruction, HloInstruction] = {}
        self.once: list[HloInstruction] = []
        for one in groups:
            for i in [*[c.operands[0] for c in one.collectives], *one.needed]:
                if self._is_invariant(i) and i in one.needed:
                    self.once += [i] if i not in self.once else []
                else:
                    self.rows[i] = one.index

    def run(self) -> None:
        """Keep rows in the state, and compute the buffers from them after the loop."""
        computation, body = self.loop.parent, self.body
        numbers = {u: one.number(u) for one in self.groups for u in one.updates}
        kept = {i: self._stacked(i.shape) for i in self.rows}
        parts = [*self.parts, *[splat_constant(computation, s, 0) for s in kept.values()]]
        parts += [splat_constant(computation, i.shape, 0) for i in self.once]
        shape = tuple_shape([p.shape for p in parts])
        values = list(body.root.operands)
        for update, number in numbers.items():
            values[number] = update.operands[0]
        for called in (self.condition, body):
            called.set_shape(parameter_of(called), shape)
        state = parameter_of(body)
        for i, index in self.rows.items():
            buffer = element(body, state, len(values))
            values.append(self._with_row(buffer, i, index))
        values += self.once
        body.set_root(body.add(TUPLE, shape, values, name=body.root.name))
        made: dict[HloInstruction, HloInstruction] = {}

        def after(new: HloInstruction, k: int) -> HloInstruction:
            for update, number in numbers.items():
                if number == k:
                    if not made:
                        made.update(self._buffers(new))
                    return made[update]
            return element(computation, new, k)

        replace_loop(self.loop, parts, after)
        for called in (body, self.condition):
            remove_dead_instructions(called)

    def _stacked(self, shape: Shape) -> Shape:
        return array_shape(shape.element_type, (self.trips, *shape.dimensions))

    def _with_row(
        self, buffer: HloInstruction, i: HloInstruction, index: HloInstruction
    ) -> HloInstruction:
        """Add the update of the row of this iteration."""
        body = self.body
        row = reshape(body, i, array_shape(i.shape.element_type, (1, *i.shape.dimensions)))
        zeros = [splat_constant(body, index.shape, 0)] * i.shape.rank
        return body.add(UPDATE, buffer.shape, [buffer, row, index, *zeros])

    def _is_invariant(self, i: HloInstruction) -> bool:
        """Return True if a value is computed from elements that the loop passes on."""
        number = element_index(i)
        if number is not None:
            return number in self.invariant
        if i.opcode.name == "parameter" or i.opcode.side_effect or not i.operands:
            return False
        return all(o.opcode.name == "constant" or self._is_invariant(o) for o in i.operands)

    def _buffers(self, new: HloInstruction) -> dict[HloInstruction, HloInstruction]:
        """Add the collectives and the formatting of all rows; return the updates' buffers."""
        computation, n = self.loop.parent, len(self.parts)
        places = {i: n + k for k, i in enumerate([*self.rows, *self.once])}
        known = {i: element(computation, new, k) for i, k in places.items()}
        found: dict[HloInstruction, HloInstruction] = {}
        for one in self.groups:
            rows = BatchedRows(computation, self.trips, known, frozenset(self.rows))
            for i in [*one.collectives, *one.formatting]:
                rows.add(i)
            for update in one.updates:
                found[update] = reshape(computation, rows.of(update.operands[1]), update.shape)
        return found
