"""Argmax and argmin reductions, and the carried positions that make them associative.

The combiner keeps the first NaN and the lowest index of equal values. Of 0.0 and -0.0 it keeps the
later one. So the order of the points matters, unless each partial result carries the position of
its value.
"""

from __future__ import annotations

from dataclasses import replace

from xla_explorer.compiler.codegen.nest.ir import (
    Combination,
    Compute,
    Constant,
    Iota,
    LoopNest,
    Reduce,
    Statement,
)
from xla_explorer.compiler.codegen.nest.rewriting import rewritten
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import index
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, attributes_of
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.primitive_type import PRED, S32, PrimitiveType
from xla_explorer.hlo.shape import array_shape

MOST_POSITIONS = 1 << 31


def argmax_direction(s: Reduce) -> str | None:
    """Return `GT` for the combiner of an argmax, `LT` for that of an argmin, else None.

    The combiner of (value, index) pairs must be `select(a > c or a != a, a, c)` and `select(a > c
    or a != a or (a == c and b < d), b, d)`. Integers need no `a != a`.
    """
    c = s.combiner
    if not isinstance(c, Combination) or len(c.left) != 2 or not s.elements[1].is_integer:
        return None
    (a, b), (x, y) = c.left, c.right
    known = {one.id: one for one in c.body if isinstance(one, Compute)}

    def operands(number: int, name: str) -> tuple[int, ...]:
        one = known.get(number)
        return one.operands if one is not None and one.opcode.name == name else ()

    def compares(number: int, pair: tuple[int, int], *directions: str) -> bool:
        one = known.get(number)
        if (
            one is None
            or operands(number, "compare") != pair
            or one.attributes.get("type") == "TOTALORDER"
        ):
            return False
        return one.attributes.get("direction") in directions

    def preferred(number: int) -> str | None:
        """Return the direction in which a condition prefers the left value, NaN included."""
        parts = operands(number, "or") if s.elements[0].is_float else (number,)
        for one, other in (
            (parts, parts[::-1])
            if len(parts) == 2
            else ((number, number),)
            if parts == (number,)
            else ()
        ):
            if compares(one, (a, x), "GT", "LT") and (
                one == other or compares(other, (a, a), "NE")
            ):
                return str(known[one].attributes["direction"])
        return None

    first, second = [operands(number, "select") for number in c.results]
    if not first or not second or first[1:] != (a, x) or second[1:] != (b, y):
        return None
    found, parts = preferred(first[0]), operands(second[0], "or")
    for better, tie in (parts, parts[::-1]) if found is not None and len(parts) == 2 else ():
        both = operands(tie, "and")
        if preferred(better) == found and any(
            compares(equal, (a, x), "EQ") and compares(lower, (b, y), "LT")
            for equal, lower in ((both, both[::-1]) if both else ())
        ):
            return found
    return None


def with_positions(nest: LoopNest, s: Reduce) -> LoopNest:
    """Return the nest with the position of the value as a third result of an argmax.

    Its combiner gets a `join` of partial results.
    """
    direction, c, number = argmax_direction(s), s.combiner, nest.fresh_id()
    assert direction is not None and isinstance(c, Combination)
    start, position, result, p, q, kept, *rest = range(number, number + 40)
    place = index(0)
    for b in s.axes:
        place = place * b.axis.extent + index(b.axis)
    chosen = next(
        one.operands[0] for one in c.body if isinstance(one, Compute) and one.id == c.results[0]
    )
    step = (*c.body, _compute(kept, S32, "select", chosen, p, q))
    join = _join(s, direction, rest)
    combiner = Combination((*c.left, p), (*c.right, q), step, (*c.results, kept), join)
    made = replace(
        s,
        ids=(*s.ids, result),
        elements=(*s.elements, S32),
        combiner=combiner,
        initial=(*s.initial, start),
        body=(*s.body, Iota(position, S32, place)),
        values=(*s.values, position),
    )
    before = Constant(start, literal_from_array(-1, array_shape(S32, ())))
    return replace(nest, body=(before, *rewritten(nest.body, lambda x: made if x is s else None)))


def _join(s: Reduce, direction: str, numbers: list[int]) -> Combination:
    a, b, p, c, d, q, *free = numbers
    left = iter(free)
    body: list[Statement] = []

    def make(name: str, *operands: int, element: PrimitiveType = PRED, **attributes: str) -> int:
        number = next(left)
        body.append(_compute(number, element, name, *operands, **attributes))
        return number

    better = make("compare", a, c, direction=direction)
    if s.elements[0].is_float:  # the first NaN wins
        first = make(
            "or", make("compare", p, q, direction="LT"), make("compare", c, c, direction="EQ")
        )
        better = make("or", better, make("and", make("compare", a, a, direction="NE"), first))
    equal = make("compare", a, c, direction="EQ")
    later = make("or", better, make("and", equal, make("compare", p, q, direction="GE")))
    lower = make("or", better, make("and", equal, make("compare", b, d, direction="LT")))
    value = make("select", later, a, c, element=s.elements[0])
    where = make("select", lower, b, d, element=s.elements[1])
    position = make("select", later, p, q, element=S32)
    return Combination((a, b, p), (c, d, q), tuple(body), (value, where, position))


def _compute(
    number: int, element: PrimitiveType, name: str, *operands: int, **attributes: str
) -> Compute:
    return Compute(
        number,
        element,
        opcode(name),
        operands,
        attributes_of(attributes) if attributes else NO_ATTRIBUTES,
    )


def why_not_associative(s: Reduce) -> Reason | None:
    """Return None if partial results can be combined in any order, up to rounding."""
    if argmax_direction(s) is not None:
        return None
    if isinstance(s.combiner, Combination) or (
        s.elements[0].is_complex and s.combiner.name != "add"
    ):
        return refuse(
            "reducer-not-known-associative",
            f"%{s.ids[0]} is not known to be associative and commutative",
        )
    return None
