"""An instruction of the graph: mutable, slotted, with a unique id; and its immutable record.

Names are for people, ids are for links. All mutation goes through `HloComputation`, which calls its
listener.
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
    """State of an instruction at one moment; snapshots share the records of unchanged instructions.

    operands, control_predecessors: instruction ids. called: computation ids. payload: parameter
    number or Literal.
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


# An empty dict with one entry takes 230 bytes, a tuple with one 50, and most instructions have one
# or two users. An instruction with thousands of users (a constant, a parameter) needs constant time
# to remove one.
Users: TypeAlias = "tuple[HloInstruction, ...] | dict[HloInstruction, None]"
MOST_USERS_IN_A_TUPLE = 8

_id_of = attrgetter("id")


class HloInstruction:
    """An operation, whose fields are read freely and changed only through its computation.

    opcode: the OpcodeSpec row (compare with `is`, or `.opcode.name`).
    operands: tuple of instructions.
    users: instructions in order of registration, each once; a tuple if they are few, else a dict.
    Supported: iteration, `len`, `in`.
    attributes: interned Attributes.
    called: computations in the order of `opcode.called` (a conditional: its branches).
    payload: the number of a parameter, the Literal of a constant, else None.
    metadata: raw text `{op_name="..." ...}` or None.
    line: 1-based line in the parsed source text, 0 if built.
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
        """Return the immutable record, cached until the next mutation."""
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

    @property
    def parameter_number(self) -> int:
        """Number of a parameter. TypeError for other opcodes."""
        if self.opcode.name != "parameter":
            raise TypeError(f"%{self.name} is a {self.opcode.name}, no parameter")
        return int(self.payload)

    @property
    def literal(self) -> Literal:
        """Value of a constant. TypeError for other opcodes."""
        if not isinstance(self.payload, Literal):
            raise TypeError(f"%{self.name} is a {self.opcode.name}, no constant")
        return self.payload

    def attribute(self, name: str) -> Any:
        """Return the value of an attribute, or its default; KeyError if it has neither."""
        return self.attributes.value(name)

    @property
    def to_apply(self) -> HloComputation:
        """The (first) called computation."""
        return self.called[0]

    @property
    def is_root(self) -> bool:
        """Return True if this is the root of its computation."""
        return self.parent.root is self

    @property
    def op_metadata(self) -> OpMetadata:
        """Decoded metadata (op_name, source_file, source_line, stack_frame_id ...)."""
        return parse_metadata(self.metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the instruction as the module and its id: operands of operands nest too deeply."""
        return type(self.parent.module).find, (self.parent.module, self.id)

    @cleaned
    def __repr__(self) -> str:
        return f"%{self.name}"

    @cleaned
    def __str__(self) -> str:
        return TEXT.instruction_text(self)


def add_user(operand: HloInstruction, user: HloInstruction) -> None:
    """Register `user` as a reader of `operand`."""
    users = operand.users
    if type(users) is dict:
        users[user] = None
    elif user not in users:
        if len(users) < MOST_USERS_IN_A_TUPLE:
            operand.users = (*users, user)
        else:
            operand.users = dict.fromkeys((*users, user))


def drop_user(operand: HloInstruction, user: HloInstruction) -> None:
    """Remove `user` from the users of `operand`, if it is one."""
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
) -> HloInstruction:
    """Return an instruction without metadata or computation, for `HloComputation.insert`."""
    i = HloInstruction.__new__(HloInstruction)
    i.id, i.name, i.opcode, i.shape, i.operands, i.users = number, name, opcode, shape, operands, ()
    i.attributes, i.called, i.payload, i.metadata, i.control_predecessors, i._record, i.line = (
        attributes,
        called,
        payload,
        None,
        (),
        None,
        0,
    )
    return i
