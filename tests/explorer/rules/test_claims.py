"""`check_claim` of a user's rule as a report, and what a rule says about its claim."""

from __future__ import annotations

import numpy as np

import xla_explorer as xe
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.plugin import Exactness, any_, check_claim, operator

negate = operator("negate")


@xe.rule(
    negate(negate(any_("x"))),
    exactness=Exactness.BITWISE,
    before="x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT r = f32[4] negate(n)",
    after="ROOT x = f32[4] parameter(0)",
)
def two_signs_of_any_type(x: HloInstruction) -> HloInstruction:
    """--x is x."""
    return x


def test_a_rule_says_what_it_was_tried_on() -> None:
    assert two_signs_of_any_type.tried == "202 random arguments of its example"
    assert declared_rules()["negate-negate"].tried.count("every value of integers")
    assert declared_rules()["reduce-of-transpose"].tried.count("samples, ")


def test_a_report_shows_arguments_that_break_the_claim() -> None:
    found = check_claim(two_signs_of_any_type)
    (example,) = found.counterexamples
    assert found.tier == "exhaustive"
    assert "f16 and bf16" in found.tried
    assert "f8e8m0fnu" in found.to_text()
    argument = example.arguments[0]
    size = example.module.parameter_shapes()[0].dimensions
    again = np.asarray(evaluate(example.module, np.full(size, argument)))
    assert np.isnan(again.astype(np.float32)).all()
    assert found.to_frame()["after"][0] == str(example.after)
