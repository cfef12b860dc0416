"""Rules on reshapes of empty arrays and iotas, and on chains of moves.

The chains surround other moves or elementwise operations. Source: algebraic_simplifier.cc,
HandleReshape, HandleBitcast, HandleReverse, TryToReorderSliceAndReshape.
"""

from __future__ import annotations

import math

import numpy as np

from xla_explorer.compiler.rewriting.construction import (
    reshape,
    splat_constant,
    transpose,
    with_dimensions,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import bitcast
from xla_explorer.compiler.rewriting.operators import iota as iota_of
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.operators import reverse as reverse_of
from xla_explorer.compiler.rewriting.operators import slice_ as slice_of
from xla_explorer.compiler.rewriting.operators import transpose as transpose_of
from xla_explorer.compiler.rewriting.patterns import BROADCAST, any_, operator
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.comparison import SIGNIFICAND
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import (
    SLICE,
    bounds,
    slice_attributes,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.shape import Shape


def is_short_to_write(shape: Shape) -> bool:
    """Return True for a short text: that of an empty constant grows with its other dimensions."""
    return math.prod([size for size in shape.dimensions if size]) <= 1 << 16


def has_no_elements(i: HloInstruction) -> bool:
    """Return True for an empty array whose constant has a short text."""
    return i.shape.element_count == 0 and not any(i.shape.dynamic) and is_short_to_write(i.shape)


@rule(
    reshape_of(any_("x")).that(has_no_elements),
    exactness=Exactness.BITWISE,
    before="x = f32[0,1] parameter(0)\nROOT r = f32[0] reshape(x)",
    after="x = f32[0,1] parameter(0)\nROOT r = f32[0] constant({})",
)
def reshape_of_empty(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a reshape of an array without elements as a constant."""
    empty = np.zeros(instruction.shape.dimensions, instruction.shape.element_type.dtype)
    return computation.add_constant(literal_from_array(empty, instruction.shape))


def counts_exactly(counts: HloInstruction) -> Reason | None:
    """Require a type that holds every number of the iota."""
    kind = counts.shape.element_type
    last = counts.shape.dimensions[int(counts.attributes["iota_dimension"])] - 1
    if kind.is_pred or kind.is_complex:
        return refuse("type-does-not-count", f"{kind.name} does not hold counts")
    limit = 1 << (
        kind.bits - kind.is_signed if kind.is_integer else SIGNIFICAND.get(kind.name, (2, 0))[0]
    )
    return (
        None
        if last <= limit
        else refuse("count-rounds", f"{kind.name} rounds numbers up to {last}", last=last)
    )


@rule(
    reshape_of(iota_of(name="counts")),
    exactness=Exactness.BITWISE,
    when=(counts_exactly, static),
    before="i = s32[6] iota(), iota_dimension=0\nROOT r = s32[2,3] reshape(i)",
    after="a = s32[2,3] iota(), iota_dimension=1\nb = s32[2,3] iota(), iota_dimension=0\n"
    + filled("three", "s32[2,3]", 3)
    + "m = s32[2,3] multiply(b, three)\nROOT r = s32[2,3] add(a, m)",
)
def reshape_of_iota_by_digits(
    computation: HloComputation, instruction: HloInstruction, counts: HloInstruction
) -> HloInstruction | None:
    """Rewrite a reshape that splits a counted dimension as a sum of iotas, weighted by digit."""
    counted, shape = int(counts.attributes["iota_dimension"]), instruction.shape
    before = counts.shape.dimensions
    if 0 in before or not shape.rank:
        return None
    outside = math.prod(before[:counted])
    first, product = 0, 1
    while first < shape.rank and product < outside:
        product *= shape.dimensions[first]
        first += 1
    digits, covered = [], 1
    for d in range(first, shape.rank):
        if covered == before[counted]:
            break
        covered *= shape.dimensions[d]
        if shape.dimensions[d] != 1:
            digits.append(d)
    if product != outside or covered != before[counted] or len(digits) < 2:
        return None
    total, worth = None, 1
    for d in reversed(digits):
        digit = computation.add("iota", shape, (), attributes_of({"iota_dimension": d}))
        if total is None:
            total = digit
        else:
            scaled = computation.add(
                "multiply", shape, (digit, splat_constant(computation, shape, worth))
            )
            total = computation.add("add", shape, (total, scaled))
        worth *= shape.dimensions[d]
    return total


def where_it_began(i: HloInstruction) -> HloInstruction | None:
    """Return the source of a chain of transposes and reshapes that undoes itself, or None.

    The reshapes only add or remove dimensions of size one.
    """
    wanted = _large(i.shape)
    x, order = i, wanted
    while x.opcode.name in ("reshape", "transpose"):
        source = x.operands[0]
        if x.opcode.name == "transpose":
            permutation = dimensions_of(x)
            order = [permutation[d] for d in order]
        else:
            wide, narrow = _large(source.shape), _large(x.shape)
            if [source.shape.dimensions[d] for d in wide] != [
                x.shape.dimensions[d] for d in narrow
            ]:
                return None
            order = [wide[narrow.index(d)] for d in order]
        x = source
        if x.shape.base is i.shape.base and order == wanted:
            return x
    return None


def _large(shape: Shape) -> list[int]:
    return [d for d in range(shape.rank) if shape.dimensions[d] != 1]


_rearranges = operator("reshape", "transpose")


@rule(
    _rearranges(_rearranges(_rearranges(any_()))),
    exactness=Exactness.BITWISE,
    when=(static,),
    before="x = f32[3,4,1] parameter(0)\na = f32[4,1,3] transpose(x), dimensions={1,2,0}\nb = f32[4,3] reshape(a)\n"
    "c = f32[3,4] transpose(b), dimensions={1,0}\nROOT r = f32[3,4,1] reshape(c)",
    after="ROOT x = f32[3,4,1] parameter(0)",
)
def rearranging_back(instruction: HloInstruction) -> HloInstruction | None:
    """Rewrite a chain of transposes, and reshapes of dimensions of size one, that undoes itself."""
    return where_it_began(instruction)


def cuts_the_first_dimension(i: HloInstruction) -> bool:
    """Return True for a slice of the beginning of dimension 0 of a reshape, others whole."""
    if i.operands[0].opcode.name != "reshape" or not i.shape.element_count:
        return False
    first, *others = bounds(i)
    sizes = i.operands[0].shape.dimensions
    return (
        first.start == 0
        and first.stride == 1
        and first.limit < sizes[0]
        and all(row == SliceDimension(0, size) for row, size in zip(others, sizes[1:], strict=True))
    )


@rule(
    slice_of(reshape_of(any_("x"))).that(cuts_the_first_dimension),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before="x = f32[4,6] parameter(0)\na = f32[8,3] reshape(x)\nROOT r = f32[4,3] slice(a), slice={[0:4],[0:3]}",
    after="x = f32[4,6] parameter(0)\ns = f32[2,6] slice(x), slice={[0:2],[0:6]}\nROOT r = f32[4,3] reshape(s)",
)
def slice_of_reshape(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction | None:
    """Rewrite slice(reshape(x)) as reshape(slice(x)) for a leading block of x."""
    left, limits = instruction.shape.element_count, list(x.shape.dimensions)
    for d in reversed(range(x.shape.rank)):
        if left >= limits[d]:
            if left % limits[d]:
                return None
            left //= limits[d]
        else:
            limits[d], left = left, 1
    rows = [SliceDimension(0, limit) for limit in limits]
    part = computation.add(SLICE, x.shape.with_dimensions(limits), (x,), slice_attributes(rows))
    return reshape(computation, part, instruction.shape)


def is_elementwise_on_one(i: HloInstruction) -> bool:
    """Return True for an elementwise operation on one operand that keeps the type."""
    return (
        i.opcode.elementwise
        and not i.called
        and len(i.operands) == 1
        and i.shape.element_type is i.operands[0].shape.element_type
    )


@rule(
    bitcast(any_("middle")),
    exactness=Exactness.BITWISE,
    before="x = f32[3,4] parameter(0)\na = f32[12] bitcast(x)\nn = f32[12] negate(a)\nROOT r = f32[3,4] bitcast(n)",
    after="x = f32[3,4] parameter(0)\nROOT r = f32[3,4] negate(x)",
)
def bitcast_around_unary(
    computation: HloComputation, instruction: HloInstruction, middle: HloInstruction
) -> HloInstruction | None:
    """Rewrite bitcast(f(bitcast(x))) as bitcast(f(x)) for an elementwise f of one operand."""
    if (
        not is_elementwise_on_one(middle)
        or len(middle.users) != 1
        or middle.operands[0].opcode is not instruction.opcode
    ):
        return None
    x = middle.operands[0].operands[0]
    if any(i.shape.layout.properties for i in (x, middle, instruction)):
        return None  # tiles pad, and the padding differs between the sides
    if (
        x.shape.element_type is not middle.shape.element_type
        or instruction.shape.element_type is not x.shape.element_type
    ):
        return None
    inner = computation.add(middle.opcode, x.shape, (x,), middle.attributes)
    return (
        inner
        if inner.shape is instruction.shape
        else computation.add("bitcast", instruction.shape, (inner,))
    )


def turns_a_sum_with_a_scalar(i: HloInstruction) -> bool:
    """Return True for an elementwise operation of an array and a broadcast scalar.

    No map, no comparison, and no other reader.
    """
    inner = i.operands[0]
    return (
        inner.opcode.elementwise
        and not inner.called
        and len(inner.operands) == 2
        and len(inner.users) == 1
        and inner.opcode.name != "compare"
        and any(_repeats_a_scalar(o) for o in inner.operands)
    )


def _repeats_a_scalar(i: HloInstruction) -> bool:
    return i.opcode is BROADCAST and i.operands[0].shape.is_scalar


@rule(
    reverse_of(any_("inner")).that(turns_a_sum_with_a_scalar),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    before="x = f32[4] parameter(0)\n" + filled("one", "f32[4]", 1) + "s = f32[4] add(x, one)\n"
    "ROOT r = f32[4] reverse(s), dimensions={0}",
    after="x = f32[4] parameter(0)\n"
    + filled("one", "f32[4]", 1)
    + "a = f32[4] reverse(x), dimensions={0}\n"
    "ROOT r = f32[4] add(a, one)",
)
def reverse_of_operation_with_scalar(
    computation: HloComputation, instruction: HloInstruction, inner: HloInstruction
) -> HloInstruction:
    """Rewrite reverse(x + broadcast(s)) as reverse(x) + broadcast(s), for any binary operation."""
    sides = [
        o
        if _repeats_a_scalar(o)
        else computation.add(instruction.opcode, o.shape, (o,), instruction.attributes)
        for o in inner.operands
    ]
    return computation.add(inner.opcode, instruction.shape, sides, inner.attributes)


def inserts_ones(i: HloInstruction) -> bool:
    """Return True if the operand is a reshape that only adds dimensions of size one."""
    narrow, wide = i.operands[0].operands[0].shape.dimensions, i.shape.dimensions
    return (
        len(narrow) < len(wide)
        and [n for n in wide if n != 1] == [n for n in narrow if n != 1]
        and 1 not in narrow
    )


@rule(
    reverse_of(reshape_of(any_("x"))).that(inserts_ones),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before="x = f32[3,4] parameter(0)\ns = f32[3,1,4] reshape(x)\nROOT r = f32[3,1,4] reverse(s), dimensions={1,2}",
    after="x = f32[3,4] parameter(0)\ns = f32[3,4] reverse(x), dimensions={1}\nROOT r = f32[3,1,4] reshape(s)",
)
def reverse_of_reshape(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite reverse(reshape(x)) as reshape(reverse(x)) if only dimensions of one are added."""
    kept = [d for d, size in enumerate(instruction.shape.dimensions) if size != 1]
    turned = tuple([kept.index(d) for d in instruction.attributes["dimensions"] if d in kept])
    return reshape(
        computation,
        computation.add("reverse", x.shape, (x,), with_dimensions(turned)),
        instruction.shape,
    )


def moved_dimensions(i: HloInstruction) -> tuple[int, ...] | None:
    """Return the permutation of reshape(transpose(reshape(x))), if it moves whole dimensions."""
    turned = i.operands[0]
    split = turned.operands[0]
    source = split.operands[0]
    groups: list[list[int]] = []
    at = 0
    for size in source.shape.dimensions:
        group: list[int] = []
        product = 1
        while at < split.shape.rank and (product < size or not group):
            group.append(at)
            product *= split.shape.dimensions[at]
            at += 1
        if product != size:
            return None
        groups.append(group)
    if at != split.shape.rank or math.prod(split.shape.dimensions) == 0:
        return None
    order: list[int] = []
    rest = list(turned.attributes.value("dimensions"))
    while rest:
        moved = next((g for g in groups if g[0] == rest[0]), [])
        if not moved or rest[: len(moved)] != moved:
            return None
        order.append(groups.index(moved))
        rest = rest[len(moved) :]
    sizes = tuple([source.shape.dimensions[d] for d in order])
    return tuple(order) if sizes == i.shape.dimensions else None


def moves_whole_dimensions(i: HloInstruction) -> bool:
    """Return True if only whole dimensions move between two reshapes."""
    return moved_dimensions(i) is not None


@rule(
    reshape_of(transpose_of(reshape_of(any_("x")).one_use()).one_use()).that(
        moves_whole_dimensions
    ),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    before="x = f32[2,3,20] parameter(0)\ns = f32[2,3,4,5] reshape(x)\n"
    "t = f32[2,4,5,3] transpose(s), dimensions={0,2,3,1}\nROOT r = f32[2,20,3] reshape(t)",
    after="x = f32[2,3,20] parameter(0)\nROOT r = f32[2,20,3] transpose(x), dimensions={0,2,1}",
)
def transpose_between_reshapes(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction | None:
    """Rewrite reshape(transpose(reshape(x))) as transpose(x), if whole dimensions move."""
    order = moved_dimensions(instruction)
    return None if order is None else transpose(computation, x, order, instruction.shape)
