"""Algebraic rules on dot.

Source: algebraic_simplifier.cc, HandleDot, RemoveDegenerateDimensionFromDot, OptimizeDotOfConcat.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.rewriting.construction import (
    broadcast,
    reshape,
    scalar_constant,
    splat_constant,
    transpose,
    with_dimensions,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import dot
from xla_explorer.compiler.rewriting.operators import transpose as transpose_of
from xla_explorer.compiler.rewriting.patterns import any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import placed_first, plain_reducer
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.shape import Shape, array_shape

_AB = "a = f32[2,3] parameter(0)\nb = f32[2,4] parameter(1)\n"


class DotDimensions:
    """The dimension numbers of a dot, with the free ones derived."""

    __slots__ = (
        "lhs_batch",
        "lhs_contracting",
        "lhs_free",
        "rhs_batch",
        "rhs_contracting",
        "rhs_free",
    )

    def __init__(self, i: HloInstruction) -> None:
        a = i.attributes
        self.lhs_batch: tuple[int, ...] = a.value("lhs_batch_dims")
        self.rhs_batch: tuple[int, ...] = a.value("rhs_batch_dims")
        self.lhs_contracting: tuple[int, ...] = a.value("lhs_contracting_dims")
        self.rhs_contracting: tuple[int, ...] = a.value("rhs_contracting_dims")
        lhs = self.lhs_batch + self.lhs_contracting
        self.lhs_free = tuple([d for d in range(i.operands[0].shape.rank) if d not in lhs])
        rhs = self.rhs_batch + self.rhs_contracting
        self.rhs_free = tuple([d for d in range(i.operands[1].shape.rank) if d not in rhs])


def has_an_empty_side(i: HloInstruction) -> bool:
    """Return True if an operand or the result has no elements."""
    return any(
        shape.element_count == 0 for shape in (i.shape, i.operands[0].shape, i.operands[1].shape)
    )


@rule(
    dot(any_(), any_()).that(has_an_empty_side),
    exactness=Exactness.BITWISE,
    before="a = f32[2,0] parameter(0)\nb = f32[0,4] parameter(1)\n"
    "ROOT r = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    after="a = f32[2,0] parameter(0)\nb = f32[0,4] parameter(1)\n"
    + filled("z", "f32[2,4]", 0).replace("z = f32[2,4] b", "ROOT z = f32[2,4] b"),
)
def dot_of_empty(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a dot of arrays without elements as 0."""
    return splat_constant(computation, instruction.shape, 0)


def same_types(instruction: HloInstruction, a: HloInstruction, b: HloInstruction) -> Reason | None:
    """Require one element type for operands and result."""
    if a.shape.element_type is b.shape.element_type is instruction.shape.element_type:
        return None
    return refuse(
        "types-differ",
        f"{a.shape.element_type} times {b.shape.element_type} gives "
        f"{instruction.shape.element_type}",
    )


def asks_for_no_algorithm(instruction: HloInstruction) -> Reason | None:
    """Require a dot without an algorithm."""
    if "algorithm" in instruction.attributes:
        return refuse(
            "dot-algorithm", f"%{instruction.name} requests {instruction.attributes['algorithm']}"
        )
    return None


def has_degenerate_dimensions(i: HloInstruction) -> bool:
    """Return True if some dimension of an operand has size one."""
    return 1 in i.operands[0].shape.dimensions or 1 in i.operands[1].shape.dimensions


def _without_ones(x: HloInstruction, kept: list[int]) -> Shape:
    return x.shape.with_dimensions([x.shape.dimensions[d] for d in kept])


def has_contracting_dimensions(i: HloInstruction) -> bool:
    """Return True if a dimension is contracted."""
    return bool(i.attributes.value("lhs_contracting_dims"))


def sums_nothing(i: HloInstruction) -> bool:
    """Return True if no dimension is contracted, and the type has the zero that sums begin with."""
    kind = i.shape.element_type
    return not has_contracting_dimensions(i) and (kind.has_sign or not kind.is_float)


@rule(
    dot(any_("a"), any_("b")).that(has_degenerate_dimensions),
    exactness=Exactness.approximate(4),
    layout="insensitive",
    when=(static,),
    before="a = f32[1,2,3] parameter(0)\nb = f32[3,4] parameter(1)\n"
    "ROOT r = f32[1,2,4] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    after="a = f32[1,2,3] parameter(0)\nb = f32[3,4] parameter(1)\nc = f32[2,3] reshape(a)\n"
    "d = f32[2,4] dot(c, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT r = f32[1,2,4] reshape(d)",
)
def dot_without_ones(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Remove dimensions of size one from the operands of a dot, and reshape the result."""
    numbers = DotDimensions(instruction)
    left, right = a.shape.dimensions, b.shape.dimensions
    keep_a, keep_b = (
        [d for d in range(len(left)) if left[d] != 1],
        [d for d in range(len(right)) if right[d] != 1],
    )
    attributes = instruction.attributes.with_values(
        lhs_batch_dims=tuple([keep_a.index(d) for d in numbers.lhs_batch if left[d] != 1]),
        rhs_batch_dims=tuple([keep_b.index(d) for d in numbers.rhs_batch if right[d] != 1]),
        lhs_contracting_dims=tuple(
            [keep_a.index(d) for d in numbers.lhs_contracting if left[d] != 1]
        ),
        rhs_contracting_dims=tuple(
            [keep_b.index(d) for d in numbers.rhs_contracting if right[d] != 1]
        ),
    )
    shape = instruction.shape.with_dimensions(
        [size for size in instruction.shape.dimensions if size != 1]
    )
    small = computation.add(
        "dot",
        shape,
        (
            reshape(computation, a, _without_ones(a, keep_a)),
            reshape(computation, b, _without_ones(b, keep_b)),
        ),
        attributes,
        metadata=instruction.metadata,
    )
    return reshape(computation, small, instruction.shape)


@rule(
    dot(any_("a"), any_("b")).that(sums_nothing),
    exactness=Exactness.NUMERIC,
    when=(static, same_types, asks_for_no_algorithm),
    before=_AB + "ROOT r = f32[2,3,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}",
    after=_AB
    + "x = f32[2,3,4] broadcast(a), dimensions={0,1}\ny = f32[2,3,4] broadcast(b), dimensions={0,2}\n"
    "ROOT r = f32[2,3,4] multiply(x, y)",
)
def dot_to_multiply(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Rewrite a dot that contracts nothing as a multiply of broadcasts."""
    numbers, shape = DotDimensions(instruction), instruction.shape
    batch, free = len(numbers.lhs_batch), len(numbers.lhs_free)
    order_a, order_b = (
        (*numbers.lhs_batch, *numbers.lhs_free),
        (*numbers.rhs_batch, *numbers.rhs_free),
    )
    if order_a != tuple(range(len(order_a))):
        a = transpose(computation, a, order_a)
    if order_b != tuple(range(len(order_b))):
        b = transpose(computation, b, order_b)
    places_a = list(range(batch + free))
    places_b = [*range(batch), *range(batch + free, shape.rank)]
    wide_a = (
        a if a.shape.dimensions == shape.dimensions else broadcast(computation, a, shape, places_a)
    )
    wide_b = (
        b if b.shape.dimensions == shape.dimensions else broadcast(computation, b, shape, places_b)
    )
    return computation.add("multiply", shape, (wide_a, wide_b))


def is_a_vector_product(i: HloInstruction) -> bool:
    """Return True if both sides have only batch and contracting dimensions."""
    numbers = DotDimensions(i)
    return not numbers.lhs_free and not numbers.rhs_free and bool(numbers.lhs_contracting)


def add_reducer(computation: HloComputation, shape: Shape) -> HloComputation:
    """Return the module's computation that adds two scalars of the element type, or add it."""
    scalar = array_shape(shape.element_type, ())
    module = computation.module
    for candidate in module.computations.values():
        root = candidate.root
        if (
            root is not None
            and root.opcode.name == "add"
            and root.shape is scalar
            and plain_reducer(candidate) == "add"
        ):
            return candidate
    made = module.add_computation(f"add_{shape.element_type.name}")
    made.root = made.add(
        "add", scalar, (made.add_parameter(0, scalar, "a"), made.add_parameter(1, scalar, "b"))
    )
    return placed_first(made)


@rule(
    dot(any_("a"), any_("b")).that(is_a_vector_product),
    exactness=Exactness.REAL,
    when=(static, same_types, asks_for_no_algorithm),
    before="s {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT t = f32[] add(p, q)\n}\n---\n"
    "a = f32[8] parameter(0)\nb = f32[8] parameter(1)\n"
    "ROOT r = f32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    after="s {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT t = f32[] add(p, q)\n}\n---\n"
    "a = f32[8] parameter(0)\nb = f32[8] parameter(1)\nm = f32[8] multiply(a, b)\nz = f32[] constant(0)\n"
    "ROOT r = f32[] reduce(m, z), dimensions={0}, to_apply=s",
)
def dot_to_reduce(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Rewrite a dot of vectors as the sum of their product, in f32 for narrower floats."""
    numbers, shape = DotDimensions(instruction), instruction.shape
    order_a, order_b = (
        (*numbers.lhs_batch, *numbers.lhs_contracting),
        (*numbers.rhs_batch, *numbers.rhs_contracting),
    )
    if order_a != tuple(range(len(order_a))):
        a = transpose(computation, a, order_a)
    if order_b != tuple(range(len(order_b))):
        b = transpose(computation, b, order_b)
    wide = shape
    if shape.element_type.is_float and shape.element_type.bits <= 16:
        wide = shape.with_element_type(F32)
        a, b = [computation.add("convert", x.shape.with_element_type(F32), (x,)) for x in (a, b)]
    product = computation.add("multiply", a.shape.with_dimensions(a.shape.dimensions), (a, b))
    batch = len(numbers.lhs_batch)
    total = computation.add(
        "reduce",
        wide,
        (product, scalar_constant(computation, wide, 0)),
        with_dimensions(range(batch, product.shape.rank)),
        called=(add_reducer(computation, wide),),
    )
    return total if wide is shape else computation.add("convert", shape, (total,))


def is_matrix_product_of_transposes(i: HloInstruction) -> bool:
    """Return True for batches of matrix products whose sides are both transposed matrices."""
    a, b = i.operands
    rank = a.shape.rank
    if rank < 2 or b.shape.rank != rank:
        return False
    numbers = DotDimensions(i)
    batch = tuple(range(rank - 2))
    turned = (*batch, rank - 1, rank - 2)
    return (
        numbers.lhs_batch == numbers.rhs_batch == batch
        and numbers.lhs_contracting == (rank - 1,)
        and numbers.rhs_contracting == (rank - 2,)
        and dimensions_of(a) == dimensions_of(b) == turned
    )


@rule(
    dot(transpose_of(name="a"), transpose_of(name="b")).that(is_matrix_product_of_transposes),
    exactness=Exactness.approximate(4),
    layout="insensitive",
    when=(static, asks_for_no_algorithm),
    before="a = f32[3,2] parameter(0)\nb = f32[4,3] parameter(1)\ns = f32[2,3] transpose(a), dimensions={1,0}\n"
    "t = f32[3,4] transpose(b), dimensions={1,0}\n"
    "ROOT r = f32[2,4] dot(s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    after="a = f32[3,2] parameter(0)\nb = f32[4,3] parameter(1)\n"
    "d = f32[4,2] dot(b, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "ROOT r = f32[2,4] transpose(d), dimensions={1,0}",
)
def dot_of_transposes(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Rewrite dot(transpose(a), transpose(b)) as transpose(dot(b, a))."""
    precision = instruction.attributes.value("operand_precision")
    attributes = instruction.attributes.with_values(
        operand_precision=tuple(precision)[::-1] or None
    )
    turned = dimensions_of(a)
    shape = instruction.shape.with_dimensions([instruction.shape.dimensions[d] for d in turned])
    product = computation.add(
        "dot", shape, (b.operands[0], a.operands[0]), attributes, metadata=instruction.metadata
    )
    return transpose(computation, product, turned, instruction.shape)


def _reordered_axes(moved: HloInstruction, contracting: int) -> list[int] | None:
    """Return the dimensions of transpose(x) that make up the contracting dimension, or None.

    moved = reshape(transpose(x)). The transpose must reorder only these dimensions.
    """
    turned = moved.operands[0]
    permutation, sizes, target = (
        dimensions_of(turned),
        turned.shape.dimensions,
        moved.shape.dimensions,
    )
    before, after = math.prod(target[:contracting]), math.prod(target[: contracting + 1])
    start, product = 0, 1
    while start < len(sizes) and product < before:
        product *= sizes[start]
        start += 1
    end = start
    while end < len(sizes) and product * sizes[end] <= after:
        product *= sizes[end]
        end += 1
    group = list(range(start, end))
    if product != after or sorted([permutation[d] for d in group]) != group:
        return None
    return group if all(permutation[d] == d for d in range(len(sizes)) if d not in group) else None


def contracts_a_reordered_side(i: HloInstruction) -> bool:
    """Return True for a constant side, a reshaped transpose, and one contracted dimension."""
    if {o.opcode.name for o in i.operands} != {"constant", "reshape"}:
        return False
    numbers = DotDimensions(i)
    if len(numbers.lhs_contracting) != 1 or numbers.lhs_batch:
        return False
    moved = i.operands[0] if i.operands[0].opcode.name == "reshape" else i.operands[1]
    return moved.operands[0].opcode.name == "transpose" and moved.shape.element_count > 0


@rule(
    dot(any_("a"), any_("b")).that(contracts_a_reordered_side),
    exactness=Exactness.approximate(4),
    layout="insensitive",
    when=(static,),
    before="x = f32[5,2,3] parameter(0)\nt = f32[5,3,2] transpose(x), dimensions={0,2,1}\na = f32[5,6] reshape(t)\n"
    "b = f32[6,2] constant({{1,2},{3,4},{5,6},{7,8},{9,1},{2,3}})\n"
    "ROOT r = f32[5,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    after="x = f32[5,2,3] parameter(0)\na = f32[5,6] reshape(x)\n"
    "b = f32[6,2] constant({{1,2},{3,4},{5,6},{7,8},{9,1},{2,3}})\nc = f32[3,2,2] reshape(b)\n"
    "t = f32[2,3,2] transpose(c), dimensions={1,0,2}\nd = f32[6,2] reshape(t)\n"
    "ROOT r = f32[5,2] dot(a, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
)
def dot_with_reordered_constant(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction | None:
    """Rewrite dot(reshape(transpose(x)), C) as dot(reshape(x), C reordered at compile time)."""
    numbers = DotDimensions(instruction)
    sides = [(a, numbers.lhs_contracting[0]), (b, numbers.rhs_contracting[0])]
    moves_first = b.opcode.name == "constant"
    (moved, mine), (fixed, other) = sides if moves_first else sides[::-1]
    axes = _reordered_axes(moved, mine)
    if axes is None:
        return None
    turned = moved.operands[0]
    permutation, sizes = dimensions_of(turned), turned.shape.dimensions
    split = [
        *fixed.shape.dimensions[:other],
        *[sizes[d] for d in axes],
        *fixed.shape.dimensions[other + 1 :],
    ]
    order = [permutation.index(d) - axes[0] for d in axes]
    whole = [*range(other), *[other + k for k in order], *range(other + len(axes), len(split))]
    taken = reshape(computation, fixed, fixed.shape.with_dimensions(split))
    if whole != list(range(len(whole))):
        taken = transpose(computation, taken, tuple(whole))
    taken = reshape(computation, taken, fixed.shape.with_dimensions(fixed.shape.dimensions))
    straight = reshape(computation, turned.operands[0], moved.shape)
    operands = (straight, taken) if moves_first else (taken, straight)
    return computation.add(
        "dot", instruction.shape, operands, instruction.attributes, metadata=instruction.metadata
    )


def is_parameter_like(i: HloInstruction) -> bool:
    """Return True for a parameter, or a chain of unary operations on one."""
    while i.opcode.name != "parameter":
        if len(i.operands) != 1:
            return False
        i = i.operands[0]
    return True


def has_a_parameter_left(i: HloInstruction) -> bool:
    """Return True if only the left operand is a parameter after unary operations."""
    return is_parameter_like(i.operands[0]) and not is_parameter_like(i.operands[1])


@rule(
    dot(any_("a"), any_("b")).that(has_a_parameter_left),
    exactness=Exactness.approximate(4),
    layout="insensitive",
    before="a = f32[3,2] parameter(0)\nb = f32[2,4] parameter(1)\nc = f32[2,4] add(b, b)\n"
    "ROOT r = f32[3,4] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    after="a = f32[3,2] parameter(0)\nb = f32[2,4] parameter(1)\nc = f32[2,4] add(b, b)\n"
    "d = f32[4,3] dot(c, a), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
    "ROOT r = f32[3,4] transpose(d), dimensions={1,0}",
)
def dot_parameter_right(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Rewrite dot(parameter, x) as the transpose of dot(x, parameter)."""
    numbers, old = DotDimensions(instruction), instruction.attributes
    batch, left, right = (len(d) for d in (numbers.lhs_batch, numbers.lhs_free, numbers.rhs_free))
    order = (
        *range(batch),
        *range(batch + right, batch + right + left),
        *range(batch, batch + right),
    )
    sizes = instruction.shape.dimensions
    precision = old.value("operand_precision")
    made = computation.add(
        "dot",
        instruction.shape.with_dimensions(
            [*sizes[:batch], *sizes[batch + left :], *sizes[batch : batch + left]]
        ),
        (b, a),
        old.with_values(
            lhs_batch_dims=numbers.rhs_batch,
            rhs_batch_dims=numbers.lhs_batch,
            lhs_contracting_dims=numbers.rhs_contracting,
            rhs_contracting_dims=numbers.lhs_contracting,
            operand_precision=tuple(precision)[::-1] or None,
        ),
        metadata=instruction.metadata,
    )
    return transpose(computation, made, order, instruction.shape)
