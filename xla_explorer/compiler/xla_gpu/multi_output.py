"""XLA:GPU's multi-output fusion: siblings, or producer and consumer, in one kernel.

Source of the order and the rules: xla/service/gpu/transforms/multi_output_fusion.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product, starmap
from typing import Final

from xla_explorer.compiler.target.units import GpuUnit
from xla_explorer.compiler.xla_gpu import kernels
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.contracted_order import ContractedOrder
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_MOST_BUFFERS: Final = 96  # read and written by a kernel
_MOST_REDUCTIONS: Final = 8
_SHARED_MEMORY: Final = 48 * 1024
_DEVICE: Final = GpuUnit()


class MultiOutputPlan:
    """The kernels of a computation by XLA:GPU's rules.

    asked_first: a number for each instruction, which breaks ties between equal priorities, smaller
    first. XLA's order is that of its lists of users, which text does not show.
    """

    def __init__(
        self, computation: HloComputation, asked_first: Mapping[HloInstruction, int]
    ) -> None:
        self._asked_first = asked_first
        self._refusals: dict[frozenset[HloInstruction], Reason] = {}
        self._order = ContractedOrder(computation)
        self._kernel: dict[HloInstruction, HloInstruction] = {}
        self._members: dict[HloInstruction, list[HloInstruction]] = {}
        for parent in reversed(computation.post_order()):
            if parent.opcode.name == "constant" or parent.attributes.get("kind") == "kCustom":
                continue
            self._join_siblings(parent)
            self._join_reader(parent)

    def kernel(self, i: HloInstruction) -> HloInstruction:
        """Return the instruction whose kernel computes it."""
        return self._kernel.get(i, i)

    def why_not(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Return why two did not become one kernel, or None."""
        return (
            None
            if self.kernel(first) is self.kernel(second)
            else self._refusals.get(_key(first, second), _not_asked(first, second))
        )

    def members(self, i: HloInstruction) -> list[HloInstruction]:
        """Return all members that its kernel stores."""
        return self._members.get(self.kernel(i), [i])

    def _join_siblings(self, parent: HloInstruction) -> None:
        if parent.shape.is_array and parent.shape.element_count == 1:
            return  # reading one element twice is free
        readers = list(
            dict.fromkeys(
                [
                    self.kernel(user)
                    for user in parent.users
                    if user.opcode.name != "get-tuple-element"
                ]
            )
        )
        readers = sorted(
            [one for one in readers if one is not self.kernel(parent)], key=self._priority
        )
        gone: set[HloInstruction] = set()
        for first, second in combinations(readers, 2):
            if first in gone or second in gone or first.opcode.name != "fusion":
                continue
            reason = self._why_not_siblings(first, second, parent)
            if reason is None:
                self._join(first, second)
                gone.add(second)
            else:
                self._refuse(first, second, reason)

    def _refuse(self, first: HloInstruction, second: HloInstruction, reason: Reason) -> None:
        for pair in starmap(_key, product(self.members(first), self.members(second))):
            self._refusals.setdefault(pair, reason)

    def _join_reader(self, producer: HloInstruction) -> None:
        readers = list(
            dict.fromkeys(
                [
                    self.kernel(user)
                    for user in producer.users
                    if user.opcode.name != "get-tuple-element"
                ]
            )
        )
        if (
            not kernels.may_be_stored_by_reader(producer)
            or self.kernel(producer) is not producer
            or producer in self._members
        ):
            return
        if (
            len(readers) == 1
            and len(self.members(readers[0])) == 1
            and not readers[0].shape.is_tuple
        ):
            self._refusals.setdefault(
                _key(producer, readers[0]), _single_reader(producer, readers[0])
            )
            return
        taken: list[HloInstruction] = []
        for reader in readers:
            reason = self._why_not_into(producer, reader)
            if reason is None:
                taken.append(reader)
            else:
                self._refuse(producer, reader, reason)
        if taken:
            self._join(min(taken, key=self._priority), producer)

    def _join(self, kept: HloInstruction, taken: HloInstruction) -> None:
        self._order.join(kept, taken)
        members = [*self.members(kept), *self.members(taken)]
        self._members.pop(taken, None)
        self._members[kept] = members
        self._kernel.update(dict.fromkeys(members, kept))

    def _priority(self, i: HloInstruction) -> tuple[int, int]:
        several = i.shape.is_tuple or len(self.members(i)) > 1
        return 0 if several else 1 if i.opcode.name == "fusion" else 2, self._asked_first.get(i, 0)

    def _why_not_siblings(
        self, first: HloInstruction, second: HloInstruction, parent: HloInstruction
    ) -> Reason | None:
        not_roots = [
            one for one in (first, second) if not kernels.may_be_root(one) or not one.users
        ]
        if not_roots:
            return _no_loop(not_roots[0])
        if (
            reason := self._order.why_not_join(first, second) or self._depends(first, second)
        ) is not None:
            return reason
        if (reason := self._loops_differ(first, second)) is not None:
            return reason
        if kernels.read_disjoint_slices(first, second, parent):
            return refuse(
                "too-little-shared",
                f"%{first.name} and %{second.name} read parts of %{parent.name} that do not "
                "overlap",
            )
        updating = [one for one in (first, second) if kernels.updates_in_place(one)]
        if updating:
            return refuse(
                "update-is-root-only",
                f"%{updating[0].name} updates a buffer in place, so it is the only result of its "
                "kernel",
            )
        return self._over_budget(first, second)

    def _why_not_into(self, producer: HloInstruction, reader: HloInstruction) -> Reason | None:
        if not kernels.may_be_root(reader):
            return _no_loop(reader)
        return (
            self._loops_differ(producer, reader)
            or self._indices_differ(producer, reader)
            or self._order.why_not_join(producer, reader)
            or self._over_budget(producer, reader)
            or self._slower(producer, reader)
        )

    def _slower(self, producer: HloInstruction, reader: HloInstruction) -> Reason | None:
        both, members = self._leading(reader), self.members(reader)
        alone = [
            kernels.estimate(_DEVICE, producer, [producer], [producer]),
            kernels.estimate(_DEVICE, both, members, members),
        ]
        together = kernels.estimate(_DEVICE, both, [*members, producer], [*members, producer])
        unfused = sum([one.time for one in alone])
        if together.time <= unfused:
            return None
        message = (
            f"estimated {together.time / 1e3:.2f} us together, {unfused / 1e3:.2f} us apart: "
            f"%{both.name} runs on fewer threads"
        )
        return refuse(
            "slower-when-fused", message, fused=round(together.time), apart=round(unfused)
        )

    def _depends(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Return a refusal if one kernel reads the other: siblings must be independent."""
        for mine, other in ((first, second), (second, first)):
            for one in self.members(mine):
                read = next((o for o in one.operands if self.kernel(_made(o)) is other), None)
                if read is not None:
                    return refuse(
                        "would-create-cycle",
                        f"%{one.name} reads %{read.name}, so they are not siblings",
                        through=read.name,
                    )
        return None

    def _loops_differ(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        one, two = [self._leading(i) for i in (first, second)]
        if kernels.same_loop(one, two):
            return None
        shapes = [kernels.loop_shape(i) for i in (one, two)]
        return refuse(
            "dimensions-differ", f"%{one.name} loops over {shapes[0]}, %{two.name} over {shapes[1]}"
        )

    def _indices_differ(self, producer: HloInstruction, reader: HloInstruction) -> Reason | None:
        """Return a refusal if a reshape separates the stored value from its read.

        Siblings may have one.
        """
        shapes = [kernels.loop_shape(self._leading(i)) for i in (producer, reader)]
        if (
            shapes[0].is_array
            and shapes[1].is_array
            and shapes[0].dimensions != shapes[1].dimensions
        ):
            return refuse(
                "dimensions-differ",
                f"%{producer.name} is stored as {shapes[0]}, %{reader.name} loops over {shapes[1]}",
            )
        return None

    def _leading(self, i: HloInstruction) -> HloInstruction:
        """Return the member that determines the emission of the kernel."""
        return next((one for one in self.members(i) if kernels.is_loop_shaped_by_operand(one)), i)

    def _over_budget(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        both = [*self.members(first), *self.members(second)]
        count = sum(map(kernels.reductions, both))
        if count > _MOST_REDUCTIONS:
            return refuse(
                "too-many-reduces",
                f"together they would reduce {count} arrays (limit {_MOST_REDUCTIONS})",
                reduces=count,
            )
        memory = sum(map(kernels.shared_memory, both))
        if memory > _SHARED_MEMORY:
            message = (
                f"together they would take {memory} bytes of shared memory (limit {_SHARED_MEMORY})"
            )
            return refuse("too-many-reduces", message, bytes=memory)
        read = {operand for one in both for operand in one.operands} - set(both)
        arrays = len(read) + sum(map(kernels.results, both))
        if arrays > _MOST_BUFFERS:
            message = f"together they would touch {arrays} arrays (limit {_MOST_BUFFERS})"
            return refuse("too-many-arrays", message, arrays=arrays)
        return None


def _made(i: HloInstruction) -> HloInstruction:
    """Return the kernel behind an element of its results."""
    return i.operands[0] if i.opcode.name == "get-tuple-element" else i


def _key(first: HloInstruction, second: HloInstruction) -> frozenset[HloInstruction]:
    return frozenset((first, second))


def _no_loop(i: HloInstruction) -> Reason:
    kind = f"{i.attributes.get('kind')} fusion" if i.opcode.name == "fusion" else i.opcode.name
    return refuse(
        "not-a-loop",
        f"%{i.name} ({kind}) is neither a loop nor a reduction nor a transpose that others may "
        "join",
    )


def _single_reader(producer: HloInstruction, reader: HloInstruction) -> Reason:
    message = (
        f"nothing but %{reader.name} reads %{producer.name}: whether the two are one kernel was "
        "decided by priority-fusion"
    )
    return refuse("fused-before", message, maker="priority-fusion")


def _not_asked(first: HloInstruction, second: HloInstruction) -> Reason:
    """Return the refusal of a pair that was never tried.

    Another kernel was tried instead, or the producer cannot be stored beside its reader.
    """
    if first in second.operands and not kernels.may_be_stored_by_reader(first):
        return _no_loop(first)
    return refuse(
        "not-a-loop",
        f"the kernels of %{first.name} and %{second.name} were not joined with one another's",
    )


def candidate_pairs(computation: HloComputation) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield the pairs of kernels in which at least one may have several results.

    Pairs are two readers of the same array, and a producer with its reader.
    """
    seen: set[frozenset[HloInstruction]] = set()
    for parent in computation.instructions.values():
        if parent.opcode.name == "constant" or parent.attributes.get("kind") == "kCustom":
            continue
        readers = [user for user in dict.fromkeys(parent.users) if kernels.may_be_root(user)]
        pairs = [
            (a, b)
            for a, b in combinations(readers, 2)
            if "fusion" in (a.opcode.name, b.opcode.name)
        ]
        if kernels.may_be_stored_by_reader(parent):
            pairs += [(parent, reader) for reader in readers]
        for pair in pairs:
            if _key(*pair) not in seen:
                seen.add(_key(*pair))
                yield pair
