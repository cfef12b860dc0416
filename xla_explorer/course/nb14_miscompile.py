"""Notebook 14, find the miscompile: the pass, the instruction, the smallest program."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import (
    Array,
    arguments_of,
    leaves_of,
    random_program,
    same_bits,
    values_of,
)
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure, program_text, value_text
from xla_explorer.explorer.questions.minimization import smaller_modules
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

# A mistake in a compiler: instructions of the first opcode become the second; `swap` exchanges the
# operands, `lose` forgets the operation.
MISTAKES = (
    ("subtract", "swap"), ("divide", "swap"), ("maximum", "minimum"), ("minimum", "maximum"), ("add", "subtract"),
    ("multiply", "add"), ("negate", "lose"), ("abs", "lose"), ("tanh", "lose"), ("exponential", "negate"),
)  # fmt: skip
_MOST_TRIALS = 1000


def smaller(module: HloModule) -> Iterator[HloModule]:
    """Yield valid modules one step smaller than `module`, the boldest steps first.

    A step makes another instruction the root, replaces an instruction by an operand or a parameter,
    or removes unused instructions. `module` is left unchanged.
    """
    yield from smaller_modules(module, tidy=True)


def miscompiled(module: HloModule, opcode: str, instead: str, most: int | None = None) -> HloModule:
    """Return a copy with a mistake of `MISTAKES`, at the first `most` instructions of the opcode.

    most: None for all of them.
    """
    copy = module.clone()
    for i in [i for i in copy.entry.post_order() if i.opcode.name == opcode][:most]:
        operands = i.operands[::-1] if instead == "swap" else i.operands
        other = copy.entry.add(
            {"swap": opcode, "lose": "copy"}.get(instead, instead), i.shape, operands
        )
        copy.entry.replace(i, other)
        copy.entry.remove(i)
        other.name = (
            i.name
        )  # a module gives no name twice, but a wrong instruction must look like the right one
    return copy


def shows(module: HloModule, opcode: str, instead: str) -> bool:
    """Return True if a mistake changes the module's result for some arguments of the checks."""
    wrong = miscompiled(module, opcode, instead)
    for arguments in arguments_of(module):
        pairs = zip(leaves_of(module, arguments), leaves_of(wrong, arguments), strict=True)
        if not all(same_bits(a, b) for a, b in pairs):
            return True
    return False


@exercise(
    "nb14.first_bad",
    "Write first_bad(count, is_bad): a step k that is bad while step k - 1 is good.",
    "Step 0 is good and step `count` is bad: keep one of each, and look between them.",
    hints=(
        "Look at the middle. If it is bad it is the new bad end, else the new good one.",
        "You are done when the two ends are adjacent.",
        "Do not test the ends: they are known, and each test costs a compilation.",
    ),
)
def first_bad(function: Callable[[int, Callable[[int], bool]], Any]) -> Cases:
    """Check long and short pipelines; in some a later pass repairs what an earlier one broke."""
    for bad in (
        [True], [False, True], [True, True], [False, True, True], [False] * 63 + [True], [True] * 64, [False] * 99 + [True],
        *[[False] * k + [True] * (100 - k) for k in (0, 1, 37, 50, 98)], [False, True, False, False, True, True, True],
        [True, False] * 16 + [True], [False] * 999 + [True],
    ):  # fmt: skip
        yield _halved(function, bad)


def _halved(
    function: Callable[[int, Callable[[int], bool]], Any], bad: list[bool]
) -> Failure | None:
    count, tested = len(bad), []
    budget = math.ceil(math.log2(count)) if count > 1 else 0

    def is_bad(step: int) -> bool:
        tested.append(step)
        if not 0 <= step <= count:
            raise WrongAnswerError(
                failure(
                    "no-such-step",
                    f"You tested step {step}.",
                    f"0 to {count}",
                    str(step),
                    "Both ends are inside.",
                )
            )
        if len(tested) > 4 * count + 8:
            raise WrongAnswerError(
                failure(
                    "too-many-tests",
                    "You test again and again.",
                    f"{budget} tests",
                    "no end",
                )
            )
        return step > 0 and bad[step - 1]

    def failure(code: str, message: str, expected: str, got: str, hint: str = "") -> Failure:
        states = "".join(["B" if one else "g" for one in bad[:70]])
        return Failure(
            code,
            f"{message} The steps, good and Bad: g{states}{'...' * (count > 70)}",
            expected,
            got,
            hint=hint,
        )

    found = function(count, is_bad)
    if isinstance(found, bool) or not isinstance(found, (int, np.integer)):
        return failure(
            "no-step",
            "The answer is the number of a step.",
            "an integer",
            repr(found),
            "Return the bad end.",
        )
    if not 0 <= found <= count:
        return failure(
            "no-such-step",
            f"Your answer, step {found}, is beyond the last one.",
            f"1 to {count}",
            str(found),
        )
    if found == 0 or not bad[found - 1]:
        return failure(
            "good-step",
            f"Step {found} is good.",
            "a bad step",
            str(found),
            "The bad end is the answer, not the good one.",
        )
    if found > 1 and bad[found - 2]:
        return failure("not-the-first", f"Step {found - 1} is bad already.", "a step whose predecessor is good", str(found),
                       "When the middle is bad, the end moves to the middle itself.")  # fmt: skip
    if len(tested) > budget:
        return failure("too-many-tests", f"Tests: {len(tested)}, steps: {count}.", f"at most {budget}", str(len(tested)),
                       "Each test halves the range between the ends: log2 of the steps are enough, and the ends are known.")  # fmt: skip
    return None


@exercise(
    "nb14.first_wrong",
    "Write first_wrong(before, after, arguments): the name of the first instruction with another "
    "value, or None.",
    "values_of(module, *arguments) gives the value of every instruction by its name.",
    hints=(
        (
            "Go through after.entry.post_order(): operands come before users, so the first one "
            "that differs has right operands."
        ),
        "Skip names that only one of the two modules has.",
        (
            "A NaN is the same as a NaN here, and -0.0 is not the same as 0.0: np.array_equal "
            "handles neither. same_bits does."
        ),
    ),
)
def first_wrong(function: Callable[..., Any]) -> Cases:
    """Check mistakes at one instruction, some of them small, and programs without a mistake."""
    planted = [
        (module, miscompiled(module, opcode, instead, 1) if opcode else module.clone())
        for module, opcode, instead in _planted()
    ]
    for module, after in [
        (parse_hlo(_OLD), parse_hlo(_NEW)),
        (parse_hlo(_EARLIER), parse_hlo(_LATER)),
        *planted,
    ]:
        for arguments in arguments_of(module):
            right, wrong = values_of(module, *arguments), values_of(after, *arguments)
            want = _first_other([i.name for i in after.entry.post_order()], right, wrong)
            with answering(module):
                got = function(module.clone(), after.clone(), arguments)
            if got == want or getattr(got, "name", None) == want is not None:
                yield None
            else:
                yield _other_culprit(module, after, arguments, (right, wrong), want, got)


# Each has a name that the other has not.
_OLD = "ENTRY main { x = f32[2] parameter(0)  e = f32[2] abs(x)  z = f32[2] tanh(e)  ROOT r = f32[2] add(z, x) }"
_NEW = "ENTRY main { x = f32[2] parameter(0)  m = f32[2] negate(x)  z = f32[2] tanh(x)  ROOT r = f32[2] subtract(z, m) }"
# Of two wrong instructions the first in the order of the old module reads the other in the new one.
_EARLIER = "ENTRY main { x = f32[2] parameter(0)  y = f32[2] tanh(x)  z = f32[2] negate(y)  ROOT r = f32[2] add(y, z) }"
_LATER = "ENTRY main { x = f32[2] parameter(0)  z = f32[2] exponential(x)  y = f32[2] abs(z)  ROOT r = f32[2] add(y, z) }"


def _planted() -> Iterator[tuple[HloModule, str, str]]:
    zero = parse_hlo("""ENTRY main { x = f32[3] parameter(0)  o = f32[] constant(0)  os = f32[3] broadcast(o), dimensions={}
      z = f32[3] multiply(x, os)  n = f32[3] negate(z)  ROOT r = f32[3] divide(x, n) }""")
    later = parse_hlo(
        "ENTRY main { x = f32[2] parameter(0)  y = f32[2] negate(x)  z = f32[2] tanh(x)  ROOT r = f32[2] add(z, y) }"
    )
    little = parse_hlo("""ENTRY main { x = f32[3] parameter(0)  a = f32[3] abs(x)  c = f32[] constant(1e-6)  one = f32[] constant(1)
      cs = f32[3] broadcast(c), dimensions={}  ones = f32[3] broadcast(one), dimensions={}  z = f32[3] maximum(a, ones)
      y = f32[3] add(z, cs)  ROOT d = f32[3] subtract(y, z) }""")
    yield from (
        (zero, "negate", "lose"),
        (zero, "", ""),
        (later, "negate", "lose"),
        (later, "tanh", "lose"),
        (little, "add", "subtract"),
    )
    for seed in range(40):
        module = random_program(seed, 12)
        opcode, instead = MISTAKES[seed % len(MISTAKES)]
        if any(i.opcode.name == opcode for i in module.entry.post_order()):
            yield module, opcode, instead


def _first_other(names: list[str], right: dict[str, Array], wrong: dict[str, Array]) -> str | None:
    return next(
        (
            name
            for name in names
            if name in right and name in wrong and not same_bits(right[name], wrong[name])
        ),
        None,
    )


def _other_culprit(
    before: HloModule,
    after: HloModule,
    arguments: tuple[Any, ...],
    values: tuple[dict[str, Array], ...],
    want: str | None,
    got: Any,
) -> Failure:
    name, (right, wrong) = getattr(got, "name", got), values
    if name is None:
        hint = (
            f"%{want} is {value_text(right[want or ''])} before and "
            f"{value_text(wrong[want or ''])} after."
        )
    elif not isinstance(name, str):
        hint = "Return the name of one instruction as a text, or None."
    elif name not in right or name not in wrong:
        hint = f"{name!r} is the name of no instruction that both have."
    elif same_bits(right[name], wrong[name]):
        hint = f"%{name} is the same to the bit in both (a NaN is a NaN)."
    else:
        hint = (
            f"%{name} is wrong, but %{want} was wrong before it: one of its operands, or theirs, "
            "is to blame."
        )
    text = f"Compiled it reads:\n{program_text(after)}"
    return Failure(
        "another-culprit",
        f"The first wrong value is another one. {text}",
        repr(want),
        repr(name),
        before,
        arguments,
        hint,
    )


@exercise(
    "nb14.shrink",
    "Write shrink(module, still_fails): a module that still fails and of which no smaller one "
    "does.",
    "for candidate in smaller(module): the first that still fails is your new module.",
    hints=(
        "Then begin again from it: an instruction that was necessary before may be removable now.",
        "You are done when no candidate fails any more.",
        (
            "Call still_fails once for each candidate, and take the first that fails: a search "
            "for the best one costs more than it gains."
        ),
    ),
)
def shrink(function: Callable[[HloModule, Callable[[HloModule], bool]], Any]) -> Cases:
    """Check random programs that show a compiler's mistake; some need many steps."""
    for size, most in ((12, 12), (60, 8)):
        shown = 0
        for seed in range(60):
            module, (opcode, instead) = random_program(seed, size), MISTAKES[seed % len(MISTAKES)]
            if shown < most and shows(module, opcode, instead):
                shown += 1
                yield _shrunk(function, module, opcode, instead)


def _shrunk(
    function: Callable[..., Any], module: HloModule, opcode: str, instead: str
) -> Failure | None:
    trials = 0

    def still_fails(candidate: HloModule) -> bool:
        nonlocal trials
        trials += 1
        if trials > _MOST_TRIALS:
            message = f"You tried more than {_MOST_TRIALS} modules."
            hint = "Take the first candidate that fails, and begin again from that one."
            raise WrongAnswerError(
                Failure("too-many-trials", message, "some dozens", f"{trials}", module, hint=hint)
            )
        return shows(candidate, opcode, instead)

    text = program_text(module)
    with answering(module):
        found = function(module, still_fails)
    becomes = {"swap": "has its operands swapped", "lose": "is left out"}.get(
        instead, f"becomes a {instead}"
    )
    mistake = f"The mistake: every {opcode} {becomes}."
    if program_text(module) != text:
        return Failure("module-changed", f"The given module was changed. {mistake}", text, program_text(module),
                       hint="Candidates are copies already: no need to change anything in place.")  # fmt: skip
    if not isinstance(found, HloModule):
        return Failure(
            "no-module",
            "The answer is a module.",
            "an HloModule",
            repr(found),
            module,
            hint="Return the smallest one found.",
        )
    if not shows(found, opcode, instead):
        return Failure("does-not-fail", f"The returned module does not show the mistake any more. {mistake}", "a module that fails",
                       program_text(found), module, hint="Keep a candidate only if still_fails returns True.")  # fmt: skip
    further = next((one for one in smaller(found) if shows(one, opcode, instead)), None)
    if further is not None:
        return Failure("not-the-smallest", f"A module that is one step smaller fails as well. {mistake}", program_text(further),
                       program_text(found), module, hint="After each step begin again: go on until no candidate fails.")  # fmt: skip
    return None
