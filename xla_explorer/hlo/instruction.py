"""One instruction of the graph: mutable, slotted, with an id that is never reused; and its immutable record.

Names are for people, ids are for links. All mutation goes through `HloComputation`, which tells its listener.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, Attributes
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.metadata import OpMetadata, parse_metadata
from xla_explorer.hlo.opcodes.spec import OpcodeSpec
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text_form import TEXT

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation


class InstructionRecord(NamedTuple):
    """What an instruction was at one moment. Successive snapshots share the records of what did not change.

    operands, control_predecessors: instruction ids. called: computation ids. payload: parameter number or Literal.
    """

    id: int
    name: str
    opcode: OpcodeSpec
    shape: Shape
    operands: tuple[int, ...]
    attributes: Attributes
    called: tuple[int, ...]
    payload: Any
    metadata: str | None
    control_predecessors: tuple[int, ...]


# An empty dict with one entry takes 230 bytes, a tuple with one 50, and most instructions have one or two users; but whoever has
# thousands (a constant, a parameter) must lose one of them without looking at all.
Users: TypeAlias = "tuple[HloInstruction, ...] | dict[HloInstruction, None]"
MOST_USERS_IN_A_TUPLE = 8

_id_of = attrgetter("id")


class HloInstruction:
    """An operation. Read its fields freely; change it only through its computation.

    opcode: the OpcodeSpec row (compare with `is`, or `.opcode.name`). operands: tuple of instructions. users: instructions in
    the order in which they came, each once; a tuple while they are few, else a dict: iterate, count, ask `in`. attributes:
    interned Attributes. called: computations in the order of `opcode.called` (a conditional: its branches). payload: the number
    of a parameter, the Literal of a constant, else None. metadata: raw text `{op_name="..." ...}` or None. line: line in the
    source text that it was parsed from (1-based), 0 when built.
    """

    __slots__ = (
        "_record",
        "attributes",
        "called",
        "control_predecessors",
        "id",
        "line",
        "metadata",
        "name",
        "opcode",
        "operands",
        "parent",
        "payload",
        "shape",
        "users",
    )

    id: int
    name: str
    opcode: OpcodeSpec
    shape: Shape
    operands: tuple[HloInstruction, ...]
    users: Users
    attributes: Attributes
    called: tuple[HloComputation, ...]
    payload: Any
    metadata: str | None
    control_predecessors: tuple[HloInstruction, ...]
    parent: HloComputation
    line: int
    _record: InstructionRecord | None

    def record(self) -> InstructionRecord:
        """The immutable record, cached until the next mutation."""
        record = self._record
        if record is None:
            record = self._record = InstructionRecord(
                self.id,
                self.name,
                self.opcode,
                self.shape,
                tuple(map(_id_of, self.operands)),
                self.attributes,
                tuple(map(_id_of, self.called)) if self.called else (),
                self.payload,
                self.metadata,
                tuple(map(_id_of, self.control_predecessors)) if self.control_predecessors else (),
            )
        return record

    # -- questions ---------------------------------------------------------------------------------------------------
    @property
    def parameter_number(self) -> int:
        """The number of a parameter. TypeError for other opcodes."""
        if self.opcode.name != "parameter":
            raise TypeError(f"%{self.name} is a {self.opcode.name}, no parameter")
        return int(self.payload)

    @property
    def literal(self) -> Literal:
        """The value of a constant. TypeError for other opcodes."""
        if not isinstance(self.payload, Literal):
            raise TypeError(f"%{self.name} is a {self.opcode.name}, no constant")
        return self.payload

    def attribute(self, name: str) -> Any:
        """The value of an attribute, its default when absent; KeyError when absent and without a default."""
        return self.attributes.value(name)

    @property
    def to_apply(self) -> HloComputation:
        """The (first) called computation."""
        return self.called[0]

    @property
    def is_root(self) -> bool:
        """Whether it is the root of its computation."""
        return self.parent.root is self

    @property
    def op_metadata(self) -> OpMetadata:
        """Metadata, decoded (op_name, source_file, source_line, stack_frame_id ...)."""
        return parse_metadata(self.metadata)

    @cleaned
    def __repr__(self) -> str:
        return f"%{self.name}"

    @cleaned
    def __str__(self) -> str:
        return TEXT.instruction_text(self)


def add_user(operand: HloInstruction, user: HloInstruction) -> None:
    """`user` reads `operand`."""
    users = operand.users
    if type(users) is dict:
        users[user] = None
    elif user not in users:
        if len(users) < MOST_USERS_IN_A_TUPLE:
            operand.users = (*users, user)
        else:
            operand.users = dict.fromkeys((*users, user))


def drop_user(operand: HloInstruction, user: HloInstruction) -> None:
    """`user` reads `operand` no longer; nothing happens where it did not."""
    users = operand.users
    if type(users) is dict:
        users.pop(user, None)
    else:
        operand.users = tuple([u for u in users if u is not user])


def new_instruction(
    number: int,
    name: str,
    opcode: OpcodeSpec,
    shape: Shape,
    operands: tuple[HloInstruction, ...],
    attributes: Attributes = NO_ATTRIBUTES,
    called: tuple[HloComputation, ...] = (),
    payload: Any = None,
    metadata: str | None = None,
) -> HloInstruction:
    """An instruction that stands in no computation yet; `HloComputation.insert` takes it in."""
    i = HloInstruction.__new__(HloInstruction)
    i.id, i.name, i.opcode, i.shape, i.operands, i.users = number, name, opcode, shape, operands, ()
    i.attributes, i.called, i.payload, i.metadata, i.control_predecessors, i._record, i.line = (
        attributes,
        called,
        payload,
        metadata,
        (),
        None,
        0,
    )
    return i
