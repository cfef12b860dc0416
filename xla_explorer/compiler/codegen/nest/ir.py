"""The loop nest of a kernel: loops over axes, and statements that compute one element each, for one point of the axes around them.

How an axis runs is said by its kind alone; vector lanes, copies of unrolled loops, masks and
addresses appear when a nest is lowered. Everything is frozen: a snapshot is a reference, and what a
change leaves alone stays the same object.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from xla_explorer.hlo.analysis.indexing import (
    Axis,
    Guard,
    IndexExpression,
    Place,
    RuntimeValue,
    linearize,
)
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape


class AxisKind(enum.Enum):
    """How an axis runs, and with that how a reduction over it combines."""

    SERIAL = "serial"  # a loop; a loop-carried value
    UNROLLED = "unrolled"  # instances of the body, in registers; a tree over them
    VECTOR = "vector"  # lanes of a register; a horizontal reduction
    PARALLEL = "parallel"  # tasks for CPU threads
    BLOCK = "block"  # blocks of a GPU's grid
    THREAD = "thread"  # threads of a block; shuffles, and shared memory between the warps
    WARP = "warp"  # neighbouring lanes of a warp, whatever loops are around; shuffles

    @property
    def is_launched(self) -> bool:
        """Whether the steps run at once, each with a number that the launch of a GPU's kernel gives."""
        return self in (AxisKind.BLOCK, AxisKind.THREAD, AxisKind.WARP)


class Space(enum.Enum):
    """Where an array lies."""

    PARAMETER = "parameter"  # in memory that the kernel is given
    SCRATCH = "scratch"  # of whoever runs the body that allocates it: a thread, in its caches
    SHARED = "shared"  # of a block of threads


class BoundAxis(NamedTuple):
    """An axis with its kind."""

    axis: Axis
    kind: AxisKind = AxisKind.SERIAL


@dataclass(frozen=True, eq=False, slots=True)
class Array:
    """An array in memory; its shape has the layout.

    written: it is a result, or one that the nest allocates.

    aliases: the operand whose elements a result has before the kernel runs, and keeps where nothing
    is stored: both are the same memory. streamed: it is written past the caches, where whole
    registers of it are stored.
    """

    name: str
    shape: Shape
    written: bool = False
    space: Space = Space.PARAMETER
    aliases: str = ""
    streamed: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Origin:
    """The HLO instruction, by id, that a statement computes, and which element of it, or one of those."""

    instruction: int
    place: Place = ()


@dataclass(frozen=True, eq=False, slots=True)
class Load:
    """%id = array[place]. is_prefetch: load the cache line; the value is unused."""

    id: int
    element: PrimitiveType
    array: str
    place: Place
    origin: Origin | None = None
    is_prefetch: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """%id = a scalar literal."""

    id: int
    literal: Literal
    origin: Origin | None = None

    @property
    def element(self) -> PrimitiveType:
        """The element type."""
        return self.literal.shape.element_type


@dataclass(frozen=True, eq=False, slots=True)
class Iota:
    """%id = an index, as a number of the element type.

    lines_of: an array; less the elements that lie between the beginning of a cache line and that of
    the array.
    """

    id: int
    element: PrimitiveType
    index: IndexExpression
    origin: Origin | None = None
    lines_of: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Compute:
    """%id = an elementwise opcode of values. attributes: the opcode's own."""

    id: int
    element: PrimitiveType
    opcode: OpcodeSpec
    operands: tuple[int, ...]
    attributes: Attributes
    origin: Origin | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """What a `SelectRegion` gives where all guards hold, and no case before."""

    guards: tuple[Guard, ...]
    body: Body
    value: int


@dataclass(frozen=True, eq=False, slots=True)
class SelectRegion:
    """%id = the value of the first case whose guards hold; the last has none.

    Nothing is read for the others.
    """

    id: int
    element: PrimitiveType
    cases: tuple[Case, ...]
    origin: Origin | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Combination:
    """A combiner that is several operations: `results` of `body` from what was combined so far (`left`) and the next values (`right`).

    join: the same of two partial results of any points, whichever come first; None where points are
    combined in their order.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    body: Body
    results: tuple[int, ...]
    join: Combination | None = None

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The combiner itself and that of partial results."""
        return (self,) if self.join is None else (self, self.join)


@dataclass(frozen=True, eq=False, slots=True)
class Reduce:
    """%ids = the initial values combined with the values of `body` at every point of the axes where the guards hold.

    combiner: an associative opcode, or several operations, which keep the order of the points.
    each: a scan: what follows at every point, in their order, from the running values, which
    include those of the point.
    """

    ids: tuple[int, ...]
    elements: tuple[PrimitiveType, ...]
    combiner: OpcodeSpec | Combination
    initial: tuple[int, ...]
    axes: tuple[BoundAxis, ...]
    body: Body
    values: tuple[int, ...]
    guards: tuple[Guard, ...] = ()
    origin: Origin | None = None
    running: tuple[int, ...] = ()
    each: Body = ()


@dataclass(frozen=True, eq=False, slots=True)
class Store:
    """array[place] = %value."""

    array: str
    place: Place
    value: int
    origin: Origin | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Allocate:
    """An array of its own for each time that the body around runs: it lives to the end of that body."""

    array: Array


@dataclass(frozen=True, eq=False, slots=True)
class For:
    """The body for every step of the axis where the guards hold.

    ordered: steps see what those before have stored.
    """

    axis: Axis
    body: Body
    kind: AxisKind = AxisKind.SERIAL
    guards: tuple[Guard, ...] = ()
    ordered: bool = False


Definition: TypeAlias = Load | Constant | Iota | Compute | SelectRegion | Reduce
Statement: TypeAlias = Definition | Store | Allocate | For
Body: TypeAlias = tuple[Statement, ...]
Loop: TypeAlias = For | Reduce
_LEAVES = frozenset({Load, Constant, Iota, Compute, Store})
WITH_BODIES = frozenset(
    {For, Reduce, SelectRegion}
)  # asked of each statement, a set takes a quarter of the time of `isinstance` of a union


@dataclass(frozen=True, eq=False, slots=True)
class LoopNest:
    """A kernel.

    arrays: operands, then results. names: of the HLO instructions in origins. tasks: of its parallel
    loops.
    """

    name: str
    arrays: tuple[Array, ...]
    body: Body
    names: Mapping[int, str] = field(default_factory=dict)
    tasks: int = 1
    _arrays: dict[str, Array] = field(default_factory=dict, init=False, repr=False)
    _axes: dict[str, BoundAxis | For] = field(default_factory=dict, init=False, repr=False)
    _opened: dict[str, tuple[Loop, tuple[Statement, ...]]] = field(
        default_factory=dict, init=False, repr=False
    )
    _statements: list[tuple[Statement, tuple[Statement, ...]]] = field(
        default_factory=list, init=False, repr=False
    )

    def __post_init__(self) -> None:
        self._arrays.update(
            {array.name: array for array in reversed(self.arrays)}
        )  # the first of a name
        self._statements.extend(walk(self.body))
        for s, around in self._statements:  # every check asks for some of this
            if s.__class__ in _LEAVES:
                continue
            if isinstance(s, (For, Reduce)):
                for bound in (s,) if isinstance(s, For) else s.axes:
                    self._axes[bound.axis.name], self._opened[bound.axis.name] = bound, (s, around)
            elif isinstance(s, Allocate):
                self._arrays.setdefault(s.array.name, s.array)

    def statements(self) -> list[tuple[Statement, tuple[Statement, ...]]]:
        """See `walk`, of the whole body."""
        return self._statements

    def array(self, name: str) -> Array | None:
        """The array of a name: an operand, a result, or one that the nest allocates."""
        return self._arrays.get(name)

    def offset_of(self, s: Load | Store) -> IndexExpression:
        """Of the element that is loaded or stored, in elements from where its array begins."""
        return linearize(s.place, self._arrays[s.array].shape.strides)

    def fresh_id(self) -> int:
        """A number that no value has, nor any above it."""
        return 1 + max([number for s, _ in self._statements for number in all_ids(s)], default=0)

    def axes(self) -> dict[str, BoundAxis | For]:
        """All axes by name, in the order of the text, each with its kind: that of a loop as the loop."""
        return self._axes

    def loop(self, axis: str) -> Loop | None:
        """The loop or reduction that opens an axis."""
        return self._opened[axis][0] if axis in self._opened else None

    def around(self, axis: str) -> tuple[Statement, ...]:
        """The statements around the loop or reduction that opens an axis, outermost first."""
        return self._opened[axis][1]


def axes_of(s: Statement) -> tuple[BoundAxis, ...]:
    """The axes that a statement opens."""
    if isinstance(s, For):
        return (BoundAxis(s.axis, s.kind),)
    return s.axes if isinstance(s, Reduce) else ()


def ids_of(s: Statement) -> tuple[int, ...]:
    """The values that a statement defines."""
    if isinstance(s, Reduce):
        return s.ids
    return () if isinstance(s, (Store, For, Allocate)) else (s.id,)


def elements_of(s: Statement) -> tuple[PrimitiveType, ...]:
    """The types of the values that a statement defines."""
    if isinstance(s, Reduce):
        return s.elements
    return () if isinstance(s, (Store, For, Allocate)) else (s.element,)


def uses_of(s: Statement) -> tuple[int, ...]:
    """The values that a statement itself takes; what its bodies take is not among them."""
    if isinstance(s, Compute):
        return s.operands
    if isinstance(s, Store):
        return (s.value, *runtime_values_in(s.place))
    if isinstance(s, Load):
        return runtime_values_in(s.place)
    if isinstance(s, SelectRegion):
        return (
            *[case.value for case in s.cases],
            *runtime_values_in([g.expression for case in s.cases for g in case.guards]),
        )
    if isinstance(s, Reduce):
        return (*s.initial, *s.values, *runtime_values_in([g.expression for g in s.guards]))
    return runtime_values_in([g.expression for g in s.guards]) if isinstance(s, For) else ()


def runtime_values_in(expressions: Iterable[IndexExpression]) -> tuple[int, ...]:
    """The values of run time in indices."""
    return tuple(
        [
            int(atom.source[1:])
            for x in expressions
            for atom in x.atoms()
            if isinstance(atom, RuntimeValue)
        ]
    )


def all_ids(s: Statement) -> tuple[int, ...]:
    """The values that a statement defines, those of its combiner among them."""
    if not isinstance(s, Reduce):
        return ids_of(s)
    parts = s.combiner.combinations if isinstance(s.combiner, Combination) else ()
    return (
        *s.ids,
        *s.running,
        *[
            n
            for c in parts
            for n in (*c.left, *c.right, *[k for x, _ in walk(c.body) for k in all_ids(x)])
        ],
    )


def bodies_of(s: Statement) -> tuple[Body, ...]:
    """The bodies inside a statement; that of a combiner, which no axis reaches, is not among them."""
    if isinstance(s, (For, Reduce)):
        return (s.body, s.each) if isinstance(s, Reduce) and s.each else (s.body,)
    return tuple([case.body for case in s.cases]) if isinstance(s, SelectRegion) else ()


def with_bodies(s: Statement, change: Callable[[Body], Body]) -> Statement:
    """The statement with its bodies changed; itself where they stay the same."""
    if isinstance(s, For):
        body = change(s.body)
        return s if body is s.body else For(s.axis, body, s.kind, s.guards, s.ordered)
    if isinstance(s, Reduce):
        each, body = (
            change(s.each),
            change(s.body),
        )  # what follows first: it takes values of the body
        return s if body is s.body and each is s.each else replace(s, body=body, each=each)
    if not isinstance(s, SelectRegion):
        return s
    bodies = [change(case.body) for case in s.cases]
    if all(case.body is body for case, body in zip(s.cases, bodies, strict=True)):
        return s
    return replace(
        s,
        cases=tuple(
            [
                Case(case.guards, body, case.value)
                for case, body in zip(s.cases, bodies, strict=True)
            ]
        ),
    )


def walk(
    body: Body, around: tuple[Statement, ...] = ()
) -> list[tuple[Statement, tuple[Statement, ...]]]:
    """Every statement with those around it, outermost first."""
    found: list[tuple[Statement, tuple[Statement, ...]]] = []
    _walk(body, around, found)
    return found


def _walk(
    body: Body, around: tuple[Statement, ...], found: list[tuple[Statement, tuple[Statement, ...]]]
) -> None:
    for s in body:
        found.append((s, around))
        if s.__class__ in WITH_BODIES:
            for inner in bodies_of(s):
                _walk(inner, (*around, s), found)
