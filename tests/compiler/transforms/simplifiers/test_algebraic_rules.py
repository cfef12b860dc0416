"""Algebraic rules: each example has its stated result, each value its stated exactness."""

from __future__ import annotations

import math

import numpy as np
import pytest

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.driver import applicable, rewrite_computation
from xla_explorer.compiler.rewriting.example import example_module
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet
from xla_explorer.compiler.transforms.simplifiers.algebraic.algsimp import ALGEBRAIC_RULES
from xla_explorer.compiler.transforms.simplifiers.common_subexpressions import (
    merge_equal_instructions,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes.spec import Family
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text import parse_hlo

RULES = list(ALGEBRAIC_RULES)


def tidy(module: HloModule) -> HloModule:
    """Without dead instructions and repetitions, which the picture does not show."""
    for computation in module.computations.values():
        remove_dead_instructions(computation)
        merge_equal_instructions(computation, StructuralKeys(True))
    return module


def rewritten(rule: Rule) -> HloModule:
    module = parse_hlo(example_module(rule.before))
    count = rewrite_computation(module.entry, RuleSet("one", [rule]), PassContext())
    assert count, f"{rule.name} does not fit its own example"
    return tidy(module)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_example_becomes_what_it_says(rule: Rule) -> None:
    result, wanted = rewritten(rule), tidy(parse_hlo(example_module(rule.after)))
    keys = StructuralKeys(True)
    assert keys.of(result.entry) == keys.of(wanted.entry), (
        f"\n{result.to_text()}\n instead of\n{wanted.to_text()}"
    )


def edge_values(shape: Shape, seed: int, *, ordinary: bool) -> np.ndarray:
    """Return signed zeros, infinities, NaN, subnormals and extremes at random places.

    On demand only ordinary numbers.
    """
    kind, generator = shape.element_type, np.random.default_rng(seed)
    if kind.is_pred:
        return generator.integers(0, 2, shape.dimensions).astype(bool)
    if kind.is_integer:
        low, high = (
            (0, 1 << kind.bits) if kind.is_unsigned else (-(1 << kind.bits - 1), 1 << kind.bits - 1)
        )
        pool = [0, 1, 2, 3, 7, 8, 9, 100, high - 1, high // 2, low, low + 1] + (
            [] if kind.is_unsigned else [-1, -2, -7, -8, -9]
        )
        return generator.choice(np.array(pool, dtype=kind.dtype), shape.dimensions)
    if kind.is_complex:
        return (
            edge_values(shape.with_element_type(kind.component), seed, ordinary=ordinary)
            + 1j * edge_values(shape.with_element_type(kind.component), seed + 1, ordinary=ordinary)
        ).astype(kind.dtype)
    if ordinary:
        return generator.uniform(0.25, 3, shape.dimensions).astype(kind.dtype)
    pool = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        3.0,
        -7.25,
        math.inf,
        -math.inf,
        math.nan,
        1e-40,
        3e38,
        -3e38,
        1e-20,
        2.5,
        1.5,
    ]
    return generator.choice(np.array(pool, dtype=np.float64), shape.dimensions).astype(kind.dtype)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_value_is_kept_to_the_claimed_exactness(rule: Rule) -> None:
    before, after = parse_hlo(example_module(rule.before)), rewritten(rule)
    # Partial sums may leave the range in one order and not in another.
    sums = any(
        i.opcode.family in (Family.REDUCTION, Family.CONTRACTION) or i.opcode.name == "scatter"
        for i in before.entry.instructions.values()
    )
    ordinary = rule.exactness.kind == "fast" or (rule.exactness.kind == "real" and sums)
    for seed in range(6):
        arrays = [
            edge_values(s, 10 * seed + k, ordinary=ordinary)
            for k, s in enumerate(before.parameter_shapes())
        ]
        expected, actual = [flatten_value(evaluate(m, *arrays)) for m in (before, after)]
        for a, b in zip(expected, actual, strict=True):
            assert rule.exactness.difference(np.asarray(a), np.asarray(b)) is None, (
                rule.exactness.difference(np.asarray(a), np.asarray(b))
            )


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_is_documented(rule: Rule) -> None:
    assert rule.summary.endswith((".", ")")), rule.name
    assert all(guard.__doc__ for guard in rule.guards), rule.name
    module = parse_hlo(example_module(rule.before))
    found = [
        r
        for i in module.entry.instructions.values()
        for r, reason in applicable(ALGEBRAIC_RULES, i)
        if reason is None
    ]
    assert rule in found


def test_names_are_unique_and_many() -> None:
    assert len({r.name for r in RULES}) == len(RULES) >= 60
