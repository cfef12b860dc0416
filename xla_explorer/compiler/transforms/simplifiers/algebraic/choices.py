"""Algebraic rules on select with compare, compare with select, and `and` of two comparisons.

Source: algebraic_simplifier.cc, HandleSelect, HandleCompare, HandleAnd.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from xla_explorer.compiler.rewriting.construction import splat_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters
from xla_explorer.compiler.rewriting.operators import and_, compare, conditional, select
from xla_explorer.compiler.rewriting.patterns import any_, splat, uniform_value
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.comparison import (
    is_of_exact_type,
    is_ordinary,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import fixed
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_N = parameters("s32[4]", "x")
_P = parameters("pred[4]", "p")


def selects_between_compared(i: HloInstruction) -> bool:
    """Return True for select(x == y, x, y) and select(x != y, x, y), also with x and y swapped.

    Their type must be an integer type or pred: in floating point -0 equals 0 but has other bits.
    """
    p, a, b = i.operands
    return (
        p.attributes["direction"] in ("EQ", "NE")
        and {a, b} == set(p.operands)
        and is_of_exact_type(p)
        and p.shape.dimensions == i.shape.dimensions
    )


@rule(
    select(compare(name="p"), any_("x"), any_("y")).that(selects_between_compared),
    exactness=Exactness.BITWISE,
    before="x = s32[4] parameter(0)\ny = s32[4] parameter(1)\np = pred[4] compare(x, y), direction=NE\n"
    "ROOT r = s32[4] select(p, x, y)",
    after="ROOT x = s32[4] parameter(0)\ny = s32[4] parameter(1)\n",
)
def select_of_compared(p: HloInstruction, x: HloInstruction, y: HloInstruction) -> HloInstruction:
    """Rewrite select(x != y, x, y) as x, and select(x == y, x, y) as y, for integers."""
    return x if p.attributes["direction"] == "NE" else y


def selects_between_ordered_preds(i: HloInstruction) -> bool:
    """Return True for select(a < b, a, b) of pred arrays, and the same with >, <= or >=."""
    p, a, b = i.operands
    return (
        p.attributes["direction"] in ("GT", "GE", "LT", "LE")
        and i.shape.element_type.is_pred
        and p.operands == (a, b)
        and p.shape.dimensions == i.shape.dimensions
    )


@rule(
    select(compare(name="p"), any_("x"), any_("y")).that(selects_between_ordered_preds),
    exactness=Exactness.BITWISE,
    before="x = pred[4] parameter(0)\ny = pred[4] parameter(1)\np = pred[4] compare(x, y), direction=GT\n"
    "ROOT r = pred[4] select(p, x, y)",
    after="x = pred[4] parameter(0)\ny = pred[4] parameter(1)\nROOT r = pred[4] or(x, y)",
)
def select_of_ordered_preds(
    computation: HloComputation,
    instruction: HloInstruction,
    p: HloInstruction,
    x: HloInstruction,
    y: HloInstruction,
) -> HloInstruction:
    """Rewrite the maximum of two preds as their or, and the minimum as their and."""
    return computation.add(
        "or" if p.attributes["direction"].startswith("G") else "and", instruction.shape, (x, y)
    )


def decides_by_constants(i: HloInstruction) -> bool:
    """Return True for compare(select(p, A, B), C) with constants A, B and C.

    The predicate p must have the shape of the result.
    """
    choice, limit = i.operands
    return (
        choice.operands[0].shape.dimensions == i.shape.dimensions
        and is_ordinary(i)
        and all(
            isinstance(uniform_value(c), (bool, int, float)) for c in (limit, *choice.operands[1:])
        )
    )


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}


@rule(
    compare(select(name="choice"), fixed("limit")).that(decides_by_constants),
    exactness=Exactness.BITWISE,
    before=_P
    + filled("one", "f32[4]", 1)
    + filled("zero", "f32[4]", 0)
    + "s = f32[4] select(p, one, zero)\nROOT r = pred[4] compare(s, zero), direction=NE",
    after=_P.replace("p =", "ROOT p ="),
)
def compare_of_choice(
    computation: HloComputation,
    instruction: HloInstruction,
    choice: HloInstruction,
    limit: HloInstruction,
) -> HloInstruction:
    """Rewrite a constant compared with select(p, A, B) as p, not(p), true or false."""
    p, a, b = choice.operands
    holds = _COMPARISONS[instruction.attributes["direction"]]
    if_true, if_false = [bool(holds(uniform_value(c), uniform_value(limit))) for c in (a, b)]
    if if_true == if_false:
        return splat_constant(computation, instruction.shape, if_true)
    return p if if_true else computation.add("not", instruction.shape, (p,))


def is_of_integers(i: HloInstruction) -> bool:
    """Return True if both comparisons are of integers."""
    return all(o.operands[0].shape.element_type.is_integer for o in i.operands)


@rule(
    and_(
        compare(any_("x"), splat("a"), direction="LT"),
        compare(any_("x"), splat("b"), direction="LT"),
    ).that(is_of_integers),
    exactness=Exactness.BITWISE,
    before=_N
    + filled("a", "s32[4]", 10)
    + filled("b", "s32[4]", 100)
    + "c = pred[4] compare(x, a), direction=LT\nd = pred[4] compare(x, b), direction=LT\nROOT r = pred[4] and(c, d)",
    after=_N + filled("a", "s32[4]", 10) + "ROOT c = pred[4] compare(x, a), direction=LT",
)
def both_below(instruction: HloInstruction, a: HloInstruction, b: HloInstruction) -> HloInstruction:
    """Rewrite x < A and x < B as x < min(A, B), for integer constants."""
    smaller = a if uniform_value(a) <= uniform_value(b) else b
    return next(o for o in instruction.operands if o.operands[1] is smaller)


@rule(
    and_(
        compare(any_("x"), splat("a"), direction="LT"),
        compare(splat("b"), any_("x"), direction="GT", name="second"),
    ).that(is_of_integers),
    exactness=Exactness.BITWISE,
    before=_N
    + filled("a", "s32[4]", 10)
    + filled("b", "s32[4]", 100)
    + "c = pred[4] compare(x, a), direction=LT\nd = pred[4] compare(b, x), direction=GT\nROOT r = pred[4] and(c, d)",
    after=_N + filled("a", "s32[4]", 10) + "ROOT c = pred[4] compare(x, a), direction=LT",
)
def both_below_reversed(
    instruction: HloInstruction, a: HloInstruction, b: HloInstruction, second: HloInstruction
) -> HloInstruction:
    """Rewrite x < A and B > x as the stricter of both, for integer constants."""
    if uniform_value(b) < uniform_value(a):
        return second
    return next(o for o in instruction.operands if o is not second)


def chooses_by_a_predicate(i: HloInstruction) -> bool:
    """Return True for two branches and an index that is a converted predicate."""
    index = i.operands[0]
    return (
        len(i.called) == 2
        and index.opcode.name == "convert"
        and index.operands[0].shape.element_type.is_pred
    )


_BRANCHES = (
    "no {\n  p = f32[] parameter(0)\n  ROOT q = f32[] negate(p)\n}\n---\n"
    "yes {\n  p = f32[] parameter(0)\n  ROOT q = f32[] abs(p)\n}\n---\n"
    "c = pred[] parameter(0)\nx = f32[] parameter(1)\n"
)


@rule(
    conditional().that(chooses_by_a_predicate),
    exactness=Exactness.BITWISE,
    before=_BRANCHES
    + "n = s32[] convert(c)\nROOT r = f32[] conditional(n, x, x), branch_computations={no, yes}",
    after=_BRANCHES
    + "ROOT r = f32[] conditional(c, x, x), true_computation=yes, false_computation=no",
)
def conditional_on_predicate(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a conditional on convert(p) as a conditional on p, whose true branch is first."""
    index, no, yes = instruction.operands
    return computation.add(
        "conditional",
        instruction.shape,
        (index.operands[0], yes, no),
        instruction.attributes,
        called=instruction.called[::-1],
        metadata=instruction.metadata,
    )
