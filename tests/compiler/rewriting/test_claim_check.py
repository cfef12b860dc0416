"""The check of claims on every value: wrong rules of every kind are found, true ones are not."""

from __future__ import annotations

import pytest

from tests.compiler.rewriting.record_claims import row_of
from xla_explorer.compiler.rewriting import Exactness, any_, operator, rule, scalar
from xla_explorer.compiler.rewriting.claim_check import check_claim
from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.compiler.rewriting.patterns import Pattern
from xla_explorer.compiler.rewriting.recorded_claims import recorded_claims
from xla_explorer.compiler.rewriting.rule import BuildResult, Rule
from xla_explorer.compiler.rewriting.value_pools import all_values, crossed, edge_values
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

X, Y = "x = f32[4] parameter(0)\n", "y = f32[4] parameter(1)\n"


def wrong_rule(
    pattern: Pattern, before: str, becomes: object, claim: Exactness = Exactness.BITWISE
) -> Rule:
    """Return a rule that makes of a match what a function of computation and operands returns."""

    def planted(computation: HloComputation, instruction: HloInstruction) -> BuildResult:
        """Replace the match."""
        return becomes(computation, instruction)  # type: ignore[operator]

    return rule(pattern, exactness=claim, before=before, after="")(planted)


def zero_sign(_: HloComputation, i: HloInstruction) -> HloInstruction:
    """Return x for x + 0."""
    return i.operands[0]


def first_of_product(_: HloComputation, i: HloInstruction) -> HloInstruction:
    """Return x for (x * y) / y."""
    return i.operands[0].operands[0]


def innermost(_: HloComputation, i: HloInstruction) -> HloInstruction:
    """Return x for f(g(x))."""
    return i.operands[0].operands[0]


def constant(value: float) -> object:
    """Return a maker of a constant result."""
    return lambda computation, i: splat_constant(computation, i.shape, value)


def only(accepts: object) -> object:
    """Return a maker that acts if a predicate of the match accepts it: negate(x) becomes x."""
    return lambda _, i: i.operands[0] if accepts(i) else None  # type: ignore[operator]


def earlier_slice(computation: HloComputation, i: HloInstruction) -> BuildResult:
    """Return the slice that begins and ends one element earlier, if there is one."""
    (dimension,) = i.attributes.value("slice")
    if not dimension.start:
        return None
    moved = (dimension._replace(start=dimension.start - 1, limit=dimension.limit - 1),)
    return computation.add("slice", i.shape, i.operands, i.attributes.with_values(slice=moved))


NEGATE = X + "ROOT r = f32[4] negate(x)"
ADD_ZERO = (
    X
    + "z_value = f32[] constant(0)\nz = f32[4] broadcast(z_value), dimensions={}\nROOT r = f32[4] add(x, z)"
)
MATRIX = "x = f32[3,4] parameter(0)\n"
PLANTED: dict[str, Rule] = {
    "sign of zero": wrong_rule(operator("add")(any_("x"), scalar(0)), ADD_ZERO, zero_sign),
    "overflow on the way": wrong_rule(
        operator("divide")(operator("multiply")(any_("x"), any_("y")), any_("y")),
        X + Y + "p = f32[4] multiply(x, y)\nROOT r = f32[4] divide(p, y)",
        first_of_product,
        Exactness.REAL,
    ),
    "NaN": wrong_rule(
        operator("subtract")(any_("x"), any_("x")),
        X + "ROOT r = f32[4] subtract(x, x)",
        constant(0),
    ),
    "wrap of integers": wrong_rule(
        operator("abs")(operator("abs")(any_("x"))),
        "x = s32[4] parameter(0)\na = s32[4] abs(x)\nROOT r = s32[4] abs(a)",
        lambda c, i: c.add("maximum", i.shape, (innermost(c, i), splat_constant(c, i.shape, 0))),
    ),
    "wrong for the least integer": wrong_rule(
        operator("sign")(operator("abs")(any_("x"))),
        "x = s32[4] parameter(0)\na = s32[4] abs(x)\nROOT r = s32[4] sign(a)",
        lambda c, i: c.add(
            "multiply",
            i.shape,
            (
                c.add("sign", i.shape, (innermost(c, i),)),
                c.add("sign", i.shape, (innermost(c, i),)),
            ),
        ),
    ),
    "wrong for unsigned": wrong_rule(
        operator("negate")(any_("x")),
        "x = s32[4] parameter(0)\nROOT r = s32[4] negate(x)",
        only(lambda i: i.shape.element_type.is_unsigned),
    ),
    "transposed dimensions": wrong_rule(
        operator("transpose")(any_("x")),
        "x = f32[4,4] parameter(0)\nROOT r = f32[4,4] transpose(x), dimensions={1,0}",
        zero_sign,
    ),
    "off by one in a slice": wrong_rule(
        operator("slice")(any_("x")),
        "x = f32[8] parameter(0)\nROOT r = f32[3] slice(x), slice={[2:5]}",
        earlier_slice,
    ),
    "wrong for size 1": wrong_rule(
        operator("negate")(any_("x")), NEGATE, only(lambda i: i.shape.dimensions == (1,))
    ),
    "invalid for empty arrays": wrong_rule(
        operator("negate")(any_("x")),
        NEGATE,
        lambda c, i: c.add("iota", i.shape, ()) if not i.shape.element_count else None,
    ),
    "wrong for bf16 only": wrong_rule(
        operator("negate")(any_("x")), NEGATE, only(lambda i: i.shape.element_type.name == "bf16")
    ),
    "wrong for complex": wrong_rule(
        operator("negate")(any_("x")),
        NEGATE,
        only(lambda i: i.shape.element_type.is_complex),
    ),
    "subnormal numbers": wrong_rule(
        operator("multiply")(operator("multiply")(any_("x"), scalar(0.5)), scalar(2)),
        X
        + "h_value = f32[] constant(0.5)\nh = f32[4] broadcast(h_value), dimensions={}\n"
        + "t_value = f32[] constant(2)\nt = f32[4] broadcast(t_value), dimensions={}\n"
        + "m = f32[4] multiply(x, h)\nROOT r = f32[4] multiply(m, t)",
        innermost,
    ),
    "another rounding": wrong_rule(
        operator("divide")(any_("x"), scalar(3)),
        X
        + "t_value = f32[] constant(3)\nt = f32[4] broadcast(t_value), dimensions={}\n"
        + "ROOT r = f32[4] divide(x, t)",
        lambda c, i: c.add(
            "multiply", i.shape, (i.operands[0], splat_constant(c, i.shape, 0.3333333432674408))
        ),
        Exactness.NUMERIC,
    ),
    "order of operands": wrong_rule(
        operator("subtract")(any_("x"), any_("y")),
        X + Y + "ROOT r = f32[4] subtract(x, y)",
        lambda c, i: c.add("subtract", i.shape, i.operands[::-1]),
        Exactness.REAL,
    ),
    "reversed dimension": wrong_rule(
        operator("reverse")(any_("x")),
        MATRIX + "ROOT r = f32[3,4] reverse(x), dimensions={1}",
        zero_sign,
    ),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_wrong_rule_is_found(kind: str) -> None:
    found = check_claim(PLANTED[kind])
    assert found.counterexamples, found
    assert found.counterexamples[0].problem


@pytest.mark.parametrize(
    "name",
    [
        "negate-negate",
        "square-of-sqrt",
        "expand-logistic",
        "power-zero",
        "convert-there-and-back",
        "log-of-rsqrt",
        "extremum-inside",
        "reduce-of-tuple-of-one",
        "reduce-of-empty",
        "convolution-to-dot",
    ],
)
def test_a_true_claim_is_kept(name: str) -> None:
    found = check_claim(declared_rules()[name])
    assert not found.counterexamples, found.counterexamples[0].problem
    assert row_of(found)[0] == recorded_claims()[name].claim


def test_pools_have_every_value_of_small_types() -> None:
    for name, count in (("pred", 2), ("s4", 16), ("u8", 256), ("f8e5m2", 256), ("bf16", 65536)):
        values = all_values(PRIMITIVE_TYPES[name])
        assert values is not None
        assert len({value.tobytes() for value in values}) == count, name
    assert all_values(PRIMITIVE_TYPES["f32"]) is None
    pair = crossed([PRIMITIVE_TYPES["s8"]] * 2)
    assert pair.complete
    assert len({(a, b) for a, b in zip(*map(list, pair.arrays), strict=True)}) == 1 << 16
    assert not crossed([PRIMITIVE_TYPES["f16"]] * 2).complete
    assert len(edge_values(PRIMITIVE_TYPES["f32"])) > 40


def test_every_rule_has_a_recorded_tier_for_its_claim() -> None:
    rows = recorded_claims()
    assert {name: str(rule.exactness) for name, rule in declared_rules().items()} == {
        name: row.claim for name, row in rows.items()
    }
    for name, row in rows.items():
        assert (row.tier == "exhaustive") != bool(row.why_sampled), name


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", sorted(declared_rules()))
def test_the_table_says_what_the_check_finds(name: str) -> None:
    found = check_claim(declared_rules()[name])
    assert not found.counterexamples, found.counterexamples[0].problem
    row = recorded_claims()[name]
    assert row_of(found) == [row.claim, [*row.complete], row.points, row.shapes, row.why_sampled]
