"""Rules on compare, select, convert and reduce-precision.

Source: algebraic_simplifier.cc, HandleCompare, HandleSelect, HandleConvert, HandleReducePrecision.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.guards import boolean, keeps_shape
from xla_explorer.compiler.rewriting.operators import (
    compare,
    convert,
    maximum,
    minimum,
    not_,
    reduce_precision,
    select,
)
from xla_explorer.compiler.rewriting.patterns import any_, operator, scalar
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import is_non_negative
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

_U = parameters("u32[4]", "x")
_N = parameters("s32[4]", "x")
_P = parameters("pred[4]", "p")
_F = parameters("f32[4]", "x")
_PXY = "p = pred[4] parameter(0)\nx = f32[4] parameter(1)\ny = f32[4] parameter(2)\n"
_TRUE = filled("t", "pred[4]", "true")
_FALSE = filled("f", "pred[4]", "false")
_ROOT_TRUE = _TRUE.replace("t = pred[4] b", "ROOT t = pred[4] b")
_ROOT_FALSE = _FALSE.replace("f = pred[4] b", "ROOT f = pred[4] b")


def is_ordinary(i: HloInstruction) -> bool:
    """Return False for the total order of floats, in which NaN and -0 have places."""
    return i.attributes.get("type") != "TOTALORDER"


def left_is_non_negative(i: HloInstruction) -> bool:
    """Return True if the left operand is non-negative; it may be NaN."""
    return is_ordinary(i) and is_non_negative(i.operands[0])


def left_is_a_non_negative_number(i: HloInstruction) -> bool:
    """Return True if the left operand is non-negative and never NaN."""
    return left_is_non_negative(i) and not i.operands[0].shape.element_type.is_float


@rule(
    compare(any_("x"), scalar(0), direction="LT").that(left_is_non_negative),
    exactness=Exactness.BITWISE,
    before=_U + filled("zero", "u32[4]", 0) + "ROOT r = pred[4] compare(x, zero), direction=LT",
    after=_U + _ROOT_FALSE,
)
def non_negative_below_zero(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite x < 0 as false if x is non-negative."""
    return splat_constant(computation, instruction.shape, False)


@rule(
    compare(any_("x"), scalar(0), direction="GE").that(left_is_a_non_negative_number),
    exactness=Exactness.BITWISE,
    before=_U + filled("zero", "u32[4]", 0) + "ROOT r = pred[4] compare(x, zero), direction=GE",
    after=_U + _ROOT_TRUE,
)
def non_negative_at_least_zero(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite x >= 0 as true if x is non-negative."""
    return splat_constant(computation, instruction.shape, True)


def is_of_exact_type(i: HloInstruction) -> bool:
    """Return True if the operands are integers or preds."""
    kind = i.operands[0].shape.element_type
    return kind.is_integer or kind.is_pred


@rule(
    compare(any_("x"), any_("x")).that(is_of_exact_type),
    exactness=Exactness.BITWISE,
    before=_N + "ROOT r = pred[4] compare(x, x), direction=LE",
    after=_N + _ROOT_TRUE,
)
def compare_with_self(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite x compared with itself as true (EQ, GE, LE) or false (NE, GT, LT), for integers."""
    return splat_constant(
        computation, instruction.shape, instruction.attributes["direction"] in ("EQ", "GE", "LE")
    )


def compares_preds(x: HloInstruction) -> Reason | None:
    """Require that x is pred."""
    return boolean(x)


@rule(
    compare(any_("x"), scalar(0), direction="NE"),
    exactness=Exactness.BITWISE,
    when=(compares_preds,),
    before=_P + _FALSE + "ROOT r = pred[4] compare(p, f), direction=NE",
    after=_P.replace("p =", "ROOT p ="),
)
def differs_from_false(x: HloInstruction) -> HloInstruction:
    """Rewrite p != false as p."""
    return x


@rule(
    compare(any_("x"), scalar(1), direction="EQ"),
    exactness=Exactness.BITWISE,
    when=(compares_preds,),
    before=_P + _TRUE + "ROOT r = pred[4] compare(p, t), direction=EQ",
    after=_P.replace("p =", "ROOT p ="),
)
def equals_true(x: HloInstruction) -> HloInstruction:
    """Rewrite p == true as p."""
    return x


@rule(
    select(any_(), any_("x"), any_("x")),
    exactness=Exactness.BITWISE,
    before=_PXY + "ROOT r = f32[4] select(p, x, x)",
    after=_PXY.replace("x =", "ROOT x ="),
)
def select_same(x: HloInstruction) -> HloInstruction:
    """Rewrite select(p, x, x) as x."""
    return x


@rule(
    select(scalar(1), any_("x"), any_()),
    exactness=Exactness.BITWISE,
    before=parameters("f32[4]", "x", "y") + _TRUE + "ROOT r = f32[4] select(t, x, y)",
    after=parameters("f32[4]", "x", "y").replace("x =", "ROOT x ="),
)
def select_true(x: HloInstruction) -> HloInstruction:
    """Rewrite select(true, x, y) as x."""
    return x


@rule(
    select(scalar(0), any_(), any_("y")),
    exactness=Exactness.BITWISE,
    before=parameters("f32[4]", "x", "y") + _FALSE + "ROOT r = f32[4] select(f, x, y)",
    after=parameters("f32[4]", "x", "y").replace("y =", "ROOT y ="),
)
def select_false(y: HloInstruction) -> HloInstruction:
    """Rewrite select(false, x, y) as y."""
    return y


@rule(
    select(not_(any_("p")), any_("x"), any_("y")),
    exactness=Exactness.BITWISE,
    before=_PXY + "n = pred[4] not(p)\nROOT r = f32[4] select(n, x, y)",
    after=_PXY + "ROOT r = f32[4] select(p, y, x)",
)
def select_by_not(
    computation: HloComputation,
    instruction: HloInstruction,
    p: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
) -> HloInstruction:
    """Rewrite select(not(p), x, y) as select(p, y, x)."""
    return computation.add("select", instruction.shape, (p, y, x))


def chooses_per_element(instruction: HloInstruction, p: HloInstruction) -> Reason | None:
    """Require a predicate with the shape of the result, not a single scalar."""
    return keeps_shape(instruction, p)


@rule(
    select(any_("p"), scalar(1), scalar(0)),
    exactness=Exactness.BITWISE,
    when=(boolean, chooses_per_element),
    before=_P + _TRUE + _FALSE + "ROOT r = pred[4] select(p, t, f)",
    after=_P.replace("p =", "ROOT p ="),
)
def select_true_false(p: HloInstruction) -> HloInstruction:
    """Rewrite select(p, true, false) as p."""
    return p


@rule(
    select(any_("p"), scalar(0), scalar(1)),
    exactness=Exactness.BITWISE,
    when=(boolean, chooses_per_element),
    before=_P + _TRUE + _FALSE + "ROOT r = pred[4] select(p, f, t)",
    after=_P + "ROOT r = pred[4] not(p)",
)
def select_false_true(
    computation: HloComputation, instruction: HloInstruction, p: HloInstruction
) -> HloInstruction:
    """Rewrite select(p, false, true) as not(p)."""
    return computation.add("not", instruction.shape, (p,))


@rule(
    convert(any_("x")),
    exactness=Exactness.BITWISE,
    when=(keeps_shape,),
    before=_F + "ROOT r = f32[4] convert(x)",
    after=_F.replace("x =", "ROOT x ="),
)
def convert_to_same(x: HloInstruction) -> HloInstruction:
    """Rewrite a convert to the type of x as x."""
    return x


SIGNIFICAND = {
    "f16": (11, 5),
    "bf16": (8, 8),
    "f32": (24, 8),
    "f64": (53, 11),
    "f8e5m2": (3, 5),
    "f8e4m3": (4, 4),
    "f8e3m4": (5, 3),
}


def holds_every_value(narrow: PrimitiveType, wide: PrimitiveType) -> bool:
    """Return True if conversion from `narrow` to `wide` loses nothing."""
    if narrow is wide:
        return True
    if narrow.is_complex or wide.is_complex:
        return wide.is_complex and holds_every_value(narrow.component, wide.component)
    if narrow.is_pred:
        return wide.is_integer or wide.has_sign  # the float type without sign has no zero
    if wide.is_pred:
        return False
    if narrow.is_integer and wide.is_integer:
        if narrow.is_signed:
            return wide.is_signed and wide.bits >= narrow.bits
        return wide.bits > narrow.bits or (wide.is_unsigned and wide.bits == narrow.bits)
    if narrow.is_integer:
        return (
            wide.name in SIGNIFICAND and narrow.bits - narrow.is_signed <= SIGNIFICAND[wide.name][0]
        )
    if narrow.name in SIGNIFICAND and wide.name in SIGNIFICAND:
        a, b = SIGNIFICAND[narrow.name], SIGNIFICAND[wide.name]
        return b[0] >= a[0] and b[1] >= a[1]
    return narrow.is_float and wide.name in ("f32", "f64") and narrow.bits < 16


def middle_loses_nothing(x: HloInstruction, middle: HloInstruction) -> Reason | None:
    """Require an intermediate type that holds every value of the first."""
    narrow, wide = x.shape.element_type, middle.shape.element_type
    return (
        None
        if holds_every_value(narrow, wide)
        else refuse(
            "conversion-loses", f"{wide} does not hold every {narrow}", of=narrow.name, to=wide.name
        )
    )


@rule(
    convert(convert(any_("x"), name="middle")),
    exactness=Exactness.BITWISE,
    when=(keeps_shape, middle_loses_nothing),
    before=_F + "w = f64[4] convert(x)\nROOT r = f32[4] convert(w)",
    after=_F.replace("x =", "ROOT x ="),
)
def convert_there_and_back(x: HloInstruction) -> HloInstruction:
    """Rewrite a convert to a wider type and back as x."""
    return x


def saturates_nowhere(
    x: HloInstruction, instruction: HloInstruction, middle: HloInstruction
) -> Reason | None:
    """Require a direct conversion with the same result.

    A float becomes the nearest representable integer, an integer keeps its low bits: -1 as u8 is 0
    through f32, but 255 directly.
    """
    first, last = x.shape.element_type, instruction.shape.element_type
    if not (
        first.is_integer and middle.shape.element_type.is_float and last.is_integer
    ) or holds_every_value(first, last):
        return None
    return refuse(
        "conversion-saturates",
        f"{last} does not hold every {first}, and floats saturate",
        of=first.name,
        to=last.name,
    )


@rule(
    convert(convert(any_("x"), name="middle")),
    exactness=Exactness.BITWISE,
    when=(middle_loses_nothing, saturates_nowhere),
    before="x = bf16[4] parameter(0)\nw = f32[4] convert(x)\nROOT r = f64[4] convert(w)",
    after="x = bf16[4] parameter(0)\nROOT r = f64[4] convert(x)",
)
def convert_through_wider(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite convert(convert(x)) as one convert if the inner type holds every value of x."""
    return computation.add("convert", instruction.shape, (x,))


_NARROW_AS_WIDE = ("add", "subtract", "multiply")
_UNSIGNED_NARROW_AS_WIDE = ("divide", "remainder")


def computes_in_a_wider_integer(i: HloInstruction) -> bool:
    """Return True for a narrowed operation on two widened integers of the result's type.

    The bits that the narrowing drops do not affect the others.
    """
    inner, kind = i.operands[0], i.shape.element_type
    if not kind.is_integer or kind.bits < 8 or len(inner.operands) != 2 or len(inner.users) != 1:
        return False
    wide = inner.shape.element_type
    if any(
        o.opcode is not i.opcode or o.operands[0].shape.element_type is not kind
        for o in inner.operands
    ):
        return False
    if not wide.is_integer or wide.is_signed != kind.is_signed or wide.bits < kind.bits:
        return False
    return inner.opcode.name in _NARROW_AS_WIDE or (
        kind.is_unsigned and inner.opcode.name in _UNSIGNED_NARROW_AS_WIDE
    )


@rule(
    convert(
        operator(*_NARROW_AS_WIDE, *_UNSIGNED_NARROW_AS_WIDE)(
            convert(any_("x")), convert(any_("y")), name="inner"
        )
    ).that(computes_in_a_wider_integer),
    exactness=Exactness.BITWISE,
    before="x = s8[4] parameter(0)\ny = s8[4] parameter(1)\na = s32[4] convert(x)\nb = s32[4] convert(y)\n"
    "c = s32[4] multiply(a, b)\nROOT r = s8[4] convert(c)",
    after="x = s8[4] parameter(0)\ny = s8[4] parameter(1)\nROOT r = s8[4] multiply(x, y)",
)
def convert_of_widened_operation(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
) -> HloInstruction:
    """Rewrite add, subtract or multiply of widened integers, narrowed again, in the narrow type."""
    return computation.add(
        inner.opcode, instruction.shape, (x, y), inner.attributes, metadata=inner.metadata
    )


def rounds_nothing(i: HloInstruction) -> bool:
    """Return True if the bits kept are those of the type."""
    found = SIGNIFICAND.get(i.shape.element_type.name)
    return (
        found is not None
        and i.attributes.get("mantissa_bits", -1) >= found[0] - 1
        and i.attributes.get("exponent_bits", -1) >= found[1]
    )


@rule(
    reduce_precision(any_("x")).that(rounds_nothing),
    exactness=Exactness.BITWISE,
    before=_F + "ROOT r = f32[4] reduce-precision(x), exponent_bits=8, mantissa_bits=23",
    after=_F.replace("x =", "ROOT x ="),
)
def reduce_precision_to_own(x: HloInstruction) -> HloInstruction:
    """Rewrite a reduce-precision that keeps all bits of the type as x."""
    return x


def right_is_non_negative(i: HloInstruction) -> bool:
    """Return True if the right operand is non-negative; it may be NaN."""
    return is_ordinary(i) and is_non_negative(i.operands[1])


def right_is_a_non_negative_number(i: HloInstruction) -> bool:
    """Return True if the right operand is non-negative and never NaN."""
    return right_is_non_negative(i) and not i.operands[1].shape.element_type.is_float


@rule(
    compare(scalar(0), any_(), direction="GT").that(right_is_non_negative),
    exactness=Exactness.BITWISE,
    before=_U + filled("zero", "u32[4]", 0) + "ROOT r = pred[4] compare(zero, x), direction=GT",
    after=_U + _ROOT_FALSE,
)
def zero_above_non_negative(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite 0 > x as false if x is non-negative."""
    return splat_constant(computation, instruction.shape, False)


@rule(
    compare(scalar(0), any_(), direction="LE").that(right_is_a_non_negative_number),
    exactness=Exactness.BITWISE,
    before=_U + filled("zero", "u32[4]", 0) + "ROOT r = pred[4] compare(zero, x), direction=LE",
    after=_U + _ROOT_TRUE,
)
def zero_at_most_non_negative(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite 0 <= x as true if x is non-negative."""
    return splat_constant(computation, instruction.shape, True)


_XY = parameters("f32[4]", "x", "y")


@rule(
    compare(maximum(any_("a"), any_("b")), any_("a"), direction="GT").that(is_ordinary),
    exactness=Exactness.BITWISE,
    before=_XY + "m = f32[4] maximum(x, y)\nROOT r = pred[4] compare(m, x), direction=GT",
    after=_XY + "ROOT r = pred[4] compare(y, x), direction=GT",
)
def maximum_above_operand(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Rewrite max(a, b) > a as b > a."""
    return computation.add("compare", instruction.shape, (b, a), instruction.attributes)


@rule(
    compare(any_("a"), minimum(any_("a"), any_("b")), direction="GT").that(is_ordinary),
    exactness=Exactness.BITWISE,
    before=_XY + "m = f32[4] minimum(x, y)\nROOT r = pred[4] compare(x, m), direction=GT",
    after=_XY + "ROOT r = pred[4] compare(x, y), direction=GT",
)
def operand_above_minimum(
    computation: HloComputation, instruction: HloInstruction, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Rewrite a > min(a, b) as a > b."""
    return computation.add("compare", instruction.shape, (a, b), instruction.attributes)
