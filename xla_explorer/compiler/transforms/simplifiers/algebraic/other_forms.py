"""Other forms of an expression that some targets prefer, each enabled by an option of `algsimp`.

Source: algebraic_simplifier.cc, by the option's name.

======================================  =======================================================
option of XLA                           here
======================================  =======================================================
enable_scalar_multiply_reduction        a constant factor moves to the smallest of operands and
                                        result of a dot or convolution; a product with other
                                        readers stays, as in XLA
enable_move_dot_param_to_rhs            the same: a parameter (after unary operations) on the
                                        left, and anything else on the right
use_convert_constant_folding            the same, except types below 8 bits
enable_conditional_simplification       a branch index that is a converted predicate
enable_hoist_transpose_of_reshape       a transpose between reshapes that only moves whole
                                        dimensions of the operand; not after layout assignment
======================================  =======================================================
"""

from __future__ import annotations

import math

from xla_explorer.compiler.rewriting.construction import (
    broadcast_scalar,
    scalar_of,
    transpose,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled
from xla_explorer.compiler.rewriting.operators import conditional, convert, dot, multiply
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.operators import transpose as transpose_of
from xla_explorer.compiler.rewriting.patterns import any_, constant, one_of, splat
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.contractions import DotDimensions
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.conversion import convert as converted
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array

_product = one_of("dot", "convolution")
_AB = "a = f32[8,2] parameter(0)\nb = f32[2,16] parameter(1)\n"
_DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def _scaled(computation: HloComputation, x: HloInstruction, c: HloInstruction) -> HloInstruction:
    number = scalar_of(c)
    assert number is not None  # the patterns require it
    factor = number if not x.shape.rank else broadcast_scalar(computation, number, x.shape)
    return computation.add("multiply", x.shape, (x, factor))


def _smallest(*given: HloInstruction) -> int:
    """Return the position of the smallest array, the first of equal ones."""
    return min(range(len(given)), key=lambda k: given[k].shape.element_count)


@rule(
    multiply(_product(any_("x"), any_("y"), name="product").one_use(), splat("c")),
    exactness=Exactness.FAST,
    before=_AB
    + f"d = f32[8,16] dot(a, b), {_DOT}\n"
    + filled("c", "f32[8,16]", 2)
    + "ROOT r = f32[8,16] multiply(d, c)",
    after=_AB + filled("c", "f32[8,2]", 2) + "m = f32[8,2] multiply(a, c)\n"
    f"ROOT r = f32[8,16] dot(m, b), {_DOT}",
)
def scale_of_product(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    c: HloInstruction,
    product: HloInstruction,
) -> HloInstruction | Reason:
    """Rewrite dot(x, y) * C as dot(x * C, y), if x or y is the smallest array."""
    place = _smallest(product, x, y)
    if not place or scalar_of(c) is None or x.shape.element_type is not c.shape.element_type:
        return refuse("result-smallest", f"%{product.name} is not larger than its operands")
    ends = (_scaled(computation, x, c), y) if place == 1 else (x, _scaled(computation, y, c))
    return computation.add(
        product.opcode, product.shape, ends, product.attributes, metadata=product.metadata
    )


def has_a_scaled_side(i: HloInstruction) -> bool:
    """Return True if an operand is a multiply that nothing else reads."""
    return any(o.opcode.name == "multiply" and len(o.users) == 1 for o in i.operands)


@rule(
    _product(any_("x"), any_("y")).that(has_a_scaled_side),
    exactness=Exactness.FAST,
    before="a = f32[8,32] parameter(0)\nb = f32[32,2] parameter(1)\n"
    + filled("c", "f32[8,32]", 2)
    + f"m = f32[8,32] multiply(a, c)\nROOT r = f32[8,2] dot(m, b), {_DOT}",
    after="a = f32[8,32] parameter(0)\nb = f32[32,2] parameter(1)\n"
    + filled("c", "f32[8,2]", 2)
    + f"d = f32[8,2] dot(a, b), {_DOT}\nROOT r = f32[8,2] multiply(d, c)",
)
def product_of_scaled(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction | Reason:
    """Rewrite dot(x * C, y) as dot(x, y) * C or dot(x, y * C), if that array is smaller."""
    for side, operand in enumerate((x, y)):
        if operand.opcode.name != "multiply" or len(operand.users) != 1:
            continue
        for value, factor in (operand.operands, operand.operands[::-1]):
            if scalar_of(factor) is None:
                continue
            other = (x, y)[1 - side]
            place = _smallest(operand, instruction, other)
            if not place:
                continue
            given = _scaled(computation, other, factor) if place == 2 else other
            ends = (value, given) if side == 0 else (given, value)
            made = computation.add(
                instruction.opcode,
                instruction.shape,
                ends,
                instruction.attributes,
                metadata=instruction.metadata,
            )
            return made if place == 2 else _scaled(computation, made, factor)
    return refuse("scale-smallest", f"no operand of %{instruction.name} is scaled at a higher cost")


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
    f"ROOT r = f32[3,4] dot(a, c), {_DOT}",
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


def fills_bytes(instruction: HloInstruction) -> Reason | None:
    """Require a type of at least 8 bits."""
    kind = instruction.shape.element_type
    if kind.is_pred or kind.bits >= 8:
        return None
    return refuse("packed-type", f"{kind.name} has fewer than 8 bits")


@rule(
    convert(constant("c")),
    exactness=Exactness.BITWISE,
    when=(fills_bytes,),
    before="c = s32[2] constant({1, 2})\nROOT r = f32[2] convert(c)",
    after="ROOT c = f32[2] constant({1, 2})\n",
)
def convert_of_constant(
    computation: HloComputation, instruction: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Evaluate the conversion of a constant."""
    return computation.add_constant(
        literal_from_array(
            converted(c.literal.array, instruction.shape.element_type), instruction.shape
        )
    )


def chooses_by_a_predicate(i: HloInstruction) -> bool:
    """Return True for two branches and an index that is a converted predicate."""
    index = i.operands[0]
    return (
        len(i.called) == 2
        and index.opcode.name == "convert"
        and index.operands[0].shape.element_type.is_pred
    )


_BRANCHES = (
    "no {\n  p = f32[] parameter(0)\n  ROOT q = f32[] negate(p)\n}\n---\n"
    "yes {\n  p = f32[] parameter(0)\n  ROOT q = f32[] abs(p)\n}\n---\n"
    "c = pred[] parameter(0)\nx = f32[] parameter(1)\n"
)


@rule(
    conditional().that(chooses_by_a_predicate),
    exactness=Exactness.BITWISE,
    before=_BRANCHES
    + "n = s32[] convert(c)\nROOT r = f32[] conditional(n, x, x), branch_computations={no, yes}",
    after=_BRANCHES
    + "ROOT r = f32[] conditional(c, x, x), true_computation=yes, false_computation=no",
)
def conditional_on_predicate(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a conditional on convert(p) as a conditional on p, whose true branch is first."""
    index, no, yes = instruction.operands
    return computation.add(
        "conditional",
        instruction.shape,
        (index.operands[0], yes, no),
        instruction.attributes,
        called=instruction.called[::-1],
        metadata=instruction.metadata,
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
