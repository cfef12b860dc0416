"""A kernel under construction in XLA:CPU's fusion: members, operands, reuse, and instances.

The graph stays unchanged while fusions are planned; a kernel is named by its root. Source:
xla/service/instruction_fusion.cc, xla/service/fusion_node_indexing_evaluation.cc,
`HloInstruction::OperandElementUse`.
"""

from __future__ import annotations

from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION, OpcodeSpec, opcode

_DOT = opcode("dot")
_PERMUTING = frozenset(
    {
        fusible.BITCAST,
        fusible.CONCATENATE,
        fusible.RESHAPE,
        fusible.REVERSE,
        fusible.SLICE,
        fusible.TRANSPOSE,
        fusible.GATHER,
    }
)
_ONCE = fusible.ELEMENTWISE | {fusible.COPY, fusible.BITCAST_CONVERT, opcode("map"), opcode("rng")}


def reuses_operand(i: HloInstruction, number: int) -> bool:
    """Return True if an instruction may read an element of this operand more than once."""
    row = i.opcode
    if row in _PERMUTING or row in _ONCE:
        return False
    if row is fusible.PAD:
        return number > 0
    if row is fusible.REDUCE:
        return number >= len(i.operands) // 2
    if row is fusible.DYNAMIC_UPDATE_SLICE:
        return number > 1
    if row is _DOT and i.shape.rank <= 1:
        return i.operands[1 - number].shape.rank > 1
    return True


class FusedKernel:
    """A kernel under construction.

    members: the root first, in the order of absorption; operands: in XLA's order; reused: the
    operands whose elements it reads more than once.
    """

    __slots__ = ("_copies", "_indexing", "members", "operands", "reused", "root")

    def __init__(self, root: HloInstruction) -> None:
        self.root = root
        self.members: dict[HloInstruction, None] = {root: None}
        self.operands: dict[HloInstruction, None] = dict.fromkeys(root.operands)
        self.reused = {o for number, o in enumerate(root.operands) if reuses_operand(root, number)}
        # number of emitted instances of a member's code
        self._copies: dict[HloInstruction, int] = {}
        self._indexing: dict[
            HloInstruction, dict[HloInstruction, None]
        ] = {}  # value -> the members whose index expressions read it
        self._emit(root, 1)

    @property
    def is_fusion(self) -> bool:
        """True if it has absorbed anything."""
        return len(self.members) > 1

    @property
    def updated_buffer(self) -> HloInstruction | None:
        """The buffer that a dynamic-update-slice at its root updates, if it comes from outside."""
        if (
            self.root.opcode is not fusible.DYNAMIC_UPDATE_SLICE
            or self.root.operands[0] in self.members
        ):
            return None
        return self.root.operands[0]

    def count(self, row: OpcodeSpec) -> int:
        """Return the number of members with the opcode."""
        return sum([1 for member in self.members if member.opcode is row])

    def copies_of(self, producer: HloInstruction) -> int:
        """Return the number of emitted instances of an operand, if absorbed."""
        return sum([self._copies[user] for user in self._indexing[producer]])

    def indexing_reader(
        self, operand: HloInstruction, *, past_bitcasts: bool = True
    ) -> HloInstruction | None:
        """Return a member other than the root that reads an operand other than by element."""
        stack, seen = [operand], {operand}
        while stack:
            value = stack.pop()
            for user in value.users:
                if user not in self.members or user is self.root or user in seen:
                    continue
                if user.opcode not in _ONCE and not (
                    past_bitcasts and user.opcode is fusible.BITCAST
                ):
                    return user
                seen.add(user)
                stack.append(user)
        return None

    def absorb(self, producer: HloInstruction) -> None:
        """Absorb an operand."""
        if producer in self.reused:
            self.reused.remove(producer)
            self.reused.update(producer.operands)
        else:
            self.reused.update(
                [
                    o
                    for number, o in enumerate(producer.operands)
                    if reuses_operand(producer, number)
                ]
            )
        copies = self.copies_of(producer)
        self.members[producer] = None
        self._put_behind(producer)
        del self.operands[producer]
        for operand in producer.operands:
            if operand not in self.members:
                self.operands[operand] = None
        self._emit(producer, copies)

    def _put_behind(self, user: HloInstruction) -> None:
        """Keep users before producers if a member is absorbed after its operands."""
        for operand in user.operands:
            if operand in self.members:
                self.members[operand] = self.members.pop(operand)
                self._put_behind(operand)

    def _emit(self, member: HloInstruction, copies: int) -> None:
        self._copies[member] = copies
        indexed = self._indexing.get(member) if member is not self.root else {self.root: None}
        for operand in member.operands:
            users = self._indexing.setdefault(operand, {})
            if member.opcode is fusible.TRANSPOSE or _same_index(operand, member):
                users.update(indexed or {})
            else:
                users[member] = None

    @property
    def name(self) -> str:
        """The name that XLA gives the fusion: the first absorbed member, and the root."""
        first = list(self.members)[1]
        return f"{first.opcode.name}_{self.root.opcode.name}_{FUSION.name}"


def _same_index(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if both have the same index: equal dimensions in the same layout."""
    one, other = a.shape, b.shape
    return (
        one.is_array
        and other.is_array
        and one.dimensions == other.dimensions
        and one.layout == other.layout
    )
