"""Rules on divide and remainder. Source: algebraic_simplifier.cc, HandleDivide, HandleRemainder."""

from __future__ import annotations

import math

import numpy as np

from xla_explorer.compiler.rewriting.construction import broadcast, splat_constant, uniform_array
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import inexact_type, negatable, real_type
from xla_explorer.compiler.rewriting.operators import (
    add,
    divide,
    exponential,
    iota,
    power,
    remainder,
    rsqrt,
    sqrt,
)
from xla_explorer.compiler.rewriting.operators import broadcast as broadcast_of
from xla_explorer.compiler.rewriting.patterns import any_, scalar, splat, uniform_value, varying
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import fixed, power_of_two
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import (
    divisor_has_a_reciprocal,
    reciprocal_is_in_range,
    reciprocal_roots_are_in_range,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRED

_X = parameters("f32[4]", "x")
_XY = parameters("f32[4]", "x", "y")
_XYZ = parameters("f32[4]", "x", "y", "z")
_S = parameters("s32[4]", "x")
_U = parameters("u32[4]", "x")
_SIGNED_EIGHT = (
    filled("zero", "s32[4]", 0)
    + filled("k", "s32[4]", "%s")
    + "below = pred[4] compare(x, zero), direction=LT\n"
    "minus = s32[4] negate(x)\nmagnitude = s32[4] select(below, minus, x)\nlow = s32[4] %s(magnitude, k)\n"
    "negated = s32[4] negate(low)\nROOT r = s32[4] select(below, negated, low)"
)


def is_unsigned(i: HloInstruction) -> bool:
    """Return True for an unsigned integer type."""
    return i.shape.element_type.is_unsigned


def is_signed(i: HloInstruction) -> bool:
    """Return True for a signed integer type."""
    return i.shape.element_type.is_signed


def by_power_of_two(c: HloInstruction) -> Reason | None:
    """Require a divisor of 2**k."""
    return (
        None
        if power_of_two(c) is not None
        else refuse("no-power-of-two", f"%{c.name} is not a power of two")
    )


def _through_magnitude(
    computation: HloComputation, x: HloInstruction, opcode: str, amount: int
) -> HloInstruction:
    """Return the sign of x times opcode(|x|, amount): truncation towards zero.

    This is right for the smallest integer too.
    """
    shape = x.shape
    zero, k = splat_constant(computation, shape, 0), splat_constant(computation, shape, amount)
    below = computation.add(
        "compare", shape.with_element_type(PRED), (x, zero), attributes_of({"direction": "LT"})
    )
    magnitude = computation.add("select", shape, (below, computation.add("negate", shape, (x,)), x))
    low = computation.add(opcode, shape, (magnitude, k))
    return computation.add("select", shape, (below, computation.add("negate", shape, (low,)), low))


@rule(
    divide(any_("x"), scalar(1)),
    exactness=Exactness.BITWISE,
    before=_X + filled("one", "f32[4]", 1) + "ROOT r = f32[4] divide(x, one)",
    after=_X.replace("x =", "ROOT x ="),
)
def divide_one(x: HloInstruction) -> HloInstruction:
    """Rewrite x / 1 as x."""
    return x


@rule(
    divide(any_("x"), splat("c")).that(is_unsigned),
    exactness=Exactness.BITWISE,
    when=(by_power_of_two,),
    before=_U + filled("c", "u32[4]", 8) + "ROOT r = u32[4] divide(x, c)",
    after=_U + filled("k", "u32[4]", 3) + "ROOT r = u32[4] shift-right-logical(x, k)",
)
def unsigned_divide_to_shift(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite x / 2**k as x >> k, for unsigned integers."""
    return computation.add(
        "shift-right-logical", x.shape, (x, splat_constant(computation, x.shape, power_of_two(c)))
    )


@rule(
    divide(any_("x"), splat("c")).that(is_signed),
    exactness=Exactness.BITWISE,
    when=(by_power_of_two,),
    before=_S + filled("c", "s32[4]", 8) + "ROOT r = s32[4] divide(x, c)",
    after=_S + _SIGNED_EIGHT % (3, "shift-right-logical"),
)
def signed_divide_to_shift(
    computation: HloComputation, x: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite x / 2**k as a shift of |x| with the sign of x, for signed integers."""
    exponent = power_of_two(c)
    assert exponent is not None
    return _through_magnitude(computation, x, "shift-right-logical", exponent)


@rule(
    divide(exponential(any_("x")), exponential(any_("y"))),
    exactness=Exactness.FAST,
    when=(negatable,),
    before=_XY
    + "a = f32[4] exponential(x)\nb = f32[4] exponential(y)\nROOT r = f32[4] divide(a, b)",
    after=_XY + "d = f32[4] subtract(x, y)\nROOT r = f32[4] exponential(d)",
)
def divide_exponentials(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite exp(x) / exp(y) as exp(x - y), as XLA does by default; overflow differs."""
    return computation.add(
        "exponential", instruction.shape, (computation.add("subtract", instruction.shape, (x, y)),)
    )


@rule(
    divide(any_("x"), exponential(any_("y"))),
    exactness=Exactness.FAST,
    when=(negatable,),
    before=_XY + "e = f32[4] exponential(y)\nROOT r = f32[4] divide(x, e)",
    after=_XY + "n = f32[4] negate(y)\ne = f32[4] exponential(n)\nROOT r = f32[4] multiply(x, e)",
)
def divide_by_exponential(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite x / exp(y) as x * exp(-y), as XLA does by default; overflow differs."""
    negated = computation.add("negate", y.shape, (y,))
    return computation.add(
        "multiply", instruction.shape, (x, computation.add("exponential", y.shape, (negated,)))
    )


@rule(
    divide(any_("x"), power(any_("y"), any_("z"))),
    exactness=Exactness.FAST,
    when=(inexact_type, negatable),
    before=_XYZ + "p = f32[4] power(y, z)\nROOT r = f32[4] divide(x, p)",
    after=_XYZ + "n = f32[4] negate(z)\np = f32[4] power(y, n)\nROOT r = f32[4] multiply(x, p)",
)
def divide_by_power(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    z: HloInstruction,
) -> HloInstruction:
    """Rewrite x / y**z as x * y**(-z), which may overflow if y**z is tiny."""
    negated = computation.add("negate", z.shape, (z,))
    return computation.add(
        "multiply",
        instruction.shape,
        (x, computation.add("power", instruction.shape, (y, negated))),
    )


@rule(
    divide(any_("x"), sqrt(any_("y")).one_use()),
    exactness=Exactness.REAL,
    within_range=(reciprocal_roots_are_in_range,),
    before=_XY + "s = f32[4] sqrt(y)\nROOT r = f32[4] divide(x, s)",
    after=_XY + "s = f32[4] rsqrt(y)\nROOT r = f32[4] multiply(x, s)",
)
def divide_by_sqrt(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite x / sqrt(y) as x * rsqrt(y)."""
    return computation.add(
        "multiply", instruction.shape, (x, computation.add("rsqrt", y.shape, (y,)))
    )


@rule(
    divide(any_("x"), rsqrt(any_("y")).one_use()),
    exactness=Exactness.REAL,
    within_range=(reciprocal_roots_are_in_range,),
    before=_XY + "s = f32[4] rsqrt(y)\nROOT r = f32[4] divide(x, s)",
    after=_XY + "s = f32[4] sqrt(y)\nROOT r = f32[4] multiply(x, s)",
)
def divide_by_rsqrt(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite x / rsqrt(y) as x * sqrt(y)."""
    return computation.add(
        "multiply", instruction.shape, (x, computation.add("sqrt", y.shape, (y,)))
    )


def has_digits_to_spare(instruction: HloInstruction) -> Reason | None:
    """Require a type whose rounded reciprocal does not show in the result.

    XLA computes bf16 and 8-bit floats in f32 before it applies these rules, so it never rounds a
    reciprocal to 8 bits.
    """
    kind = instruction.shape.element_type
    if kind.is_complex or kind.bits > 16 or kind.name == "f16":
        return None
    return refuse(
        "narrow-type",
        f"a reciprocal would be rounded to the few digits of {kind.name}",
        type=kind.name,
    )


def reciprocal_is_close(instruction: HloInstruction, c: HloInstruction) -> Reason | None:
    """Require an exact reciprocal, or one whose rounding does not show."""
    value = uniform_value(c)
    if (
        isinstance(value, float)
        and value
        and math.isfinite(value)
        and abs(math.frexp(value)[0]) == 0.5
    ):
        return None
    return has_digits_to_spare(instruction)


@rule(
    divide(varying("x"), splat("c")),
    exactness=Exactness.REAL,
    when=(inexact_type, reciprocal_is_close),
    within_range=(reciprocal_is_in_range,),
    before=_X + filled("c", "f32[4]", 4) + "ROOT r = f32[4] divide(x, c)",
    after=_X + filled("c", "f32[4]", 0.25) + "ROOT r = f32[4] multiply(x, c)",
)
def divide_by_constant(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite x / C as x * (1/C), exact for powers of two, else within two roundings."""
    value = uniform_array(c)
    with np.errstate(all="ignore"):
        reciprocal = value.dtype.type(1) / value
    return computation.add(
        "multiply", instruction.shape, (x, splat_constant(computation, c.shape, reciprocal))
    )


def is_smaller_than_its_result(i: HloInstruction) -> bool:
    """Return True for a smaller operand that is not a constant and has no other reader."""
    operand = i.operands[0]
    return (
        operand.shape.element_count < i.shape.element_count
        and operand.opcode.name != "constant"
        and len(operand.users) == 1
    )


@rule(
    divide(any_("x"), broadcast_of(any_("y"), name="b").that(is_smaller_than_its_result).one_use()),
    exactness=Exactness.REAL,
    when=(inexact_type, real_type, has_digits_to_spare),
    within_range=(divisor_has_a_reciprocal,),
    before="x = f32[2,4] parameter(0)\nw = f32[2] parameter(1)\ny = f32[2] sqrt(w)\nb = f32[2,4] broadcast(y), dimensions={0}\n"
    "ROOT r = f32[2,4] divide(x, b)",
    after="x = f32[2,4] parameter(0)\nw = f32[2] parameter(1)\ny = f32[2] sqrt(w)\n"
    + filled("one", "f32[2]", 1)
    + "q = f32[2] divide(one, y)\nb = f32[2,4] broadcast(q), dimensions={0}\nROOT r = f32[2,4] multiply(x, b)",
)
def divide_by_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    b: HloInstruction,
) -> HloInstruction:
    """Rewrite x / broadcast(y) as x * broadcast(1/y) if 1/y is finite (XLA on CPU: for any y)."""
    reciprocal = computation.add("divide", y.shape, (splat_constant(computation, y.shape, 1), y))
    spread = broadcast(computation, reciprocal, b.shape, b.attributes.value("dimensions"))
    return computation.add("multiply", instruction.shape, (x, spread))


@rule(
    divide(divide(any_("x"), any_("y")), divide(any_("z"), any_("w"))),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_XYZ
    + parameters("f32[4]", "w", start=3)
    + "a = f32[4] divide(x, y)\nb = f32[4] divide(z, w)\nROOT r = f32[4] divide(a, b)",
    after=_XYZ
    + parameters("f32[4]", "w", start=3)
    + "a = f32[4] multiply(x, w)\nb = f32[4] multiply(y, z)\nROOT r = f32[4] divide(a, b)",
)
def divide_quotients(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    z: HloInstruction,
    w: HloInstruction,
) -> HloInstruction:
    """Rewrite (x/y) / (z/w) as (x*w) / (y*z); the products may overflow."""
    shape = instruction.shape
    return computation.add(
        "divide",
        shape,
        (computation.add("multiply", shape, (x, w)), computation.add("multiply", shape, (y, z))),
    )


@rule(
    divide(divide(any_("x"), any_("y")), any_("z")),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_XYZ + "q = f32[4] divide(x, y)\nROOT r = f32[4] divide(q, z)",
    after=_XYZ + "m = f32[4] multiply(y, z)\nROOT r = f32[4] divide(x, m)",
)
def divide_quotient(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    z: HloInstruction,
) -> HloInstruction:
    """Rewrite (x/y) / z as x / (y*z); the product may overflow."""
    return computation.add(
        "divide", instruction.shape, (x, computation.add("multiply", instruction.shape, (y, z)))
    )


@rule(
    divide(any_("x"), divide(any_("y"), any_("z"))),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_XYZ + "q = f32[4] divide(y, z)\nROOT r = f32[4] divide(x, q)",
    after=_XYZ + "m = f32[4] multiply(x, z)\nROOT r = f32[4] divide(m, y)",
)
def divide_by_quotient(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
    z: HloInstruction,
) -> HloInstruction:
    """Rewrite x / (y/z) as (x*z) / y; the product may overflow."""
    return computation.add(
        "divide", instruction.shape, (computation.add("multiply", instruction.shape, (x, z)), y)
    )


@rule(
    remainder(remainder(any_("x"), any_("y"), name="inner"), any_("y")),
    exactness=Exactness.BITWISE,
    before=_XY + "a = f32[4] remainder(x, y)\nROOT r = f32[4] remainder(a, y)",
    after=_XY + "ROOT a = f32[4] remainder(x, y)",
)
def remainder_twice(inner: HloInstruction) -> HloInstruction:
    """Rewrite (x rem y) rem y as x rem y."""
    return inner


@rule(
    remainder(any_("x"), splat("c")).that(is_unsigned),
    exactness=Exactness.BITWISE,
    when=(by_power_of_two,),
    before=_U + filled("c", "u32[4]", 8) + "ROOT r = u32[4] remainder(x, c)",
    after=_U + filled("k", "u32[4]", 7) + "ROOT r = u32[4] and(x, k)",
)
def unsigned_remainder_to_mask(
    computation: HloComputation, x: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite x rem 2**k as x and (2**k - 1), for unsigned integers."""
    exponent = power_of_two(c)
    assert exponent is not None
    return computation.add(
        "and", x.shape, (x, splat_constant(computation, x.shape, (1 << exponent) - 1))
    )


@rule(
    remainder(any_("x"), splat("c")).that(is_signed),
    exactness=Exactness.BITWISE,
    when=(by_power_of_two,),
    before=_S + filled("c", "s32[4]", 8) + "ROOT r = s32[4] remainder(x, c)",
    after=_S + _SIGNED_EIGHT % (7, "and"),
)
def signed_remainder_to_mask(
    computation: HloComputation, x: HloInstruction, c: HloInstruction
) -> HloInstruction:
    """Rewrite x rem 2**k as a mask of |x| with the sign of x, for signed integers."""
    exponent = power_of_two(c)
    assert exponent is not None
    return _through_magnitude(computation, x, "and", (1 << exponent) - 1)


def counts_below_the_divisor(i: HloInstruction) -> bool:
    """Return True for an iota of at most as many steps as the constant divisor."""
    counts, value = i.operands[0], uniform_value(i.operands[1])
    size = counts.shape.dimensions[int(counts.attributes["iota_dimension"])]
    return isinstance(value, int) and not isinstance(value, bool) and value >= size


@rule(
    remainder(iota(name="counts"), splat()).that(counts_below_the_divisor),
    exactness=Exactness.BITWISE,
    before="i = s32[4] iota(), iota_dimension=0\n"
    + filled("c", "s32[4]", 5)
    + "ROOT r = s32[4] remainder(i, c)",
    after="ROOT i = s32[4] iota(), iota_dimension=0",
)
def remainder_of_iota(counts: HloInstruction) -> HloInstruction:
    """Rewrite iota rem C as the iota if it does not reach C."""
    return counts


def passes_the_divisor_by(i: HloInstruction) -> bool:
    """Return True for an iota plus a multiple of the divisor without overflow.

    All are constants and not negative.
    """
    total, divisor = i.operands
    value = uniform_value(divisor)
    if not i.shape.element_type.is_integer or not isinstance(value, int) or value <= 0:
        return False
    counts, offset = total.operands
    more = uniform_value(offset)
    if counts.opcode.name != "iota" or not isinstance(more, int) or more < 0 or more % value:
        return False
    kind = i.shape.element_type
    return more + counts.shape.dimensions[int(counts.attributes["iota_dimension"])] <= 1 << (
        kind.bits - kind.is_signed
    )


@rule(
    remainder(add(name="total"), fixed("divisor")).that(passes_the_divisor_by),
    exactness=Exactness.BITWISE,
    before="i = s32[9] iota(), iota_dimension=0\n"
    + filled("five", "s32[9]", 5)
    + "s = s32[9] add(i, five)\nROOT r = s32[9] remainder(s, five)",
    after="i = s32[9] iota(), iota_dimension=0\n"
    + filled("five", "s32[9]", 5)
    + "ROOT r = s32[9] remainder(i, five)",
)
def remainder_of_iota_and_multiple(
    computation: HloComputation,
    instruction: HloInstruction,
    total: HloInstruction,
    divisor: HloInstruction,
) -> HloInstruction:
    """Rewrite (iota + n * C) rem C as iota rem C if nothing overflows."""
    return computation.add("remainder", instruction.shape, (total.operands[0], divisor))
