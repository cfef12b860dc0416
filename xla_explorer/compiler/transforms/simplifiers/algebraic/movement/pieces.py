"""Rules on products and reductions of concatenated arrays, or of slices of constants.

Source: algebraic_simplifier.cc, HandleReduce, OptimizeDotOfConcat, OptimizeDotOfGather.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import concatenate, dot, reduce
from xla_explorer.compiler.rewriting.patterns import any_, uniform_value
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.contractions import (
    DotDimensions,
    asks_for_no_algorithm,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer, plain_reducer
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.dynamic_slicing import (
    start_operands,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import slice_attributes
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import has_the_range_of_f32
from xla_explorer.compiler.transforms.simplifiers.algebraic.reductions import (
    is_associative,
    is_not_variadic,
    partial_results_in_range,
    starts_from_identity,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n---\n"


def reduces_the_joint(i: HloInstruction) -> bool:
    """Return True if the operands are concatenated along a reduced dimension."""
    whole = i.operands[0]
    return is_associative(i) and whole.attributes["dimensions"][0] in i.attributes["dimensions"]


@rule(
    reduce(concatenate(name="whole"), any_("start")).that(reduces_the_joint),
    exactness=Exactness.REAL,
    when=(static, starts_from_identity),
    within_range=(partial_results_in_range,),
    before=_SUM
    + "x = f32[2] parameter(0)\ny = f32[3] parameter(1)\nz = f32[] constant(0)\nc = f32[5] concatenate(x, y), dimensions={0}\n"
    "ROOT r = f32[] reduce(c, z), dimensions={0}, to_apply=sum",
    after=_SUM + "x = f32[2] parameter(0)\ny = f32[3] parameter(1)\nz = f32[] constant(0)\n"
    "s = f32[] reduce(x, z), dimensions={0}, to_apply=sum\nt = f32[] reduce(y, z), dimensions={0}, to_apply=sum\n"
    "ROOT r = f32[] map(s, t), dimensions={}, to_apply=sum",
)
def reduce_of_concatenate(
    computation: HloComputation,
    instruction: HloInstruction,
    whole: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite reduce(concatenate(x, y)) as the reducer's operation on reduce(x) and reduce(y)."""
    total: HloInstruction | None = None
    shape, called = instruction.shape, instruction.called
    across = attributes_of({"dimensions": tuple(range(shape.rank))})
    for piece in whole.operands:
        part = computation.add(
            "reduce", shape, (piece, start), instruction.attributes, called=called
        )
        total = (
            part
            if total is None
            else computation.add("map", shape, (total, part), across, called=called)
        )
    assert total is not None
    return total


def sums_batches(i: HloInstruction) -> bool:
    """Return True for a sum over batch dimensions of a dot."""
    product = i.operands[0]
    batch = len(product.attributes.value("lhs_batch_dims"))
    return (
        is_not_variadic(i)
        and plain_reducer(i.called[0]) == "add"
        and any(d < batch for d in i.attributes["dimensions"])
    )


@rule(
    reduce(dot(any_("x"), any_("y"), name="product").one_use(), any_("start")).that(sums_batches),
    exactness=Exactness.REAL,
    when=(static,),
    within_range=(has_the_range_of_f32,),
    before=_SUM
    + "x = f32[2,3,4] parameter(0)\ny = f32[2,4,5] parameter(1)\nz = f32[] constant(0)\n"
    "d = f32[2,3,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
    "ROOT r = f32[3,5] reduce(d, z), dimensions={0}, to_apply=sum",
    after=_SUM + "x = f32[2,3,4] parameter(0)\ny = f32[2,4,5] parameter(1)\n"
    "ROOT r = f32[3,5] dot(x, y), lhs_contracting_dims={2,0}, rhs_contracting_dims={1,0}",
)
def sum_over_batches(
    computation: HloComputation,
    instruction: HloInstruction,
    product: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    start: HloInstruction,
) -> HloInstruction:
    """Rewrite the sum of products over a batch dimension as one product that contracts it too."""
    numbers, reduced = DotDimensions(product), instruction.attributes["dimensions"]
    batch = range(len(numbers.lhs_batch))
    summed, kept = [n for n in batch if n in reduced], [n for n in batch if n not in reduced]
    attributes = product.attributes.with_values(
        lhs_batch_dims=tuple([numbers.lhs_batch[n] for n in kept]),
        rhs_batch_dims=tuple([numbers.rhs_batch[n] for n in kept]),
        lhs_contracting_dims=numbers.lhs_contracting
        + tuple([numbers.lhs_batch[n] for n in summed]),
        rhs_contracting_dims=numbers.rhs_contracting
        + tuple([numbers.rhs_batch[n] for n in summed]),
    )
    left = [d for d in range(product.shape.rank) if d not in summed]
    result = computation.add(
        "dot",
        product.shape.with_dimensions([product.shape.dimensions[d] for d in left]),
        (x, y),
        attributes,
        metadata=product.metadata,
    )
    rest = tuple([left.index(d) for d in reduced if d not in summed])
    if rest:
        return computation.add(
            "reduce",
            instruction.shape,
            (result, start),
            attributes_of({"dimensions": rest}),
            called=instruction.called,
        )
    if uniform_value(start) == 0:
        return result
    first = (
        computation.add("broadcast", instruction.shape, (start,), attributes_of({"dimensions": ()}))
        if result.shape.rank
        else start
    )
    return computation.add("add", instruction.shape, (result, first))


def _sides(i: HloInstruction, opcode_name: str) -> tuple[int, int, int] | None:
    """Return a side with the opcode, its contracting dimension, and that of the constant side.

    None unless it is a plain matrix product.
    """
    numbers = DotDimensions(i)
    if (
        numbers.lhs_batch
        or len(numbers.lhs_contracting) != 1
        or any(o.shape.rank != 2 for o in i.operands)
    ):
        return None
    contracting = (numbers.lhs_contracting[0], numbers.rhs_contracting[0])
    for side in (0, 1):
        if (
            i.operands[side].opcode.name == opcode_name
            and i.operands[1 - side].opcode.name == "constant"
        ):
            return side, contracting[side], contracting[1 - side]
    return None


def multiplies_pieces_by_a_constant(i: HloInstruction) -> bool:
    """Return True for a side concatenated along the contracting dimension, times a constant."""
    found = _sides(i, "concatenate")
    return found is not None and i.operands[found[0]].attributes["dimensions"] == (found[1],)


@rule(
    dot(any_(), any_()).that(multiplies_pieces_by_a_constant),
    exactness=Exactness.REAL,
    when=(static, asks_for_no_algorithm),
    within_range=(has_the_range_of_f32,),
    before="x = f32[2,1] parameter(0)\ny = f32[2,2] parameter(1)\nc = f32[3,2] constant({{1,2},{3,4},{5,6}})\n"
    "w = f32[2,3] concatenate(x, y), dimensions={1}\n"
    "ROOT r = f32[2,2] dot(w, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    after="x = f32[2,1] parameter(0)\ny = f32[2,2] parameter(1)\nc = f32[3,2] constant({{1,2},{3,4},{5,6}})\n"
    "a = f32[1,2] slice(c), slice={[0:1], [0:2]}\nb = f32[2,2] slice(c), slice={[1:3], [0:2]}\n"
    "p = f32[2,2] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "q = f32[2,2] dot(y, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT r = f32[2,2] add(p, q)",
)
def dot_of_concatenate(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite dot(concatenate(x, y), C) as dot(x, part of C) + dot(y, rest of C)."""
    found = _sides(instruction, "concatenate")
    assert found is not None
    side, joint, across = found
    whole, constant = instruction.operands[side], instruction.operands[1 - side]
    total: HloInstruction | None = None
    at = 0
    for piece in whole.operands:
        rows = [SliceDimension(0, size) for size in constant.shape.dimensions]
        rows[across] = SliceDimension(at, at + piece.shape.dimensions[joint])
        at = rows[across].limit
        sizes = [row.limit - row.start for row in rows]
        part = computation.add(
            "slice", constant.shape.with_dimensions(sizes), (constant,), slice_attributes(rows)
        )
        pair = (piece, part) if side == 0 else (part, piece)
        product = computation.add(
            "dot", instruction.shape, pair, instruction.attributes, metadata=instruction.metadata
        )
        total = (
            product
            if total is None
            else computation.add("add", instruction.shape, (total, product))
        )
    assert total is not None
    return total


def multiplies_a_cut_of_a_constant(i: HloInstruction) -> bool:
    """Return True for a product of a constant and a slice of one, whole along the contraction."""
    found = _sides(i, "dynamic-slice")
    if found is None:
        return False
    cut, contracting = i.operands[found[0]], found[1]
    source = cut.operands[0]
    return (
        source.opcode.name == "constant"
        and len(start_operands(cut)) == 2
        and as_integer(start_operands(cut)[contracting]) == 0
        and source.shape.dimensions[contracting] == cut.shape.dimensions[contracting]
    )


def is_small_enough_to_keep(instruction: HloInstruction) -> Reason | None:
    """Require a whole product not larger than the two constants that it replaces."""
    side = _sides(instruction, "dynamic-slice")
    assert side is not None
    source, other = instruction.operands[side[0]].operands[0], instruction.operands[1 - side[0]]
    free = source.shape.dimensions[1 - side[1]] * other.shape.dimensions[1 - side[2]]
    given = source.shape.element_count + other.shape.element_count
    if free <= given:
        return None
    return refuse(
        "product-too-large",
        f"the whole product has {free} elements, the constants {given}",
        product=free,
        constants=given,
    )


@rule(
    dot(any_(), any_()).that(multiplies_a_cut_of_a_constant),
    exactness=Exactness.REAL,  # sums in another order, at compile time
    layout="insensitive",
    when=(static, asks_for_no_algorithm, is_small_enough_to_keep),
    before="i = s32[] parameter(0)\nz = s32[] constant(0)\nc = f32[3,2] constant({{1,2},{3,4},{5,6}})\n"
    "k = f32[2,2] constant({{1,2},{3,5}})\n"
    "s = f32[1,2] dynamic-slice(c, i, z), dynamic_slice_sizes={1,2}\n"
    "ROOT r = f32[1,2] dot(s, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    after="i = s32[] parameter(0)\nz = s32[] constant(0)\nc = f32[3,2] constant({{1,2},{3,4},{5,6}})\n"
    "k = f32[2,2] constant({{1,2},{3,5}})\n"
    "p = f32[3,2] dot(c, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "ROOT r = f32[1,2] dynamic-slice(p, i, z), dynamic_slice_sizes={1,2}",
)
def dot_of_cut_constant(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite dot(dynamic-slice(C), D) as dynamic-slice(dot(C, D)), a constant product."""
    found = _sides(instruction, "dynamic-slice")
    assert found is not None
    side, contracting, across = found
    cut, other = instruction.operands[side], instruction.operands[1 - side]
    source, starts = cut.operands[0], start_operands(cut)
    free = source.shape.dimensions[1 - contracting], other.shape.dimensions[1 - across]
    pair = (source, other) if side == 0 else (other, source)
    shape = instruction.shape.with_dimensions(free if side == 0 else free[::-1])
    product = computation.add(
        "dot", shape, pair, instruction.attributes, metadata=instruction.metadata
    )
    place, zero = starts[1 - contracting], scalar_constant(computation, starts[0].shape, 0)
    attributes = attributes_of({"dynamic_slice_sizes": tuple(instruction.shape.dimensions)})
    order = (place, zero) if side == 0 else (zero, place)
    return computation.add("dynamic-slice", instruction.shape, (product, *order), attributes)
