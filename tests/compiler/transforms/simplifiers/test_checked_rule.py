"""`xe.rule`: the example and the claim are checked when a rule is declared; a cell that runs again replaces its rule."""

from __future__ import annotations

from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.compiler.transforms.simplifiers.algebraic.algsimp import ALGEBRAIC_RULES
from xla_explorer.compiler.transforms.simplifiers.checked_rule import check_rule
from xla_explorer.plugin import Exactness, Rule, RuleSet, any_, operator, refuse, splat

negate = operator("negate")
BEFORE = "x = f32[4] parameter(0)\nn = f32[4] negate(x)\nROOT r = f32[4] negate(n)"
AFTER = "ROOT x = f32[4] parameter(0)"


def declare(function: Any = lambda x: x, before: str = BEFORE, after: str = AFTER, when: Any = (), claim: Exactness = Exactness.BITWISE) -> Rule:
    function.__name__ = "twice"
    return xe.rule(negate(negate(any_("x"))), exactness=claim, before=before, after=after, when=when)(function)


def never(x: Any) -> Any:
    """Never."""
    return refuse("no-luck", "not today")


def raising(x: Any) -> Any:
    raise RuntimeError("half way")


def wrong_value(computation: Any, x: Any) -> Any:
    return computation.add("exponential", x.shape, (x,))


def test_a_rule_that_holds() -> None:
    assert declare().name == "twice"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"before": "x = f32[4] nothing(0)"}, r"has an example whose `before` cannot be read(.|\n)*nothing"),
        ({"after": "ROOT x = f32[5] negate(y)"}, r"has an example whose `after` cannot be read"),
        ({"before": "x = f32[4] parameter(0)\nROOT n = f32[4] negate(x)"}, r"does not fit its example; its pattern is negate(.|\n)*no instruction matches"),
        ({"when": (never,)}, r"does not fit(.|\n)*on %r: .*not today"),
        ({"function": raising}, r"fails on its example: RuntimeError: half way"),
        ({"after": "x = f32[4] parameter(0)\nROOT y = f32[4] negate(x)"}, r"makes of its example(.|\n)*`after` says(.|\n)*negate"),
        ({"function": wrong_value, "after": "x = f32[4] parameter(0)\nROOT y = f32[4] exponential(x)"}, r"claims to be bitwise, and the values differ at \[0\]"),
    ],
)  # fmt: skip
def test_a_rule_that_does_not_hold_is_an_error(given: dict[str, Any], message: str) -> None:
    with pytest.raises(xe.errors.RuleError, match=f"the rule twice {message}"):
        declare(**given)


@pytest.mark.parametrize("opcode", ["abs", "add"])
def test_a_claim_is_checked_on_numbers_of_any_sign(opcode: str) -> None:
    """|x| is x for positive numbers alone; x + 0 is x for all but -0."""
    pattern = operator("abs")(any_("x")) if opcode == "abs" else operator("add")(any_("x"), splat())
    body = "a = f32[4] abs(x)" if opcode == "abs" else "z = f32[] constant(0)\nzs = f32[4] broadcast(z), dimensions={}\nROOT a = f32[4] add(x, zs)"
    before = f"x = f32[4] parameter(0)\n{body if 'ROOT' in body else 'ROOT ' + body}"

    def itself(x: Any) -> Any:
        """It is x."""
        return x

    with pytest.raises(xe.errors.RuleError, match="itself claims to be bitwise, and the values differ"):
        xe.rule(pattern, exactness=Exactness.BITWISE, before=before, after="ROOT x = f32[4] parameter(0)")(itself)


def test_the_rules_of_the_package_hold() -> None:
    for one in list(ALGEBRAIC_RULES)[::12]:
        check_rule(one)


def test_a_cell_that_runs_again_replaces_its_rule() -> None:
    first, second, other = declare(lambda x: x), declare(lambda x: x), declare(lambda x: x)
    with pytest.raises(ValueError, match="unique; twice: twice"):
        RuleSet("mine", [first, second])
    first.function.__module__ = second.function.__module__ = "__main__"
    assert list(RuleSet("mine", [first, second])) == [second]
    with pytest.raises(ValueError, match="unique; twice: twice"):
        RuleSet("mine", [first, other])
