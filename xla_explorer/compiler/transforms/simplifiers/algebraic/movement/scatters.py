"""Rules on scatter, and on sums of scatters that add.

Source: algebraic_simplifier.cc, HandleScatter, HandleAdd.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import add, scatter
from xla_explorer.compiler.rewriting.patterns import any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import plain_reducer
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import has_the_range_of_f32
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

_SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n---\n"
_ROWS = (
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=sum"
)
_TWO = (
    _SUM
    + parameters("f32[8,4]", "x", "y")
    + parameters("s32[2]", "i", start=2)
    + parameters("s32[3]", "j", start=3)
    + parameters("f32[2,4]", "u", start=4)
    + parameters("f32[3,4]", "v", start=5)
)


def adds_updates(i: HloInstruction) -> bool:
    """Return True for one array to which updates are added."""
    return len(i.operands) == 3 and not i.shape.is_tuple and plain_reducer(i.called[0]) == "add"


def has_empty_updates(i: HloInstruction) -> bool:
    """Return True if no update has elements."""
    return i.operands[-1].shape.element_count == 0


@rule(
    scatter().that(has_empty_updates),
    exactness=Exactness.BITWISE,
    before=_SUM
    + "x = f32[8,4] parameter(0)\ni = s32[0] parameter(1)\nu = f32[0,4] parameter(2)\nROOT r = f32[8,4] scatter(x, i, u), "
    + _ROWS,
    after=_SUM
    + "ROOT x = f32[8,4] parameter(0)\ni = s32[0] parameter(1)\nu = f32[0,4] parameter(2)\n",
)
def scatter_of_nothing(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a scatter of updates without elements as the array, or the tuple of the arrays."""
    if not instruction.shape.is_tuple:
        return instruction.operands[0]
    return computation.add(
        "tuple", instruction.shape, instruction.operands[: len(instruction.operands) // 2]
    )


def replaces_everything(i: HloInstruction) -> bool:
    """Return True for no indices, and one window of the array's own shape."""
    return (
        len(i.operands) == 3
        and len(i.attributes.value("update_window_dims")) == i.shape.rank
        and i.operands[1].shape.element_count == 0
        and i.operands[2].shape.base is i.operands[0].shape.base
        and i.shape.element_count > 0
    )


@rule(
    scatter().that(replaces_everything),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_SUM
    + parameters("f32[4]", "x")
    + "i = s32[0] parameter(1)\nu = f32[4] parameter(2)\nROOT r = f32[4] scatter(x, i, u), update_window_dims={0}, "
    "inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim=0, to_apply=sum",
    after=_SUM
    + parameters("f32[4]", "x")
    + "i = s32[0] parameter(1)\nu = f32[4] parameter(2)\nROOT r = f32[4] map(x, u), dimensions={0}, to_apply=sum",
)
def scatter_of_everything(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a scatter whose one update covers the array as a map of array and update."""
    x, update = instruction.operands[0], instruction.operands[2]
    return computation.add(
        "map",
        instruction.shape,
        (x, update),
        attributes_of({"dimensions": tuple(range(instruction.shape.rank))}),
        called=instruction.called,
    )


def has_no_index_flags(instruction: HloInstruction) -> Reason | None:
    """Require no scatter with unique or sorted indices, which may not hold for the merged one."""
    for i in instruction.operands:
        if i.attributes.get("unique_indices") or i.attributes.get("indices_are_sorted"):
            return refuse("promises-about-indices", f"%{i.name} promises sorted or unique indices")
    return None


def same_scatter_dimensions(a: HloInstruction, b: HloInstruction) -> Reason | None:
    """Require equal dimension numbers, and indices of one type."""
    if (
        a.attributes is b.attributes
        and a.operands[1].shape.element_type is b.operands[1].shape.element_type
    ):
        return None
    return refuse(
        "dimension-numbers-differ", f"%{a.name} and %{b.name} scatter along different dimensions"
    )


def _joined_dimension(a: Shape, b: Shape, excluded: set[int]) -> int | None:
    """Return the dimension for concatenation: the one that differs, else the first allowed one."""
    if a.rank != b.rank:
        return None
    free = [d for d in range(a.rank) if d not in excluded]
    differing = [d for d in range(a.rank) if a.dimensions[d] != b.dimensions[d]]
    if len(differing) > 1 or not free or (differing and differing[0] not in free):
        return None
    return differing[0] if differing else free[0]


def _concatenated(
    computation: HloComputation, a: HloInstruction, b: HloInstruction, dimension: int
) -> HloInstruction:
    sizes = list(a.shape.dimensions)
    sizes[dimension] += b.shape.dimensions[dimension]
    return computation.add(
        "concatenate",
        a.shape.with_dimensions(sizes),
        (a, b),
        attributes_of({"dimensions": (dimension,)}),
    )


@rule(
    add(
        scatter(name="a").that(adds_updates).one_use(),
        scatter(name="b").that(adds_updates).one_use(),
    ),
    exactness=Exactness.REAL,
    layout="insensitive",
    when=(static, has_no_index_flags, same_scatter_dimensions),
    within_range=(has_the_range_of_f32,),
    before=_TWO
    + f"a = f32[8,4] scatter(x, i, u), {_ROWS}\nb = f32[8,4] scatter(y, j, v), {_ROWS}\nROOT r = f32[8,4] add(a, b)",
    after=_TWO + "z = f32[8,4] add(x, y)\nk = s32[5] concatenate(i, j), dimensions={0}\n"
    f"w = f32[5,4] concatenate(u, v), dimensions={{0}}\nROOT r = f32[8,4] scatter(z, k, w), {_ROWS}",
)
def add_scatters(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction | None:
    """Rewrite the sum of two adding scatters as one scatter, or as a chain for large updates."""
    first, second = instruction.operands
    numbers = a.attributes
    vector = numbers.value("index_vector_dim")
    indices = (first.operands[1].shape, second.operands[1].shape)
    joined = _joined_dimension(*indices, {vector, *numbers.value("scatter_indices_batching_dims")})
    small = (
        sum([i.operands[2].shape.element_count for i in (first, second)])
        < instruction.shape.element_count
    )
    if joined is None:
        return None
    total = computation.add("add", instruction.shape, (first.operands[0], second.operands[0]))
    if not small:
        inner = computation.add(
            "scatter", instruction.shape, (total, *second.operands[1:]), numbers, called=b.called
        )
        return computation.add(
            "scatter", instruction.shape, (inner, *first.operands[1:]), numbers, called=a.called
        )
    windows = set(numbers.value("update_window_dims"))
    places = [d for d in range(first.operands[2].shape.rank) if d not in windows]
    rank = joined - (vector < joined)
    return computation.add(
        "scatter",
        instruction.shape,
        (
            total,
            _concatenated(computation, first.operands[1], second.operands[1], joined),
            _concatenated(computation, first.operands[2], second.operands[2], places[rank]),
        ),
        numbers,
        called=a.called,
    )


def is_no_scatter(x: HloInstruction) -> Reason | None:
    """Require another term than a scatter: two scatters are merged, or not at all."""
    return (
        refuse("two-scatters", f"%{x.name} is a scatter too")
        if x.opcode.name == "scatter"
        else None
    )


@rule(
    add(any_("x"), scatter(name="a").that(adds_updates).one_use()),
    exactness=Exactness.REAL,
    layout="insensitive",
    when=(static, is_no_scatter),
    within_range=(has_the_range_of_f32,),
    before=_SUM
    + parameters("f32[8,4]", "x")
    + parameters("s32[2]", "i", start=1)
    + parameters("f32[2,4]", "u", start=2)
    + filled("z", "f32[8,4]", 0)
    + f"a = f32[8,4] scatter(z, i, u), {_ROWS}\nROOT r = f32[8,4] add(x, a)",
    after=_SUM
    + parameters("f32[8,4]", "x")
    + parameters("s32[2]", "i", start=1)
    + parameters("f32[2,4]", "u", start=2)
    + filled("z", "f32[8,4]", 0)
    + f"y = f32[8,4] add(x, z)\nROOT r = f32[8,4] scatter(y, i, u), {_ROWS}",
)
def add_scatter(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, a: HloInstruction
) -> HloInstruction:
    """Rewrite x + scatter(y, updates) as scatter(x + y, updates) if the scatter adds."""
    array, *others = a.operands
    total = computation.add("add", instruction.shape, (x, array))
    return computation.add(
        "scatter", instruction.shape, (total, *others), a.attributes, called=a.called
    )
