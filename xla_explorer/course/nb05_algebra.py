"""Notebook 05, algebraic simplification and constant folding."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xla_explorer.course.checking.passes import Pass, check_pass, pass_failure
from xla_explorer.course.checking.programs import leaves_of, random_program, same_bits
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, exercise
from xla_explorer.course.checking.result import Failure, program_text, value_text
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

# name -> (left side, right side) as roots over p (and q): f32 scalars
CANDIDATES: dict[str, tuple[str, str]] = {
    "x * 0 -> 0": ("multiply(p, zero)", "add(zero, zero)"),
    "x + 0 -> x": ("add(p, zero)", "copy(p)"),
    "x - x -> 0": ("subtract(p, p)", "add(zero, zero)"),
    "x / x -> 1": ("divide(p, p)", "multiply(one, one)"),
    "x * 1 -> x": ("multiply(p, one)", "copy(p)"),
    "x * 2 -> x + x": ("multiply(p, two)", "add(p, p)"),
    "x / 4 -> x * 0.25": ("divide(p, four)", "multiply(p, quarter)"),
    "x / 3 -> x * (1/3)": ("divide(p, three)", "multiply(p, third)"),
    "max(x, x) -> x": ("maximum(p, p)", "copy(p)"),
    "(x + y) - y -> x": ("subtract(s, q)", "copy(p)"),
}
# On one of these (or a pair of them) the sides of every rule differ that is not safe.
_TELLING = (1.0, 5.0, 0.0, -0.0, 1e30, float("inf"), float("nan"))


def candidate_programs(name: str) -> tuple[HloModule, HloModule]:
    """Return the two sides of a candidate rule as programs of p (and q)."""
    two = " y" in name
    head = (
        "p = f32[] parameter(0)  "
        + ("q = f32[] parameter(1)  s = f32[] add(p, q)  " if two else "")
        + "".join([f"{n} = f32[] constant({v})  " for n, v in _NUMBERS.items()])
    )
    sides = []
    for side in CANDIDATES[name]:
        module = parse_hlo(f"HloModule m\nENTRY main {{ {head}ROOT r = f32[] {side} }}")
        _sweep(module.entry.post_order())
        sides.append(module)
    return sides[0], sides[1]


_NUMBERS = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "quarter": "0.25",
    "third": repr(float(np.float32(1 / 3))),
}


@exercise(
    "nb05.unsafe",
    "For each rule: None if it is safe in f32, else a value (or a pair) for which the sides "
    "differ.",
    'Every entry starts as "?"; replace it.',
    hints=(
        (
            "Try NaN, both infinities, both zeros, the largest number, and a large number with a "
            "small one."
        ),
        (
            "Multiplying by a power of two is exact unless it overflows or becomes subnormal; "
            "one third is never exact."
        ),
    ),
)
def unsafe(answers: dict[str, Any]) -> Cases:
    """Check that each witness is one, and that each rule called safe is safe."""
    if any(
        answers.get(name, "?") == "?"
        for name in CANDIDATES
        if not isinstance(answers.get(name), tuple)
    ):
        raise NotImplementedError
    for name in CANDIDATES:
        left, right = candidate_programs(name)
        given = answers[name]
        numbers = given if isinstance(given, tuple) else () if given is None else (given,)
        if any(isinstance(v, bool) or not isinstance(v, int | float | np.number) for v in numbers):
            raise WrongAnswerError(
                Failure(
                    "no-number",
                    f"{name}: the answer is None, a number or a pair of them.",
                    "None or numbers",
                    repr(given),
                    hint='Write None where the rule is safe, else 1.0, -0.0, float("inf"), '
                    'float("nan"), or a pair such as (1.0, 2.0).',
                )
            )
        if given is None:
            for values in itertools.product(_TELLING, repeat=len(left.entry.parameters())):
                arguments = tuple([np.float32(v) for v in values])
                a, b = leaves_of(left, arguments)[0], leaves_of(right, arguments)[0]
                if not same_bits(a, b):
                    raise WrongAnswerError(
                        Failure(
                            "not-safe",
                            f"{name} is not safe in f32.",
                            f"left side: {value_text(a)}",
                            f"right side: {value_text(b)}",
                            left,
                            arguments,
                            "Now find such values for the other rules: zeros of both signs, "
                            "infinities, NaN, results that must be rounded.",
                        )
                    )
            yield None
            continue
        values = given if isinstance(given, tuple) else (given,)
        arguments = tuple([np.float32(v) for v in values])
        if len(arguments) != len(left.entry.parameters()):
            raise WrongAnswerError(
                Failure(
                    "not-a-witness",
                    f"{name} takes {len(left.entry.parameters())} numbers.",
                    got=repr(given),
                )
            )
        a, b = leaves_of(left, arguments)[0], leaves_of(right, arguments)[0]
        if same_bits(a, b):
            raise WrongAnswerError(
                Failure(
                    "not-a-witness",
                    f"{name}: both sides are {value_text(a)} for this value.",
                    "two different results",
                    value_text(a),
                    left,
                    arguments,
                    "Try zeros of both signs, infinities, NaN, numbers whose result must be "
                    "rounded; "
                    "if nothing differs, the rule is safe: None.",
                )
            )
        yield None


Simplify = Callable[[HloInstruction], "HloInstruction | None"]


def _scalar(kind: str, constant: str, opcode: str, swapped: bool = False) -> str:
    operands = "c, p" if swapped else "p, c"
    return (
        f"HloModule m\nENTRY main {{ p = {kind}[] parameter(0)  c = {kind}[] constant({constant})  "
        f"ROOT r = {kind}[] {opcode}({operands}) }}"
    )


def _array(kind: str, constant: str, opcode: str) -> str:
    return (
        f"HloModule m\nENTRY main {{ p = {kind}[2] parameter(0)  c = {kind}[] constant({constant})  "
        f"s = {kind}[2] broadcast(c), dimensions={{}}  "
        f"ROOT r = {kind}[2] {opcode}(p, s) }}"
    )


def _twice(kind: str, opcode: str) -> str:
    return f"HloModule m\nENTRY main {{ p = {kind}[2] parameter(0)  a = {kind}[2] {opcode}(p)  ROOT r = {kind}[2] {opcode}(a) }}"


_TRANSPOSES = (
    "HloModule m\nENTRY main { p = f32[2,3] parameter(0)  a = f32[3,2] transpose(p), dimensions={1,0}  "
    "ROOT r = f32[2,3] transpose(a), dimensions={1,0} }",
    "HloModule m\nENTRY main { p = f32[2,3,4] parameter(0)  a = f32[3,4,2] transpose(p), dimensions={1,2,0}  "
    "ROOT r = f32[4,2,3] transpose(a), dimensions={1,2,0} }",
    "HloModule m\nENTRY main { p = f32[2,3,4] parameter(0)  a = f32[4,2,3] transpose(p), dimensions={2,0,1}  "
    "ROOT r = f32[4,3,2] transpose(a), dimensions={0,2,1} }",
)
# rule -> programs on which it must fire, with the opcode that must be gone (or, for transposes, at
# most how many stay)
MUST_FIRE: dict[str, tuple[tuple[str, str, int], ...]] = {
    "1 (one)": (
        (_scalar("f32", "1", "multiply"), "multiply", 0),
        (_scalar("f32", "1", "multiply", True), "multiply", 0),
        (_array("f32", "1", "divide"), "divide", 0),
        (_array("s32", "1", "multiply"), "multiply", 0),
    ),
    "2 (zero added)": (
        (_scalar("s32", "0", "add"), "add", 0),
        (_array("s32", "0", "add"), "add", 0),
        (_scalar("f32", "-0", "add"), "add", 0),
        (_scalar("f32", "-0", "add", True), "add", 0),
    ),
    "3 (times zero)": (
        (_scalar("s32", "0", "multiply"), "multiply", 0),
        (_array("s32", "0", "multiply"), "multiply", 0),
    ),
    "4 (twice)": (
        (_twice("f32", "negate"), "negate", 0),
        (_twice("s32", "negate"), "negate", 0),
        (_twice("pred", "not"), "not", 0),
    ),
    "5 (transposes)": (
        (_TRANSPOSES[0], "transpose", 0),
        (_TRANSPOSES[1], "transpose", 1),
        (_TRANSPOSES[2], "transpose", 1),
    ),
}
# Programs on which a wrong rule shows.
MUST_NOT_FIRE = (
    _scalar("f32", "0", "multiply"),
    _scalar("f32", "0", "add"),
    _array("f32", "0", "multiply"),
    _array("f32", "0", "add"),
    _scalar("f32", "-0", "subtract"),
    _scalar("s32", "1", "divide", True),
    _scalar("f32", "1", "divide", True),
    _scalar("s32", "1", "add"),
    _twice("f32", "abs"),
    _scalar("f32", "-1", "multiply"),
    "HloModule m\nENTRY main { p = f32[2] parameter(0)  ROOT r = f32[2] subtract(p, p) }",
    "HloModule m\nENTRY main { p = f32[2] parameter(0)  ROOT r = f32[2] divide(p, p) }",
)
MOST_REWRITES = 200


def run_rules(simplify: Simplify, module: HloModule) -> bool:
    """Apply `simplify` to every instruction until nothing changes.

    Returns whether something did. RuntimeError when it never ends.
    """
    rewrites = 0
    progress = True
    while progress:
        progress = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                # An instruction without users is skipped: it would only be rewritten again.
                if i.id not in computation.instructions or (
                    not i.users and i is not computation.root
                ):
                    continue
                new = simplify(i)
                if new is None or new is i:
                    continue
                computation.replace(i, new)
                rewrites += 1
                progress = True
                if rewrites > MOST_REWRITES:
                    raise RuntimeError(
                        f"{MOST_REWRITES} rewrites of one small program: two rules undo each "
                        "other, or one fires on its own result"
                    )
        for computation in module.computations.values():
            _sweep(computation.post_order())
    return rewrites > 0


def _sweep(order: list[HloInstruction]) -> None:
    for i in reversed(list(order)):
        if (
            not i.users
            and i is not i.parent.root
            and i.opcode.name != "parameter"
            and not i.opcode.side_effect
        ):
            i.parent.remove(i)


def _as_pass(simplify: Simplify) -> Pass:
    def run(module: HloModule) -> bool:
        before = program_text(module)
        run_rules(simplify, module)
        return program_text(module) != before

    return run


@exercise(
    "nb05.rules",
    "Write simplify(i): a replacement for the instruction i, or None.",
    "Start with rule 1: x * 1 is x.",
    hints=(
        "Constants arrive as broadcasts too: look through them.",
        (
            "Think of -0: x + 0 is not x where x is -0, but x + (-0) is; x * 0 is not 0 for NaN "
            "and infinities."
        ),
        "Return the operand itself where it is the replacement; the caller replaces all users.",
    ),
)
def rules(simplify: Simplify) -> Cases:
    """Check that each rule fires where it must, and that no bit of a result changes.

    Results include NaN, infinities and the sign of zero.
    """
    random = (random_program(seed, constants=0.7, identities=True) for seed in range(80))
    yield from check_pass(
        _as_pass(simplify),
        [*map(parse_hlo, MUST_NOT_FIRE), *random],
        lambda before, after: None,
        8,
        _BITS,
    )
    for rule, programs in MUST_FIRE.items():
        for text, opcode, most in programs:

            def fired(
                before: HloModule,
                after: HloModule,
                rule: str = rule,
                opcode: str = opcode,
                most: int = most,
            ) -> Failure | None:
                left = sum([i.opcode.name == opcode for i in after.entry.instructions.values()])
                if left <= most:
                    return None
                return Failure(
                    f"rule-missing-{rule}",
                    f"Rule {rule} did not fire.",
                    f"at most {most} {opcode}",
                    program_text(after),
                    before,
                    hint="Is the constant broadcast, or the other operand?"
                    if "constant" in program_text(before)
                    else "",
                )

            module = parse_hlo(text)
            failure = pass_failure(_as_pass(simplify), module, fired, 6, _BITS)
            if failure is not None and failure.code.startswith("rule-missing"):
                raise WrongAnswerError(
                    failure
                )  # unchanged: on a smaller program the rule need not fire
            yield from check_pass(_as_pass(simplify), [module], fired, 6, _BITS)


_BITS = (
    "One of your rules does not keep the value for this type. Which one fired here? Try it by "
    "hand on the values above: NaN, infinities, "
    "the sign of zero."
)


LARGEST_CONSTANT = 64
FOLD_FIXED = (
    "HloModule m\nENTRY main { p = f32[] parameter(0)  a = f32[] constant(2)  b = f32[] constant(3)  "
    "c = f32[] add(a, b)  ROOT r = f32[] multiply(p, c) }",
    "HloModule m\nENTRY main { a = f32[] constant(2)  b = f32[] exponential(a)  c = f32[] negate(b)  ROOT r = f32[] multiply(b, c) }",
    "HloModule m\nENTRY main { p = f32[] parameter(0)  a = f32[] constant(2)  ROOT r = f32[] multiply(p, a) }",
    "HloModule m\nENTRY main { a = f32[] constant(2)  ROOT r = f32[1000] broadcast(a), dimensions={} }",
    "HloModule m\nENTRY main { a = f32[] constant(2)  ROOT r = f32[65] broadcast(a), dimensions={} }",
    "HloModule m\nENTRY main { a = f32[] constant(2)  ROOT r = f32[64] broadcast(a), dimensions={} }",
    "HloModule m\nENTRY main { a = f32[] constant(2)  b = f32[] constant(3)  ROOT r = (f32[], f32[]) tuple(a, b) }",
    "HloModule m\nENTRY main { a = s32[2] constant({1, 2})  b = s32[2] constant({3, 4})  ROOT r = s32[2] add(a, b) }",
    "HloModule m\nENTRY main { a = f32[2,2] constant({{1, 2}, {3, 4}})  ROOT r = f32[2,2] transpose(a), dimensions={1,0} }",
    "HloModule m\nENTRY main { a = f32[] constant(0)  b = f32[] divide(a, a)  ROOT r = f32[] negate(b) }",
    "HloModule m\nENTRY main { lo = f32[] constant(0)  hi = f32[] constant(1)  ROOT r = f32[2] rng(lo, hi), distribution=rng_uniform }",
    "HloModule m\nENTRY main { a = f32[] constant(2)  t = token[] after-all()  o = token[] outfeed(a, t)  ROOT r = f32[] negate(a) }",
    "HloModule m\nadd { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }\n"
    "ENTRY main { a = f32[3] constant({1, 2, 3})  z = f32[] constant(0)  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add }",
)


def _foldable(i: HloInstruction) -> bool:
    return (
        bool(i.operands)
        and i.shape.is_array
        and all(o.opcode.name == "constant" for o in i.operands)
        and not i.opcode.side_effect
        and i.shape.element_count <= LARGEST_CONSTANT
    )


def _folded(before: HloModule, after: HloModule) -> Failure | None:
    for i in after.entry.post_order():
        if i.opcode.name == "constant" and not i.shape.is_array:
            return Failure(
                "tuple-folded",
                f"%{i.name} is a constant of several arrays.",
                "constants that are arrays",
                str(i.shape),
                before,
                hint="A tuple computes nothing: look at i.shape.is_array before you fold.",
            )
        if i.opcode.name == "constant" and i.shape.element_count > LARGEST_CONSTANT:
            return Failure(
                "too-large",
                f"%{i.name} puts {i.shape.byte_size} bytes into the program.",
                f"constants of at most {LARGEST_CONSTANT} elements",
                f"{i.shape.element_count} elements",
                before,
                hint="Look at i.shape.element_count before you fold.",
            )
        if _foldable(i):
            return Failure(
                "not-folded",
                f"All operands of %{i.name} are constants.",
                "a constant",
                str(i),
                before,
                hint=(
                    "Visit in post order, so that an operand is folded before its users are "
                    "visited."
                )
                if before.instruction_count() > 3
                else "",
            )
    return None


def fold_modules() -> Iterator[HloModule]:
    """Yield fixed cases, then random programs with many constants."""
    yield from map(parse_hlo, FOLD_FIXED)
    for seed in range(40):
        yield random_program(seed, constants=0.9)


@exercise(
    "nb05.fold",
    "Write fold(module): replace what depends on constants only by a constant.",
    "Visit the entry in post order.",
    hints=(
        "An operation can be folded when all its operands are constants and it has no side effect.",
        (
            "xe.evaluate, or the evaluator on the one instruction, gives the value; fold in post "
            "order, and a chain folds in one visit."
        ),
        "A constant of many elements takes memory forever: the text names the limit.",
    ),
)
def fold(run: Pass) -> Cases:
    """Check that values stay, and that nothing foldable is left.

    Large constants and random numbers must not be folded.
    """
    yield from check_pass(
        run, fold_modules(), _folded, 3, "The constant has another value than the operation."
    )
