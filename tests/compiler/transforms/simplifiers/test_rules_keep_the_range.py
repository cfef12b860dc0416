"""No rule of the default pipeline adds or removes an infinity or NaN, for any value of a type.

The examples of the elementwise rules, in other float types: each value of 16 bits and fewer beside
values at which something overflows, underflows or is infinite; 32 and 64 bits by such values alone.
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
TYPES = [kind.name for kind in PRIMITIVE_TYPES.values() if kind.is_float]
_MOST = 200  # combinations of the further operands


def is_elementwise(rule: Rule) -> bool:
    """Return True if the example is elementwise on f32[4]."""
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
    """Return zeros, infinities, NaN, and numbers near the range limits of usual operations.

    The operations are squares, reciprocals, exponentials and sums.
    """
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
    """Return the example in a type, and the rule's result; None if it does not apply there.

    constants: in place of the example's.
    """
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
    """Return where the claim is broken; for a claim over real numbers, where the range is left."""
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


REDUCERS = """add { p = T[] parameter(0)
 q = T[] parameter(1)
 ROOT s = T[] add(p, q) }
max { p = T[] parameter(0)
 q = T[] parameter(1)
 ROOT s = T[] maximum(p, q) }
ENTRY e {
 x = T[8,64] parameter(0)
 v = T[8] parameter(1)
 zero = T[] constant(0)
 low = T[] constant(-inf)
 eps0 = T[] constant(1e-6)
 eps = T[8] broadcast(eps0), dimensions={}
 total = T[8] reduce(x, zero), dimensions={1}, to_apply=add
 largest = T[8] reduce(x, low), dimensions={1}, to_apply=max
 wide = T[8,64] broadcast(largest), dimensions={0}
 shifted = T[8,64] subtract(x, wide)
 e = T[8,64] exponential(shifted)
 mass = T[8] reduce(e, zero), dimensions={1}, to_apply=add
"""
DIVISORS = {
    "a sum": ("y = T[8] add(total, v)", False),
    "an array": ("y = T[8] negate(v)", False),
    "an exponential": ("y = T[8] exponential(v)", False),
    "a product": ("y = T[8] multiply(v, v)", False),
    "the mass of a softmax": ("y = T[8] abs(mass)", True),
    "a mass and a constant": ("y = T[8] add(mass, eps)", True),
    "a sum and a constant": ("y = T[8] add(total, eps)", True),
    "a root": ("y = T[8] sqrt(v)", True),
    "a norm": ("s = T[8] multiply(v, v)\n n = T[8] sqrt(s)\n y = T[8] maximum(n, eps)", True),
    "a count": ("c = s32[8] iota(), iota_dimension=0\n y = T[8] convert(c)", True),
    "a logarithm": ("y = T[8] log(v)", True),
    "one and an exponential": ("x0 = T[8] exponential(v)\n o = T[] constant(1)\n os = T[8] broadcast(o), dimensions={}\n y = T[8] add(os, x0)", True),
}  # fmt: skip


@pytest.mark.parametrize("name", DIVISORS)
def test_a_reciprocal_is_taken_of_what_cannot_be_tiny(name: str) -> None:
    body, acts = DIVISORS[name]
    text = f"{REDUCERS} {body}\n b = T[8,64] broadcast(y), dimensions={{0}}\n ROOT r = T[8,64] divide(e, b) }}".replace(
        "T[", "f32["
    )
    made = xe.optimize(text, "algsimp,dce").module
    wide = [i for i in made.instructions() if i.opcode.name == "divide" and i.shape.rank == 2]
    assert (not wide) is acts
    assert not [
        i
        for i in xe.optimize(text, "algsimp{fast_math=true},dce").module.instructions()
        if i.opcode.name == "divide" and i.shape.rank == 2
    ]
    generator = np.random.default_rng(0)
    for scale in (1, 1e-42, 1e38):
        given = (
            (generator.uniform(0, 1, (8, 64)) * scale).astype(np.float32),
            (generator.uniform(0, 1, 8) * scale).astype(np.float32),
        )
        with np.errstate(all="ignore"):
            want, got = xe.evaluate(text, *given), xe.evaluate(made, *given)
        assert Exactness.REAL.difference(np.asarray(want), np.asarray(got)) is None


COUNTED = {
    "a sum of equal terms": ("x = T[] parameter(0)\n z = T[] constant(0)\n b = T[N] broadcast(x), dimensions={}\n"
                             " ROOT r = T[] reduce(b, z), dimensions={0}, to_apply=add", "multiply"),
    "a cumulative sum": ("x = T[] parameter(0)\n z = T[] constant(0)\n b = T[N] broadcast(x), dimensions={}\n"
                         " ROOT r = T[N] reduce-window(b, z), window={size=N pad=M_0}, to_apply=add", "multiply"),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize(
    ("element", "count", "acts"),
    [("f16", 60000, True), ("f16", 70000, False), ("f8e4m3fn", 500, False), ("f32", 70000, True)],
)
def test_terms_are_counted_in_types_that_hold_their_number(
    name: str, element: str, count: int, acts: bool
) -> None:
    body, opcode = COUNTED[name]
    text = f"add {{ p = T[] parameter(0)\n q = T[] parameter(1)\n ROOT s = T[] add(p, q) }}\nENTRY e {{ {body} }}"
    text = (
        text.replace("[N]", f"[{count}]")
        .replace("=N ", f"={count} ")
        .replace("M_0", f"{count - 1}_0")
        .replace("T[", f"{element}[")
    )
    made = xe.optimize(text, "algsimp,dce").module
    assert any(i.opcode.name == opcode for i in made.instructions()) is acts
