"""Notebook 05, the exercise on proofs: a rule of small types is tried on every value."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.course.checking.programs import leaves_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PrimitiveType, primitive_type
from xla_explorer.hlo.shape import array_shape

Programs = tuple[HloModule, HloModule]
Sides = Callable[..., tuple[HloValue, HloValue]]


class SmallRule(NamedTuple):
    """A rule as two programs.

    name: `left -> right`. types: for each instance, the element types of the parameters. sides:
    makes left and right side from the parameters.
    """

    name: str
    types: tuple[tuple[str, ...], ...]
    sides: Sides


_S8, _U8, _PRED = (("s8",), ("u8",), ("pred",))
_EACH = (_S8, _U8)
_PAIRS = (("s8", "s8"), ("u8", "u8"))
_S8_PAIR, _PRED_PAIR, _MIXED = (("s8", "s8"),), (("pred", "pred"),), (("pred", "s8"),)


def _or_zero(p: HloValue, x: HloValue) -> HloValue:
    return p.builder.select(p, x, 0)


RULES: tuple[SmallRule, ...] = (
    SmallRule("x * 8 -> x << 3", _EACH, lambda x: (x * 8, x << 3)),
    SmallRule("x << 9 -> x << 1", _EACH, lambda x: (x << 9, x << 1)),
    SmallRule("(x >> 1) << 1 -> x", _EACH, lambda x: ((x >> 1) << 1, x)),
    SmallRule("(x << y) >> y -> x", _PAIRS, lambda x, y: ((x << y) >> y, x)),
    SmallRule("(x + y) - y -> x", _PAIRS, lambda x, y: ((x + y) - y, x)),
    SmallRule("x + 1 > x -> x == x", _EACH, lambda x: (x + 1 > x, x == x)),
    SmallRule("abs(x) >= 0 -> x == x", (_S8,), lambda x: (abs(x) >= 0, x == x)),
    SmallRule("abs(-x) -> abs(x)", (_S8,), lambda x: (abs(-x), abs(x))),
    SmallRule("x / x -> (x / x) * (x / x)", _EACH, lambda x: (x / x, (x / x) * (x / x))),
    SmallRule("(x / y) * y + x % y -> x", _PAIRS, lambda x, y: ((x / y) * y + x % y, x)),
    SmallRule("(x * y) / y -> x", _PAIRS, lambda x, y: ((x * y) / y, x)),
    SmallRule("x / -1 -> -x", (_S8,), lambda x: (x / -1, -x)),
    SmallRule("x / y -> (-x) / (-y)", _S8_PAIR, lambda x, y: (x / y, (-x) / (-y))),
    SmallRule("x / 2 -> x >> 1", _EACH, lambda x: (x / 2, x >> 1)),
    SmallRule("x % 4 -> x & 3", _EACH, lambda x: (x % 4, x & 3)),
    SmallRule(
        "max(min(x, y), y) -> y", _PAIRS, lambda x, y: (x.minimum(y).maximum(y), y.maximum(y))
    ),
    SmallRule(
        "min(x, y) + max(x, y) -> x + y", _PAIRS, lambda x, y: (x.minimum(y) + x.maximum(y), x + y)
    ),
    SmallRule(
        "max(x, y) - y -> max(x - y, 0)", _PAIRS, lambda x, y: (x.maximum(y) - y, (x - y).maximum(0))
    ),
    SmallRule("not(x & y) -> not x | not y", (*_PAIRS, *_PRED_PAIR), lambda x, y: (~(x & y), ~x | ~y)),
    SmallRule("x ^ y -> x | y", _PRED_PAIR, lambda x, y: (x ^ y, x | y)),
    SmallRule("x ^ x -> not x & x", (_PRED,), lambda x: (x ^ x, ~x & x)),
    SmallRule("p * x -> select(p, x, 0)", _MIXED, lambda p, x: (p.astype("s8") * x, _or_zero(p, x))),
    SmallRule("select(p, x, 0) -> x", _MIXED, lambda p, x: (_or_zero(p, x), x + 0)),
)  # fmt: skip


def rule_programs(name: str, *types: str) -> Programs:
    """Return both sides of a rule as programs whose parameters have an element for each case."""
    rule = next(rule for rule in RULES if rule.name == name)
    count = prod(len(_values(primitive_type(kind))) for kind in types)
    return _programs(rule, types, (count,))


def _programs(rule: SmallRule, types: tuple[str, ...], dimensions: tuple[int, ...]) -> Programs:
    sides = []
    for side in (0, 1):
        module = _both_sides(rule, types, dimensions)
        entry = module.entry
        both = entry.root
        entry.set_root(both.operands[side])
        entry.remove(both)
        for i in reversed(list(entry.post_order())):
            if not i.users and i is not entry.root and i.opcode.name != "parameter":
                entry.remove(i)
        sides.append(module)
    return sides[0], sides[1]


def _both_sides(
    rule: SmallRule, types: tuple[str, ...], dimensions: tuple[int, ...] = ()
) -> HloModule:
    """Return a program of scalars, or of arrays, whose result is the tuple of both sides."""
    builder = HloBuilder("rule", locations=False)
    parameters = [
        builder.parameter(array_shape(kind, dimensions), name)
        for kind, name in zip(types, "xy", strict=False)
    ]
    return builder.build(*rule.sides(*parameters))


def _values(kind: PrimitiveType) -> list[Any]:
    """Return every value of a type, those near zero first."""
    if kind.is_pred:
        return [np.False_, np.True_]
    numbers = np.arange(256, dtype=np.uint8).view(kind.dtype)
    return sorted(numbers, key=lambda number: (abs(int(number)), int(number) < 0))


def smallest_difference(programs: Programs) -> tuple[Any, ...] | None:
    """Return the arguments nearest to zero for which two programs differ, or None."""
    kinds = [p.shape.element_type for p in programs[0].entry.parameters()]
    cases = list(itertools.product(*map(_values, kinds)))
    arguments = tuple(
        [
            np.array(column, kind.dtype)
            for column, kind in zip(zip(*cases, strict=True), kinds, strict=True)
        ]
    )
    left, right = (leaves_of(program, arguments)[0] for program in programs)
    different = [case for case, differs in zip(cases, left != right, strict=True) if differs]
    return min(different, key=lambda case: sum([abs(int(v)) for v in case]), default=None)


@exercise(
    "nb05.prove",
    "Write prove(left, right): None if both programs agree on every value of their parameters, "
    "else arguments for which they differ.",
    "The parameters are s8, u8 or pred arrays with one element for each case: 256 for one number, "
    "65,536 for two.",
    hints=(
        "np.arange(256).astype(np.uint8).view(dtype) has every value of a type of 8 bits.",
        "np.meshgrid(..., indexing='ij') makes all pairs; ravel() makes each grid an argument.",
        "The two parameters of a program need not have the same type.",
    ),
)
def prove(answer: Callable[[HloModule, HloModule], Any]) -> Cases:
    """Check that each right rule is proved, and that each wrong one gets a counterexample."""
    found = []
    for rule in RULES:
        for types in rule.types:
            programs = rule_programs(rule.name, *types)
            smallest = smallest_difference(programs)
            with answering(programs[0]):
                given = answer(*programs)
            failure = _failure(rule, types, smallest, given)
            if failure is not None:
                raise WrongAnswerError(failure)
            verdict = "proved" if smallest is None else f"differs for {value_text(smallest)}"
            found.append(f"{rule.name} ({', '.join(types)}): {verdict}")
            yield None
    yield "The smallest counterexamples:\n" + "\n".join(found)


def _failure(
    rule: SmallRule, types: tuple[str, ...], smallest: tuple[Any, ...] | None, given: Any
) -> Failure | None:
    title = f"{rule.name} on {' and '.join(types)}"
    small = _both_sides(rule, types)
    if given is None:
        if smallest is None:
            return None
        return _different(
            "wrong-rule-proved",
            f"{title} is wrong, and prove returned None.",
            small,
            smallest,
            "Is this value among those that you tried? Print their number: 2 for a pred, 256 for "
            "8 bits, and for two parameters the product.",
        )
    numbers = _arguments(given, types)
    if numbers is None:
        return Failure(
            "no-arguments",
            f"{title}: the answer is None, or a tuple with a value of each parameter.",
            f"None or {len(types)} of {', '.join(types)}",
            repr(given),
            small,
        )
    if smallest is None:
        return _different(
            "right-rule-refuted",
            f"{title} is right: both sides agree on every value.",
            small,
            numbers,
            "Compare whole results, element by element, and return None if no element differs.",
        )
    left, right = leaves_of(small, numbers)
    if left == right:
        return _different(
            "no-counterexample",
            f"{title} is wrong, but not for these arguments.",
            small,
            numbers,
            "Take the elements of the arguments at the position where the results differ, in the "
            f"order of the parameters. They differ for {value_text(smallest)}, for example.",
        )
    return None


def _different(
    code: str, message: str, both: HloModule, arguments: tuple[Any, ...], hint: str
) -> Failure:
    left, right = map(value_text, leaves_of(both, arguments))
    shown = f"left side: {left}", f"right side: {right}"
    return Failure(code, message, *shown, both, arguments, hint)


def _arguments(given: Any, types: tuple[str, ...]) -> tuple[Any, ...] | None:
    """Return the answer as values of the types, or None if it has another form."""
    if not isinstance(given, tuple | list) or len(given) != len(types):
        return None
    dtypes = [primitive_type(kind).dtype for kind in types]
    if any(np.ndim(value) or np.asarray(value).dtype.kind not in "iub" for value in given):
        return None
    made = [np.asarray(v).astype(dtype)[()] for v, dtype in zip(given, dtypes, strict=True)]
    return tuple(made) if all(int(a) == int(b) for a, b in zip(made, given, strict=True)) else None
