"""Rules on reshape, transpose, reverse, copy, bitcast and bitcast-convert.

Source: algebraic_simplifier.cc, HandleReshape, HandleTranspose, HandleReverse, HandleCopy,
HandleBitcast, HandleBitcastConvert.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.rewriting.construction import (
    broadcast,
    reshape,
    transpose,
    with_dimensions,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters
from xla_explorer.compiler.rewriting.guards import keeps_shape, static
from xla_explorer.compiler.rewriting.operators import bitcast, bitcast_convert, copy
from xla_explorer.compiler.rewriting.operators import broadcast as broadcast_of
from xla_explorer.compiler.rewriting.operators import dot as dot_of
from xla_explorer.compiler.rewriting.operators import iota as iota_of
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.operators import reverse as reverse_of
from xla_explorer.compiler.rewriting.operators import transpose as transpose_of
from xla_explorer.compiler.rewriting.patterns import any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_X = parameters("f32[3,4]", "x")
_ROOT_X = _X.replace("x =", "ROOT x =")


def changes_nothing(i: HloInstruction) -> bool:
    """Return True if the result has the operand's shape."""
    return i.shape.base is i.operands[0].shape.base


@rule(
    reshape_of(any_("x")).that(changes_nothing),
    exactness=Exactness.BITWISE,
    before=_X + "ROOT r = f32[3,4] reshape(x)",
    after=_ROOT_X,
)
def reshape_to_self(x: HloInstruction) -> HloInstruction:
    """Rewrite a reshape to the shape of x as x."""
    return x


@rule(
    reshape_of(reshape_of(any_("x"))),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X + "a = f32[12] reshape(x)\nROOT r = f32[2,6] reshape(a)",
    after=_X + "ROOT r = f32[2,6] reshape(x)",
)
def reshape_of_reshape(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite reshape(reshape(x)) as one reshape."""
    return reshape(computation, x, instruction.shape)


def unmodified_dimensions(before: tuple[int, ...], after: tuple[int, ...]) -> dict[int, int]:
    """Return operand dimension -> result dimension for sizes above one that a reshape keeps."""
    place = {}
    stride = 1
    for number, size in enumerate(after):
        if size != 1:
            place[(stride, size)] = number
        stride *= size
    found, stride = {}, 1
    for number, size in enumerate(before):
        if size != 1 and (stride, size) in place:
            found[number] = place[(stride, size)]
        stride *= size
    return found


@rule(
    reshape_of(broadcast_of(any_("x"), name="b")),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X + "b = f32[2,5,3,4] broadcast(x), dimensions={2,3}\nROOT r = f32[10,3,4] reshape(b)",
    after=_X + "ROOT r = f32[10,3,4] broadcast(x), dimensions={1,2}",
)
def reshape_of_broadcast(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, b: HloInstruction
) -> HloInstruction | None:
    """Rewrite reshape(broadcast(x)) as a broadcast if the reshape keeps the dimensions of x."""
    kept = unmodified_dimensions(b.shape.dimensions, instruction.shape.dimensions)
    dimensions = dimensions_of(b)
    if not dimensions or not all(d in kept for d in dimensions) or 0 in b.shape.dimensions:
        return None
    return broadcast(computation, x, instruction.shape, [kept[d] for d in dimensions])


@rule(
    reshape_of(iota_of(name="counts")),
    exactness=Exactness.BITWISE,
    before="i = s32[4,6] iota(), iota_dimension=0\nROOT r = s32[4,2,3] reshape(i)",
    after="ROOT r = s32[4,2,3] iota(), iota_dimension=0",
)
def reshape_of_iota(
    computation: HloComputation, instruction: HloInstruction, counts: HloInstruction
) -> HloInstruction | None:
    """Rewrite reshape(iota) as an iota if the reshape keeps the counted dimension."""
    kept = unmodified_dimensions(counts.shape.dimensions, instruction.shape.dimensions)
    dimension = counts.attributes["iota_dimension"]
    if dimension not in kept or 0 in counts.shape.dimensions:
        return None
    return computation.add(
        "iota", instruction.shape, (), attributes_of({"iota_dimension": kept[dimension]})
    )


def is_identity(i: HloInstruction) -> bool:
    """Return True if the permutation moves nothing."""
    dimensions = dimensions_of(i)
    return dimensions == tuple(range(len(dimensions)))


@rule(
    transpose_of(any_("x")).that(is_identity),
    exactness=Exactness.BITWISE,
    before=_X + "ROOT r = f32[3,4] transpose(x), dimensions={0,1}",
    after=_ROOT_X,
)
def transpose_identity(x: HloInstruction) -> HloInstruction:
    """Rewrite a transpose that moves nothing as x."""
    return x


@rule(
    transpose_of(transpose_of(any_("x"), name="inner")),
    exactness=Exactness.BITWISE,
    before="x = f32[2,3,4] parameter(0)\na = f32[3,2,4] transpose(x), dimensions={1,0,2}\n"
    "ROOT r = f32[3,4,2] transpose(a), dimensions={0,2,1}",
    after="x = f32[2,3,4] parameter(0)\nROOT r = f32[3,4,2] transpose(x), dimensions={1,2,0}",
)
def transpose_of_transpose(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    x: HloInstruction,
) -> HloInstruction:
    """Rewrite transpose(transpose(x)) as one transpose."""
    first = dimensions_of(inner)
    return transpose(
        computation, x, tuple([first[d] for d in dimensions_of(instruction)]), instruction.shape
    )


def moves_only_ones(i: HloInstruction) -> bool:
    """Return True if dimensions of several elements stay in order."""
    sizes = i.operands[0].shape.dimensions
    order = [d for d in dimensions_of(i) if sizes[d] != 1]
    return order == sorted(order) and not any(i.shape.dynamic)


@rule(
    transpose_of(any_("x")).that(moves_only_ones),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    before="x = f32[3,1,4] parameter(0)\nROOT r = f32[1,3,4] transpose(x), dimensions={1,0,2}",
    after="x = f32[3,1,4] parameter(0)\nROOT r = f32[1,3,4] reshape(x)",
)
def transpose_to_reshape(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a transpose that moves only dimensions of size one as a reshape."""
    return reshape(computation, x, instruction.shape)


@rule(
    transpose_of(broadcast_of(any_("x"), name="b")),
    exactness=Exactness.BITWISE,
    before=_X
    + "b = f32[5,3,4] broadcast(x), dimensions={1,2}\nROOT r = f32[3,4,5] transpose(b), dimensions={1,2,0}",
    after=_X + "ROOT r = f32[3,4,5] broadcast(x), dimensions={0,1}",
)
def transpose_of_broadcast(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, b: HloInstruction
) -> HloInstruction | None:
    """Rewrite transpose(broadcast(x)) as a broadcast if the dimensions of x keep their order."""
    permutation = dimensions_of(instruction)
    moved = [permutation.index(d) for d in dimensions_of(b)]
    return broadcast(computation, x, instruction.shape, moved) if moved == sorted(moved) else None


def swaps_the_sides(i: HloInstruction) -> bool:
    """Return True for a permutation that swaps the free dimensions of a dot's two sides.

    The batch dimensions stay in front.
    """
    product = i.operands[0]
    a, attributes = product.operands[0].shape.rank, product.attributes
    batch = len(attributes.value("lhs_batch_dims"))
    free = a - batch - len(attributes.value("lhs_contracting_dims"))
    rank = product.shape.rank
    wanted = (*range(batch), *range(batch + free, rank), *range(batch, batch + free))
    return free > 0 and batch + free < rank and dimensions_of(i) == wanted


@rule(
    transpose_of(dot_of(any_("a"), any_("b"), name="product").one_use()).that(swaps_the_sides),
    exactness=Exactness.approximate(4),
    before="a = f32[3,5] parameter(0)\nb = f32[5,4] parameter(1)\n"
    "d = f32[3,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "ROOT r = f32[4,3] transpose(d), dimensions={1,0}",
    after="a = f32[3,5] parameter(0)\nb = f32[5,4] parameter(1)\n"
    "ROOT d = f32[4,3] dot(b, a), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
)
def transpose_of_dot(
    computation: HloComputation,
    instruction: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
    product: HloInstruction,
) -> HloInstruction | Reason:
    """Rewrite transpose(dot(a, b)) as dot(b, a) if the transpose exchanges the sides."""
    old = product.attributes
    if "algorithm" in old:
        return refuse(
            "dot-algorithm",
            f"%{product.name} requests an algorithm that may treat its sides differently",
        )
    precision = old.value("operand_precision")
    swapped = {
        f"{mine}_{kind}_dims": old.value(f"{other}_{kind}_dims")
        for mine, other in (("lhs", "rhs"), ("rhs", "lhs"))
        for kind in ("batch", "contracting")
    }
    return computation.add(
        "dot",
        instruction.shape,
        (b, a),
        old.with_values(**swapped, operand_precision=precision[::-1] or None),
        metadata=product.metadata,
    )


def reverses_nothing(i: HloInstruction) -> bool:
    """Return True if every reversed dimension has one element."""
    return all(i.shape.dimensions[d] == 1 for d in dimensions_of(i))


@rule(
    reverse_of(any_("x")).that(reverses_nothing),
    exactness=Exactness.BITWISE,
    before="x = f32[3,1] parameter(0)\nROOT r = f32[3,1] reverse(x), dimensions={1}",
    after="ROOT x = f32[3,1] parameter(0)",
)
def reverse_of_degenerate(x: HloInstruction) -> HloInstruction:
    """Rewrite a reverse of dimensions of size one as x."""
    return x


@rule(
    reverse_of(reverse_of(any_("x"), name="inner")),
    exactness=Exactness.BITWISE,
    before=_X
    + "a = f32[3,4] reverse(x), dimensions={0,1}\nROOT r = f32[3,4] reverse(a), dimensions={0}",
    after=_X + "ROOT r = f32[3,4] reverse(x), dimensions={1}",
)
def reverse_of_reverse(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    x: HloInstruction,
) -> HloInstruction:
    """Rewrite reverse(reverse(x)) as a reverse of the dimensions that only one of them reverses."""
    left = sorted(set(dimensions_of(instruction)) ^ set(dimensions_of(inner)))
    return computation.add("reverse", instruction.shape, (x,), with_dimensions(left)) if left else x


def keeps_layout(instruction: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require a copy that keeps the layout."""
    return (
        None
        if instruction.shape is x.shape
        else refuse(
            "layout-differs", f"%{instruction.name} copies {x.shape} to {instruction.shape}"
        )
    )


@rule(
    copy(any_("x")),
    exactness=Exactness.BITWISE,
    when=(keeps_layout,),
    before=_X + "ROOT r = f32[3,4] copy(x)",
    after=_ROOT_X,
)
def copy_to_same(x: HloInstruction) -> HloInstruction:
    """Rewrite a copy to the same layout as x; copy insertion adds the necessary copies later."""
    return x


@rule(
    copy(copy(any_("x"))),
    exactness=Exactness.BITWISE,
    before="x = f32[3,4]{0,1} parameter(0)\na = f32[3,4]{1,0} copy(x)\nROOT r = f32[3,4]{0,1} copy(a)",
    after="x = f32[3,4]{0,1} parameter(0)\nROOT r = f32[3,4]{0,1} copy(x)",
)
def copy_of_copy(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite copy(copy(x)) as one copy."""
    return computation.add("copy", instruction.shape, (x,))


def is_the_same_bits(instruction: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require the shape and layout of x."""
    return (
        None
        if instruction.shape is x.shape
        else refuse("shape-differs", f"{x.shape} becomes {instruction.shape}")
    )


@rule(
    bitcast(any_("x")),
    exactness=Exactness.BITWISE,
    when=(is_the_same_bits,),
    before=_X + "ROOT r = f32[3,4] bitcast(x)",
    after=_ROOT_X,
)
def bitcast_to_same(x: HloInstruction) -> HloInstruction:
    """Rewrite a bitcast to the shape and layout of x as x."""
    return x


@rule(
    bitcast(bitcast(any_("x"))),
    exactness=Exactness.BITWISE,
    before=_X + "a = f32[12] bitcast(x)\nROOT r = f32[2,6] bitcast(a)",
    after=_X + "ROOT r = f32[2,6] bitcast(x)",
)
def bitcast_of_bitcast(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite bitcast(bitcast(x)) as one bitcast, or x itself."""
    return (
        x if instruction.shape is x.shape else computation.add("bitcast", instruction.shape, (x,))
    )


@rule(
    bitcast_convert(any_("x")),
    exactness=Exactness.BITWISE,
    when=(keeps_shape,),
    before=_X + "ROOT r = f32[3,4] bitcast-convert(x)",
    after=_ROOT_X,
)
def bitcast_convert_to_same(x: HloInstruction) -> HloInstruction:
    """Rewrite a bitcast-convert to the type of x as x."""
    return x


@rule(
    bitcast_convert(bitcast_convert(any_("x"))),
    exactness=Exactness.BITWISE,
    before=_X + "a = s32[3,4] bitcast-convert(x)\nROOT r = u32[3,4] bitcast-convert(a)",
    after=_X + "ROOT r = u32[3,4] bitcast-convert(x)",
)
def bitcast_convert_twice(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction | None:
    """Rewrite bitcast-convert(bitcast-convert(x)) as one bitcast-convert."""
    if (
        math.prod(x.shape.dimensions) * x.shape.element_type.bits
        != instruction.shape.element_count * instruction.shape.element_type.bits
    ):
        return None
    if abs(x.shape.rank - instruction.shape.rank) > 1:
        return None
    return computation.add("bitcast-convert", instruction.shape, (x,))
