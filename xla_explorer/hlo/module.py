"""A module: computations (callees first), one entry, header attributes; and its snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.naming import UniqueNames, legal_name
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.computation import ComputationRecord, HloComputation
from xla_explorer.hlo.instruction import (
    HloInstruction,
    InstructionRecord,
    add_user,
    new_instruction,
)
from xla_explorer.hlo.metadata import StackFrameTables
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.printer import module_text

if TYPE_CHECKING:
    from xla_explorer.hlo.text.print_options import PrintOptions


class UnknownInstructionError(XlaExplorerError, KeyError):
    """No instruction of the module has this name or id."""


class ModuleSnapshot(NamedTuple):
    """Immutable state of a module at one moment; snapshots of a module share unchanged parts."""

    name: str
    entry: int
    computations: tuple[ComputationRecord, ...]
    attributes: tuple[tuple[str, Any], ...]
    frames: StackFrameTables | None

    def instruction_count(self) -> int:
        """Return the number of instructions in all computations."""
        return sum([len(c.instructions) for c in self.computations])

    def records(self) -> Iterator[InstructionRecord]:
        """Yield every instruction record."""
        for computation in self.computations:
            yield from computation.instructions


class SnapshotDifference(NamedTuple):
    """Ids of instructions added, removed and changed (operands, attributes, shape, name)."""

    added: frozenset[int]
    removed: frozenset[int]
    changed: frozenset[int]


def snapshot_difference(before: ModuleSnapshot, after: ModuleSnapshot) -> SnapshotDifference:
    """Compare two snapshots.

    Records are compared by identity first, so unchanged parts cost almost nothing.
    """
    old = {c.id: c for c in before.computations}
    gone: dict[int, InstructionRecord] = {}
    new: dict[int, InstructionRecord] = {}
    for computation in after.computations:
        previous = old.pop(computation.id, None)
        if previous is computation:
            continue
        a = set(map(id, previous.instructions)) if previous else set()
        b = set(map(id, computation.instructions))
        new.update({r.id: r for r in computation.instructions if id(r) not in a})
        if previous:
            gone.update({r.id: r for r in previous.instructions if id(r) not in b})
    for computation in old.values():
        gone.update({r.id: r for r in computation.instructions})
    return SnapshotDifference(
        frozenset(new.keys() - gone.keys()),
        frozenset(gone.keys() - new.keys()),
        frozenset([k for k in new.keys() & gone.keys() if new[k] != gone[k]]),
    )


class HloModule:
    """A module: computations, the entry among them, and the attributes of its header.

    Parameters
    ----------
    name
        The module's name.

    Attributes
    ----------
    computations
        Name to computation, callees before callers.
    attributes
        Header attributes by name (raw text or decoded), in order.
    is_scheduled
        True if the order of instructions is the order of execution.
    out_tree
        The pytree (a `jax.tree_util.PyTreeDef`) of the results of the JAX function that the module
        was traced from; None for other modules. Transformations that change the results reset it.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY main { x = f32[4] parameter(0) ROOT r = f32[4] exponential(x) }"
    >>> module = xe.parse_hlo(text)
    >>> module.entry.root.name, len(module.computations)
    ('r', 1)
    """

    __slots__ = (
        "_next_computation",
        "_next_instruction",
        "attributes",
        "computations",
        "entry",
        "filename",
        "frames",
        "name",
        "names",
        "out_tree",
        "source_text",
    )

    @explains_arguments
    def __init__(self, name: str) -> None:
        self.name = legal_name(name) if name else name
        self.computations: dict[str, HloComputation] = {}
        self.entry: HloComputation = None  # type: ignore[assignment]  # set before the first read
        self.attributes: dict[str, Any] = {}
        self.frames: StackFrameTables | None = None
        self.names = UniqueNames()
        self.source_text: str | None = None
        self.filename: str | None = None
        self.out_tree: Any = None
        self._next_instruction = 0
        self._next_computation = 0

    def take_instruction_id(self) -> int:
        """Return the next instruction id; ids are never reused."""
        number = self._next_instruction
        self._next_instruction = number + 1
        return number

    @property
    def next_instruction_id(self) -> int:
        """Id of the next instruction."""
        return self._next_instruction

    def take_computation_id(self) -> int:
        """Return the next computation id; ids are never reused."""
        number = self._next_computation
        self._next_computation = number + 1
        return number

    def add_computation(self, name: str, *, entry: bool = False) -> HloComputation:
        """Add an empty computation under a unique name."""
        stem, number = (name := legal_name(name)), 1
        while name in self.computations:
            name, number = f"{stem}.{number}", number + 1
        computation = self.computations[name] = HloComputation(name, self)
        if self.computations and self.entry is not None:
            computation.listener = self.entry.listener
        if entry:
            self.entry = computation
        return computation

    def remove_computation(self, computation: HloComputation) -> None:
        """Remove a computation without callers."""
        del self.computations[computation.name]

    def renumber(
        self,
        instructions: Mapping[HloInstruction, int],
        computations: Mapping[HloComputation, int],
        earlier: HloModule,
    ) -> None:
        """Set the given ids; the rest get ids unused in this module and in `earlier`."""
        self._next_instruction = max(self._next_instruction, earlier._next_instruction)
        self._next_computation = max(self._next_computation, earlier._next_computation)
        for computation in self.computations.values():
            computation.id = (
                computations[computation]
                if computation in computations
                else self.take_computation_id()
            )
            for i in computation.instructions.values():
                i.id = instructions[i] if i in instructions else self.take_instruction_id()
                i._record = None
            computation.instructions = {i.id: i for i in computation.instructions.values()}
            computation._record = None

    def set_listener(self, listener: Any) -> None:
        """Set one listener for all computations, present and future (None: no listener)."""
        for computation in self.computations.values():
            computation.listener = listener

    @property
    def is_scheduled(self) -> bool:
        """Return True if the entry has a schedule."""
        return self.entry.schedule is not None

    def instructions(self) -> Iterator[HloInstruction]:
        """Yield every instruction of every computation."""
        for computation in self.computations.values():
            yield from computation.instructions.values()

    def instruction_count(self) -> int:
        """Return the number of instructions in all computations."""
        return sum([len(c.instructions) for c in self.computations.values()])

    def find(self, name_or_id: str | int) -> HloInstruction:
        """Return an instruction by name (with or without %) or id.

        UnknownInstructionError (a KeyError) suggests similar names.
        """
        if isinstance(name_or_id, int):
            if (found := self.entry.instructions.get(name_or_id)) is not None:
                return found
            for computation in self.computations.values():
                if name_or_id in computation.instructions:
                    return computation.instructions[name_or_id]
            raise UnknownInstructionError(f"no instruction has id {name_or_id}")
        wanted = name_or_id.lstrip("%")
        names = []
        for i in self.instructions():
            if i.name == wanted:
                return i
            names.append(i.name)
        near = nearest(wanted, names, 3)
        raise UnknownInstructionError(
            f"no instruction is named %{wanted}",
            f"near: {', '.join('%' + n for n in near)}" if near else "",
        )

    def find_computation(self, number: int) -> HloComputation:
        """Return a computation by id; UnknownInstructionError (a KeyError) if there is none."""
        for computation in self.computations.values():
            if computation.id == number:
                return computation
        raise UnknownInstructionError(f"no computation has id {number}")

    def post_order_computations(self) -> list[HloComputation]:
        """Return the computations reachable from the entry, callees before callers."""
        order: list[HloComputation] = []
        state: dict[HloComputation, bool] = {}
        stack: list[tuple[HloComputation, bool]] = [(self.entry, False)]
        while stack:
            computation, finished = stack.pop()
            if finished:
                order.append(computation)
                continue
            if computation in state:
                continue
            state[computation] = True
            stack.append((computation, True))
            for i in computation.instructions.values():
                if i.called:
                    stack.extend([(c, False) for c in i.called if c not in state])
        return order

    def fusion_computations(self) -> set[HloComputation]:
        """Return the bodies of fusion instructions."""
        return {i.called[0] for i in self.instructions() if i.opcode.name == "fusion"}

    def parameter_shapes(self) -> list[Shape]:
        """Return the shapes of the entry's parameters, by number."""
        return [p.shape for p in self.entry.parameters()]

    def result_shape(self) -> Shape:
        """Return the shape of the entry's root."""
        return self.entry.root.shape

    def snapshot(self) -> ModuleSnapshot:
        """Return the module as immutable data.

        The cost is that of the changes since the last snapshot.
        """
        return ModuleSnapshot(
            self.name,
            self.entry.id,
            tuple([c.record() for c in self.computations.values()]),
            tuple(self.attributes.items()),
            self.frames,
        )

    @classmethod
    def from_snapshot(cls, snapshot: ModuleSnapshot) -> HloModule:
        """Return a module equal to the snapshot's, with the same ids."""
        module = cls(snapshot.name)
        module.attributes = dict(snapshot.attributes)
        module.frames = snapshot.frames
        by_id: dict[int, HloComputation] = {}
        pending = list(snapshot.computations)
        for record in pending:
            computation = HloComputation(record.name, module)
            computation.id = record.id
            computation.execution_thread = record.execution_thread
            by_id[record.id] = module.computations[record.name] = computation
        highest = -1
        for record in pending:
            computation = by_id[record.id]
            made: dict[int, HloInstruction] = {}
            for r in record.instructions:
                (
                    number,
                    name,
                    spec,
                    shape,
                    operands,
                    attributes,
                    called,
                    payload,
                    metadata,
                    predecessors,
                ) = r
                i = new_instruction(
                    number,
                    name,
                    spec,
                    shape,
                    tuple([made[o] for o in operands]) if operands else (),
                    attributes,
                    tuple([by_id[c] for c in called]) if called else (),
                    payload,
                )
                i.metadata, i.parent, i._record = metadata, computation, r
                for operand in i.operands:
                    add_user(operand, i)
                if predecessors:
                    i.control_predecessors = tuple([made[o] for o in predecessors])
                made[number] = i
            names = {r.name for r in record.instructions}
            if not module.names.reserve_all(names):
                for name in names:
                    module.names.reserve(name)
            highest = max(highest, max(made))
            computation.instructions = made
            computation.root = made[record.root]
            if record.schedule is not None:
                computation.schedule = tuple([made[k] for k in record.schedule])
            computation._order = list(made.values())  # records are in post order
        module.entry = by_id[snapshot.entry]
        module._next_instruction = highest + 1
        module._next_computation = max(by_id) + 1
        return module

    def clone(self) -> HloModule:
        """Return a deep copy that keeps names and ids."""
        parts = self.__reduce__()[1]
        return module_of_parts(*parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts of a copy: instructions by id, to avoid deep recursion."""
        lines = {i.id: i.line for i in self.instructions() if i.line}
        numbers = self._next_instruction, self._next_computation
        return module_of_parts, (
            self.snapshot(),
            numbers,
            self.source_text,
            self.filename,
            lines,
            self.out_tree,
        )

    def dispose(self) -> None:
        """Break the reference cycles, so that the graph is freed without garbage collection."""
        for computation in self.computations.values():
            for i in computation.instructions.values():
                i.users, i.operands, i.called = (), (), ()
            computation.instructions = {}
            computation.schedule = computation._order = computation._record = None
        self.computations = {}

    def to_text(self, options: PrintOptions | None = None) -> str:
        """Return HLO text that XLA's own parser accepts. See `PrintOptions` for presets."""
        return module_text(self, options)

    @cleaned
    def __str__(self) -> str:
        return self.to_text()

    @cleaned
    def __repr__(self) -> str:
        return (
            f"<HloModule {self.name}: {self.instruction_count()} instructions in "
            f"{len(self.computations)} computations>"
        )


def module_of_parts(
    snapshot: ModuleSnapshot,
    numbers: tuple[int, int],
    source_text: str | None,
    filename: str | None,
    lines: Mapping[int, int],
    out_tree: Any = None,
) -> HloModule:
    """Return a module of a snapshot, its next ids, and the lines of its instructions by id."""
    module = HloModule.from_snapshot(snapshot)
    module._next_instruction, module._next_computation = numbers
    module.source_text, module.filename, module.out_tree = source_text, filename, out_tree
    for i in module.instructions():
        i.line = lines.get(i.id, 0)
    return module
