"""The pass `row-fusion`: softmax, layer normalisation and their like become one kernel that reads each row once.

A reduction of the minor dimensions, what is computed from its result, broadcast back along the rows and joined with the rows again, any
number of times over: the threads of a GPU block keep the row in registers, reduce it together, and go on. Without this pass each
reduction is a kernel of its own, and the rows are read once for each and once more at the end.

Source of the idea: xla/service/gpu/transforms/softmax_rewriter_triton.cc. Ours takes chains of reductions, and side inputs of any number.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_CUSTOM = attributes_of({"kind": "kCustom"})  # so that nothing else is merged into it
_COMBINERS = frozenset({"add", "multiply", "maximum", "minimum", "and", "or"})


@register_pass()
@dataclasses.dataclass(frozen=True)
class RowFusion:
    """longest: elements of a row that the threads of one block keep in registers. most: instructions of one kernel.

    most_operands: arrays that it may read. most_seen: instructions that are looked at for one kernel, the nearest to its result; what is
    farther away is read from memory, so that the work for a module grows with its size and not with its square.
    """

    name: ClassVar[str] = "row-fusion"
    longest: int = 16384
    most: int = 120
    most_operands: int = 16
    most_seen: int = 960

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Look at every computation that is a program, last results first."""
        changed = False
        for computation in sequential_computations(module):
            planner = _Planner(computation, context, self)
            for root in reversed(computation.post_order()):
                if root in planner.taken or root in planner.refused:
                    continue
                members = planner.members_of(root)
                if members is None:
                    continue
                reduce = next(m for m in members if m.opcode is fusible.REDUCE)
                checks = (planner.row_fits_in_registers, planner.code_within_limit, planner.values_stay_inside, planner.user_allows_it)
                if context.decide("row-fusion", checks, (planner.rows_fill_the_device,), reduce, root, facts=planner.facts) is None:
                    planner.taken.update(members)
                    build_fusion(computation, root, members, name="row_fusion", computation_name="row_computation", kind=_CUSTOM)
                    changed = True
                else:  # a part of it would store what the whole would have kept
                    planner.refused.update(members)
        if changed:
            order_callees_first(module)
        return changed


class _Planner:
    """Finds the members of a kernel from its root. taken: members of kernels so far. refused: of those that
    were not to be."""

    def __init__(self, computation: HloComputation, context: PassContext, options: RowFusion) -> None:
        self.context, self.options = context, options
        self.place = {i: number for number, i in enumerate(computation.post_order())}
        self.pinned = fusible.control_successors(computation)
        self.taken: set[HloInstruction] = set()
        self.refused: set[HloInstruction] = set()
        self.members: list[HloInstruction] = []
        # Those with a reduction somewhere above them in what one kernel may be: the others need no walk.
        self.below_reduce: set[HloInstruction] = set()
        for i in self.place:
            if i.opcode is fusible.REDUCE or (
                (i.opcode in fusible.ELEMENTWISE or i.opcode is fusible.BROADCAST) and any(o in self.below_reduce for o in i.operands)
            ):
                self.below_reduce.add(i)

    def members_of(self, root: HloInstruction) -> list[HloInstruction] | None:
        """Root first, users before producers; None when no row is reduced and joined again."""
        if root not in self.below_reduce or root.opcode not in fusible.ELEMENTWISE or not self._fits(root) or root.shape.rank < 1:
            return None
        if root.opcode is fusible.BITCAST_CONVERT:
            return None
        dimensions = root.shape.dimensions
        whole = tuple(range(len(dimensions)))
        kept: tuple[int, ...] | None = None
        maps: dict[HloInstruction, tuple[int, ...]] = {root: whole}
        # Users before producers: what is nearest in program order is looked at first.
        waiting, outside = [(0, root)], set()
        while waiting and len(maps) < self.options.most_seen:
            i = heapq.heappop(waiting)[1]
            for o, mapping in self._operands(i, maps[i], dimensions, whole):
                if o in maps or o in outside:
                    if o in maps and maps[o] != mapping:
                        return None
                    continue
                if not self._fits(o) or not self._may_enter(o, mapping, whole):
                    outside.add(o)
                    continue
                if o.opcode is fusible.REDUCE:
                    if not _reduces_rows(o, mapping, dimensions) or (kept is not None and kept != mapping):
                        outside.add(o)
                        continue
                    kept = mapping
                maps[o] = mapping
                heapq.heappush(waiting, (-self.place[o], o))
        if kept is None:
            return None
        members = self._needed(root, maps, whole)
        if not any(m.opcode is fusible.REDUCE for m in members):
            return None
        self.members = sorted(members, key=lambda i: -self.place[i])
        return self.members

    def _fits(self, i: HloInstruction) -> bool:
        known = i in self.place and i not in self.taken and i not in self.pinned and not i.control_predecessors
        return known and i.shape.is_array and fusible.has_default_layout(i) and True not in i.shape.dynamic and 0 not in i.shape.dimensions

    def _operands(
        self, i: HloInstruction, mapping: tuple[int, ...], dimensions: tuple[int, ...], whole: tuple[int, ...]
    ) -> list[tuple[HloInstruction, tuple[int, ...]]]:
        if i.opcode is fusible.REDUCE:
            return [(i.operands[0], whole), (i.operands[1], ())]
        if i.opcode is fusible.BROADCAST:
            return [(i.operands[0], tuple([mapping[d] for d in i.attribute("dimensions")]))]
        if i.opcode in fusible.ELEMENTWISE:
            return [(o, mapping if o.shape.rank == i.shape.rank else ()) for o in i.operands]
        return []

    def _may_enter(self, o: HloInstruction, mapping: tuple[int, ...], whole: tuple[int, ...]) -> bool:
        if fusible.is_small_constant(o):
            return True
        if o.opcode in (fusible.BROADCAST, fusible.IOTA):
            return True
        return o.opcode is fusible.REDUCE or (o.opcode in fusible.ELEMENTWISE and o.opcode is not fusible.BITCAST_CONVERT)

    def _needed(self, root: HloInstruction, maps: dict[HloInstruction, tuple[int, ...]], whole: tuple[int, ...]) -> set[HloInstruction]:
        """Without what others need too and what the rows are made of far away: those are read from memory."""
        members = set(maps)
        depending = _depending(members)
        for m in sorted(maps, key=self.place.__getitem__, reverse=True):  # who leaves is gone when the turn of its operands comes
            if m is not root and m not in depending and m.opcode in fusible.ELEMENTWISE and any(u not in members for u in m.users):
                members.discard(m)
        # Only what the root still reaches through members.
        reached, stack = {root}, [root]
        while stack:
            for o in stack.pop().operands:
                if o in members and o not in reached:
                    reached.add(o)
                    stack.append(o)
        return reached

    # -- checks, about (reduce, root) ----------------------------------------------------------------------------------
    def row_fits_in_registers(self, reduce: HloInstruction, root: HloInstruction) -> Reason | None:
        """Does a row fit into the registers of a block?"""
        length = fusible.reduced_size(reduce)
        if not 8 < length <= self.options.longest:
            text = f"rows of {length} elements: from 9 to {self.options.longest} fit into the registers of a block"
            return refuse("row-length", text, length=length, longest=self.options.longest)
        return None

    def code_within_limit(self, reduce: HloInstruction, root: HloInstruction) -> Reason | None:
        """Is the kernel of bearable size?"""
        inside = set(self.members)
        operands = {o for m in self.members for o in m.operands if o not in inside}
        if len(self.members) > self.options.most or len(operands) > self.options.most_operands:
            text = f"{len(self.members)} instructions and {len(operands)} operands are more than one kernel should hold"
            return refuse("fused-computation-too-large", text, instructions=len(self.members), operands=len(operands))
        return None

    def values_stay_inside(self, reduce: HloInstruction, root: HloInstruction) -> Reason | None:
        """Is a value that others need computed from a row? It would be computed twice."""
        inside = set(self.members)
        for m in self.members[1:]:
            if (m.opcode is fusible.REDUCE or m.opcode in fusible.ELEMENTWISE) and any(u not in inside for u in m.users):
                return refuse("row-value-used-elsewhere", f"%{m.name} is needed outside the kernel too", instruction=m.name)
        return None

    def user_allows_it(self, reduce: HloInstruction, root: HloInstruction) -> Reason | None:
        """Did the user forbid it?"""
        for m in self.members[1:]:
            if self.context.control.kept_apart((m,), (root,)):
                return refuse("forbidden-by-user", f"the user keeps %{m.name} and %{root.name} apart")
        return None

    def rows_fill_the_device(self, reduce: HloInstruction, root: HloInstruction) -> Reason | None:
        """Is there a row for a good part of the multiprocessors, when there is much to read?"""
        rows, length = reduce.shape.element_count, fusible.reduced_size(reduce)
        multiprocessors = self.context.fact("multiprocessors", 1)
        if 4 * rows < multiprocessors and length >= 4096:
            text = f"{rows} rows, a block each, leave most of {multiprocessors} multiprocessors idle"
            return refuse("too-few-rows", text, rows=rows, multiprocessors=multiprocessors)
        return None

    def facts(self) -> dict[str, int]:
        """Bytes read and written by the kernel, and what its reductions would read again apart."""
        inside = set(self.members)
        operands = {o for m in self.members for o in m.operands if o not in inside}
        rows = sum([m.operands[0].shape.byte_size for m in self.members if m.opcode is fusible.REDUCE])
        moved = sum([o.shape.byte_size for o in operands]) + self.members[0].shape.byte_size
        return {"bytes": moved, "bytes_saved": rows, "instructions": len(self.members)}


def _depending(members: set[HloInstruction]) -> set[HloInstruction]:
    found = {m for m in members if m.opcode is fusible.REDUCE}
    stack = list(found)
    while stack:
        for user in stack.pop().users:
            if user in members and user not in found:
                found.add(user)
                stack.append(user)
    return found


def _reduces_rows(reduce: HloInstruction, mapping: tuple[int, ...], dimensions: tuple[int, ...]) -> bool:
    """Whether the minor dimensions are reduced, by an operation whose order is free."""
    if len(reduce.operands) != 2 or reduce.operands[0].shape.dimensions != dimensions:
        return False
    rank, reduced = len(dimensions), sorted(reduce.attribute("dimensions"))
    if reduced != list(range(rank - len(reduced), rank)) or mapping != tuple(range(rank - len(reduced))):
        return False
    root = reduce.to_apply.root
    if root.opcode.name not in _COMBINERS or len(reduce.to_apply.instructions) != 3 or root.shape.element_type.is_complex:
        return False
    return math.prod(dimensions) > 0 and {o.opcode.name for o in root.operands} == {"parameter"} and len(set(root.operands)) == 2
