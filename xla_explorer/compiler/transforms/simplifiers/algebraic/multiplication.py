"""Rules on multiply. Source: algebraic_simplifier.cc, HandleMultiply."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import (
    broadcast_scalar,
    combine_constants,
    scalar_of,
    splat_constant,
)
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import (
    floating,
    inexact_type,
    integral,
    negatable,
    real_type,
)
from xla_explorer.compiler.rewriting.operators import (
    abs_,
    convert,
    exponential,
    multiply,
    negate,
    rsqrt,
    sqrt,
)
from xla_explorer.compiler.rewriting.operators import broadcast as broadcast_of
from xla_explorer.compiler.rewriting.patterns import any_, constant, one_of, scalar, splat, varying
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import (
    fixed,
    is_fixed,
    non_negative,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import (
    product_is_in_range,
    reciprocal_roots_are_in_range,
    root_of_largest_is_in_range,
    wraps_or_fast_math,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_X = parameters("f32[4]", "x")
_XY = parameters("f32[4]", "x", "y")
_N = parameters("s32[4]", "x")
_NM = parameters("s32[4]", "x", "y")


@rule(
    multiply(any_("x"), scalar(1)),
    exactness=Exactness.BITWISE,
    before=_X + filled("one", "f32[4]", 1) + "ROOT r = f32[4] multiply(x, one)",
    after=_X.replace("x =", "ROOT x ="),
)
def multiply_one(x: HloInstruction) -> HloInstruction:
    """Rewrite x * 1 as x."""
    return x


@rule(
    multiply(any_(), scalar(0, "zero")),
    exactness=Exactness.BITWISE,
    when=(integral,),
    before=_N + filled("zero", "s32[4]", 0) + "ROOT r = s32[4] multiply(x, zero)",
    after=_N + filled("zero", "s32[4]", 0).replace("zero =", "ROOT zero ="),
)
def multiply_zero(zero: HloInstruction) -> HloInstruction:
    """Rewrite x * 0 as 0, for integers; floats may be infinite, NaN or negative."""
    return zero


@rule(
    multiply(negate(any_("x")), negate(any_("y"))),
    exactness=Exactness.BITWISE,
    when=(negatable,),
    before=_XY + "a = f32[4] negate(x)\nb = f32[4] negate(y)\nROOT r = f32[4] multiply(a, b)",
    after=_XY + "ROOT r = f32[4] multiply(x, y)",
)
def multiply_negates(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite (-x) * (-y) as x * y."""
    return computation.add("multiply", instruction.shape, (x, y))


@rule(
    multiply(abs_(any_("x"), name="a"), any_("a")),
    exactness=Exactness.BITWISE,
    when=(real_type,),
    before=_X + "a = f32[4] abs(x)\nROOT r = f32[4] multiply(a, a)",
    after=_X + "ROOT r = f32[4] multiply(x, x)",
)
def square_of_abs(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction | None:
    """Rewrite |x| * |x| as x * x, for real types."""
    return (
        None
        if x.shape.element_type.is_complex
        else computation.add("multiply", instruction.shape, (x, x))
    )


def is_from_pred(i: HloInstruction) -> bool:
    """Return True if the operand is a pred."""
    return i.operands[0].shape.element_type.is_pred


@rule(
    multiply(convert(any_("p")).that(is_from_pred), any_("x")),
    exactness=Exactness.REAL,
    before="p = pred[4] parameter(0)\nx = f32[4] parameter(1)\nc = f32[4] convert(p)\nROOT r = f32[4] multiply(c, x)",
    after="p = pred[4] parameter(0)\nx = f32[4] parameter(1)\n"
    + filled("zero", "f32[4]", 0)
    + "ROOT r = f32[4] select(p, x, zero)",
)
def multiply_by_predicate(
    computation: HloComputation, instruction: HloInstruction, p: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite convert(p) * x as select(p, x, 0), which is 0 for an infinite or NaN x too."""
    return computation.add(
        "select", instruction.shape, (p, x, splat_constant(computation, instruction.shape, 0))
    )


@rule(
    multiply(multiply(varying("x"), fixed("a")), multiply(varying("y"), fixed("b"))),
    exactness=Exactness.REAL,
    within_range=(wraps_or_fast_math,),
    before=_NM
    + filled("a", "s32[4]", 2)
    + filled("b", "s32[4]", 3)
    + "s = s32[4] multiply(x, a)\nt = s32[4] multiply(y, b)\nROOT r = s32[4] multiply(s, t)",
    after=_NM
    + "two = s32[] constant(2)\nthree = s32[] constant(3)\nk = s32[] multiply(two, three)\n"
    "c = s32[4] broadcast(k), dimensions={}\nm = s32[4] multiply(x, y)\nROOT r = s32[4] multiply(m, c)",
)
def multiply_scaled(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
) -> HloInstruction:
    """Rewrite (x*A) * (y*B) as (x*y) * (A*B), for constants A and B; x*y may overflow."""
    product = computation.add("multiply", instruction.shape, (x, y))
    return computation.add(
        "multiply", instruction.shape, (product, combine_constants(computation, "multiply", a, b))
    )


@rule(
    multiply(multiply(varying("x"), fixed("a")), fixed("b")),
    exactness=Exactness.REAL,
    within_range=(product_is_in_range,),
    before=_X
    + filled("a", "f32[4]", 2)
    + filled("b", "f32[4]", 3)
    + "s = f32[4] multiply(x, a)\nROOT r = f32[4] multiply(s, b)",
    after=_X
    + "two = f32[] constant(2)\nthree = f32[] constant(3)\nk = f32[] multiply(two, three)\n"
    "c = f32[4] broadcast(k), dimensions={}\nROOT r = f32[4] multiply(x, c)",
)
def multiply_of_constants(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
) -> HloInstruction:
    """Rewrite (x * A) * B as x * (A * B), for constants A and B."""
    return computation.add(
        "multiply", instruction.shape, (x, combine_constants(computation, "multiply", a, b))
    )


@rule(
    multiply(
        multiply(constant("x"), broadcast_of(name="a").that(is_fixed)),
        broadcast_of(name="b").that(is_fixed),
    ),
    exactness=Exactness.REAL,
    within_range=(product_is_in_range,),
    before="x = f32[2] constant({1, 2})\n"
    + filled("a", "f32[2]", 2)
    + filled("b", "f32[2]", 3)
    + "s = f32[2] multiply(x, a)\nROOT r = f32[2] multiply(s, b)",
    after="x = f32[2] constant({1, 2})\ntwo = f32[] constant(2)\nthree = f32[] constant(3)\nk = f32[] multiply(two, three)\n"
    "c = f32[2] broadcast(k), dimensions={}\nROOT r = f32[2] multiply(x, c)",
)
def multiply_constant_by_scalars(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    a: HloInstruction,
    b: HloInstruction,
) -> HloInstruction:
    """Rewrite (C * a) * b as C * (a * b), for a constant array and two repeated scalars."""
    return computation.add(
        "multiply", instruction.shape, (x, combine_constants(computation, "multiply", a, b))
    )


@rule(
    multiply(exponential(any_("x")), exponential(any_("y"))),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_XY
    + "a = f32[4] exponential(x)\nb = f32[4] exponential(y)\nROOT r = f32[4] multiply(a, b)",
    after=_XY + "s = f32[4] add(x, y)\nROOT r = f32[4] exponential(s)",
)
def multiply_exponentials(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite exp(x) * exp(y) as exp(x + y), as XLA does by default; overflow differs."""
    return computation.add(
        "exponential", instruction.shape, (computation.add("add", instruction.shape, (x, y)),)
    )


@rule(
    multiply(sqrt(any_("x"), name="s"), any_("s")),
    exactness=Exactness.approximate(2),
    when=(floating, non_negative, root_of_largest_is_in_range),
    before=parameters("f32[4]", "w")
    + "x = f32[4] abs(w)\ns = f32[4] sqrt(x)\nROOT r = f32[4] multiply(s, s)",
    after=parameters("f32[4]", "w") + "ROOT x = f32[4] abs(w)",
)
def square_of_sqrt(x: HloInstruction) -> HloInstruction:
    """Rewrite sqrt(x) * sqrt(x) as x if x is non-negative."""
    return x


@rule(
    multiply(rsqrt(any_("x"), name="s"), any_("s")),
    exactness=Exactness.REAL,
    when=(floating, non_negative),
    within_range=(reciprocal_roots_are_in_range,),
    before=parameters("f32[4]", "w")
    + "x = f32[4] abs(w)\ns = f32[4] rsqrt(x)\nROOT r = f32[4] multiply(s, s)",
    after=parameters("f32[4]", "w")
    + filled("one", "f32[4]", 1)
    + "x = f32[4] abs(w)\nROOT r = f32[4] divide(one, x)",
)
def square_of_rsqrt(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite rsqrt(x) * rsqrt(x) as 1 / x if x is non-negative."""
    return computation.add(
        "divide", instruction.shape, (splat_constant(computation, instruction.shape, 1), x)
    )


@rule(
    multiply(any_(), scalar(0, "zero")),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_X + filled("zero", "f32[4]", 0) + "ROOT r = f32[4] multiply(x, zero)",
    after=_X + filled("zero", "f32[4]", 0).replace("zero =", "ROOT zero ="),
)
def multiply_float_by_zero(zero: HloInstruction) -> HloInstruction:
    """Rewrite x * 0 as 0, for finite floats; a negative x gives +0."""
    return zero


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
    multiply(_product(any_(), any_(), name="product").one_use(), splat("c")),
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
    c: HloInstruction,
    product: HloInstruction,
) -> HloInstruction | Reason:
    """Rewrite dot(x, y) * C as dot(x * C, y), if x or y is the smallest array."""
    x, y = product.operands
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
