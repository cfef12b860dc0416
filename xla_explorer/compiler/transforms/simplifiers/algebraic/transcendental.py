"""Rules on exponential, log, power, sqrt, rsqrt and complex parts.

Source: algebraic_simplifier.cc, HandleExp, HandleLog, HandlePower, HandleSqrt, HandleRsqrt,
HandleComplex, HandleReal, HandleImag.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import inexact_type, keeps_shape, real_type
from xla_explorer.compiler.rewriting.operators import (
    complex_,
    divide,
    exponential,
    imag,
    log,
    multiply,
    power,
    real,
    rsqrt,
    sqrt,
)
from xla_explorer.compiler.rewriting.patterns import any_, scalar
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import non_negative
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import (
    reciprocal_roots_are_in_range,
)
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRED

_X = parameters("f32[4]", "x")
_XY = parameters("f32[4]", "x", "y")
_ROOT_X = _X.replace("x =", "ROOT x =")
_ABS = parameters("f32[4]", "w") + "x = f32[4] abs(w)\n"
_ONE = filled("one", "f32[4]", 1)


@rule(
    exponential(scalar(0)),
    exactness=Exactness.BITWISE,
    before=filled("zero", "f32[4]", 0) + "ROOT r = f32[4] exponential(zero)",
    after=_ONE.replace("one = f32[4] b", "ROOT one = f32[4] b"),
)
def exponential_of_zero(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite exp(0) as 1."""
    return splat_constant(computation, instruction.shape, 1)


@rule(
    log(exponential(any_("x"))),
    exactness=Exactness.FAST,
    when=(real_type,),
    before=_X + "e = f32[4] exponential(x)\nROOT r = f32[4] log(e)",
    after=_ROOT_X,
)
def log_of_exponential(x: HloInstruction) -> HloInstruction:
    """Rewrite log(exp(x)) as x, as XLA 0.10 does, newer ones with fast math: exp may overflow."""
    return x


@rule(
    log(power(any_("x"), any_("y"))),
    exactness=Exactness.FAST,
    when=(real_type,),
    before=_XY + "p = f32[4] power(x, y)\nROOT r = f32[4] log(p)",
    after=_XY
    + filled("zero", "f32[4]", 0)
    + "c = pred[4] compare(y, zero), direction=EQ\na = f32[4] abs(x)\nl = f32[4] log(a)\n"
    "m = f32[4] multiply(l, y)\nROOT r = f32[4] select(c, zero, m)",
)
def log_of_power(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite log(x**y) as y * log|x|, and as 0 for y = 0."""
    shape = instruction.shape
    zero = splat_constant(computation, shape, 0)
    is_zero = computation.add(
        "compare", shape.with_element_type(PRED), (y, zero), attributes_of({"direction": "EQ"})
    )
    logarithm = computation.add("log", shape, (computation.add("abs", shape, (x,)),))
    return computation.add(
        "select", shape, (is_zero, zero, computation.add("multiply", shape, (logarithm, y)))
    )


@rule(
    log(sqrt(any_("x"))),
    exactness=Exactness.REAL,
    within_range=(reciprocal_roots_are_in_range,),
    before=_X + "s = f32[4] sqrt(x)\nROOT r = f32[4] log(s)",
    after=_X
    + filled("half", "f32[4]", 0.5)
    + "l = f32[4] log(x)\nROOT r = f32[4] multiply(l, half)",
)
def log_of_sqrt(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite log(sqrt(x)) as log(x) * 0.5."""
    half = splat_constant(computation, instruction.shape, 0.5)
    return computation.add(
        "multiply", instruction.shape, (computation.add("log", instruction.shape, (x,)), half)
    )


@rule(
    log(rsqrt(any_("x"))),
    exactness=Exactness.REAL,
    within_range=(reciprocal_roots_are_in_range,),
    before=_X + "s = f32[4] rsqrt(x)\nROOT r = f32[4] log(s)",
    after=_X
    + filled("half", "f32[4]", -0.5)
    + "l = f32[4] log(x)\nROOT r = f32[4] multiply(l, half)",
)
def log_of_rsqrt(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite log(rsqrt(x)) as log(x) * -0.5."""
    half = splat_constant(computation, instruction.shape, -0.5)
    return computation.add(
        "multiply", instruction.shape, (computation.add("log", instruction.shape, (x,)), half)
    )


@rule(
    power(any_("x"), scalar(0)),
    exactness=Exactness.BITWISE,
    before=_X + filled("zero", "f32[4]", 0) + "ROOT r = f32[4] power(x, zero)",
    after=_X + _ONE.replace("one = f32[4] b", "ROOT one = f32[4] b"),
)
def power_zero(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite x**0 as 1."""
    return splat_constant(computation, instruction.shape, 1)


@rule(
    power(any_("x"), scalar(1)),
    exactness=Exactness.BITWISE,
    before=_X + _ONE + "ROOT r = f32[4] power(x, one)",
    after=_ROOT_X,
)
def power_one(x: HloInstruction) -> HloInstruction:
    """Rewrite x**1 as x."""
    return x


@rule(
    power(exponential(any_("x")), any_("y")),
    exactness=Exactness.FAST,
    when=(inexact_type,),
    before=_XY + "e = f32[4] exponential(x)\nROOT r = f32[4] power(e, y)",
    after=_XY + "m = f32[4] multiply(x, y)\nROOT r = f32[4] exponential(m)",
)
def power_of_exponential(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction, y: HloInstruction
) -> HloInstruction:
    """Rewrite exp(x)**y as exp(x * y), as XLA does by default; exp(x) may overflow."""
    return computation.add(
        "exponential", instruction.shape, (computation.add("multiply", instruction.shape, (x, y)),)
    )


@rule(
    power(any_("x"), scalar(2)),
    exactness=Exactness.approximate(1),
    before=_X + filled("two", "f32[4]", 2) + "ROOT r = f32[4] power(x, two)",
    after=_X + "ROOT r = f32[4] multiply(x, x)",
)
def power_two(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite x**2 as x * x."""
    return computation.add("multiply", instruction.shape, (x, x))


@rule(
    power(any_("x"), scalar(3)),
    exactness=Exactness.approximate(2),
    before=_X + filled("three", "f32[4]", 3) + "ROOT r = f32[4] power(x, three)",
    after=_X + "s = f32[4] multiply(x, x)\nROOT r = f32[4] multiply(x, s)",
)
def power_three(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite x**3 as x * (x * x)."""
    return computation.add(
        "multiply", instruction.shape, (x, computation.add("multiply", instruction.shape, (x, x)))
    )


@rule(
    power(any_("x"), scalar(-1)),
    exactness=Exactness.approximate(1),
    when=(inexact_type,),
    before=_X + filled("k", "f32[4]", -1) + "ROOT r = f32[4] power(x, k)",
    after=_X + _ONE + "ROOT r = f32[4] divide(one, x)",
)
def power_minus_one(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite x**-1 as 1 / x."""
    return computation.add(
        "divide", instruction.shape, (splat_constant(computation, instruction.shape, 1), x)
    )


@rule(
    power(any_("x"), scalar(0.5)),
    exactness=Exactness.approximate(1),
    when=(non_negative,),
    before=_ABS + filled("half", "f32[4]", 0.5) + "ROOT r = f32[4] power(x, half)",
    after=_ABS + "ROOT r = f32[4] sqrt(x)",
)
def power_half(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite x**0.5 as sqrt(x) if x is non-negative (at -0 and -inf the two differ)."""
    return computation.add("sqrt", instruction.shape, (x,))


@rule(
    sqrt(multiply(any_("x"), any_("x"))),
    exactness=Exactness.FAST,
    when=(real_type,),
    before=_X + "s = f32[4] multiply(x, x)\nROOT r = f32[4] sqrt(s)",
    after=_X + "ROOT r = f32[4] abs(x)",
)
def sqrt_of_square(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite sqrt(x * x) as |x|, as XLA does by default; x * x may overflow."""
    return computation.add("abs", instruction.shape, (x,))


@rule(
    rsqrt(power(any_("x"), scalar(-2))),
    exactness=Exactness.FAST,
    when=(non_negative,),
    before=_ABS + filled("k", "f32[4]", -2) + "p = f32[4] power(x, k)\nROOT r = f32[4] rsqrt(p)",
    after=parameters("f32[4]", "w") + "ROOT x = f32[4] abs(w)",
)
def rsqrt_of_inverse_square(x: HloInstruction) -> HloInstruction:
    """Rewrite rsqrt(x**-2) as x if x is non-negative."""
    return x


@rule(
    rsqrt(divide(scalar(1), any_("x"))),
    exactness=Exactness.FAST,
    when=(non_negative,),
    before=_ABS + _ONE + "q = f32[4] divide(one, x)\nROOT r = f32[4] rsqrt(q)",
    after=_ABS + "ROOT r = f32[4] sqrt(x)",
)
def rsqrt_of_inverse(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite rsqrt(1 / x) as sqrt(x) if x is non-negative."""
    return computation.add("sqrt", instruction.shape, (x,))


def operand_is_real(x: HloInstruction) -> Reason | None:
    """Require that x is not complex."""
    return real_type(x)


@rule(
    complex_(real(any_("z")), imag(any_("z"))),
    exactness=Exactness.BITWISE,
    before="z = c64[4] parameter(0)\na = f32[4] real(z)\nb = f32[4] imag(z)\nROOT r = c64[4] complex(a, b)",
    after="ROOT z = c64[4] parameter(0)",
)
def complex_of_its_parts(z: HloInstruction) -> HloInstruction | None:
    """Rewrite complex(real(z), imag(z)) as z."""
    return z if z.shape.element_type.is_complex else None


@rule(
    real(complex_(any_("x"), any_())),
    exactness=Exactness.BITWISE,
    before=_XY + "z = c64[4] complex(x, y)\nROOT r = f32[4] real(z)",
    after=_XY.replace("x =", "ROOT x ="),
)
def real_of_complex(x: HloInstruction) -> HloInstruction:
    """Rewrite real(complex(x, y)) as x."""
    return x


@rule(
    imag(complex_(any_(), any_("y"))),
    exactness=Exactness.BITWISE,
    before=_XY + "z = c64[4] complex(x, y)\nROOT r = f32[4] imag(z)",
    after=_XY.replace("y =", "ROOT y ="),
)
def imag_of_complex(y: HloInstruction) -> HloInstruction:
    """Rewrite imag(complex(x, y)) as y."""
    return y


@rule(
    imag(any_("x")),
    exactness=Exactness.BITWISE,
    when=(operand_is_real,),
    before=_X + "ROOT r = f32[4] imag(x)",
    after=_X + filled("zero", "f32[4]", 0).replace("zero = f32[4] b", "ROOT zero = f32[4] b"),
)
def imag_of_real(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite imag(x) as 0 if x is not complex."""
    return splat_constant(computation, instruction.shape, 0)


@rule(
    real(any_("x")),
    exactness=Exactness.BITWISE,
    when=(keeps_shape,),
    before=_X + "ROOT r = f32[4] real(x)",
    after=_ROOT_X,
)
def real_of_real(x: HloInstruction) -> HloInstruction:
    """Rewrite real(x) as x if x is not complex."""
    return x
