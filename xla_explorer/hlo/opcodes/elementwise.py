"""Rows of the elementwise family: result element i depends on element i of the operands.

A scalar operand is broadcast. Source: StableHLO sections of the same names;
xla/hlo/ir/hlo_instruction.cc `IsOpElementwise`; hlo_parser.cc attribute tables.
"""

from __future__ import annotations

from xla_explorer.hlo.opcodes.constraints import stated_shapes
from xla_explorer.hlo.opcodes.shape_rules import elementwise as rules
from xla_explorer.hlo.opcodes.spec import Family, OpcodeSpec, ShapeRule, Trait

_ELEMENTWISE = frozenset({Trait.ELEMENTWISE})
_EXPENSIVE = frozenset({Trait.ELEMENTWISE, Trait.EXPENSIVE})
_COMMUTATIVE = frozenset({Trait.ELEMENTWISE, Trait.COMMUTATIVE})


def _unary(name: str, rule: ShapeRule, summary: str, source: str) -> OpcodeSpec:
    return OpcodeSpec(
        name,
        family=Family.ELEMENTWISE,
        arity=1,
        summary=summary,
        source=source,
        shape_rule=rule,
        traits=_ELEMENTWISE,
    )


def _transcendental(
    name: str, rule: ShapeRule, summary: str, source: str, *, expensive: bool = True
) -> OpcodeSpec:
    return OpcodeSpec(
        name,
        family=Family.ELEMENTWISE,
        arity=1,
        summary=summary,
        source=source,
        shape_rule=rule,
        attributes=("result_accuracy",),
        traits=_EXPENSIVE if expensive else _ELEMENTWISE,
    )


def _binary(
    name: str, rule: ShapeRule, summary: str, source: str, traits: frozenset[Trait] = _ELEMENTWISE
) -> OpcodeSpec:
    return OpcodeSpec(
        name,
        family=Family.ELEMENTWISE,
        arity=2,
        summary=summary,
        source=source,
        shape_rule=rule,
        traits=traits,
    )


_CHLO = "CHLO; shape_inference.cc InferUnaryOpShape"

ROWS: tuple[OpcodeSpec, ...] = (
    # unary
    _unary(
        "abs", rules.absolute, "Absolute value; of a complex number its modulus.", "StableHLO abs"
    ),
    _unary("negate", rules.unary_number, "Minus the operand; integers wrap.", "StableHLO negate"),
    _unary(
        "sign",
        rules.unary_number,
        "-1, 0 or 1 with the sign of the operand; NaN stays NaN.",
        "StableHLO sign",
    ),
    _unary(
        "not", rules.unary_logical, "Bitwise not of integers, logical not of pred.", "StableHLO not"
    ),
    _unary("popcnt", rules.unary_integer, "Number of bits that are one.", "StableHLO popcnt"),
    _unary(
        "count-leading-zeros",
        rules.unary_integer,
        "Number of zero bits before the first one; the width for zero.",
        "StableHLO count_leading_zeros",
    ),
    _unary("ceil", rules.unary_float, "Rounds towards plus infinity.", "StableHLO ceil"),
    _unary("floor", rules.unary_float, "Rounds towards minus infinity.", "StableHLO floor"),
    _unary(
        "round-nearest-afz",
        rules.unary_float,
        "Rounds to nearest, halves away from zero.",
        "StableHLO round_nearest_afz",
    ),
    _unary(
        "round-nearest-even",
        rules.unary_float,
        "Rounds to nearest, halves to even.",
        "StableHLO round_nearest_even",
    ),
    _unary(
        "is-finite",
        rules.is_finite,
        "Whether the operand is neither infinite nor NaN.",
        "StableHLO is_finite",
    ),
    _unary("real", rules.component, "The real part.", "StableHLO real"),
    _unary(
        "imag", rules.component, "The imaginary part; zero for real operands.", "StableHLO imag"
    ),
    _transcendental(
        "exponential", rules.unary_float_or_complex, "e to the operand.", "StableHLO exponential"
    ),
    _transcendental(
        "exponential-minus-one",
        rules.unary_float_or_complex,
        "e to the operand, minus one, exact near zero.",
        "StableHLO exponential_minus_one",
    ),
    _transcendental("log", rules.unary_float_or_complex, "Natural logarithm.", "StableHLO log"),
    _transcendental(
        "log-plus-one",
        rules.unary_float_or_complex,
        "Natural logarithm of one plus the operand, exact near zero.",
        "StableHLO log_plus_one",
    ),
    _transcendental(
        "logistic", rules.unary_float_or_complex, "1 / (1 + exp(-x)).", "StableHLO logistic"
    ),
    _transcendental("sqrt", rules.unary_float_or_complex, "Square root.", "StableHLO sqrt"),
    _transcendental(
        "rsqrt", rules.unary_float_or_complex, "One over the square root.", "StableHLO rsqrt"
    ),
    _transcendental("cbrt", rules.unary_float, "Cube root.", "StableHLO cbrt"),
    _transcendental("tanh", rules.unary_float_or_complex, "Hyperbolic tangent.", "StableHLO tanh"),
    _transcendental("erf", rules.unary_float, "Error function.", _CHLO),
    _transcendental(
        "sine", rules.unary_float_or_complex, "Sine.", "StableHLO sine", expensive=False
    ),
    _transcendental(
        "cosine", rules.unary_float_or_complex, "Cosine.", "StableHLO cosine", expensive=False
    ),
    _transcendental("tan", rules.unary_float_or_complex, "Tangent.", "StableHLO tan"),
    _transcendental("asin", rules.unary_float_or_complex, "Arc sine.", _CHLO),
    _transcendental("acos", rules.unary_float_or_complex, "Arc cosine.", _CHLO),
    _transcendental("atan", rules.unary_float_or_complex, "Arc tangent (newer XLA only).", _CHLO),
    _transcendental("sinh", rules.unary_float_or_complex, "Hyperbolic sine.", _CHLO),
    _transcendental("cosh", rules.unary_float_or_complex, "Hyperbolic cosine.", _CHLO),
    _transcendental("asinh", rules.unary_float_or_complex, "Inverse hyperbolic sine.", _CHLO),
    _transcendental("acosh", rules.unary_float_or_complex, "Inverse hyperbolic cosine.", _CHLO),
    _transcendental("atanh", rules.unary_float_or_complex, "Inverse hyperbolic tangent.", _CHLO),
    OpcodeSpec(
        "convert",
        family=Family.ELEMENTWISE,
        arity=1,
        summary="The same value in another element type.",
        source="StableHLO convert",
        traits=_ELEMENTWISE,
        constraints=(stated_shapes.result_keeps_dimensions,),
    ),
    OpcodeSpec(
        "reduce-precision",
        family=Family.ELEMENTWISE,
        arity=1,
        attributes=("exponent_bits", "mantissa_bits"),
        required=("exponent_bits", "mantissa_bits"),
        summary="Rounds to a float with fewer bits and back.",
        source="StableHLO reduce_precision",
        shape_rule=rules.reduce_precision,
        infers_in_text=False,
        traits=_ELEMENTWISE,
        constraints=(stated_shapes.precision_bits,),
    ),
    OpcodeSpec(
        "stochastic-convert",
        family=Family.ELEMENTWISE,
        arity=2,
        summary="Converts, rounding up or down with the probability that the random bits give.",
        source="shape_inference.cc InferStochasticConvertShape",
        traits=_ELEMENTWISE,
        constraints=(
            stated_shapes.random_bits_match,
            stated_shapes.result_keeps_dimensions,
        ),
    ),
    # binary
    _binary("add", rules.binary, "Sum; integers wrap, pred is or.", "StableHLO add", _COMMUTATIVE),
    _binary("subtract", rules.binary_number, "Difference; integers wrap.", "StableHLO subtract"),
    _binary(
        "multiply",
        rules.binary,
        "Product; integers wrap, pred is and.",
        "StableHLO multiply",
        _COMMUTATIVE,
    ),
    _binary(
        "divide",
        rules.binary_number,
        "Quotient; integers truncate towards zero, x/0 is all ones.",
        "StableHLO divide",
        _EXPENSIVE,
    ),
    _binary(
        "remainder",
        rules.binary_number,
        "Remainder with the sign of the dividend; integer x%0 is x.",
        "StableHLO remainder",
        _EXPENSIVE,
    ),
    _binary(
        "power",
        rules.binary_number,
        "The first operand to the power of the second.",
        "StableHLO power",
        _EXPENSIVE,
    ),
    _binary("maximum", rules.binary, "The larger; NaN wins.", "StableHLO maximum", _COMMUTATIVE),
    _binary("minimum", rules.binary, "The smaller; NaN wins.", "StableHLO minimum", _COMMUTATIVE),
    _binary(
        "atan2",
        rules.binary_float_or_complex,
        "Angle of the point (second, first operand).",
        "StableHLO atan2",
        _EXPENSIVE,
    ),
    _binary(
        "and",
        rules.binary_logical,
        "Bitwise and of integers, logical and of pred.",
        "StableHLO and",
        _COMMUTATIVE,
    ),
    _binary(
        "or",
        rules.binary_logical,
        "Bitwise or of integers, logical or of pred.",
        "StableHLO or",
        _COMMUTATIVE,
    ),
    _binary(
        "xor",
        rules.binary_logical,
        "Bitwise exclusive or of integers, logical one of pred.",
        "StableHLO xor",
        _COMMUTATIVE,
    ),
    _binary(
        "shift-left",
        rules.binary_integer,
        "Shifts left; amounts of the width or more give zero.",
        "StableHLO shift_left",
    ),
    _binary(
        "shift-right-arithmetic",
        rules.binary_integer,
        "Shifts right keeping the sign.",
        "StableHLO shift_right_arithmetic",
    ),
    _binary(
        "shift-right-logical",
        rules.binary_integer,
        "Shifts right filling with zeros.",
        "StableHLO shift_right_logical",
    ),
    _binary(
        "mulhi",
        rules.binary_integer,
        "High half of the full integer product.",
        "hlo_opcode.h kMulhi",
        frozenset({Trait.ELEMENTWISE, Trait.COMMUTATIVE}),
    ),
    _binary(
        "complex",
        rules.complex_of_parts,
        "The complex number with the given real and imaginary part.",
        "StableHLO complex",
    ),
    OpcodeSpec(
        "compare",
        family=Family.ELEMENTWISE,
        arity=2,
        attributes=("direction", "type"),
        required=("direction",),
        summary="Whether the comparison holds, as pred.",
        source="StableHLO compare",
        shape_rule=rules.compare,
        traits=_ELEMENTWISE,
    ),
    # ternary
    OpcodeSpec(
        "select",
        family=Family.ELEMENTWISE,
        arity=3,
        summary="The second operand where the first is true, else the third.",
        source="StableHLO select; shape_inference.cc InferSelectShape",
        shape_rule=rules.select,
        traits=_ELEMENTWISE,
    ),
    OpcodeSpec(
        "clamp",
        family=Family.ELEMENTWISE,
        arity=3,
        summary="The second operand, kept between the first and the third.",
        source="StableHLO clamp; shape_inference.cc InferClampShape",
        shape_rule=rules.clamp,
        traits=_ELEMENTWISE,
    ),
)
