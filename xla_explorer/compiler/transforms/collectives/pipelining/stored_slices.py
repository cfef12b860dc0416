"""Collectives of a loop whose results are only stored in slices of its state.

Source: xla/service/collective_pipeliner.cc (CheckStoreIntoSliceIsCompatible,
IsSupportedDynamicUpdateSlice, MergeIntoExistingCollectives).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from xla_explorer.compiler.rewriting.removal import control_targets
from xla_explorer.compiler.transforms.collectives.stored_reductions import MOST_TRIPS, value_at
from xla_explorer.compiler.transforms.loops.induction import InductionVariable, element_index
from xla_explorer.compiler.transforms.loops.loop_state import readers_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.instruction import HloInstruction

FORMATTING: Final = frozenset(
    ["all-gather", "all-reduce", "bitcast", "broadcast", "collective-permute", "concatenate",
     "convert", "custom-call", "dynamic-slice", "get-tuple-element", "pad", "reduce",
     "reduce-scatter", "reshape", "slice", "transpose"]
)  # fmt: skip
"""Opcodes between a collective and the slice."""
UPDATE: Final = "dynamic-update-slice"


@dataclass(frozen=True, eq=False)
class StoredSlice:
    """Collectives whose results only reach updates of the state.

    Attributes
    ----------
    collectives : tuple of HloInstruction
        One, or several that share an update and that no other of them reads.
    formatting : tuple of HloInstruction
        The instructions between collectives and updates, operands first.
    updates : tuple of HloInstruction
        The dynamic-update-slices, each an operand of the body's root.
    dimension : int
        The dimension that the updates index.
    """

    collectives: tuple[HloInstruction, ...]
    formatting: tuple[HloInstruction, ...]
    updates: tuple[HloInstruction, ...]
    dimension: int

    @property
    def index(self) -> HloInstruction:
        """The index of the updates."""
        return self.updates[0].operands[2 + self.dimension]

    @property
    def needed(self) -> tuple[HloInstruction, ...]:
        """The values, besides those of collectives, that the formatting reads.

        Values that no state reaches, such as constants, are computed where they are read.
        """
        own = {*self.collectives, *self.formatting}
        read = [o for i in self.formatting for o in i.operands if o not in own]
        return tuple([o for o in dict.fromkeys(read) if not is_stateless(o)])

    def number(self, update: HloInstruction) -> int:
        """Return the element of the state that an update writes."""
        return update.parent.root.operands.index(update)


@dataclass(frozen=True)
class Search:
    """The pattern of a search in a loop; the fields are options of the passes.

    Attributes
    ----------
    opcodes : tuple of str
        The collectives.
    use_tree : bool
        Several users, and element-wise formatting.
    different_sizes : bool
        The stored slice may have another shape than the collective's operand.
    sinks : bool
        Several updates, each over the whole first dimension.
    most : int
        At most so many groups.
    """

    opcodes: tuple[str, ...]
    use_tree: bool = False
    different_sizes: bool = True
    sinks: bool = False
    most: int = 1 << 30


def is_stateless(i: HloInstruction) -> bool:
    """Return True if an instruction reads no state and has no side effect."""
    pending, seen = [i], {i}
    while pending:
        one = pending.pop()
        if one.opcode.name == "parameter" or has_side_effect(one):
            return False
        pending += [o for o in one.operands if o not in seen]
        seen.update(one.operands)
    return True


def stored_slices(
    loop: HloInstruction,
    induction: InductionVariable,
    search: Search,
    refused: Callable[[HloInstruction, Reason], None],
) -> list[StoredSlice]:
    """Return the groups of collectives of a loop that only go into slices; report the others."""
    order = {i: k for k, i in enumerate(loop.called[1].post_order())}
    found: list[StoredSlice] = []
    for i in order:
        if i.opcode.name not in search.opcodes or any(i in one.formatting for one in found):
            continue
        one = _Finder(loop, induction, search).stored(i, order)
        if isinstance(one, Reason):
            refused(i, one)
            continue
        shared = [k for k in found if not set(k.updates).isdisjoint(one.updates)]
        if len(found) - len(shared) < search.most:
            found = [k for k in found if k not in shared] + [_merged([*shared, one], order, search)]
    return found


def _merged(
    groups: Sequence[StoredSlice], order: dict[HloInstruction, int], search: Search
) -> StoredSlice:
    """Return one group of several; only the first collective leads it without `sinks`."""
    inner = dict.fromkeys([i for one in groups for i in one.formatting])
    leading = [c for one in groups for c in one.collectives if c not in inner]
    if not search.sinks:
        inner.update(dict.fromkeys(leading[1:]))
        leading = leading[:1]
    updates = dict.fromkeys([u for one in groups for u in one.updates])
    formatting = sorted(inner, key=order.__getitem__)
    return replace(
        groups[0], collectives=tuple(leading), formatting=tuple(formatting), updates=tuple(updates)
    )


@dataclass(frozen=True)
class _Finder:
    loop: HloInstruction
    induction: InductionVariable
    search: Search

    def stored(self, c: HloInstruction, order: dict[HloInstruction, int]) -> StoredSlice | Reason:
        """Return a collective with the way to its updates, or why it has another use."""
        targets = control_targets(c.parent)
        if len(c.operands) != 1 or c.control_predecessors or c in targets:
            return refuse("not-one-value", f"%{c.name} has several operands or control edges")
        if len(set(c.users)) != 1 and not self.search.use_tree:
            return refuse("several-users", f"%{c.name} has {len(set(c.users))} users")
        formatting, updates = set[HloInstruction](), list[HloInstruction]()
        pending = [c]
        while pending:
            one = pending.pop()
            for user in dict.fromkeys(one.users):
                if _is_final(user):
                    if user.operands[1] is not one or user.operands.count(one) > 1:
                        return refuse("used-otherwise", f"%{user.name} does not store %{one.name}")
                    updates.append(user)
                elif not self._formats(user) or user in targets or user.control_predecessors:
                    return refuse(
                        "used-otherwise", f"%{user.name} uses %{c.name} outside of a slice"
                    )
                elif user not in formatting:
                    formatting.add(user)
                    pending.append(user)
        updates = list(dict.fromkeys(updates))
        if not updates or (len(updates) > 1 and not self.search.sinks):
            return refuse("not-one-slice", f"%{c.name} is stored in {len(updates)} slices")
        way = tuple(sorted(formatting, key=order.__getitem__))
        return self._checked(c, way, tuple(sorted(updates, key=order.__getitem__)))

    def _formats(self, i: HloInstruction) -> bool:
        if self.search.sinks and i.opcode.name in (
            "concatenate", "get-tuple-element", "reduce-scatter"
        ):  # fmt: skip
            return False
        if i.opcode.name in FORMATTING or (self.search.sinks and i.opcode.name == UPDATE):
            return not has_side_effect(i) and i is not i.parent.root
        return self.search.use_tree and i.opcode.elementwise and not i.called

    def _checked(
        self,
        c: HloInstruction,
        formatting: tuple[HloInstruction, ...],
        updates: tuple[HloInstruction, ...],
    ) -> StoredSlice | Reason:
        dimensions = [self._dimension(u) for u in updates]
        for one in dimensions:
            if isinstance(one, Reason):
                return one
        if len({u.operands[2 + d] for u, d in zip(updates, dimensions, strict=True)}) > 1:  # type: ignore[operator]
            return refuse("several-indices", f"%{c.name} is stored at different indices")
        found = StoredSlice((c,), formatting, updates, dimensions[0])  # type: ignore[arg-type]
        if not self.search.different_sizes:
            result = formatting[-1] if formatting else c
            scalars = any(not i.shape.rank for i in found.needed)
            if result.shape is not c.operands[0].shape or scalars:
                return refuse(
                    "sizes-differ",
                    f"%{result.name} has another shape than the operand of %{c.name}",
                )
        return found

    def _dimension(self, update: HloInstruction) -> int | Reason:
        """Return the one dimension that an update of the state indexes, or a refusal."""
        body, buffer = update.parent, update.operands[0]
        number = body.root.operands.index(update)
        if element_index(buffer) != number:
            return refuse("not-state", f"%{update.name} does not update its element of the state")
        read = [*readers_of(body, number), *readers_of(self.loop.called[0], number)]
        if read != [buffer] or set(buffer.users) != {update}:
            return refuse("state-read", f"element {number} of the state is read by others")
        indices = update.operands[2:]
        moved = [d for d, index in enumerate(indices) if index.opcode.name != "constant"]
        if len(moved) != 1 or any(
            i.literal.scalar for k, i in enumerate(indices) if k not in moved
        ):
            return refuse("several-indices", f"%{update.name} moves along {len(moved)} dimensions")
        return self._moves(update, moved[0])

    def _moves(self, update: HloInstruction, d: int) -> int | Reason:
        index, trips = update.operands[2 + d], self.induction.trip_count
        if trips > MOST_TRIPS:
            return refuse("too-many-iterations", f"the loop has {trips} iterations")
        first, step, element = self.induction.first, self.induction.step, self.induction.element
        at = [value_at(index, self.loop, element, first + k * step) for k in range(trips)]
        known = [k for k in at if k is not None]
        if len(known) < trips or len({b - a for a, b in itertools.pairwise(known)}) > 1:
            return refuse("index-not-linear", f"%{index.name} does not move in equal steps")
        if self.search.sinks:
            size, *rest = update.shape.dimensions
            row = update.operands[1].shape.dimensions == (1, *rest)
            if d or not row or sorted(known) != list(range(size)):
                return refuse(
                    "not-covered", f"%{update.name} does not write each of its {size} rows"
                )
        return d


def _is_final(i: HloInstruction) -> bool:
    root = i.parent.root
    return i.opcode.name == UPDATE and set(i.users) == {root} and root.operands.count(i) == 1
