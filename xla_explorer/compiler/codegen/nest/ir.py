"""The representation of loop nests: loops over axes, and statements that compute one element each.

A statement runs once for each point of the axes around it. The kind of an axis alone says how its
steps run. Vector lanes, unrolled instances, masks and addresses appear only in lowering. Everything
is immutable, and a changed nest shares the unchanged statements.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from xla_explorer.compiler.codegen.nest.lowered_axes import UNCHANGED, AxisForm, WideAccess
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
    """The kind of an axis: the way that its steps run and its reductions combine."""

    SERIAL = "serial"  # a loop; reductions in loop-carried values
    UNROLLED = "unrolled"  # instances of the body, in registers; reductions in a tree
    VECTOR = "vector"  # lanes of a register; horizontal reductions
    PARALLEL = "parallel"  # tasks for CPU threads
    BLOCK = "block"  # blocks of a GPU's grid
    THREAD = "thread"  # threads of a block; reductions by shuffles and shared memory
    WARP = "warp"  # consecutive lanes of a warp, whatever loops are around; reductions by shuffles

    @property
    def is_launched(self) -> bool:
        """True for steps that run at once, each with a number from the launch of a GPU kernel."""
        return self in (AxisKind.BLOCK, AxisKind.THREAD, AxisKind.WARP)


class Space(enum.Enum):
    """The memory of an array."""

    PARAMETER = "parameter"  # an argument of the kernel
    SCRATCH = "scratch"  # private to the thread that runs the allocating body
    SHARED = "shared"  # shared memory of a thread block


class BoundAxis(NamedTuple):
    """An axis with its kind."""

    axis: Axis
    kind: AxisKind = AxisKind.SERIAL


@dataclass(frozen=True, eq=False, slots=True)
class NestArray:
    """An array in memory.

    Attributes
    ----------
    shape : Shape
        With its layout.
    written : bool
        The array is a result, or the nest allocates it.
    aliases : str
        The operand in the same memory: the result keeps its elements where nothing is stored.
    streamed : bool
        Whole registers of it are written by non-temporal stores.
    """

    name: str
    shape: Shape
    written: bool = False
    space: Space = Space.PARAMETER
    aliases: str = ""
    streamed: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Origin:
    """The HLO instruction, by id, and the index of the element that a statement computes."""

    instruction: int
    place: Place = ()


@dataclass(frozen=True, eq=False, slots=True)
class Load:
    """%id = array[place].

    is_prefetch: load the cache line; the value is unused.
    """

    id: int
    element: PrimitiveType
    array: str
    place: Place
    origin: Origin | None = None
    is_prefetch: bool = False
    wide: WideAccess | None = None


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
    """%id = an index, converted to the element type.

    lines_of: an array. Subtract the elements between the beginning of a cache line and that array.
    """

    id: int
    element: PrimitiveType
    index: IndexExpression
    origin: Origin | None = None
    lines_of: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Compute:
    """%id = an elementwise opcode of values.

    attributes: those of the opcode itself.
    """

    id: int
    element: PrimitiveType
    opcode: OpcodeSpec
    operands: tuple[int, ...]
    attributes: Attributes
    origin: Origin | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """One case of a select region: its value if all guards hold and those of no earlier case do."""

    guards: tuple[Guard, ...]
    body: Body
    value: int


@dataclass(frozen=True, eq=False, slots=True)
class SelectRegion:
    """%id = the value of the first case whose guards hold. The last case has no guards.

    Loads of the other cases do not happen, as in MLIR's `scf.if`.
    """

    id: int
    element: PrimitiveType
    cases: tuple[Case, ...]
    origin: Origin | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Combination:
    """A combiner of several operations.

    `left` are the values combined so far, `right` the next values; `results` come from `body`.

    join: a combiner of two partial results of any points. None if points must be combined in order.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    body: Body
    results: tuple[int, ...]
    join: Combination | None = None

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The combiner, and the one of partial results if there is one."""
        return (self,) if self.join is None else (self, self.join)


@dataclass(frozen=True, eq=False, slots=True)
class Reduce:
    """%ids = the initial values combined with the values of `body` at every point of the axes.

    Attributes
    ----------
    combiner : OpcodeSpec or Combination
        An associative opcode; or several operations, which keep the order of the points.
    guards : tuple of Guard
        Points outside of them are skipped.
    each : Body
        If not empty, the reduction is a scan: the statements run at every point, in order.
    running : tuple of int
        The running values for `each`, which include those of the point.
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
    wide: WideAccess | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Allocate:
    """An array for each execution of the body around, which lives until that body ends."""

    array: NestArray


@dataclass(frozen=True, eq=False, slots=True)
class Barrier:
    """All threads of a block wait for each other; each then sees what the others have stored."""


@dataclass(frozen=True, eq=False, slots=True)
class For:
    """The body for every step of the axis where the guards hold.

    ordered: steps read what earlier steps stored.
    """

    axis: Axis
    body: Body
    kind: AxisKind = AxisKind.SERIAL
    guards: tuple[Guard, ...] = ()
    ordered: bool = False


Definition: TypeAlias = Load | Constant | Iota | Compute | SelectRegion | Reduce
Statement: TypeAlias = Definition | Store | Allocate | Barrier | For
Body: TypeAlias = tuple[Statement, ...]
Loop: TypeAlias = For | Reduce
_LEAVES = frozenset({Load, Constant, Iota, Compute, Store, Barrier})
_WITHOUT_VALUES = Store, For, Allocate, Barrier
WITH_BODIES = frozenset(
    {For, Reduce, SelectRegion}
)  # a quarter of the time of `isinstance` with a union, which counts for each statement


@dataclass(frozen=True, eq=False, slots=True)
class LoopNest:
    """A kernel.

    Attributes
    ----------
    arrays : tuple of NestArray
        Operands, then results.
    names : mapping of int to str
        Names of the HLO instructions in origins, by id.
    tasks : int
        The number of tasks of its parallel loops.
    launch : tuple of Axis
        Numbers that a thread of a launch has, after the step `bind-launch`.
    forms : mapping of str to AxisForm
        What the lowering has decided about axes, by name.
    """

    name: str
    arrays: tuple[NestArray, ...]
    body: Body
    names: Mapping[int, str] = field(default_factory=dict)
    tasks: int = 1
    launch: tuple[Axis, ...] = ()
    forms: Mapping[str, AxisForm] = field(default_factory=dict)
    _arrays: dict[str, NestArray] = field(default_factory=dict, init=False, repr=False)
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
        )  # of two arrays with one name, the first
        self._statements.extend(walk(self.body))
        for s, around in self._statements:  # tables for the many checks
            if s.__class__ in _LEAVES:
                continue
            if isinstance(s, (For, Reduce)):
                for bound in (s,) if isinstance(s, For) else s.axes:
                    self._axes[bound.axis.name], self._opened[bound.axis.name] = bound, (s, around)
            elif isinstance(s, Allocate):
                self._arrays.setdefault(s.array.name, s.array)

    def statements(self) -> list[tuple[Statement, tuple[Statement, ...]]]:
        """Return every statement with those around it, as `walk`."""
        return self._statements

    def array(self, name: str) -> NestArray | None:
        """Return the array of a name: an operand, a result or an allocated array."""
        return self._arrays.get(name)

    def form(self, axis: Axis) -> AxisForm:
        """Return what the lowering has decided about an axis."""
        return self.forms.get(axis.name, UNCHANGED)

    def with_forms(self, forms: Mapping[str, AxisForm], launch: tuple[Axis, ...] = ()) -> LoopNest:
        """Return the nest with further decisions about axes; it shares all tables."""
        changed = copy(self)
        object.__setattr__(changed, "forms", {**self.forms, **forms})
        object.__setattr__(changed, "launch", launch or self.launch)
        return changed

    def offset_of(self, s: Load | Store) -> IndexExpression:
        """Return the offset of an access in elements, from the beginning of its array."""
        return linearize(s.place, self._arrays[s.array].shape.strides)

    def fresh_id(self) -> int:
        """Return a number above those of all values."""
        return 1 + max([number for s, _ in self._statements for number in all_ids(s)], default=0)

    def axes(self) -> dict[str, BoundAxis | For]:
        """Return all axes by name in the order of the text. A loop stands for its axis."""
        return self._axes

    def loop(self, axis: str) -> Loop | None:
        """Return the loop or reduction that has an axis."""
        return self._opened[axis][0] if axis in self._opened else None

    def around(self, axis: str) -> tuple[Statement, ...]:
        """Return the statements around the loop of an axis, outermost first."""
        return self._opened[axis][1]


def axes_of(s: Statement) -> tuple[BoundAxis, ...]:
    """Return the axes of a loop or reduction, none for other statements."""
    if isinstance(s, For):
        return (BoundAxis(s.axis, s.kind),)
    return s.axes if isinstance(s, Reduce) else ()


def ids_of(s: Statement) -> tuple[int, ...]:
    """Return the values that a statement defines."""
    if isinstance(s, Reduce):
        return s.ids
    return () if isinstance(s, _WITHOUT_VALUES) else (s.id,)


def elements_of(s: Statement) -> tuple[PrimitiveType, ...]:
    """Return the types of the values that a statement defines."""
    if isinstance(s, Reduce):
        return s.elements
    return () if isinstance(s, _WITHOUT_VALUES) else (s.element,)


def uses_of(s: Statement) -> tuple[int, ...]:
    """Return the values that a statement uses, without those of its bodies."""
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
    """Return the runtime values in indices."""
    return tuple(
        [
            int(atom.source[1:])
            for x in expressions
            for atom in x.atoms()
            if isinstance(atom, RuntimeValue)
        ]
    )


def all_ids(s: Statement) -> tuple[int, ...]:
    """Return the values that a statement defines, including those of its combiner."""
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
    """Return the bodies inside a statement, without that of a combiner."""
    if isinstance(s, (For, Reduce)):
        return (s.body, s.each) if isinstance(s, Reduce) and s.each else (s.body,)
    return tuple([case.body for case in s.cases]) if isinstance(s, SelectRegion) else ()


def with_bodies(s: Statement, change: Callable[[Body], Body]) -> Statement:
    """Return the statement with changed bodies; the same object if no body changed."""
    if isinstance(s, For):
        body = change(s.body)
        return s if body is s.body else For(s.axis, body, s.kind, s.guards, s.ordered)
    if isinstance(s, Reduce):
        each, body = (
            change(s.each),
            change(s.body),
        )  # `each` first, because it uses values of the body
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
    """Return every statement with those around it, outermost first."""
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
