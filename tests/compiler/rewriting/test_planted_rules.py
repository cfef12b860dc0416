"""Thirty-four further wrong rules, one for each opcode: each is found, and none is proved.

Each drops an operation, or negates a comparison as if there were no NaN. With the kinds of
`test_claim_check` they are fifty.
"""

from __future__ import annotations

import importlib.util

import pytest

from tests.compiler.rewriting.test_claim_check import PLANTED, wrong_rule, zero_sign
from xla_explorer.compiler.rewriting import any_, operator
from xla_explorer.compiler.rewriting.claim_check import check_claim
from xla_explorer.compiler.rewriting.proofs.prover import prove_rule
from xla_explorer.compiler.rewriting.rule import BuildResult, Rule
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_FLOAT_BINARY = (
    "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power",
)  # fmt: skip
_INTEGER_BINARY = (
    "and",
    "or",
    "xor",
    "shift-left",
    "shift-right-logical",
    "shift-right-arithmetic",
)
_FLOAT_UNARY = (
    "abs", "negate", "sign", "floor", "ceil", "round-nearest-even", "exponential", "tanh", "sqrt",
    "cosine",
)  # fmt: skip
_NEGATED = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}
_SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
_LESS = (
    "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    "  ROOT c = pred[] compare(a, b), direction=LT\n}\n"
)
_MOVED = {
    "sort": (
        _LESS + "---\nx = f32[4] parameter(0)\n"
        "ROOT r = f32[4] sort(x), dimensions={0}, to_apply=less"
    ),
    "scatter": (
        _SUM + "---\nx = f32[4] parameter(0)\ni = s32[1] parameter(1)\nu = f32[1] parameter(2)\n"
        "ROOT r = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum"
    ),
    "convolution": (
        "x = f32[1,3,1] parameter(0)\nk = f32[1,1,1] parameter(1)\n"
        "ROOT r = f32[1,3,1] convolution(x, k), window={size=1}, dim_labels=b0f_0io->b0f"
    ),
    "dynamic-update-slice": (
        "x = f32[4] parameter(0)\nu = f32[2] parameter(1)\ni = s32[] parameter(2)\n"
        "ROOT r = f32[4] dynamic-update-slice(x, u, i)"
    ),
    "select": (
        "p = pred[4] parameter(0)\nx = f32[4] parameter(1)\ny = f32[4] parameter(2)\n"
        "ROOT r = f32[4] select(p, x, y)"
    ),
    "clamp": (
        "l = f32[4] parameter(0)\nx = f32[4] parameter(1)\nh = f32[4] parameter(2)\n"
        "ROOT r = f32[4] clamp(l, x, h)"
    ),
}


def _binary(name: str, kind: str) -> Rule:
    text = (
        f"x = {kind}[4] parameter(0)\ny = {kind}[4] parameter(1)\nROOT r = {kind}[4] {name}(x, y)"
    )
    return wrong_rule(operator(name)(any_("x"), any_("y")), text, zero_sign)


def _unary(name: str) -> Rule:
    text = f"x = f32[4] parameter(0)\nROOT r = f32[4] {name}(x)"
    return wrong_rule(operator(name)(any_("x")), text, zero_sign)


def _negation(direction: str) -> Rule:
    def negated(c: HloComputation, i: HloInstruction) -> BuildResult:
        (compare,) = i.operands
        if compare.attributes["direction"] != direction:
            return None
        attributes = compare.attributes.with_values(direction=_NEGATED[direction])
        return c.add("compare", i.shape, compare.operands, attributes)

    text = (
        "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\n"
        f"c = pred[4] compare(x, y), direction={direction}\nROOT r = pred[4] not(c)"
    )
    pattern = operator("not")(operator("compare")(any_("x"), any_("y")))
    return wrong_rule(pattern, text, negated)


def _second(_: HloComputation, i: HloInstruction) -> HloInstruction:
    return i.operands[1]


def _moved(name: str) -> Rule:
    operands = {"sort": 1, "convolution": 2}.get(name, 3)
    pattern = operator(name)(*[any_(f"o{k}") for k in range(operands)])
    becomes = _second if name in ("select", "clamp") else zero_sign
    return wrong_rule(pattern, _MOVED[name], becomes)


WRONG: dict[str, Rule] = {
    **{name: _binary(name, "f32") for name in _FLOAT_BINARY},
    **{name: _binary(name, "s32") for name in _INTEGER_BINARY},
    **{name: _unary(name) for name in _FLOAT_UNARY},
    **{f"not of {direction}": _negation(direction) for direction in _NEGATED},
    **{name: _moved(name) for name in _MOVED},
}


def test_there_are_fifty_kinds() -> None:
    assert len(WRONG) + len(PLANTED) >= 50


@pytest.mark.long
@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_rule_is_found_and_not_proved(kind: str) -> None:
    found = check_claim(WRONG[kind])
    assert found.counterexamples and found.counterexamples[0].problem
    if importlib.util.find_spec("z3") is not None:
        assert prove_rule(WRONG[kind], most_shapes=2).outcome != "proved"
