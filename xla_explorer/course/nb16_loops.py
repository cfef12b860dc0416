"""Notebook 16, loops: trip counts, loop-invariant code, and in-place updates."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import same_bits
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure, program_text, value_text
from xla_explorer.explorer.compiling import compile
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import verify

_STATE = "(s32[], f32[4])"
# True if the loop continues, by the direction of its comparison.
_GOES_ON: dict[str, Callable[[int, int], bool]] = {
    "LT": int.__lt__, "LE": int.__le__, "GT": int.__gt__, "GE": int.__ge__, "NE": int.__ne__,
}  # fmt: skip


def loop_of(module: HloModule) -> HloInstruction:
    """Return the only `while` of a module's entry."""
    return next(i for i in module.entry.post_order() if i.opcode.name == "while")


def counted(start: str = "constant(0)", update: str = "add(k, c)", step: int = 1, direction: str = "LT", limit: int = 5,
            swapped: bool = False, bound: str = "", shown: str = "k") -> HloModule:  # fmt: skip
    """Return a loop whose counter is element 0 of the state, from parts of its HLO text."""
    operands = f"n, {shown}" if swapped else f"{shown}, n"
    return parse_hlo(f"""HloModule counted
body {{ state = {_STATE} parameter(0)  k = s32[] get-tuple-element(state), index=0  x = f32[4] get-tuple-element(state), index=1
  c = s32[] constant({step})  next = s32[] {update}  y = f32[4] tanh(x)  ROOT again = {_STATE} tuple(next, y) }}
condition {{ state = {_STATE} parameter(0)  k = s32[] get-tuple-element(state), index=0  x = f32[4] get-tuple-element(state), index=1
  n = s32[] {bound or f"constant({limit})"}  square = s32[] multiply(k, k)  ROOT more = pred[] compare({operands}), direction={direction} }}
ENTRY main {{ p = s32[] parameter(0)  x = f32[4] parameter(1)  start = s32[] {start}  state = {_STATE} tuple(start, x)
  ROOT end = {_STATE} while(state), condition=condition, body=body }}""")


def counted_by_another(index: int = 1, start: int = 0) -> HloModule:
    """Return a loop whose next counter is computed from another element of the state.

    The counter does not grow by equal steps.
    """
    state = "(s32[], s32[], f32[4])"
    return parse_hlo(f"""HloModule counted
body {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  j = s32[] get-tuple-element(state), index={index}
  x = f32[4] get-tuple-element(state), index=2  c = s32[] constant(1)  next = s32[] add(j, c)  twice = s32[] multiply(j, j)
  ROOT again = {state} tuple(next, twice, x) }}
condition {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  n = s32[] constant(10)
  ROOT more = pred[] compare(k, n), direction=LT }}
ENTRY main {{ x = f32[4] parameter(0)  zero = s32[] constant({start})  state = {state} tuple(zero, zero, x)
  ROOT end = {state} while(state), condition=condition, body=body }}""")


def _ends_after(start: int, step: int, direction: str, limit: int) -> int | None:
    goes_on = _GOES_ON[direction]
    if not goes_on(start, limit):
        return 0
    near = abs(limit - start) // abs(step) if step else 0
    for rounds in range(
        max(near - 1, 1), near + 3
    ):  # the directions differ only in the last steps before the limit
        if not goes_on(start + rounds * step, limit):
            return rounds
    return None


def _counted_cases() -> list[tuple[HloModule, int | None]]:
    known = [
        (0, 1, "LT", 5), (0, 1, "LE", 5), (0, 2, "LT", 5), (0, 2, "LE", 6), (0, 1, "LT", 0), (5, 1, "LT", 5), (7, 1, "LT", 5),
        (5, 1, "LE", 5), (3, 1, "LT", 10), (-4, 3, "LT", 5), (10, -1, "GT", 0), (10, -1, "GE", 0), (10, -3, "GE", 0), (9, -3, "GT", 0),
        (0, 1, "NE", 6), (0, 2, "NE", 6), (6, -2, "NE", 0), (4, 1, "NE", 4), (0, 1, "LT", 2_000_000_000), (0, 2, "NE", 5),
        (1, 3, "NE", 7), (0, 6, "NE", 6), (0, 0, "NE", 5), (0, -1, "NE", 5),
        (0, 0, "LT", 5), (0, -1, "LT", 5), (0, 1, "GE", 0), (1, 1, "GT", 0), (0, 0, "LT", 0),
    ]  # fmt: skip
    made = []
    for start, step, direction, limit in known:
        made.append(
            (
                counted(f"constant({start})", "add(k, c)", step, direction, limit),
                _ends_after(start, step, direction, limit),
            )
        )
    made += [
        (counted(update="add(c, k)", limit=9), 9), (counted("constant(9)", "subtract(k, c)", 2, "GT", 0), 5),
        (counted(direction="GT", limit=6, swapped=True), 6), (counted(direction="GE", limit=6, swapped=True), 7),
        (counted("constant(3)", direction="LE", limit=0, swapped=True, update="subtract(k, c)"), 4),
        (counted("copy(p)"), None), (counted(update="multiply(k, c)", step=2), None), (counted(update="subtract(c, k)"), None),
        (counted(bound="get-tuple-element(state), index=0"), None), (counted(update="copy(k)"), None),
        (counted("constant(9)", "subtract(c, k)", 2, "GT", 0), None), (counted(update="add(c, c)"), None),
        (counted(update="add(k, k)"), None), (counted(shown="square"), None),
        (counted_by_another(0), 10), (counted_by_another(), None), (counted_by_another(start=2), None),
    ]  # fmt: skip
    return made


@exercise(
    "nb16.trip_count",
    "Write trip_count(loop): how often the body runs, or None if the program does not determine "
    "it.",
    "Find four things: the counter's first value, its step, the direction of the comparison, the "
    "limit.",
    hints=(
        (
            "condition, body = loop.called; the comparison is condition.root, its attribute "
            "`direction` a word such as LT."
        ),
        "compare(n, k), direction=GT means k < n: exchange the operands and mirror the direction.",
        (
            "For LT with a positive step: the least t with start + t * step >= limit, and 0 "
            "where that is true at once."
        ),
        (
            "NE ends only if the counter hits the limit exactly. A step away from the limit "
            "never ends: None."
        ),
    ),
)
def trip_count(function: Callable[[HloInstruction], Any]) -> Cases:
    """Check counters in both directions, loops that never run, and loops without a known count.

    Their limits are missed or stepped over, or their counter has another form.
    """
    for module, want in _counted_cases():
        with answering(module):
            got = function(loop_of(module))
        if got is not None and (isinstance(got, bool) or not isinstance(got, (int, np.integer))):
            raise WrongAnswerError(
                Failure(
                    "no-number", "The answer is an integer or None.", repr(want), repr(got), module
                )
            )
        if got == want:
            yield None
        elif want is None:
            yield Failure("not-known", "The trip count of this loop is not constant.", "None", repr(got), module,
                          hint="It never ends, or start, step or limit is not a constant that is added or compared.")  # fmt: skip
        else:
            yield Failure("another-count", f"The body runs {want} times.", str(want), repr(got), module,
                          hint="Go through the first and the last step by hand: at which counter does it end?")  # fmt: skip


def random_loop(seed: int) -> HloModule:
    """Return a loop of three steps over a few arrays, some of them unchanged."""
    choice = random.Random(seed)
    arrays = choice.randint(2, 4)
    known = [f"x{n}" for n in range(arrays)]
    lines = [f"x{n} = f32[4] get-tuple-element(state), index={n + 1}" for n in range(arrays)]
    made: list[str] = []
    for number in range(choice.randint(3, 8)):
        name, x, y = f"v{number}", choice.choice(known), choice.choice(known[-4:])
        kind = choice.choice(
            ("add", "multiply", "maximum", "tanh", "negate", "exponential", "reverse")
        )
        operands = f"{x}, {y}" if kind in ("add", "multiply", "maximum") else x
        lines.append(
            f"{name} = f32[4] {kind}({operands}){', dimensions={0}' if kind == 'reverse' else ''}"
        )
        known.append(name)
        made.append(name)
    passed = [f"x{n}" if choice.random() < 0.5 else choice.choice(made) for n in range(arrays)]
    if choice.random() < 0.3:
        passed[0], passed[-1] = passed[-1], passed[0]
    state = f"(s32[]{', f32[4]' * arrays})"
    given = "  ".join([f"a{n} = f32[4] parameter({n})" for n in range(arrays)])
    return parse_hlo(f"""HloModule loop
body {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  {"  ".join(lines)}
  one = s32[] constant(1)  next = s32[] add(k, one)  ROOT again = {state} tuple(next, {", ".join(passed)}) }}
condition {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  n = s32[] constant(3)
  ROOT more = pred[] compare(k, n), direction=LT }}
ENTRY main {{ {given}  zero = s32[] constant(0)  start = {state} tuple(zero, {", ".join([f"a{n}" for n in range(arrays)])})
  ROOT end = {state} while(start), condition=condition, body=body }}""")


def _with_chance() -> HloModule:
    state = "(s32[], f32[4], f32[4])"
    return parse_hlo(f"""HloModule chance
body {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  x = f32[4] get-tuple-element(state), index=1
  w = f32[4] get-tuple-element(state), index=2  low = f32[] constant(0)  high = f32[] constant(1)
  r = f32[4] rng(low, high), distribution=rng_uniform  q = f32[4] exponential(w)  s = f32[4] add(q, r)
  one = s32[] constant(1)  two = s32[] add(one, one)  next = s32[] add(k, one)  ROOT again = {state} tuple(next, s, w) }}
condition {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  n = s32[] constant(3)
  ROOT more = pred[] compare(k, n), direction=LT }}
ENTRY main {{ x = f32[4] parameter(0)  w = f32[4] parameter(1)  zero = s32[] constant(0)  start = {state} tuple(zero, x, w)
  ROOT end = {state} while(start), condition=condition, body=body }}""")


def _of_no_operands() -> HloModule:
    """Return a loop with operations without operands, whose values are the same in each step."""
    state = "(s32[], f32[4])"
    return parse_hlo(f"""HloModule nothing_read
body {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  x = f32[4] get-tuple-element(state), index=1
  places = f32[4] iota(), iota_dimension=0  twice = f32[4] add(places, places)  y = f32[4] multiply(x, twice)
  one = s32[] constant(1)  next = s32[] add(k, one)  ROOT again = {state} tuple(next, y) }}
condition {{ state = {state} parameter(0)  k = s32[] get-tuple-element(state), index=0  n = s32[] constant(3)
  ROOT more = pred[] compare(k, n), direction=LT }}
ENTRY main {{ x = f32[4] parameter(0)  zero = s32[] constant(0)  start = {state} tuple(zero, x)
  ROOT end = {state} while(start), condition=condition, body=body }}""")


def _unchanging(module: HloModule) -> dict[str, str]:
    """Return the loop-invariant operations of the body, each with the cause."""
    body = loop_of(module).called[1]
    last = body.root.operands
    kept = {
        n
        for n, i in enumerate(last)
        if i.opcode.name == "get-tuple-element" and i.attribute("index") == n
    }
    same: dict[HloInstruction, str] = {}
    for i in body.post_order():
        name = i.opcode.name
        if name == "constant" or (name == "get-tuple-element" and i.attribute("index") in kept):
            same[i] = ""
        elif (
            name not in ("parameter", "tuple", "get-tuple-element")
            and not i.opcode.side_effect
            and all(o in same for o in i.operands)
        ):
            same[i] = "all of its operands are the same in each step"
    return {i.name: why for i, why in same.items() if why}


@exercise(
    "nb16.invariant",
    "Write invariant(loop): the names of the body's operations that compute the same in each step.",
    "Which elements of the state does the body pass on unchanged?",
    hints=(
        (
            "Element n is passed on if operand n of body.root is get-tuple-element(state), "
            "index=n: the same n."
        ),
        "Go through body.post_order(): an operation is invariant when all its operands are.",
        (
            "Constants and passed-on elements are the beginning, but no operations: they are not "
            "in the answer."
        ),
        "i.opcode.side_effect: a random number is another one each time, whatever its operands.",
    ),
)
def invariant(function: Callable[[HloInstruction], Any]) -> Cases:
    """Check random loops that pass on, exchange and recompute their state.

    One loop has random numbers, one has operations without operands.
    """
    for module in [_with_chance(), _of_no_operands(), *[random_loop(seed) for seed in range(60)]]:
        want = _unchanging(module)
        with answering(module):
            got = function(loop_of(module))
        if not isinstance(got, (set, frozenset, list, tuple)) or any(
            not isinstance(name, str) for name in got
        ):
            raise WrongAnswerError(
                Failure(
                    "no-names",
                    "The answer is a set of names.",
                    "a set of str",
                    repr(got),
                    module,
                    hint="i.name",
                )
            )
        too_many, missing = sorted(set(got) - set(want)), sorted(set(want) - set(got))
        if too_many:
            yield Failure("changes", f"%{too_many[0]} changes, or is not an operation.", repr(sorted(want)), repr(sorted(got)), module,
                          hint="Follow it back: which element of the state is it, and is that passed on?")  # fmt: skip
        elif missing:
            yield Failure(
                "missing",
                f"%{missing[0]} is invariant: {want[missing[0]]}.",
                repr(sorted(want)),
                repr(sorted(got)),
                module,
            )
        else:
            yield None


def bytes_of_a_step(module: HloModule) -> float:
    """Return the bytes that one iteration of the compiled loop moves; 0 without a loop.

    The bytes are those of the cost model.
    """
    compiled = compile(module, threads=1, cache=True).module
    loops = [i for i in compiled.instructions() if i.opcode.name == "while"]
    return sum(
        [
            instruction_cost(i).bytes_accessed
            for loop in loops
            for i in loop.called[1].post_order()
            if i.opcode.name != "tuple"
        ]
    )


@exercise(
    "nb16.running_maximum",
    "Write running_maximum(n): the text of a module f32[n] -> f32[n] with y[k] = max(x[0], ..., "
    "x[k]), by one loop of n steps.",
    "The state has four elements: the counter, the largest so far, x, and y.",
    hints=(
        (
            "dynamic-slice(x, k), dynamic_slice_sizes={1} reads f32[1] at k; reshape makes a "
            "scalar of it."
        ),
        "dynamic-update-slice(y, row, k) is y with another element k; row is f32[1].",
        "Begin with -inf: 0 would be larger than negative numbers.",
        (
            "Writing by select over the whole of y gives the right values, and moves all of y in "
            "each step."
        ),
    ),
)
def running_maximum(function: Callable[[int], Any]) -> Cases:
    """Check lengths 1 to 50 on ordinary numbers, NaN and infinities.

    An iteration must move as many bytes for 400 numbers as for 50.
    """
    for n in (1, 2, 5, 50):
        module = _module(function, n)
        yield _right_values(module, n)
    small, large = _module(function, 50), _module(function, 400)
    few, many = bytes_of_a_step(small), bytes_of_a_step(large)
    if not few:
        yield Failure(
            "no-loop",
            "The module has no loop any more.",
            "one while",
            program_text(small)[:800],
            hint="One step an element.",
        )
    elif many > few:
        yield Failure("moves-the-array", "A step moves more, the longer the array is.", f"{few:g} bytes, as for 50 numbers",
                      f"{many:g} bytes for 400 numbers", hint="Read with dynamic-slice, write with dynamic-update-slice.")  # fmt: skip
    else:
        yield None


def _module(function: Callable[[int], Any], n: int) -> HloModule:
    got = function(n)
    if not isinstance(got, str):
        raise WrongAnswerError(
            Failure(
                "no-text", "The answer is the text of a module.", "a str", repr(got), arguments=(n,)
            )
        )
    try:
        module = parse_hlo(got)
        verify(module)
        return module
    except XlaExplorerError as error:
        raise WrongAnswerError(
            Failure(
                "not-valid",
                f"For n = {n} this is not HLO.",
                "a module",
                str(error)[:1200],
                arguments=(n,),
            )
        ) from error


def _right_values(module: HloModule, n: int) -> Failure | None:
    given = [p.shape.dimensions for p in module.entry.parameters()]
    if (
        given != [(n,)]
        or module.entry.root.shape.is_tuple
        or module.entry.root.shape.dimensions != (n,)
    ):
        return Failure(
            "another-signature",
            f"For n = {n} the module is f32[{n}] -> f32[{n}].",
            f"[({n},)]",
            repr(given),
            module,
        )
    generator = np.random.default_rng(n)
    x = generator.standard_normal(n).astype(np.float32) - 3
    with_nan, with_infinity = x.copy(), x.copy()
    with_nan[n // 2], with_infinity[0] = np.nan, -np.inf
    for array in (x, -np.abs(x), with_nan, with_infinity):
        want, got = np.maximum.accumulate(array), np.asarray(evaluate(module, array))
        if not same_bits(want, got):
            return Failure(
                "wrong-value",
                "The running maximum is another one.",
                value_text(want),
                value_text(got),
                module,
                (array,),
            )
    return None
