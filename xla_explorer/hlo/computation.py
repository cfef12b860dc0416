"""A computation: instructions in creation order, one root, parameters, and methods to mutate it.

Each mutation calls at most one listener: `listener(kind, instruction, other)` with kind `created`,
`replaced` (instruction by other), `removed`, `changed` (operands, attributes, shape or name),
`root`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, Attributes
from xla_explorer.hlo.instruction import (
    HloInstruction,
    InstructionRecord,
    add_user,
    drop_user,
    new_instruction,
)
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes import CONSTANT, PARAMETER, OpcodeSpec, opcode
from xla_explorer.hlo.shape import Shape, ShapeError
from xla_explorer.hlo.text_form import TEXT

if TYPE_CHECKING:
    from xla_explorer.hlo.module import HloModule

Listener = Callable[[str, HloInstruction, "HloInstruction | None"], None]


class ComputationRecord(NamedTuple):
    """State of a computation at one moment. schedule: instruction ids in order, or None."""

    id: int
    name: str
    root: int
    instructions: tuple[InstructionRecord, ...]
    schedule: tuple[int, ...] | None
    execution_thread: str | None


_WIDE = 64  # operands
_MOST_WIDE_USERS = 8


class _Places(NamedTuple):
    """The positions of an instruction's operands, valid for exactly these operands."""

    operands: tuple[HloInstruction, ...]
    of: dict[HloInstruction, list[int]]


class HloComputation:
    """A function of its parameters. `instructions` maps id to instruction in order of creation."""

    __slots__ = (
        "_has_control_edges",
        "_order",
        "_record",
        "_wide_users",
        "execution_thread",
        "id",
        "instructions",
        "listener",
        "module",
        "name",
        "root",
        "schedule",
    )

    def __init__(self, name: str, module: HloModule) -> None:
        self.name = name
        self.module = module
        self.id = module.take_computation_id()
        self.instructions: dict[int, HloInstruction] = {}
        self.root: HloInstruction = None  # type: ignore[assignment]  # set before the first read
        self.listener: Listener | None = None
        self.schedule: tuple[HloInstruction, ...] | None = None
        self.execution_thread: str | None = None
        self._order: list[HloInstruction] | None = None
        self._record: ComputationRecord | None = None
        self._has_control_edges: bool | None = None  # None: not computed yet
        self._wide_users: dict[int, _Places] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the computation as the module and its id."""
        return type(self.module).find_computation, (self.module, self.id)

    def add(
        self,
        spec: OpcodeSpec | str,
        shape: Shape | None = None,
        operands: Iterable[HloInstruction] = (),
        attributes: Attributes = NO_ATTRIBUTES,
        *,
        called: tuple[HloComputation, ...] = (),
        payload: Any = None,
        name: str | None = None,
        metadata: str | None = None,
    ) -> HloInstruction:
        """Create an instruction.

        shape: None infers it by the opcode's rule (ShapeError if it has no rule).
        """
        if isinstance(spec, str):
            spec = opcode(spec)
        operands = tuple(operands)
        if shape is None:
            shape = infer_shape(spec, tuple([o.shape for o in operands]), attributes, called)
        number = self.module.take_instruction_id()
        i = new_instruction(
            number,
            self.module.names.unique(name or spec.name),
            spec,
            shape,
            operands,
            attributes,
            called,
            payload,
        )
        i.metadata = metadata
        return self.insert(i)

    def insert(self, i: HloInstruction) -> HloInstruction:
        """Insert an instruction made by `new_instruction`.

        Its name must be unique in the module.
        """
        i.parent = self
        for operand in i.operands:
            add_user(operand, i)
        self.instructions[i.id] = i
        self._touch()
        if self.listener is not None:
            self.listener("created", i, None)
        return i

    def add_constant(self, literal: Literal, name: str | None = None) -> HloInstruction:
        """Add a constant with the literal's shape."""
        return self.add(CONSTANT, literal.shape, payload=literal, name=name)

    def add_parameter(self, number: int, shape: Shape, name: str | None = None) -> HloInstruction:
        """Add a parameter."""
        return self.add(PARAMETER, shape, payload=number, name=name or f"param_{number}")

    def replace(self, old: HloInstruction, new: HloInstruction) -> None:
        """Replace `old` by `new` in all users and as the root; `old` stays until removed."""
        users, old.users = old.users, ()
        for user in users:
            user.operands = self._with_operand(user, old, new)
            user._record = None
            add_user(new, user)
        if self.root is old:
            self.root = new
        self._touch()
        if self.listener is not None:
            self.listener("replaced", old, new)

    def _with_operand(
        self, user: HloInstruction, old: HloInstruction, new: HloInstruction
    ) -> tuple[HloInstruction, ...]:
        """Return the operands of `user` with `old` replaced by `new`.

        For many operands the positions are cached: else n replacements below one tuple would cost n
        * n.
        """
        if len(user.operands) < _WIDE:
            return tuple([new if o is old else o for o in user.operands])
        places = self._wide_users.get(user.id)
        if places is None or places.operands is not user.operands:
            if len(self._wide_users) >= _MOST_WIDE_USERS:
                self._wide_users.clear()
            found: dict[HloInstruction, list[int]] = {}
            for k, o in enumerate(user.operands):
                found.setdefault(o, []).append(k)
            places = _Places(user.operands, found)
        operands, mine = list(places.operands), places.of.pop(old, [])
        for k in mine:
            operands[k] = new
        places.of.setdefault(new, []).extend(mine)
        self._wide_users[user.id] = made = _Places(tuple(operands), places.of)
        return made.operands

    def replace_operand(self, user: HloInstruction, index: int, new: HloInstruction) -> None:
        """Replace operand number `index` of `user` by `new`."""
        old = user.operands[index]
        user.operands = (*user.operands[:index], new, *user.operands[index + 1 :])
        if old not in user.operands:
            drop_user(old, user)
        add_user(new, user)
        self._changed(user)

    def set_operands(self, user: HloInstruction, operands: Iterable[HloInstruction]) -> None:
        """Replace all operands."""
        for operand in user.operands:
            drop_user(operand, user)
        user.operands = tuple(operands)
        for operand in user.operands:
            add_user(operand, user)
        self._changed(user)

    def set_attributes(self, i: HloInstruction, attributes: Attributes) -> None:
        """Replace the attributes."""
        i.attributes = attributes
        self._changed(i)

    def set_called(self, i: HloInstruction, called: tuple[HloComputation, ...]) -> None:
        """Replace the called computations."""
        i.called = called
        self._changed(i)

    def set_shape(self, i: HloInstruction, shape: Shape) -> None:
        """Replace the shape (layout assignment, tuple changes)."""
        i.shape = shape
        self._changed(i)

    def set_payload(self, i: HloInstruction, payload: Any) -> None:
        """Replace the parameter number or literal."""
        i.payload = payload
        self._changed(i)

    def set_metadata(self, i: HloInstruction, metadata: str | None) -> None:
        """Replace the metadata of an instruction."""
        i.metadata = metadata
        self._changed(i)

    def set_name(self, i: HloInstruction, name: str) -> None:
        """Rename an instruction; the name is made unique in the module."""
        i.name = self.module.names.unique(name)
        self._changed(i)

    def set_control_predecessors(
        self, i: HloInstruction, predecessors: Iterable[HloInstruction]
    ) -> None:
        """Set the instructions of this computation that must run before `i`."""
        i.control_predecessors = tuple(predecessors)
        self._has_control_edges = None
        self._changed(i)

    def set_root(self, i: HloInstruction) -> None:
        """Set the root."""
        self.root = i
        self._touch()
        if self.listener is not None:
            self.listener("root", i, None)

    def remove(self, i: HloInstruction) -> None:
        """Remove an instruction without users, or raise ValueError.

        Its control successors then run after its control predecessors.
        """
        if i.users or i is self.root:
            raise ValueError(
                f"%{i.name} cannot be removed: "
                + ("it is the root" if i is self.root else f"used by {list(i.users)[:3]}")
            )
        for operand in i.operands:
            drop_user(operand, i)
        del self.instructions[i.id]
        if self._has_control_edges is None:
            self._has_control_edges = any(
                x.control_predecessors for x in (i, *self.instructions.values())
            )
        if self._has_control_edges:
            for after in [x for x in self.instructions.values() if i in x.control_predecessors]:
                relayed = [
                    p
                    for x in after.control_predecessors
                    for p in (i.control_predecessors if x is i else (x,))
                ]
                self.set_control_predecessors(after, dict.fromkeys(relayed))
        self._touch()
        if self.listener is not None:
            self.listener("removed", i, None)

    def _changed(self, i: HloInstruction) -> None:
        i._record = None
        self._touch()
        if self.listener is not None:
            self.listener("changed", i, None)

    def _touch(self) -> None:
        self._order = None
        self._record = None

    @property
    def is_entry(self) -> bool:
        """Return True if this is the module's entry."""
        return self.module.entry is self

    def parameters(self) -> list[HloInstruction]:
        """Return the parameters by number."""
        return sorted(
            [i for i in self.instructions.values() if i.opcode is PARAMETER],
            key=lambda i: int(i.payload),
        )

    def post_order(self) -> list[HloInstruction]:
        """Return operands (and control predecessors) before users; cached until the next mutation.

        The list must not be mutated. The order is exactly XLA's, so that texts compare: from each
        instruction without users, in order of creation, operands depth first from left to right,
        control predecessors before them. ValueError for a graph with a cycle. Source:
        hlo_computation.cc MakeInstructionPostOrder.
        """
        if self._order is not None:
            return self._order
        order: list[HloInstruction] = []
        done: set[HloInstruction] = set()
        emit, finish = order.append, done.add
        stack: list[HloInstruction | None] = [i for i in self.instructions.values() if not i.users]
        stack.reverse()
        push, pop = stack.append, stack.pop
        highest = 16 * len(self.instructions)
        while stack:
            i = pop()
            if i is None:  # a marker: all dependencies of the entry below are in the order
                i = pop()
                finish(i)  # type: ignore[arg-type]
                emit(i)  # type: ignore[arg-type]
                continue
            while i not in done:
                operands = i.operands
                if not operands and not i.control_predecessors:
                    finish(i)
                    emit(i)
                    break
                push(i)
                push(None)
                stack += [operand for operand in operands[:0:-1] if operand not in done]
                if len(stack) > highest:
                    highest = self._check_pushes(len(stack), i)
                if i.control_predecessors:
                    before = (*operands[:1], *i.control_predecessors)
                    stack += [operand for operand in before if operand not in done]
                    break
                i = operands[0]
        if len(order) < len(self.instructions):
            lost = next(filterfalse(done.__contains__, self.instructions.values()))
            raise ValueError(
                f"%{self.name} has no order: %{lost.name} depends on itself, or its users are "
                "not of this computation"
            )
        self._order = order
        return order

    def _check_pushes(self, pushes: int, i: HloInstruction) -> int:
        """Return the most pushes of an acyclic graph; ValueError if there are more.

        Each instruction is pushed once with its marker, and once for each edge to it.
        """
        most = sum(
            [len(x.operands) + len(x.control_predecessors) + 3 for x in self.instructions.values()]
        )
        if pushes > most:
            raise ValueError(f"%{self.name} has no order: %{i.name} depends on itself")
        return most

    def sequence(self) -> tuple[HloInstruction, ...] | list[HloInstruction]:
        """Return the schedule if there is one, else post order."""
        return self.schedule if self.schedule is not None else self.post_order()

    def record(self) -> ComputationRecord:
        """Return an immutable record, cached until the next mutation.

        Unchanged instructions share their records.
        """
        if self._record is None:
            self._record = ComputationRecord(
                self.id,
                self.name,
                self.root.id,
                tuple([i._record or i.record() for i in self.post_order()]),
                tuple([i.id for i in self.schedule]) if self.schedule is not None else None,
                self.execution_thread,
            )
        return self._record

    def set_schedule(self, schedule: Iterable[HloInstruction] | None) -> None:
        """Fix the order of execution (None: any order that respects operands)."""
        self.schedule = tuple(schedule) if schedule is not None else None
        self._touch()

    def clone(
        self,
        name: str | None = None,
        module: HloModule | None = None,
        replaced: dict[HloComputation, HloComputation] | None = None,
    ) -> HloComputation:
        """Copy with new ids to the same (or another) module.

        `replaced` maps called computations.
        """
        target = (module or self.module).add_computation(name or self.name)
        copies: dict[HloInstruction, HloInstruction] = {}
        for i in self.post_order():
            copy = copies[i] = target.add(
                i.opcode,
                i.shape,
                [copies[o] for o in i.operands],
                i.attributes,
                called=tuple([(replaced or {}).get(c, c) for c in i.called]),
                payload=i.payload,
                name=i.name,
                metadata=i.metadata,
            )
            copy.line = i.line
            if i.control_predecessors:
                copy.control_predecessors = tuple([copies[o] for o in i.control_predecessors])
        target.root = copies[self.root]
        target.execution_thread = self.execution_thread
        if self.schedule is not None:
            target.set_schedule([copies[i] for i in self.schedule])
        return target

    @cleaned
    def __repr__(self) -> str:
        return f"%{self.name}"

    @cleaned
    def __str__(self) -> str:
        return TEXT.computation_text(self)


def infer_shape(
    spec: OpcodeSpec,
    operands: tuple[Shape, ...],
    attributes: Attributes = NO_ATTRIBUTES,
    called: tuple[HloComputation, ...] = (),
) -> Shape:
    """Infer the result shape by the opcode's rule.

    ShapeError if the operands do not fit or the opcode has no rule.
    """
    if spec.arity is not None and spec.arity != len(operands):
        raise ShapeError(
            f"{spec.name}: takes {spec.arity} operand{'s' if spec.arity != 1 else ''}, got "
            f"{len(operands)}"
        )
    if spec.shape_rule is None:
        raise ShapeError(f"cannot infer shape for opcode: {spec.name}")
    try:
        return spec.shape_rule(operands, attributes, called)
    except ShapeError as error:
        raise ShapeError(f"{spec.name}: {error}") from None
    except KeyError as error:
        raise ShapeError(f"{spec.name}: {error.args[0]}") from None
