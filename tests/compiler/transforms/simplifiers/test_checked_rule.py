"""`xe.rule` checks example and claim at the declaration; a rerun cell replaces its rule."""

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


def declare(
    function: Any = lambda x: x,
    before: str = BEFORE,
    after: str = AFTER,
    when: Any = (),
    claim: Exactness = Exactness.BITWISE,
) -> Rule:
    function.__name__ = "twice"
    return xe.rule(
        negate(negate(any_("x"))), exactness=claim, before=before, after=after, when=when
    )(function)


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


X, Y, Z = "x = f32[4] parameter(0)\n", "y = f32[4] parameter(1)\n", "z = f32[4] parameter(2)\n"
PATTERNS = {
    "abs": operator("abs")(any_("x")),
    "root of a square": operator("sqrt")(operator("multiply")(any_("x"), any_("x"))),
    "square of a root": operator("multiply")(operator("sqrt")(any_("x"), name="s"), any_("s")),
    "log of exp": operator("log")(operator("exponential")(any_("x"))),
    "exp of log": operator("exponential")(operator("log")(any_("x"))),
    "x + 0": operator("add")(any_("x"), splat()),
    "x * 0": operator("multiply")(any_("x"), splat()),
    "x / x": operator("divide")(any_("x"), any_("x")),
    "x - x": operator("subtract")(any_("x"), any_("x")),
    "quotient of quotient": operator("divide")(operator("divide")(any_("x"), any_("y")), any_("z")),
    "x / exp y": operator("divide")(any_("x"), operator("exponential")(any_("y"))),
    "x / sqrt y": operator("divide")(any_("x"), operator("sqrt")(any_("y"))),
    "x - y": operator("subtract")(any_("x"), any_("y")),
    "product of products": operator("multiply")(operator("multiply")(any_("x"), any_("y")), any_("z")),
    "tanh": operator("tanh")(any_("x")),
    "max": operator("maximum")(any_("x"), any_("x")),
    "negate": negate(any_("x")),
    "twice negated": negate(negate(any_("x"))),
}  # fmt: skip
BODIES = {
    "abs": X + "ROOT r = f32[4] abs(x)",
    "root of a square": X + "s = f32[4] multiply(x, x)\nROOT r = f32[4] sqrt(s)",
    "square of a root": X + "s = f32[4] sqrt(x)\nROOT r = f32[4] multiply(s, s)",
    "log of exp": X + "e = f32[4] exponential(x)\nROOT r = f32[4] log(e)",
    "exp of log": X + "e = f32[4] log(x)\nROOT r = f32[4] exponential(e)",
    "x + 0": X
    + "z = f32[] constant(0)\nzs = f32[4] broadcast(z), dimensions={}\nROOT r = f32[4] add(x, zs)",
    "x * 0": X
    + "z = f32[] constant(0)\nzs = f32[4] broadcast(z), dimensions={}\nROOT r = f32[4] multiply(x, zs)",
    "x / x": X + "ROOT r = f32[4] divide(x, x)",
    "x - x": X + "ROOT r = f32[4] subtract(x, x)",
    "quotient of quotient": X + Y + Z + "q = f32[4] divide(x, y)\nROOT r = f32[4] divide(q, z)",
    "x / exp y": X + Y + "e = f32[4] exponential(y)\nROOT r = f32[4] divide(x, e)",
    "x / sqrt y": X + Y + "s = f32[4] sqrt(y)\nROOT r = f32[4] divide(x, s)",
    "x - y": X + Y + "ROOT r = f32[4] subtract(x, y)",
    "product of products": X + Y + Z + "p = f32[4] multiply(x, y)\nROOT r = f32[4] multiply(p, z)",
    "tanh": X + "ROOT r = f32[4] tanh(x)",
    "max": X + "ROOT r = f32[4] maximum(x, x)",
    "negate": X + "ROOT r = f32[4] negate(x)",
    "twice negated": X + "n = f32[4] negate(x)\nROOT r = f32[4] negate(n)",
}
ONE, ZERO = "constant({1, 1, 1, 1})", "constant({0, 0, 0, 0})"
APPROXIMATE = Exactness.approximate(2)
WRONG = [
    ("abs", "x", Exactness.BITWISE),
    ("abs", "x", Exactness.REAL),
    ("abs", "x", Exactness.FAST),
    ("root of a square", "x", Exactness.REAL),
    ("root of a square", "abs(x)", Exactness.REAL),
    ("log of exp", "x", Exactness.REAL),
    ("log of exp", "x", Exactness.approximate(4)),
    ("x + 0", "x", Exactness.BITWISE),
    ("x * 0", ZERO, Exactness.NUMERIC),
    ("x / x", ONE, APPROXIMATE),
    ("x - x", ZERO, Exactness.BITWISE),
    ("quotient of quotient", "divide(x, multiply(y, z))", Exactness.REAL),
    ("x / exp y", "multiply(x, exponential(negate(y)))", Exactness.REAL),
    ("x / sqrt y", "multiply(x, rsqrt(y))", Exactness.NUMERIC),
    ("x - y", "subtract(y, x)", Exactness.FAST),
    ("product of products", "multiply(x, multiply(y, z))", Exactness.REAL),
    ("tanh", "x", APPROXIMATE),
    ("negate", "x", Exactness.REAL),
]
RIGHT = [
    ("root of a square", "abs(x)", Exactness.FAST),
    ("log of exp", "x", Exactness.FAST),
    ("exp of log", "x", Exactness.FAST),
    ("x + 0", "x", Exactness.NUMERIC),
    ("x * 0", ZERO, Exactness.REAL),
    ("x / x", ONE, Exactness.REAL),
    ("x - x", ZERO, Exactness.REAL),
    ("square of a root", "x", Exactness.REAL),
    ("quotient of quotient", "divide(x, multiply(y, z))", Exactness.FAST),
    ("x / exp y", "multiply(x, exponential(negate(y)))", Exactness.FAST),
    ("x / sqrt y", "multiply(x, rsqrt(y))", Exactness.REAL),
    ("product of products", "multiply(x, multiply(y, z))", Exactness.FAST),
    ("max", "x", Exactness.BITWISE),
    ("twice negated", "x", Exactness.BITWISE),
]


def claimed(name: str, becomes: str, claim: Exactness) -> Rule:
    """Declare that one of PATTERNS becomes an expression of one or two operations."""
    lines: list[str] = []

    def made(expression: str) -> str:
        opcode, _, rest = expression.partition("(")
        if not rest:
            return expression
        if opcode == "constant":
            lines.append(f"k{len(lines)} = f32[4] {expression}")
        else:
            depth, parts = 0, [""]
            for letter in rest[:-1]:
                depth += {"(": 1, ")": -1}.get(letter, 0)
                parts[-1:] = (
                    [parts[-1], ""] if letter == "," and not depth else [parts[-1] + letter]
                )
            operands = ", ".join([made(part.strip()) for part in parts])
            lines.append(f"k{len(lines)} = f32[4] {opcode}({operands})")
        return lines[-1].partition(" ")[0]

    root = made(becomes)
    given = "".join([part for part in (X, Y, Z) if part in BODIES[name]])
    after = given + "".join([line + "\n" for line in lines])
    after = after.replace(f"{root} = ", f"ROOT {root} = ", 1)

    def rewrite(computation: Any, instruction: Any) -> Any:
        """As `becomes` says."""
        by_name = {
            i.name: i for i in computation.instructions.values() if i.opcode.name == "parameter"
        }
        source = xe.parse_hlo(f"ENTRY e {{\n{after}}}").entry
        for i in source.post_order():
            if i.opcode.name == "constant":
                by_name[i.name] = computation.add("constant", i.shape, payload=i.payload)
            elif i.opcode.name != "parameter":
                by_name[i.name] = computation.add(
                    i.opcode, i.shape, [by_name[o.name] for o in i.operands]
                )
        return by_name[root]

    return xe.rule(PATTERNS[name], exactness=claim, before=BODIES[name], after=after)(rewrite)


@pytest.mark.parametrize(("name", "becomes", "claim"), WRONG, ids=lambda part: str(part))
def test_a_false_claim_of_any_class_is_an_error(name: str, becomes: str, claim: Exactness) -> None:
    """Numbers of both signs, zeros, and what overflows or underflows on the way."""
    with pytest.raises(xe.errors.RuleError, match=f"claims to be {claim}, and the values differ"):
        claimed(name, becomes, claim)


@pytest.mark.parametrize(("name", "becomes", "claim"), RIGHT, ids=lambda part: str(part))
def test_a_true_claim_of_any_class_is_accepted(name: str, becomes: str, claim: Exactness) -> None:
    assert claimed(name, becomes, claim).exactness is claim


WITH_A_CONSTANT = """x = s32[4] parameter(0)
c = s32[] constant(NUMBER)
b = s32[4] broadcast(c), dimensions={}
ROOT r = s32[4] OPCODE(x, b)"""
THERE_AND_BACK = "x = s32[4] parameter(0)\nf = TYPE[4] convert(x)\nROOT r = s32[4] convert(f)"


@pytest.mark.parametrize(
    ("pattern", "before"),
    [
        (operator("remainder")(any_("x"), any_()), ("remainder", "1000")),
        (operator("minimum")(any_("x"), any_()), ("minimum", "100")),
        (operator("maximum")(any_("x"), any_()), ("maximum", "-70000")),
        (operator("and")(any_("x"), any_()), ("and", "65535")),
        (operator("convert")(operator("convert")(any_("x"))), "s8"),
        (operator("convert")(operator("convert")(any_("x"))), "u16"),
        (operator("convert")(operator("convert")(any_("x"))), "f32"),
    ],
    ids=str,
)
def test_a_claim_about_integers_must_hold_for_large_ones(pattern: Any, before: Any) -> None:
    text = (
        THERE_AND_BACK.replace("TYPE", before)
        if isinstance(before, str)
        else WITH_A_CONSTANT.replace("OPCODE", before[0]).replace("NUMBER", before[1])
    )
    with pytest.raises(xe.XlaExplorerError, match="claims to be bitwise, and the values differ"):
        xe.rule(
            pattern, exactness=Exactness.BITWISE, before=text, after=AFTER.replace("f32", "s32")
        )(same)


def same(x: Any) -> Any:
    """Rewrite it as x."""
    return x


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
