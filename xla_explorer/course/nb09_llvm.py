"""Notebook 09, an emitter of LLVM IR for the CPU: elementwise programs, and a vectorised sum."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import arguments_of, leaves_of, same_bits
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import CRASHED, Failure, value_text
from xla_explorer.course.native_run import (
    Array,
    KernelCrashedError,
    NativeChild,
    NotWrittenError,
    OutsideError,
    optimized,
)
from xla_explorer.course.nb10_ptx import sum_program
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.builder import HloBuilder
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape

OPCODES = ("add", "subtract", "multiply", "divide", "maximum", "negate")
_VECTOR = re.compile(r"<\d+ x float>")
_PROMISES = re.compile(r"\b(fast|nnan|ninf|nsz|arcp|afn)\b")
_OTHER_BITS = re.compile(rf"\b(contract|reassoc)\b|{_PROMISES.pattern}")
_ALIGNED = re.compile(r"\balign [14]\b")


def elementwise_program(seed: int, size: int) -> HloModule:
    """Return a random program of the six opcodes on vectors of one length."""
    choice = random.Random(seed)
    b = HloBuilder("elementwise", locations=False)
    known = [
        b.parameter(array_shape("f32", (choice.choice((1, 3, 8, 37)),)), f"x{k}")
        for k in range(choice.randint(1, 3))
    ]
    for _ in range(size):
        name = choice.choice(OPCODES)
        operands = [choice.choice(known[-4:]) for _ in range(1 if name == "negate" else 2)]
        known.append(getattr(b, name)(*operands))
    return b.build(known[-1])


def _programs() -> list[HloModule]:
    made = []
    for name in OPCODES:
        b = HloBuilder(name, locations=False)
        x = b.parameter(array_shape("f32", (5,)), "x0")
        made.append(
            b.build(
                b.negate(x)
                if name == "negate"
                else getattr(b, name)(x, b.parameter(array_shape("f32", (5,)), "x1"))
            )
        )
    return [*made, *[elementwise_program(seed, 2 + seed) for seed in range(6)]]


@exercise(
    "nb09.emit",
    "Write emit(computation): LLVM IR text of one kernel for an elementwise program.",
    "Start from the text of section 2, and make its body from the instructions.",
    hints=(
        (
            "One SSA value for each instruction: loads for parameters, an operation for each "
            "other instruction, one store for the root."
        ),
        "Test n before the first iteration: an empty array has no element to load.",
        "maximum must give NaN when one side is NaN: llvm.maximum does, llvm.maxnum does not.",
    ),
)
def emit(function: Callable[[HloComputation], Any]) -> Cases:
    """Check the bits against the evaluator's, NaN and the sign of zero included, also for n = 0.

    Nothing may be written beside the output. LLVM's optimisation must produce vector operations.
    """

    def test(module: HloModule) -> Failure | None:
        if any(i.shape.rank != 1 for i in module.entry.instructions.values()):
            return None
        with answering(module):
            text = function(module.entry)
        if not isinstance(text, str):
            return Failure("no-text", "The answer is LLVM IR text.", "a string", repr(text), module)
        if (promise := _OTHER_BITS.search(re.sub(r";.*", "", text))) is not None:
            return Failure(
                "promises-too-much",
                f"`{promise[0]}` allows LLVM to compute other bits than the program says.",
                "operations without flags",
                text,
                module,
                hint="With `contract`, a product and a sum round once, where the evaluator rounds "
                "twice.",
            )
        count = module.result_shape().dimensions[0]
        nothing = tuple([np.zeros(0, np.float32) for _ in module.entry.parameters()])
        for arguments in (*arguments_of(module, 3), nothing):
            length = count if arguments is not nothing else 0
            want = leaves_of(module, arguments)[0] if length else np.zeros(0, np.float32)
            try:
                got = child.run(text, arguments, length, length)
            except OutsideError as error:
                return Failure(
                    "outside",
                    f"For n = {length}, {error.message}.",
                    "nothing written there",
                    text,
                    module,
                    hint="The last index is n - 1: which comparison lets the loop run once more?"
                    if length
                    else (
                        "For n = 0 the loop must not run at all: compare before its first "
                        "iteration."
                    ),
                )
            except NotWrittenError as error:
                return Failure(
                    "not-written",
                    f"For n = {length}, {error.message}.",
                    f"{length} elements",
                    text,
                    module,
                    hint=error.hint,
                )
            except KernelCrashedError as error:
                return Failure(
                    CRASHED,
                    "The kernel did not return.",
                    "a kernel that ends",
                    f"{error}\n\n{text}",
                    module,
                )
            except XlaExplorerError as error:
                return Failure(
                    "cannot-run",
                    "This IR could not be run.",
                    "a kernel",
                    f"{error}\n\n{text}",
                    module,
                    hint="Read LLVM's message: it names the line.",
                )
            if not same_bits(want, got):
                return Failure(
                    "wrong-value",
                    "The kernel computes something else.",
                    value_text(want),
                    value_text(got),
                    module,
                    arguments,
                    "Which operand comes first? For maximum: NaN wins, and 0 is more than -0 "
                    "(llvm.maximum, not llvm.maxnum). Is "
                    "the loop's last iteration there?",
                )
        if len(module.entry.instructions) > 1 and not _VECTOR.search(optimized(text)):
            return Failure(
                "not-vectorised",
                "LLVM found no way to use vector operations.",
                "<8 x float> or the like after optimisation",
                text,
                module,
                hint="One loop from 0 to %n with a step of 1, a load for each parameter and one "
                "store at index %i.",
            )
        return None

    with NativeChild() as child:
        yield from cases_of(_programs(), test)


def _ran(child: NativeChild, text: str, x: Array, outputs: int, module: HloModule) -> Array:
    """Return the output of a kernel of one array.

    WrongAnswerError if it cannot run or leaves its output.
    """
    try:
        return child.run(text, [x], outputs, len(x))
    except (OutsideError, NotWrittenError) as error:
        code = "outside" if isinstance(error, OutsideError) else "not-written"
        message = f"For n = {len(x)}, {error.message}."
        raise WrongAnswerError(
            Failure(code, message, "", text[:1500], module, (x,), f"{error.hint}")
        ) from error
    except XlaExplorerError as error:
        raise WrongAnswerError(
            Failure("cannot-run", "This IR could not be run.", "a kernel", f"{error}", module, (x,))
        ) from error


@exercise(
    "nb09.lanes",
    "Write LLVM IR for out[i] = x0[i] * x0[i] + 1: a loop over <8 x float>, and a second one for the last n % 8.",
    "How many of the n belong to whole vectors? `and i64 %n, -8`.",
    hints=(
        (
            "Two loops and five blocks: entry, vector, between, tail, done. Each loop is entered "
            "only if it has an iteration."
        ),
        (
            "The tail's counter begins where the vector loop ended: a phi in `between` picks 0 "
            "or that."
        ),
        "Constants of a vector are written out, <float 1.0, float 1.0, ...>, or splat (float 1.0).",
        "Say `align 4` at loads and stores of vectors: the arrays begin anywhere.",
    ),
)
def lanes(text: Any) -> Cases:
    """Check vectors in the text itself, and the bits for lengths around multiples of eight.

    Nothing outside of the output may be written.
    """
    if not isinstance(text, str):
        raise WrongAnswerError(
            Failure("no-text", "The answer is LLVM IR text.", "a string", repr(text))
        )
    if "your turn" in text:
        raise NotImplementedError
    written = re.sub(r";.*", "", text)
    if not re.search(r"load <8 x float>", written) or not re.search(r"store <8 x float>", written):
        wanted = "load <8 x float>, store <8 x float>"
        raise WrongAnswerError(
            Failure(
                "no-vectors", "The text loads or stores no vectors of eight.", wanted, text[:600]
            )
        )
    for line in re.findall(r".*(?:load|store) <8 x float>.*", written):
        if not _ALIGNED.search(line):
            raise WrongAnswerError(Failure(
                "alignment", "A vector is loaded or stored without `align 4`.", "load <8 x float>, ptr %address, align 4", line.strip(),
                hint="An array begins at any multiple of 4 bytes; without the word LLVM may "
                "count on a multiple of 32, and a vector "
                "elsewhere ends the process.",
            ))  # fmt: skip
    generator = np.random.default_rng(0)
    with NativeChild() as child:
        for count in (16, 8, 9, 7, 1, 0, 15, 23, 100):
            b = HloBuilder("square", locations=False)
            given = b.parameter(array_shape("f32", (count,)), "x0")
            module = b.build(
                b.add(
                    b.multiply(given, given),
                    b.broadcast(b.constant(1.0, given.dtype), (count,), ()),
                )
            )
            x = generator.standard_normal(count).astype(np.float32)
            want, got = x * x + np.float32(1), _ran(child, text, x, count, module)
            if not same_bits(want, got):
                message = f"For n = {count} the kernel computes something else."
                yield Failure("wrong-value", message, value_text(want), value_text(got), module, (x,),
                              "Where does the tail begin? No flags: `contract` would round once where twice is right.")  # fmt: skip
            yield None


@exercise(
    "nb09.sum",
    "Write LLVM IR that sums n numbers and vectorises.",
    "Start with a loop that carries the sum in a phi.",
    hints=(
        (
            "LLVM vectorises a sum of floats only when it may reorder it: the flag is `reassoc` "
            "on the fadd."
        ),
        "n may be 0: then the result is 0, and the loop is not entered.",
    ),
)
def total(text: Any) -> Cases:
    """Check sums of some lengths, zero included.

    The text may allow reassociation of additions, and no other fast-math flag.
    """
    if not isinstance(text, str):
        raise WrongAnswerError(
            Failure("no-text", "The answer is LLVM IR text.", "a string", repr(text))
        )
    if "your turn" in text:
        raise NotImplementedError
    promise = _PROMISES.search(re.sub(r";.*", "", text))
    if promise is not None:
        raise WrongAnswerError(
            Failure(
                "promises-too-much",
                f"`{promise[0]}` promises LLVM more than that additions may be reordered.",
                "reassoc",
                promise[0],
                hint="`fast` allows LLVM to assume that values are neither NaN nor infinite: then "
                "their sums may be anything.",
            )
        )
    generator = np.random.default_rng(0)
    with NativeChild() as child:
        for count in (1, 2, 3, 8, 0, 100, 1001):
            x = generator.integers(-8, 9, count).astype(np.float32)
            program = sum_program(count)
            try:
                got = child.run(text, [x], 1, count)
            except XlaExplorerError as error:
                wanted = "a kernel (ptr %x0, ptr %out, i64 %n)"
                raise WrongAnswerError(
                    Failure(
                        "cannot-run", "This IR could not be run.", wanted, str(error), program, (x,)
                    )
                ) from error
            if not np.array_equal(got, [x.sum(dtype=np.float32)]):
                raise WrongAnswerError(
                    Failure(
                        "wrong-sum",
                        f"The sum of {count} numbers is another one.",
                        value_text(x.sum(dtype=np.float32)),
                        value_text(got),
                        program,
                        (x,),
                        (
                            "For n = 0 the loop must not run: compare before the first load. The "
                            "phi's first value is 0."
                        )
                        if count == 0
                        else (
                            "Follow the phi: which value comes from the entry, which from the "
                            "end of the loop?"
                        ),
                    )
                )
            yield None
    if not _VECTOR.search(optimized(text)):
        raise WrongAnswerError(
            Failure(
                "not-vectorised",
                "LLVM kept the additions in their order, one by one: floating-point addition is "
                "not associative.",
                "<8 x float> or the like",
                optimized(text),
                hint="The flag `reassoc` on the fadd says that any order will do.",
            )
        )
    yield None
