"""Wrong answers to the exercises of notebook 05."""

from __future__ import annotations

import math

import numpy as np

import xla_explorer as xe
from tests.explorer.course.mistakes import edited, mistake, solution, variant
from xla_explorer.course.nb05_algebra import CANDIDATES


def splat(i):
    i = i.operands[0] if i.opcode.name == "broadcast" else i
    return i.literal.splat if i.opcode.name == "constant" else None


def rule(test, result):
    return lambda i: result(i) if test(i) else None


mistake("nb05.rules", "rule-missing-1 (one)")(lambda i: None)
mistake("nb05.rules", "value-changed", 3)(
    rule(lambda i: i.opcode.name == "add" and splat(i.operands[1]) == 0, lambda i: i.operands[0])
)
mistake("nb05.rules", "value-changed", 4)(
    rule(
        lambda i: i.opcode.name == "multiply" and splat(i.operands[1]) == 0, lambda i: i.operands[1]
    )
)
mistake("nb05.rules", "value-changed", 3)(
    rule(lambda i: i.opcode.name == "divide" and splat(i.operands[0]) == 1, lambda i: i.operands[1])
)
mistake("nb05.rules", "raised-RuntimeError")(
    rule(lambda i: i.opcode.name == "add", lambda i: i.parent.add("add", i.shape, i.operands[::-1]))
)
mistake("nb05.rules", "rule-missing-1 (one)", 3)(
    rule(
        lambda i: i.opcode.name == "multiply" and splat(i.operands[1]) == 1, lambda i: i.operands[0]
    )
)
SAFE = {"x * 1 -> x", "x * 2 -> x + x", "x / 4 -> x * 0.25", "max(x, x) -> x"}
RIGHT = {
    name: None
    if name in SAFE
    else {
        "x * 0 -> 0": math.inf,
        "x + 0 -> x": -0.0,
        "x - x -> 0": math.nan,
        "x / x -> 1": 0.0,
        "x / 3 -> x * (1/3)": 5.0,
        "(x + y) - y -> x": (1.0, 1e30),
    }[name]
    for name in CANDIDATES
}
mistake("nb05.unsafe", "not-safe")({**RIGHT, "x / 3 -> x * (1/3)": None})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x + 0 -> x": 1.0})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x / 4 -> x * 0.25": math.nan})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "(x + y) - y -> x": 1.0})


def fold(m, may, order=lambda o: o, any_shape=False):
    from xla_explorer.hlo.evaluator import Evaluator
    from xla_explorer.hlo.literal import literal_from_array

    changed = False
    for i in order(list(m.entry.post_order())):
        if (
            i.operands
            and (any_shape or i.shape.is_array)
            and all(o.opcode.name == "constant" for o in i.operands)
            and may(i)
        ):
            array = Evaluator().evaluate_instruction(i, [o.literal.array for o in i.operands])
            m.entry.replace(i, m.entry.add_constant(literal_from_array(array, i.shape)))
            m.entry.remove(i)
            changed = True
    return changed


mistake("nb05.fold", "side-effect-lost")(lambda m: fold(m, lambda i: i.shape.element_count <= 64))
mistake("nb05.fold", "too-large", 2)(lambda m: fold(m, lambda i: i.opcode.name != "rng"))
mistake("nb05.fold", "not-folded")(
    lambda m: fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count <= 64, reversed)
)
mistake("nb05.fold", "not-folded")(lambda m: fold(m, lambda i: i.opcode.name == "add"))


mistake("nb05.fold", "not-folded", 2)(
    lambda m: fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count < 64)
)
mistake("nb05.fold", "too-large", 2)(
    lambda m: fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count < 66)
)


def foldable(i):
    return not i.opcode.side_effect and i.shape.element_count <= 64


simplify = solution("nb05.rules", "simplify", splat=splat, math=math)


@mistake("nb05.fold", "tuple-folded", 3)
def _(m):  # tuples too
    return fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count <= 64, any_shape=True)


mistake("nb05.fold", "no-verdict")(lambda m: None)
mistake("nb05.fold", "untrue-verdict")(lambda m: fold(m, foldable) or True)
mistake("nb05.fold", "not-folded", 2)(
    lambda m: fold(m, lambda i: foldable(i) and i.shape.rank == 0)
)  # scalars only
mistake("nb05.fold", "not-folded")(
    lambda m: fold(m, lambda i: foldable(i) and not i.called)
)  # nothing that calls
mistake("nb05.fold", "too-large", 2)(
    lambda m: fold(m, lambda i: foldable(i) or i.opcode.name == "broadcast")
)
mistake("nb05.fold", "too-large", 2)(
    lambda m: fold(m, lambda i: not i.opcode.side_effect and i.shape.byte_size <= 64 * 8)
)  # bytes for elements
mistake("nb05.rules", "rule-missing-2 (zero added)")(
    lambda i: simplify(i) if i.opcode.name != "add" else None
)
mistake("nb05.rules", "rule-missing-3 (times zero)")(
    lambda i: (
        simplify(i) if not (i.opcode.name == "multiply" and splat(i.operands[1]) == 0) else None
    )
)
mistake("nb05.rules", "rule-missing-4 (twice)")(
    lambda i: simplify(i) if i.opcode.name != "not" else None
)
mistake("nb05.rules", "rule-missing-5 (transposes)")(
    lambda i: simplify(i) if i.opcode.name != "transpose" else None
)
mistake("nb05.rules", "value-changed")(
    rule(
        lambda i: i.opcode.name == i.operands[0].opcode.name == "abs" if i.operands else False,
        lambda i: i.operands[0].operands[0],
    )
)
mistake("nb05.rules", "value-changed")(
    rule(
        lambda i: i.opcode.name == "subtract" and i.operands[0] is i.operands[1],
        lambda i: i.operands[0],
    )
)
mistake("nb05.rules", "another-form")(
    lambda i: splat(i.operands[1]) if len(i.operands) == 2 else None
)  # a number, not an instruction
mistake("nb05.unsafe", "not-safe")({**RIGHT, "x * 0 -> 0": None})
mistake("nb05.unsafe", "not-safe")({**RIGHT, "(x + y) - y -> x": None})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x / x -> 1": 2.0})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x - x -> 0": 1e30})  # large, but finite
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x * 2 -> x + x": math.inf})
mistake("nb05.unsafe", "no-number")({**RIGHT, "x * 0 -> 0": "inf"})
mistake("nb05.unsafe", "no-number")({**RIGHT, "x * 1 -> x": True})  # "it is safe"
mistake("nb05.unsafe", "another-form")(list(RIGHT.values()))
variant("nb05.unsafe")(
    {
        **RIGHT,
        "x * 0 -> 0": -1.0,
        "x - x -> 0": math.nan,
        "x / x -> 1": math.inf,
        "x / 3 -> x * (1/3)": -5,
    }
)


@variant("nb05.fold")
def _(m):  # round by round
    changed = False
    while fold(m, foldable, reversed):
        changed = True
    return changed


mistake("nb05.unsafe", "not-safe")(dict.fromkeys(RIGHT))  # "mathematics says so"
mistake("nb05.unsafe", "not-safe")({**RIGHT, "x - x -> 0": None})
mistake("nb05.unsafe", "not-safe")({**RIGHT, "x / x -> 1": None})
mistake("nb05.unsafe", "not-safe")({**RIGHT, "x + 0 -> x": None})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x + 0 -> x": 0.0})  # the other zero
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x / 4 -> x * 0.25": 1e-30})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x * 0 -> 0": 1e38})  # large, but finite
mistake("nb05.unsafe", "not-a-witness")(
    {**RIGHT, "x * 0 -> 0": (math.inf, 0.0)}
)  # two numbers for one
mistake("nb05.unsafe", "no-number")({**RIGHT, "x - x -> 0": [math.inf]})
mistake("nb05.unsafe", "no-number")({**RIGHT, "(x + y) - y -> x": ("1e30", "1")})


def prove(*edits):
    """Return the reference prover, edited."""
    return edited("nb05.prove", "prove", *edits, np=np, xe=xe)


mistake("nb05.prove", "wrong-rule-proved", 6)(lambda left, right: None)
mistake("nb05.prove", "no-arguments", 6)(lambda left, right: False)
mistake("nb05.prove", "right-rule-refuted", 6)(prove(("if differ.any() else None", "")))
mistake("nb05.prove", "right-rule-refuted", 6)(
    prove(("if differ.any() else None", "if not differ.all() else None"))
)
mistake("nb05.prove", "wrong-rule-proved", 6)(  # ten values of 256
    prove(("if differ.any()", "if differ[:10].any()"))
)
mistake("nb05.prove", "wrong-rule-proved", 8)(  # every value but INT_MIN and 255
    prove(("if differ.any()", "if (differ & (cases[0] != -128) & (cases[0] != 255)).any()"))
)
mistake("nb05.prove", "wrong-rule-proved", 8)(  # as if the operands were one value
    prove(("if differ.any()", "if (differ & (cases[0] == cases[-1])).any()"))
)
mistake("nb05.prove", "no-counterexample", 8)(
    prove(("for column in cases)", "for column in cases[::-1])"))
)
mistake("nb05.prove", "no-counterexample")(
    prove(("differ.argmax()", "(~differ).argmax()"))
)  # where they agree
mistake("nb05.prove", "no-arguments")(
    prove(("tuple(column[differ.argmax()] for column in cases)", "differ.argmax()"))
)
mistake("nb05.prove", "raised-EvaluationError")(  # both parameters of one type
    prove(
        (
            "for parameter in left.entry.parameters()",
            "for parameter in [left.entry.parameters()[0]] * 2",
        )
    )
)


@variant("nb05.prove")
def _(left, right):  # the last difference, as Python numbers
    every = []
    for p in left.entry.parameters():
        kind = p.shape.element_type
        low, high = (0, 2) if kind.is_pred else (-128, 128) if kind.is_signed else (0, 256)
        every.append(np.arange(low, high).astype(kind.dtype))
    cases = [grid.ravel() for grid in np.meshgrid(*every)]
    places = np.flatnonzero(xe.evaluate(left, *cases) != xe.evaluate(right, *cases))
    return [int(column[places[-1]]) for column in cases] if places.size else None
