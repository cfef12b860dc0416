"""The pass `copy-insertion`: the few copies that make every required buffer sharing possible.

The state of a while must stay in one buffer, and an in-place update must own its buffer. The
branches of a conditional must leave their results in one place, and the entry must not return its
own parameter. A `copy` is inserted with its reason if the live ranges, known exactly from the
schedule, do not allow the sharing. XLA copies first, removes copies that it can prove superfluous,
then schedules (xla/service/copy_insertion.cc). Here the schedule comes first, so nothing needs to
be removed.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

from xla_explorer.compiler.buffers.donation import mark_donated, parameter_leaf, wanted_aliases
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.copies.copy_edits import CopyEdits
from xla_explorer.compiler.transforms.scheduling.memory_scheduler import ensure_schedule
from xla_explorer.foundation.measured import equal, listed
from xla_explorer.foundation.reason import Reason, refuse, settled
from xla_explorer.hlo.analysis.call_graph import (
    sequential_computations,
    shared_sequential_computations,
)
from xla_explorer.hlo.analysis.coalescing import BufferSet, BufferSets
from xla_explorer.hlo.analysis.dataflow import STEP, BranchPhi, Dataflow, LoopPhi, Value
from xla_explorer.hlo.analysis.in_place import in_place_pairs
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class CopyInsertion:
    """Insert the copies that buffer sharing requires.

    Needs a flat call graph; schedules computations without a schedule, and keeps schedules up to
    date.
    """

    name: ClassVar[str] = "copy-insertion"
    kinds: ClassVar[tuple[str, ...]] = ("share-buffer", "execution-order")

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Insert copies in the entry and in every computation that control flow runs.

        A program in which flatten-call-graph left shared computations gets no buffers, hence no
        copies.
        """
        if shared_sequential_computations(module):
            return False
        changed = False
        for computation in sequential_computations(module):
            changed |= ensure_schedule(computation, context)
        return _CopyInserter(module, context).run() or changed


class _CopyInserter:
    def __init__(self, module: HloModule, context: PassContext) -> None:
        self.module, self.context = module, context
        self.flow = Dataflow(module)
        # Donated parameters may be overwritten without a copy.
        self.aliases = wanted_aliases(module) if context.target.abilities.takes_arguments else ()
        mark_donated(self.flow, self.aliases)
        self.sets = BufferSets(self.flow)
        self.edits = CopyEdits()

    def run(self) -> bool:
        loops: dict[HloInstruction, list[LoopPhi]] = {}
        for phi in self.flow.loops:
            loops.setdefault(phi.loop, []).append(phi)
        branches: dict[HloInstruction, list[BranchPhi]] = {}
        for branch_phi in self.flow.branches:
            branches.setdefault(branch_phi.conditional, []).append(branch_phi)
        for computation in sequential_computations(self.module):
            for i in computation.schedule or ():
                if i in loops:
                    self._loop(i, loops[i])
                elif i in branches:
                    self._conditional(i, branches[i])
                elif i.opcode.name in ("dynamic-update-slice", "scatter", "fusion"):
                    for number, index in in_place_pairs(i):
                        self._in_place(i, number, index)
        self._entry_root()
        return self.edits.apply()

    def _share(
        self, source: Value, target: Value, subject: HloInstruction, against: Reason | None = None
    ) -> bool:
        """Join `source` with the buffer of `target` if possible; return True if joined."""
        reason = against or self.sets.why_not_shared(source, target)
        may_be_shared = settled("buffer-may-be-shared", reason, lambda: _both(source, target))
        decision = self.context.decide(
            "share-buffer",
            (may_be_shared,),
            (),
            source.instruction,
            subject,
            facts=lambda: {"bytes": source.shape.byte_size, "index": target.index},
        )
        if decision is not None:
            return False
        self.sets.join(source, target)
        return True

    def _copy(self, source: Value, at: float, until: float, user: HloInstruction) -> Value:
        """Return the value of a copy of `source` at a position, which `user` reads at `until`."""
        for number, use in enumerate(source.uses):
            if use[0] == until and use[1] is user:
                del source.uses[number]
                break
        source.uses.append((at, user, 0))  # type: ignore[arg-type]  # between two instructions
        copy = Value(len(self.flow.values), source.instruction, source.index, source.shape, at)  # type: ignore[arg-type]
        copy.uses.append((until, user, 0))  # type: ignore[arg-type]
        self.flow.values.append(copy)
        self.sets.refresh(source)
        return copy

    def _in_place(self, i: HloInstruction, number: int, index: tuple[int, ...]) -> None:
        operand = i.operands[number]
        old, new = self.flow.value_of(operand), self.flow.value_of(i, index)
        if self._share(old, new, i):
            return
        position = self.flow.positions[i]
        for k, use in enumerate(old.uses):
            if use == (position, i, number):
                del old.uses[k]
                break
        at = position - 1 + (number + 1) / 1024
        old.uses.append((at, i, number))  # type: ignore[arg-type]
        copy = Value(len(self.flow.values), operand, (), old.shape, at)  # type: ignore[arg-type]
        copy.uses.append((position, i, number))
        self.flow.values.append(copy)
        self.sets.refresh(old)
        self.sets.join(copy, new)
        self.edits.copy_operand(i, number)

    def _conditional(self, i: HloInstruction, phis: list[BranchPhi]) -> None:
        for branch in range(len(i.called)):
            wanted = []
            for phi in phis:
                value = self.flow.resolve(phi.branches[branch])
                if not self._share(value, phi.result, i):
                    wanted.append((phi, value))
            for number, (phi, value) in enumerate(wanted):
                end = phi.branch_ends[branch]
                at = end - STEP + STEP * (number + 1) / (len(wanted) + 1)
                copy = self._copy(value, at, end, i)
                self.sets.join(copy, phi.result)
                self.edits.copy_root_leaf(i.called[branch], phi.index)

    def _loop(self, i: HloInstruction, phis: list[LoopPhi]) -> None:
        states = {phi.state for phi in phis}
        carried: set[Value] = set()
        moves: list[tuple[LoopPhi, Value]] = []
        for phi in phis:
            self.sets.join(phi.result, phi.state)
        for phi in phis:
            ahead = self.flow.resolve(phi.next)
            against: Reason | None = None
            if ahead in states:
                against = refuse(
                    "permuted-element",
                    f"element {phi.index} becomes what element {ahead.index} was",
                    index=phi.index,
                )
            elif ahead in carried:
                against = refuse(
                    "repeated-element",
                    f"%{ahead.name} is carried on in two elements",
                    index=phi.index,
                )
            if self._share(ahead, phi.state, i, against):
                carried.add(ahead)
            else:
                moves.append((phi, ahead))
        self._body_moves(i, moves)
        wanted = []
        for phi in phis:
            before = self.flow.resolve(phi.initial)
            if not self._share(before, phi.state, i):
                wanted.append((phi, before))
        for number, (phi, before) in enumerate(wanted):
            copy = self._copy(
                before, phi.begin - STEP + STEP * (number + 1) / (len(wanted) + 1), phi.begin, i
            )
            self.sets.join(copy, phi.state)
            self.edits.copy_operand_leaf(i, phi.index)

    def _body_moves(self, i: HloInstruction, moves: list[tuple[LoopPhi, Value]]) -> None:
        """Copy at the end of a body, so that no copy overwrites the source of a later one.

        A cycle needs one more copy.
        """
        if not moves:
            return
        body = i.called[1]
        end = moves[0][0].body_end
        pending = list(moves)
        ordered: list[
            tuple[LoopPhi | None, Value, int]
        ] = []  # (None: into a temporary, its source, number of the temporary)
        temporary: dict[Value, int] = {}
        while pending:
            for k, (phi, source) in enumerate(pending):
                target = self.sets.set_of(phi.state)
                if not any(
                    self.sets.set_of(other) is target and other not in temporary
                    for m, (_, other) in enumerate(pending)
                    if m != k
                ):
                    ordered.append((phi, source, temporary.get(source, -1)))
                    del pending[k]
                    break
            else:
                source = pending[0][1]
                target = self.sets.set_of(pending[0][0].state)
                source = next(
                    other for _, other in pending[1:] if self.sets.set_of(other) is target
                )
                temporary[source] = len(temporary)
                ordered.append((None, source, temporary[source]))
        made: dict[int, Value] = {}
        for number, (target_phi, source, slot) in enumerate(ordered):
            at = end - STEP + STEP * (number + 1) / (len(ordered) + 1)
            if target_phi is None:
                made[slot] = self._temporary(source, at, i)
                self.edits.copy_to_temporary(
                    body, slot, next(p.index for p, s in moves if s is source)
                )
                continue
            if slot >= 0:
                for k, use in enumerate(source.uses):
                    if use[0] == end and use[1] is i:
                        del source.uses[k]
                        break
                made[slot].uses.append((end, i, 0))
                copy = self._copy(made[slot], at, end, i)
            else:
                copy = self._copy(source, at, end, i)
            self.sets.join(copy, target_phi.state)
            self.edits.copy_root_leaf(body, target_phi.index, slot)

    def _temporary(self, source: Value, at: float, user: HloInstruction) -> Value:
        source.uses.append((at, user, 0))  # type: ignore[arg-type]
        value = Value(len(self.flow.values), source.instruction, source.index, source.shape, at)  # type: ignore[arg-type]
        self.flow.values.append(value)
        return value

    def _entry_root(self) -> None:
        entry = self.module.entry
        taken: set[int] = set()
        taking_over = {tuple(a.output_index): parameter_leaf(self.flow, a) for a in self.aliases}
        given_away = set(taking_over.values())
        for index, value in self.flow.leaves(entry.root):
            home = self.sets.set_of(value)
            reason: Reason | None = None
            if home.read_only:
                kind = next(v for v in home.values if v.read_only).instruction.opcode.name
                reason = refuse(
                    f"read-only-{kind}",
                    f"%{value.name} is a {kind}; the result needs a buffer of its own",
                    index=index,
                )
            elif (
                given := next((v for v in home.values if v in given_away), None)
            ) is not None and taking_over.get(index) is not given:
                reason = refuse(
                    "read-only-parameter",
                    f"%{value.name} is in the memory of %{given.name}, which another result "
                    "takes over",
                    index=index,
                )
            elif id(home) in taken:
                reason = refuse("repeated-element", f"%{value.name} is returned twice", index=index)
            may_stay = settled(
                "result-may-stay-where-it-is", reason, functools.partial(_home, home)
            )
            if (
                self.context.decide(
                    "share-buffer",
                    (may_stay,),
                    (),
                    value.instruction,
                    entry.root,
                    facts=lambda value=value: {"bytes": value.shape.byte_size},  # type: ignore[misc]
                )
                is not None
            ):
                self.edits.copy_root_leaf(entry, index)
            else:
                taken.add(id(home))


def _both(source: Value, target: Value) -> str:
    """Return bytes and live ranges of two values."""
    sizes = equal("bytes", f"{source.shape.byte_size:,}", f"{target.shape.byte_size:,}")
    return (
        f"{sizes}; %{source.name} lives {source.start:g} to {source.end:g}, %{target.name} "
        f"{target.start:g} to {target.end:g}"
    )


def _home(home: BufferSet) -> str:
    """Return the values in a buffer, and its kind: read-only or writable."""
    kind = "read-only" if home.read_only else "writable"
    return f"a {kind} buffer of {listed([value.name for value in home.values])}"
