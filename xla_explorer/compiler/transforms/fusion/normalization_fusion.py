"""The pass `normalization-fusion`: softmax, layer normalisation and others read each row once.

A chain is any number of repetitions: a reduction of the minor dimensions, operations on its result,
a broadcast along the rows, and operations with the rows. The threads of a GPU block keep the row in
registers, reduce it together, and continue. Without this pass each reduction is its own kernel, and
the rows are read once for each and once more at the end.

Source of the idea: xla/service/gpu/transforms/softmax_rewriter_triton.cc. Ours supports chains of
reductions, and any number of side inputs.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.fusion.forbidden_pairs import forbidden_pairs, kept_apart
from xla_explorer.foundation.measured import at_least, at_most, number
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.indexing import dimensions_read
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_CUSTOM = attributes_of({"kind": "kCustom"})  # so that no other pass merges into it
_COMBINERS = frozenset({"add", "multiply", "maximum", "minimum", "and", "or"})


@register_pass()
@dataclasses.dataclass(frozen=True)
class NormalizationFusion:
    """Fuse chains of row reductions into one kernel per chain.

    longest: elements of a row that the threads of one block keep in registers. most: instructions
    of one kernel. most_operands: arrays that it may read. most_seen: instructions visited for one
    kernel, the nearest to its result. Others are read from memory, so the work for a module is
    linear in its size.
    """

    name: ClassVar[str] = "normalization-fusion"
    longest: int = 16384
    most: int = 120
    most_operands: int = 16
    most_seen: int = 960

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that is a program, last results first."""
        changed = False
        multiprocessors = (
            context.target.gpu.multiprocessors if context.target.gpu is not None else 1
        )
        for computation in sequential_computations(module):
            planner = _Planner(computation, self)
            for root in reversed(computation.post_order()):
                if root in planner.taken or root in planner.refused:
                    continue
                members = planner.members_of(root)
                if members is None:
                    continue
                rows = NormalizationCandidate(
                    tuple(members), self, multiprocessors, context.control
                )
                if (
                    context.decide(
                        "normalization-fusion",
                        LEGALITY,
                        PROFITABILITY,
                        rows.reduce,
                        root,
                        candidate=rows,
                        facts=rows.facts,
                    )
                    is None
                ):
                    planner.taken.update(members)
                    build_fusion(
                        computation,
                        root,
                        members,
                        name="normalization_fusion",
                        computation_name="row_computation",
                        kind=_CUSTOM,
                    )
                    changed = True
                else:  # a part would store values that the whole keeps
                    planner.refused.update(members)
        if changed:
            order_callees_first(module)
        return changed


class _Planner:
    """The search for the members of a kernel, from its root.

    taken: members of kernels so far. refused: members of refused kernels.
    """

    def __init__(self, computation: HloComputation, options: NormalizationFusion) -> None:
        self.options = options
        self.place = {i: number for number, i in enumerate(computation.post_order())}
        self.pinned = fusible.control_successors(computation)
        self.taken: set[HloInstruction] = set()
        self.refused: set[HloInstruction] = set()
        # Instructions with a reduction above them in a possible kernel; the others need no walk.
        self.below_reduce: set[HloInstruction] = set()
        for i in self.place:
            if i.opcode is fusible.REDUCE or (
                (i.opcode in fusible.ELEMENTWISE or i.opcode is fusible.BROADCAST)
                and any(o in self.below_reduce for o in i.operands)
            ):
                self.below_reduce.add(i)

    def members_of(self, root: HloInstruction) -> list[HloInstruction] | None:
        """Return members, root first, users before producers.

        None without a row that is reduced and used again.
        """
        if (
            root not in self.below_reduce
            or root.opcode not in fusible.ELEMENTWISE
            or not self._fits(root)
            or root.shape.rank < 1
        ):
            return None
        if root.opcode is fusible.BITCAST_CONVERT:
            return None
        dimensions = root.shape.dimensions
        whole = tuple(range(len(dimensions)))
        kept: tuple[int, ...] | None = None
        maps: dict[HloInstruction, tuple[int, ...]] = {root: whole}
        # Users before producers: the nearest in program order is visited first.
        waiting, outside = [(0, root)], set()
        while waiting and len(maps) < self.options.most_seen:
            i = heapq.heappop(waiting)[1]
            for o, mapping in self._operands(i, maps[i], whole):
                if o in maps or o in outside:
                    if o in maps and maps[o] != mapping:
                        return None
                    continue
                if not self._fits(o) or not self._may_enter(o, mapping, whole):
                    outside.add(o)
                    continue
                if o.opcode is fusible.REDUCE:
                    if not _reduces_rows(o, mapping, dimensions) or (
                        kept is not None and kept != mapping
                    ):
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
        return sorted(members, key=lambda i: -self.place[i])

    def _fits(self, i: HloInstruction) -> bool:
        known = (
            i in self.place
            and i not in self.taken
            and i not in self.pinned
            and not i.control_predecessors
        )
        return (
            known
            and i.shape.is_array
            and fusible.has_default_layout(i)
            and True not in i.shape.dynamic
            and 0 not in i.shape.dimensions
        )

    def _operands(
        self, i: HloInstruction, mapping: tuple[int, ...], whole: tuple[int, ...]
    ) -> list[tuple[HloInstruction, tuple[int, ...]]]:
        if i.opcode is fusible.REDUCE:
            return [(i.operands[0], whole), (i.operands[1], ())]
        moves_nothing = i.opcode is fusible.BROADCAST or i.opcode in fusible.ELEMENTWISE
        return (dimensions_read(i, mapping) if moves_nothing else None) or []

    def _may_enter(
        self, o: HloInstruction, mapping: tuple[int, ...], whole: tuple[int, ...]
    ) -> bool:
        if fusible.is_small_constant(o):
            return True
        if o.opcode in (fusible.BROADCAST, fusible.IOTA):
            return True
        return o.opcode is fusible.REDUCE or (
            o.opcode in fusible.ELEMENTWISE and o.opcode is not fusible.BITCAST_CONVERT
        )

    def _needed(
        self,
        root: HloInstruction,
        maps: dict[HloInstruction, tuple[int, ...]],
        whole: tuple[int, ...],
    ) -> set[HloInstruction]:
        """Return the members without values that others need too, and without distant sources.

        Both are read from memory.
        """
        members = set(maps)
        depending = _depending(members)
        for m in sorted(
            maps, key=self.place.__getitem__, reverse=True
        ):  # a removed member is gone before its operands are visited
            if (
                m is not root
                and m not in depending
                and m.opcode in fusible.ELEMENTWISE
                and any(u not in members for u in m.users)
            ):
                members.discard(m)
        # Only instructions that the root still reaches through members.
        reached, stack = {root}, [root]
        while stack:
            for o in stack.pop().operands:
                if o in members and o not in reached:
                    reached.add(o)
                    stack.append(o)
        return reached


class NormalizationCandidate(NamedTuple):
    """A kernel of rows: its members, the result first, users before producers."""

    members: tuple[HloInstruction, ...]
    options: NormalizationFusion
    multiprocessors: int
    control: PassControl

    @property
    def root(self) -> HloInstruction:
        """The result of the kernel."""
        return self.members[0]

    @property
    def reduce(self) -> HloInstruction:
        """The reduction nearest to the result."""
        return next(m for m in self.members if m.opcode is fusible.REDUCE)

    @property
    def operands(self) -> set[HloInstruction]:
        """The operands of the kernel."""
        return {o for m in self.members for o in m.operands}.difference(self.members)

    @property
    def needed_outside(self) -> HloInstruction | None:
        """A value computed from the rows that has another reader, or None."""
        inside = set(self.members)
        for m in self.members[1:]:
            if (m.opcode is fusible.REDUCE or m.opcode in fusible.ELEMENTWISE) and any(
                u not in inside for u in m.users
            ):
                return m
        return None

    def facts(self) -> dict[str, int]:
        """Return the bytes of the kernel, and those that separate reductions would read again."""
        rows = sum(
            [m.operands[0].shape.byte_size for m in self.members if m.opcode is fusible.REDUCE]
        )
        moved = sum([o.shape.byte_size for o in self.operands]) + self.root.shape.byte_size
        return {"bytes": moved, "bytes_saved": rows, "instructions": len(self.members)}


_SHORTEST = 9  # one thread reduces shorter rows
_MANY_ELEMENTS = 4096  # of a row: with fewer, few rows take little time


def _code(rows: NormalizationCandidate) -> str:
    most, operands = rows.options.most, rows.options.most_operands
    return (
        f"{at_most('instructions', len(rows.members), most)}, "
        f"{at_most('operands', len(rows.operands), operands)}"
    )


def _outside(rows: NormalizationCandidate) -> str:
    needed = rows.needed_outside
    return f"values needed outside: {'none' if needed is None else '%' + needed.name}"


@value_formatter(
    lambda rows: (
        f"{_SHORTEST} <= "
        f"{at_most('row length', fusible.reduced_size(rows.reduce), rows.options.longest)}"
    )
)
def row_fits_in_registers(rows: NormalizationCandidate) -> Reason | None:
    """Require a row that fits into the registers of a block."""
    length, longest = fusible.reduced_size(rows.reduce), rows.options.longest
    if not _SHORTEST <= length <= longest:
        text = (
            f"rows of {length} elements: from {_SHORTEST} to {longest} fit into the registers of "
            "a block"
        )
        return refuse("row-length", text, length=length, longest=longest)
    return None


@value_formatter(_code)
def code_within_limit(rows: NormalizationCandidate) -> Reason | None:
    """Require a kernel of limited size."""
    instructions, operands, options = len(rows.members), len(rows.operands), rows.options
    if instructions > options.most or operands > options.most_operands:
        limits = f"(limits {options.most} and {options.most_operands})"
        text = (
            f"{instructions} instructions and {operands} operands are more than one kernel "
            f"should hold {limits}"
        )
        return refuse(
            "fused-computation-too-large", text, instructions=instructions, operands=operands
        )
    return None


@value_formatter(_outside)
def values_stay_inside(rows: NormalizationCandidate) -> Reason | None:
    """Require no outside reader of row values: they would be computed twice."""
    needed = rows.needed_outside
    if needed is not None:
        return refuse(
            "row-value-used-elsewhere",
            f"%{needed.name} is needed outside the kernel too",
            instruction=needed.name,
        )
    return None


@value_formatter(lambda rows: forbidden_pairs(rows.control))
def user_allows_it(rows: NormalizationCandidate) -> Reason | None:
    """Require no override that keeps a member and the result in different kernels."""
    return kept_apart(rows.control, rows.members[1:], (rows.root,)) if rows.control.forbid else None


@value_formatter(
    lambda rows: (
        f"{at_least('4 x rows', 4 * rows.reduce.shape.element_count, rows.multiprocessors)} "
        "multiprocessors, "
        f"row length {number(fusible.reduced_size(rows.reduce))}"
    )
)
def rows_fill_the_device(rows: NormalizationCandidate) -> Reason | None:
    """Require rows for a good part of the multiprocessors if rows are long."""
    count, length = rows.reduce.shape.element_count, fusible.reduced_size(rows.reduce)
    if 4 * count < rows.multiprocessors and length >= _MANY_ELEMENTS:
        text = (
            f"{count} rows, a block each, leave most of {rows.multiprocessors} multiprocessors idle"
        )
        return refuse("too-few-rows", text, rows=count, multiprocessors=rows.multiprocessors)
    return None


LEGALITY = (row_fits_in_registers, code_within_limit, values_stay_inside, user_allows_it)
PROFITABILITY = (rows_fill_the_device,)


def _depending(members: set[HloInstruction]) -> set[HloInstruction]:
    found = {m for m in members if m.opcode is fusible.REDUCE}
    stack = list(found)
    while stack:
        for user in stack.pop().users:
            if user in members and user not in found:
                found.add(user)
                stack.append(user)
    return found


def _reduces_rows(
    reduce: HloInstruction, mapping: tuple[int, ...], dimensions: tuple[int, ...]
) -> bool:
    """Return True if an operation of free order reduces the minor dimensions."""
    if len(reduce.operands) != 2 or reduce.operands[0].shape.dimensions != dimensions:
        return False
    rank, reduced = len(dimensions), sorted(reduce.attribute("dimensions"))
    if reduced != list(range(rank - len(reduced), rank)) or mapping != tuple(
        range(rank - len(reduced))
    ):
        return False
    root = reduce.to_apply.root
    if (
        root.opcode.name not in _COMBINERS
        or len(reduce.to_apply.instructions) != 3
        or root.shape.element_type.is_complex
    ):
        return False
    return (
        math.prod(dimensions) > 0
        and {o.opcode.name for o in root.operands} == {"parameter"}
        and len(set(root.operands)) == 2
    )
