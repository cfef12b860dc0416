"""Matching of instructions between modules without a journal: XLA dumps, or program versions.

There are four kinds of evidence, the strongest first. Names are equal (only within one
compilation). Operations on the same inputs, down to the parameters, are equal. Both instructions
are the same operand of matched instructions, or the same user of matched instructions. Similar to
xla/hlo/tools/hlo_diff (GumGraph), but without scores: evidence pairs two instructions or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule


class ModuleMatching:
    """A matching. computations: computation -> computation. evidence: by left instruction."""

    def __init__(self) -> None:
        self.left_to_right: dict[HloInstruction, HloInstruction] = {}
        self.right_to_left: dict[HloInstruction, HloInstruction] = {}
        self.computations: dict[HloComputation, HloComputation] = {}
        self.evidence: dict[HloInstruction, str] = {}

    def pair(self, left: HloInstruction, right: HloInstruction, evidence: str) -> bool:
        """Add a pair; return False if one of them already has a partner."""
        if left in self.left_to_right or right in self.right_to_left:
            return False
        self.left_to_right[left], self.right_to_left[right], self.evidence[left] = (
            right,
            left,
            evidence,
        )
        for a, b in zip(left.called, right.called, strict=False):
            self.computations.setdefault(a, b)
        return True


def match_modules(left: HloModule, right: HloModule, *, by_name: bool) -> ModuleMatching:
    """Pair the instructions of two modules, each with at most one partner of the same opcode.

    by_name: equal names mean the same instruction in any computation. XLA keeps names through its
    passes and into fusions.
    """
    found = ModuleMatching()
    found.computations[left.entry] = right.entry
    if by_name:
        _pair_names(left, right, found)
    numbers: dict[tuple[object, ...], int] = {}
    left_meaning, right_meaning = _meanings(left, numbers), _meanings(right, numbers)
    _pair_meanings(left, right, left_meaning, right_meaning, found)
    for a, b in zip(left.entry.parameters(), right.entry.parameters(), strict=False):
        if a.payload == b.payload:
            found.pair(a, b, "parameter")
    if left.entry.root.opcode is right.entry.root.opcode:
        found.pair(left.entry.root, right.entry.root, "root")
    _spread(found)
    return found


def _pair_names(left: HloModule, right: HloModule, found: ModuleMatching) -> None:
    names = {i.name: i for i in right.instructions()}
    for i in left.instructions():
        other = names.get(i.name)
        if other is not None and other.opcode is i.opcode:
            found.pair(i, other, "name")
    by_name = right.computations
    for name, computation in left.computations.items():
        if name in by_name:
            found.computations.setdefault(computation, by_name[name])


def _meanings(
    module: HloModule, numbers: dict[tuple[object, ...], int]
) -> dict[HloInstruction, int]:
    """Return a value number for each instruction, equal for equal operations on equal inputs.

    numbers: shared between the compared modules.
    """
    meaning: dict[HloInstruction, int] = {}
    of_computation: dict[int, int] = {}
    for computation in _callees_first(module):
        for i in computation.post_order():
            # Large constants compare by shape only: comparing megabytes gains nothing.
            large = isinstance(i.payload, Literal) and i.payload.shape.element_count > 64
            payload = ("literal", i.payload.shape) if large else i.payload
            key = (
                i.opcode.name,
                i.shape.text_without_layout,
                i.attributes,
                payload,
                tuple([meaning[o] for o in i.operands]),
                tuple([of_computation[c.id] for c in i.called]),
            )
            meaning[i] = numbers.setdefault(key, len(numbers))
        of_computation[computation.id] = numbers.setdefault(
            ("computation", meaning[computation.root]), len(numbers)
        )
    return meaning


def _callees_first(module: HloModule) -> list[HloComputation]:
    """Return the computations, callees first; passes may add callees after their callers."""
    found: dict[HloComputation, None] = {}
    pending = list(reversed(module.computations.values()))
    while pending:
        computation = pending[-1]
        called = [c for i in computation.instructions.values() for c in i.called if c not in found]
        if called:
            pending += called
        else:
            found[pending.pop()] = None
    return list(found)


def _pair_meanings(
    left: HloModule,
    right: HloModule,
    left_meaning: dict[HloInstruction, int],
    right_meaning: dict[HloInstruction, int],
    found: ModuleMatching,
) -> None:
    """Pair equal value numbers: equal names first, then in order, entry with entry first.

    A parameter of a called computation has no meaning of its own: `parameter(0)` of a maximum and
    of a sum are equal. It is matched by its users or its call.
    """

    def groups(
        module: HloModule, meaning: dict[HloInstruction, int], taken: Iterable[HloInstruction]
    ) -> dict[int, list[HloInstruction]]:
        skip = set(taken)
        made: dict[int, list[HloInstruction]] = defaultdict(list)
        for computation in reversed(list(module.computations.values())):
            for i in computation.post_order():
                if i not in skip and (computation is module.entry or i.opcode.name != "parameter"):
                    made[meaning[i]].append(i)
        return made

    right_groups = groups(right, right_meaning, found.right_to_left)
    for number, members in groups(left, left_meaning, found.left_to_right).items():
        others = right_groups.get(number, [])
        if len(members) > 1 or len(others) > 1:
            named = {b.name: b for b in others}
            for a in members:
                if a.name in named:
                    found.pair(a, named[a.name], "meaning")
            members = [a for a in members if a not in found.left_to_right]
            others = [b for b in others if b not in found.right_to_left]
        for a, b in zip(members, others, strict=False):
            found.pair(a, b, "meaning")


def _spread(found: ModuleMatching) -> None:
    """Extend pairs to operands and users of the same opcode until nothing is added."""
    pending = list(found.left_to_right.items())
    while pending:
        a, b = pending.pop()
        for x, y in zip(a.operands, b.operands, strict=False):
            if x.opcode is y.opcode and found.pair(x, y, "operand"):
                pending.append((x, y))
        for user in a.users:
            if user in found.left_to_right:
                continue
            positions = [k for k, o in enumerate(user.operands) if o is a]
            for other in b.users:
                if (
                    other not in found.right_to_left
                    and other.opcode is user.opcode
                    and len(other.operands) == len(user.operands)
                    and all(other.operands[k] is b for k in positions)
                    and found.pair(user, other, "user")
                ):
                    pending.append((user, other))
                    break
        for p, q in zip(a.called, b.called, strict=False):
            if p.root.opcode is q.root.opcode and found.pair(
                p.root, q.root, "root of what a matched instruction calls"
            ):
                pending.append((p.root, q.root))
            for x, y in zip(p.parameters(), q.parameters(), strict=False):
                if found.pair(x, y, "parameter of what a matched instruction calls"):
                    pending.append((x, y))
