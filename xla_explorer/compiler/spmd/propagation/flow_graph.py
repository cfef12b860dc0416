"""The graph that shardings are propagated in: values, operations and data-flow edges.

Tuples are gone: each element is a value. All parts of a loop's state are one value, as are the
operand and the parameter of a manual region; a data-flow edge connects the value with its sources.
Constants and broadcasts of scalars are copied for each use, so that no sharding goes from one use
to another through them. Source: Shardy's docs/propagation.md, sdy/transforms/import.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xla_explorer.compiler.spmd.propagation.axis_lists import Axes, Axis
from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding
from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(eq=False)
class Value:
    """A value with one sharding.

    Attributes
    ----------
    instruction, leaf : HloInstruction, int
        The instruction that results in it, and the number of the element of its result.
    sizes : tuple of int
        The dimensions.
    sharding : ValueSharding or None
        None if nothing says how it is sharded; every axis may be added.
    origins : dict of Axis to str
        The annotation that brought each axis.
    definer : Operation or None
        None for arguments and scalars.
    users : list of Operation
        Operations that read it, in program order.
    inner_users : list of Operation
        Of the state of a loop, the users inside the loop.
    group : int or None
        The number of its sharding group.
    kind : str
        "manual" for a value inside a manual region of GSPMD, else "".
    """

    instruction: HloInstruction
    leaf: int
    sizes: tuple[int, ...]
    sharding: ValueSharding | None = None
    origins: dict[Axis, str] = field(default_factory=dict)
    definer: FlowOperation | None = None
    users: list[FlowOperation] = field(default_factory=list)
    inner_users: list[FlowOperation] = field(default_factory=list)
    group: int | None = None
    kind: str = ""

    def __repr__(self) -> str:
        return f"%{self.instruction.name}" + (f"#{self.leaf}" if self.leaf else "")


@dataclass(eq=False)
class Port:
    """A name of a value in one region; uses are counted for each name apart.

    inner: True for a parameter of a loop's computations.
    """

    value: Value
    uses: int = 0
    inner: bool = False


@dataclass(frozen=True)
class Border:
    """The border of a manual region that a data-flow edge crosses.

    inwards: True for operands. manual: names of the manual axes. prefixes: the manual axes that
    split each dimension outside. replicated: the manual axes along which the outer value is
    replicated.
    """

    inwards: bool
    manual: frozenset[str]
    prefixes: tuple[Axes, ...]
    replicated: Axes

    def outer(self, inner: ValueSharding) -> ValueSharding:
        """Return the outer sharding of a value, with its manual axes."""
        dimensions = [(*a, *b) for a, b in zip(self.prefixes, inner.dimensions, strict=True)]
        return ValueSharding(
            tuple(dimensions), inner.closed, (*self.replicated, *inner.replicated), inner.unreduced
        )


@dataclass(eq=False)
class FlowOperation:
    """An operation or a data-flow edge of the graph.

    Attributes
    ----------
    kind : str
        operation, constraint, barrier, edge or region.
    instruction : HloInstruction
        The instruction; for an edge the one whose state or result it connects.
    rule : FactorRule or None
        None if shardings do not pass.
    operands, results : list of Port
        What it reads and makes; of an edge, the sources and the one value.
    border : Border or None
        Of an edge at the border of a manual region.
    leaf : int
        Of an edge, the element of the state or result.
    annotated : ValueSharding or None
        Of a constraint, the sharding that the program states.
    name : str
        Of constraints and regions: `constraint_0`, `mc_0`.
    shardings : list of ValueSharding
        Of a manual region, those of its operands.
    """

    kind: str
    instruction: HloInstruction
    rule: FactorRule | None
    operands: list[Port]
    results: list[Port]
    border: Border | None = None
    leaf: int = 0
    annotated: ValueSharding | None = None
    name: str = ""
    shardings: list[ValueSharding] = field(default_factory=list)

    @property
    def tensors(self) -> list[Port]:
        """The operands, then the results."""
        return [*self.operands, *self.results]

    def __repr__(self) -> str:
        return f"{self.kind} %{self.instruction.name}"


@dataclass(eq=False)
class Output:
    """A result of the program, whose sharding may be stated. origins: as those of a value."""

    port: Port
    number: int
    sharding: ValueSharding | None = None


@dataclass
class CopiedUse:
    """A constant expression that one use copied.

    user, index: the operand of an instruction. copies: the value of each copied instruction.
    """

    user: HloInstruction
    index: int
    root: HloInstruction
    copies: dict[HloInstruction, Value]


def _flag(flags: list[bool], number: int) -> bool:
    """Return a flag of a list; one flag stands for all numbers."""
    return bool(flags) and flags[min(number, len(flags) - 1)]


@dataclass
class FlowGraph:
    """The values, operations and outputs of a program, in program order.

    manual: for each computation by id, the manual axes of the regions around it. free: whether
    propagation may choose the sharding of each of the `parameters` and of the `output`. numbers:
    the devices that the mesh numbers from 0 on; () for all devices.
    """

    mesh: Mesh
    mesh_name: str = "mesh"
    operations: list[FlowOperation] = field(default_factory=list)
    arguments: list[Value] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    values: dict[HloInstruction, list[Value]] = field(default_factory=dict)
    copied: list[CopiedUse] = field(default_factory=list)
    manual: dict[int, frozenset[str]] = field(default_factory=dict)
    groups: dict[int, list[Value]] = field(default_factory=dict)
    free: dict[str, list[bool]] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()

    def may_choose_output(self, number: int) -> bool:
        """Return True if the module lets propagation choose the sharding of a result."""
        return _flag(self.free.get("output", []), number)

    def may_choose_parameter(self, argument: Value) -> bool:
        """Return True if the module lets propagation choose the sharding of an argument."""
        number = int(argument.instruction.payload)
        return _flag(self.free.get("parameters", []), number)

    def connect(self) -> None:
        """Fill definers and users of the values from the operations."""
        for value in self.all_values():
            value.definer, value.users, value.inner_users = None, [], []
        for operation in self.operations:
            for port in operation.results:
                port.value.definer = operation
        for operation in self.operations:
            for port in operation.operands:
                port.value.users.append(operation)
                if port.inner:
                    port.value.inner_users.append(operation)

    def all_values(self) -> Iterator[Value]:
        """Yield every value once, arguments first."""
        seen: set[Value] = set()
        ports = [port for operation in self.operations for port in operation.tensors]
        for value in (*self.arguments, *[port.value for port in ports]):
            if value not in seen:
                seen.add(value)
                yield value

    def constraints(self) -> list[FlowOperation]:
        """Return the constraints in program order."""
        return [one for one in self.operations if one.kind == "constraint"]
