"""Rules on broadcast, iota, regular constants, and elementwise operations of broadcasts.

Source: algebraic_simplifier.cc, HandleBroadcast, HandleIota, HandleConstant,
TryToSinkBroadcastAfterOpWithUniqueNonScalarOperand.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from xla_explorer.compiler.rewriting.construction import (
    broadcast,
    broadcast_scalar,
    reshape,
    scalar_of,
    splat_constant,
    splat_literal,
    transpose,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import broadcast as broadcast_of
from xla_explorer.compiler.rewriting.operators import iota as iota_of
from xla_explorer.compiler.rewriting.operators import multiply
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.patterns import (
    BROADCAST,
    any_,
    constant,
    operator,
    uniform_value,
    varying,
)
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import OPCODES, opcode
from xla_explorer.hlo.shape import array_shape

IOTA = opcode("iota")
_X = parameters("f32[3,4]", "x")


def dimensions_of(i: HloInstruction) -> tuple[int, ...]:
    """Return the `dimensions` attribute."""
    found: tuple[int, ...] = i.attributes.value("dimensions")
    return found


def repeats_nothing(i: HloInstruction) -> bool:
    """Return True if result and operand have the same number of elements, and at least one."""
    return i.shape.element_count == i.operands[0].shape.element_count != 0


def is_sorted(i: HloInstruction) -> bool:
    """Return True if the dimensions are in increasing order."""
    dimensions = dimensions_of(i)
    return all(a < b for a, b in pairwise(dimensions))


def repeats_nothing_in_order(i: HloInstruction) -> bool:
    """Return True if result and operand have the same elements in the same order."""
    return repeats_nothing(i) and is_sorted(i)


@rule(
    broadcast_of(any_("x")).that(repeats_nothing_in_order),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X + "ROOT r = f32[3,1,4] broadcast(x), dimensions={0,2}",
    after=_X + "ROOT r = f32[3,1,4] reshape(x)",
)
def broadcast_to_reshape(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a broadcast that repeats nothing as a reshape, or x itself."""
    return reshape(computation, x, instruction.shape)


def only_reorders(i: HloInstruction) -> bool:
    """Return True for the same rank and number of elements, with reordered dimensions."""
    return repeats_nothing(i) and i.shape.rank == i.operands[0].shape.rank and not is_sorted(i)


@rule(
    broadcast_of(any_("x")).that(only_reorders),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X + "ROOT r = f32[4,3] broadcast(x), dimensions={1,0}",
    after=_X + "ROOT r = f32[4,3] transpose(x), dimensions={1,0}",
)
def broadcast_to_transpose(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a broadcast that only reorders dimensions as a transpose."""
    dimensions = dimensions_of(instruction)
    return transpose(
        computation,
        x,
        tuple([dimensions.index(d) for d in range(len(dimensions))]),
        instruction.shape,
    )


@rule(
    broadcast_of(broadcast_of(any_("x"), name="inner")),
    exactness=Exactness.BITWISE,
    before=_X
    + "b = f32[3,4,5] broadcast(x), dimensions={0,1}\nROOT r = f32[2,3,4,5] broadcast(b), dimensions={1,2,3}",
    after=_X + "ROOT r = f32[2,3,4,5] broadcast(x), dimensions={1,2}",
)
def broadcast_of_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    x: HloInstruction,
) -> HloInstruction:
    """Rewrite broadcast(broadcast(x)) as one broadcast."""
    outer = dimensions_of(instruction)
    return broadcast(computation, x, instruction.shape, [outer[d] for d in dimensions_of(inner)])


def without_ones(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sizes other than one."""
    return tuple([size for size in dimensions if size != 1])


def only_inserts_ones(i: HloInstruction) -> bool:
    """Return True for a reshape that adds dimensions of size one to an operand without any."""
    source = i.operands[0].shape.dimensions
    return (
        1 not in source
        and len(source) < i.shape.rank
        and without_ones(i.shape.dimensions) == source
        and not any(i.shape.dynamic)
    )


@rule(
    broadcast_of(reshape_of(any_("x"), name="inner").that(only_inserts_ones)),
    exactness=Exactness.BITWISE,
    before=_X + "a = f32[3,1,4] reshape(x)\nROOT r = f32[3,1,4,5] broadcast(a), dimensions={0,1,2}",
    after=_X + "ROOT r = f32[3,1,4,5] broadcast(x), dimensions={0,2}",
)
def broadcast_of_expanding_reshape(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    x: HloInstruction,
) -> HloInstruction:
    """Drop a reshape before a broadcast if it only adds dimensions of size one."""
    kept = [
        to
        for to, size in zip(dimensions_of(instruction), inner.shape.dimensions, strict=True)
        if size != 1
    ]
    return broadcast(computation, x, instruction.shape, kept)


def has_degenerate_operand(i: HloInstruction) -> bool:
    """Return True if the operand has dimensions of size one."""
    shape = i.operands[0].shape
    return 1 in shape.dimensions and not any(shape.dynamic)


@rule(
    broadcast_of(any_("x")).that(has_degenerate_operand),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before="x = f32[3,1] parameter(0)\nROOT r = f32[3,1,5] broadcast(x), dimensions={0,1}",
    after="x = f32[3,1] parameter(0)\na = f32[3] reshape(x)\nROOT r = f32[3,1,5] broadcast(a), dimensions={0}",
)
def broadcast_of_degenerate(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Drop dimensions of size one before a broadcast."""
    kept = [
        to
        for to, size in zip(dimensions_of(instruction), x.shape.dimensions, strict=True)
        if size != 1
    ]
    narrow = reshape(computation, x, x.shape.with_dimensions(without_ones(x.shape.dimensions)))
    return broadcast(computation, narrow, instruction.shape, kept)


@rule(
    broadcast_of(iota_of(name="counts")),
    exactness=Exactness.BITWISE,
    before="i = s32[4] iota(), iota_dimension=0\nROOT r = s32[3,4] broadcast(i), dimensions={1}",
    after="ROOT r = s32[3,4] iota(), iota_dimension=1",
)
def broadcast_of_iota(
    computation: HloComputation, instruction: HloInstruction, counts: HloInstruction
) -> HloInstruction:
    """Rewrite broadcast(iota) as an iota along the mapped dimension."""
    dimension = dimensions_of(instruction)[counts.attributes["iota_dimension"]]
    return computation.add(
        IOTA, instruction.shape, (), attributes_of({"iota_dimension": dimension})
    )


def counts_nothing(i: HloInstruction) -> bool:
    """Return True if the counted dimension has one element."""
    return i.shape.dimensions[int(i.attributes["iota_dimension"])] == 1


@rule(
    iota_of(name="counts").that(counts_nothing),
    exactness=Exactness.BITWISE,
    before="ROOT r = s32[3,1] iota(), iota_dimension=1",
    after=filled("z", "s32[3,1]", 0).replace("z = s32[3,1] b", "ROOT z = s32[3,1] b"),
)
def iota_of_one(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite an iota along a dimension of size one as 0."""
    return splat_constant(computation, instruction.shape, 0)


def repeats_one_value(i: HloInstruction) -> bool:
    """Return True for an array constant of several elements, all equal bit for bit."""
    return (
        i.shape.is_array
        and i.shape.rank > 0
        and i.shape.element_count > 1
        and uniform_value(i) is not None
    )


@rule(
    constant("c").that(repeats_one_value),
    exactness=Exactness.BITWISE,
    before="ROOT c = f32[3] constant({2, 2, 2})",
    after=filled("k", "f32[3]", 2).replace("k = f32[3] b", "ROOT k = f32[3] b"),
)
def uniform_constant(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite an array constant whose elements are all equal as the broadcast of a scalar."""
    value = instruction.literal.array.reshape(-1)[0]
    return splat_literal(
        computation,
        instruction.shape,
        literal_from_array(value, array_shape(instruction.shape.element_type, ())),
    )


def counts_from_zero(i: HloInstruction) -> bool:
    """Return True for a vector constant 0, 1, 2 ... of at least two numbers."""
    shape = i.shape
    if (
        not shape.is_array
        or shape.rank != 1
        or shape.element_count < 2
        or shape.element_type.is_pred
        or shape.element_type.is_complex
    ):
        return False
    array = i.literal.array
    return bool(
        array[0] == 0
        and array[1] == 1
        and float(array[-1]) == shape.element_count - 1
        and np.array_equal(array.astype(np.float64), np.arange(shape.element_count))
        and not np.signbit(np.float64(array[0]))
    )


@rule(
    constant("c").that(counts_from_zero),
    exactness=Exactness.BITWISE,
    before="ROOT c = s32[4] constant({0, 1, 2, 3})",
    after="ROOT r = s32[4] iota(), iota_dimension=0",
)
def counting_constant(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a vector constant 0, 1, 2 ... as an iota."""
    return computation.add(IOTA, instruction.shape, (), attributes_of({"iota_dimension": 0}))


def counts_in_steps(i: HloInstruction) -> bool:
    """Return True for a vector of integers 0, s, 2s ... of at least two, s neither 0 nor 1."""
    shape = i.shape
    if (
        not shape.is_array
        or shape.rank != 1
        or shape.element_count < 2
        or not shape.element_type.is_integer
    ):
        return False
    values = i.literal.array
    step, last = int(values[1]), int(values[-1])
    if (
        int(values[0]) != 0
        or step in (0, 1)
        or last != step * (shape.element_count - 1)
        or last >= 1 << 62
    ):
        return False
    return bool(
        np.array_equal(
            values.astype(np.int64), step * np.arange(shape.element_count, dtype=np.int64)
        )
    )


@rule(
    constant("c").that(counts_in_steps),
    exactness=Exactness.BITWISE,
    before="ROOT c = s32[4] constant({0, 5, 10, 15})",
    after="i = s32[4] iota(), iota_dimension=0\n"
    + filled("k", "s32[4]", 5)
    + "ROOT r = s32[4] multiply(i, k)",
)
def stepping_constant(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a vector constant 0, s, 2s ... of integers as an iota times s."""
    shape = instruction.shape
    places = computation.add(IOTA, shape, (), attributes_of({"iota_dimension": 0}))
    step = splat_constant(computation, shape, instruction.literal.array[1])
    return computation.add("multiply", shape, (places, step))


_ELEMENTWISE = operator(
    *[
        row.name
        for row in OPCODES.values()
        if row.elementwise and not row.called and row.name != "stochastic-convert"
    ]
)


def reads_only_broadcasts(i: HloInstruction) -> bool:
    """Return True if every operand is a broadcast: of scalars, or all of equal smaller arrays.

    The smaller arrays have one shape and are broadcast in the same way.
    """
    wide: HloInstruction | None = None
    for operand in i.operands:
        if operand.opcode is not BROADCAST:
            return False
        source = operand.operands[0]
        if source.shape.rank:
            if wide is None:
                wide = operand
            elif (
                source.shape.dimensions != wide.operands[0].shape.dimensions
                or operand.attributes is not wide.attributes
            ):
                return False
    return bool(i.operands) and (
        wide is None or wide.operands[0].shape.element_count < i.shape.element_count
    )


@rule(
    _ELEMENTWISE().that(reads_only_broadcasts),
    exactness=Exactness.BITWISE,
    when=(static,),
    before="x = f32[4] parameter(0)\n"
    + filled("two", "f32[3,4]", 2)
    + "b = f32[3,4] broadcast(x), dimensions={1}\nROOT r = f32[3,4] multiply(b, two)",
    after="x = f32[4] parameter(0)\n"
    + filled("two", "f32[4]", 2)
    + "m = f32[4] multiply(x, two)\nROOT r = f32[3,4] broadcast(m), dimensions={1}",
)
def sink_broadcast(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite an elementwise operation of broadcasts as a broadcast of the smaller operation."""
    wide = next(
        (o for o in instruction.operands if o.operands[0].shape.rank), instruction.operands[0]
    )
    shape = wide.operands[0].shape.with_element_type(instruction.shape.element_type)
    # A sharding refers to the dimensions of the result, so it moves to the broadcast.
    attributes = (
        instruction.attributes.with_values(sharding=None)
        if instruction.attributes.sharding_text
        else instruction.attributes
    )
    operands = []
    for operand in instruction.operands:
        source = operand.operands[0]
        if source.shape.rank == shape.rank:
            operands.append(source)
        else:
            operands.append(
                broadcast_scalar(
                    computation, source, shape.with_element_type(source.shape.element_type)
                )
            )
    small = computation.add(
        instruction.opcode, shape, operands, attributes, metadata=instruction.metadata
    )
    return broadcast(computation, small, instruction.shape, dimensions_of(wide))


def is_one_number(i: HloInstruction) -> bool:
    """Return True for a scalar constant or the broadcast of one."""
    return scalar_of(i) is not None


_number = operator("constant", "broadcast")


@rule(
    multiply(
        multiply(varying("x"), _number(name="c").that(is_one_number)),
        broadcast_of(varying("y"), name="wide"),
    ),
    exactness=Exactness.FAST,
    before="x = f32[3,4] parameter(0)\ny = f32[4] parameter(1)\n"
    + filled("two", "f32[3,4]", 2)
    + "m = f32[3,4] multiply(x, two)\nb = f32[3,4] broadcast(y), dimensions={1}\nROOT r = f32[3,4] multiply(m, b)",
    after="x = f32[3,4] parameter(0)\ny = f32[4] parameter(1)\n"
    + filled("two", "f32[4]", 2)
    + "m = f32[4] multiply(y, two)\nb = f32[3,4] broadcast(m), dimensions={1}\nROOT r = f32[3,4] multiply(x, b)",
)
def multiply_scaled_by_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    c: HloInstruction,
    wide: HloInstruction,
) -> HloInstruction:
    """Rewrite (x * c) * broadcast(y) as x * broadcast(y * c), for a number c."""
    number = scalar_of(c)
    assert number is not None  # the pattern requires it
    scaled = computation.add(
        "multiply",
        y.shape,
        (y, broadcast_scalar(computation, number, y.shape) if y.shape.rank else number),
    )
    return computation.add(
        "multiply",
        instruction.shape,
        (x, broadcast(computation, scaled, instruction.shape, dimensions_of(wide))),
    )


def moves_a_scalar(i: HloInstruction) -> bool:
    """Return True if the first operand is the broadcast of a scalar: moving it changes nothing."""
    operand = i.operands[0]
    return operand.opcode is BROADCAST and operand.operands[0].shape.is_scalar


_MOVES = operator("reshape", "transpose", "reverse", "slice", "dynamic-slice")


@rule(
    _MOVES().that(moves_a_scalar),
    exactness=Exactness.BITWISE,
    when=(static,),
    before="x = f32[] parameter(0)\nb = f32[3,4] broadcast(x), dimensions={}\nROOT r = f32[12] reshape(b)",
    after="x = f32[] parameter(0)\nROOT r = f32[12] broadcast(x), dimensions={}",
)
def move_of_scalar_broadcast(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite reshape, transpose, reverse or slices of a broadcast scalar as a broadcast."""
    source = instruction.operands[0].operands[0]
    return (
        source
        if not instruction.shape.rank
        else broadcast_scalar(computation, source, instruction.shape)
    )
