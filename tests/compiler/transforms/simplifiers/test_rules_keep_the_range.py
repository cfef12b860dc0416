"""No rule of the default pipeline makes an infinity or NaN of a number, or a number of an infinity: every value of a type, beside itself.

The examples of the elementwise rules, in other float types: each value of 16 bits and fewer beside values at which something overflows,
underflows or is infinite; 32 and 64 bits by such values alone.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.driver import rewrite_computation
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import example_module
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet
from xla_explorer.compiler.transforms.expanders.logistic_expander import EXPANDING_RULES
from xla_explorer.compiler.transforms.simplifiers.algebraic.algsimp import ALGEBRAIC_RULES
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.text import parse_hlo

Array = np.ndarray[Any, Any]
TYPES = ("f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e3m4")
_MOST = 200  # combinations of the further operands


def is_elementwise(rule: Rule) -> bool:
    """Whether the example is elementwise on f32[4]."""
    parts = set(re.findall(r"(\w+)\[([\d,]*)\]", rule.before))
    return "f32[4]" in rule.before and parts <= {
        ("f32", "4"),
        ("f32", ""),
        ("pred", "4"),
        ("pred", ""),
    }


RULES = [
    r
    for r in (*ALGEBRAIC_RULES, *EXPANDING_RULES)
    if r.exactness is not Exactness.FAST and is_elementwise(r)
]


def all_values(kind: PrimitiveType) -> Array:
    if kind.bits > 16:
        return notable(kind)
    return np.arange(1 << kind.bits, dtype=np.uint16 if kind.bits == 16 else np.uint8).view(
        kind.dtype
    )


def notable(kind: PrimitiveType) -> Array:
    """Zeros, infinities, NaN, and numbers where a square, a reciprocal, an exponential or a sum leaves the range."""
    limits = ml_dtypes.finfo(kind.dtype)
    largest, normal, smallest = (
        float(limits.max),
        float(limits.smallest_normal),
        float(limits.smallest_subnormal),
    )
    edge = np.log(largest)
    found = [
        0,
        1,
        2,
        3,
        0.1,
        7,
        100,
        largest,
        largest / 2,
        largest**0.5 * 1.5,
        normal,
        normal / 4,
        smallest,
        smallest**0.5,
    ]
    found += [edge * 0.99, edge * 1.01, edge / 2, np.inf, np.nan, largest**0.75, smallest**0.75]
    with np.errstate(all="ignore"):
        return np.asarray([*found, *[-x for x in found]]).astype(kind.dtype)


def in_type(
    rule: Rule, kind: PrimitiveType, constants: tuple[float, ...] = ()
) -> tuple[HloModule, HloModule] | None:
    """The example in a type, and what the rule makes of it; None where it does not act there. constants: in place of the example's."""
    text = re.sub(r"\b(f|s)32\[", f"{kind.name}[", rule.before).replace(
        "[4]", f"[{len(all_values(kind))}]"
    )
    for value in constants:
        text = re.sub(r"constant\((\d+)\)", f"constant(@{value!r})", text, count=1)
    module = parse_hlo(example_module(text.replace("@", "")))
    made = module.clone()
    return (
        (module, made)
        if rewrite_computation(made.entry, RuleSet("one", [rule]), PassContext())
        else None
    )


def arguments(module: HloModule, kind: PrimitiveType) -> list[list[Array]]:
    """Each value of the first operand of the type, beside combinations of notable ones."""
    kinds = [shape.element_type for shape in module.parameter_shapes()]
    if all(k.is_pred for k in kinds):
        return [[np.resize([False, True], len(all_values(kind))) for _ in kinds]]
    values, pools = (
        all_values(kind),
        [np.array([False, True]) if k.is_pred else notable(kind) for k in kinds],
    )
    whole = next((number for number, k in enumerate(kinds) if not k.is_pred), 0)
    others = [pool for number, pool in enumerate(pools) if number != whole]
    chosen = list(itertools.product(*others))
    if len(chosen) > _MOST:
        chosen = [
            chosen[n] for n in np.random.default_rng(0).choice(len(chosen), _MOST, replace=False)
        ]
    found = []
    for row in chosen:
        given = [np.full(len(values), x) for x in row]
        found.append([*given[:whole], values, *given[whole:]])
    return found


def problem_of(rule: Rule, kind: PrimitiveType, constants: tuple[float, ...] = ()) -> str | None:
    """Where the claim is broken; of a claim over the real numbers, where the range is left: how near finite numbers are, depends on more."""
    made = in_type(rule, kind, constants)
    if made is None:
        return None
    for given in arguments(made[0], kind):
        with np.errstate(all="ignore"):
            want, got = [np.asarray(flatten_value(evaluate(module, *given))[0]) for module in made]
            if rule.exactness is Exactness.REAL:
                numbers = np.isfinite(want.astype(np.float64)) & np.isfinite(got.astype(np.float64))
                got = np.where(numbers, want, got)
        problem = rule.exactness.difference(want, got)
        if problem is not None:
            return f"{kind.name} {constants} of {[x[problem.facts['index']] for x in given]}: {problem.message}"
    return None


@pytest.mark.long
@pytest.mark.parametrize("name", TYPES)
def test_every_value_stays_in_range(name: str) -> None:
    kind = PRIMITIVE_TYPES[name]
    assert {rule.name: problem for rule in RULES if (problem := problem_of(rule, kind))} == {}


WITH_CONSTANTS = (
    "add-of-constants",
    "add-to-difference-of-constant",
    "multiply-of-constants",
    "multiply-scaled",
    "divide-by-constant",
    "factor-out",
)


@pytest.mark.long
@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("rule", WITH_CONSTANTS)
def test_constants_of_every_magnitude(rule: str, name: str) -> None:
    kind = PRIMITIVE_TYPES[name]
    limits = ml_dtypes.finfo(kind.dtype)
    largest, normal, smallest = (
        float(limits.max),
        float(limits.smallest_normal),
        float(limits.smallest_subnormal),
    )
    values = [
        0,
        1,
        -1,
        2,
        0.5,
        0.1,
        100,
        0.001,
        largest,
        -largest,
        largest / 2,
        largest**0.5,
        normal,
        normal**0.5,
        3 * smallest,
    ]
    found = [
        problem_of(ALGEBRAIC_RULES[rule], kind, pair) for pair in itertools.product(values, values)
    ]
    assert [problem for problem in found if problem] == []


def test_the_rules_by_fast_math_are_refused_by_name() -> None:
    """They are in the default pipeline, and say why they do not act."""
    text = "ENTRY e { x = f32[4] parameter(0) e = f32[4] exponential(x) ROOT r = f32[4] log(e) }"
    session = xe.compile(text)
    assert session.passes[-1].module.instruction_count() >= 3
    assert "fast_math" in str(session.explain("r"))
    assert xe.optimize(text, "algsimp{fast_math=true}").module.instruction_count() == 1
    x = np.float32([1, 100, -200, np.inf])
    np.testing.assert_array_max_ulp(session(x), xe.evaluate(text, x))
    np.testing.assert_array_equal(xe.compile(text, passes="algsimp{fast_math=true},default")(x), x)
