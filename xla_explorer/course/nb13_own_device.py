"""Notebook 13, a back end without LLVM: a stack machine, weights on the device, counted copies."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import arguments_of, leaves_of
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, exercise, looking_at
from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.course.stack_machine import OPERATIONS, StackMachine, StackMachineError
from xla_explorer.hlo.builder import HloBuilder
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape
from xla_explorer.hlo.text import parse_hlo

_EXACT = ("add", "subtract", "multiply", "maximum", "negate", "abs")
LENGTH = 4


def vector_program(seed: int, size: int) -> HloModule:
    """Return a random program on vectors of four, with scalar constants broadcast."""
    choice = random.Random(seed)
    b = HloBuilder("vectors", locations=False)
    known = [
        b.parameter(array_shape("f32", (LENGTH,)), f"x{k}") for k in range(choice.randint(1, 3))
    ]
    for _ in range(size):
        name = choice.choice(_EXACT)
        operands = [choice.choice(known[-4:]) for _ in range(OPERATIONS[name])]
        if OPERATIONS[name] == 2 and choice.random() < 0.3:
            operands[choice.randrange(2)] = b.broadcast(
                b.constant(float(choice.randint(-3, 3)), operands[0].dtype), (LENGTH,), ()
            )
        known.append(getattr(b, name)(*operands))
    return b.build(known[-1])


_FIXED = (
    "HloModule m\nENTRY main { ROOT x = f32[4] parameter(0) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  ROOT n = f32[4] negate(x) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT d = f32[4] subtract(x, y) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT d = f32[4] subtract(y, x) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  c = f32[] constant(3)  b = f32[4] broadcast(c), dimensions={}  ROOT d = "
    "f32[4] multiply(x, b) }",
    "HloModule m\nENTRY main { x = f32[4] parameter(0)  a = f32[4] negate(x)  b = f32[4] abs(x)  c = f32[4] subtract(a, b)  d = "
    "f32[4] multiply(a, b)  "
    "ROOT r = f32[4] add(c, d) }",
)


def _doubling(times: int) -> str:
    lines = ["x0 = f32[4] parameter(0)"] + [
        f"x{k + 1} = f32[4] add(x{k}, x{k})" for k in range(times)
    ]
    return "HloModule m\nENTRY main { " + "  ".join(lines[:-1]) + "  ROOT " + lines[-1] + " }"


def _deep(depth: int) -> str:
    """Return a program whose naive order pushes all parameters before the first subtraction."""
    lines = [f"p{k} = f32[4] parameter({k})" for k in range(depth)]
    inner = f"p{depth - 1}"
    for k in reversed(range(depth - 1)):
        lines.append(f"d{k} = f32[4] subtract(p{k}, {inner})")
        inner = f"d{k}"
    return "HloModule m\nENTRY main { " + "  ".join(lines[:-1]) + "  ROOT " + lines[-1] + " }"


@exercise(
    "nb13.compile",
    "Write compile_for(computation, slots, result, new_slot): a list of instructions of the "
    "stack machine.",
    "Start with a program that is one parameter: push it, store it.",
    hints=(
        (
            "Visit the computation in post order: push the operands, write the operation, store "
            "in the instruction's slot."
        ),
        "An instruction that is read twice has a slot: load it twice, compute it once.",
        "new_slot() returns memory for values that are neither inputs nor the result.",
    ),
)
def compile_for(function: Callable[..., Any]) -> Cases:
    """Check the evaluator's values, no repeated operation, and a stack of eight."""

    def test(module: HloModule) -> Failure | None:
        entry = module.entry
        if any(
            i.opcode.name not in ("parameter", "constant", "broadcast", *_EXACT)
            for i in entry.instructions.values()
        ):
            return None
        if entry.root.opcode.name == "constant" or entry.root.shape.rank != 1:
            return None
        for arguments in arguments_of(module, 2):
            machine = StackMachine()
            slots = [machine.allocate() for _ in arguments]
            result = machine.allocate()
            for slot, value in zip(slots, arguments, strict=True):
                if np.ndim(value) == 0:
                    return None
                machine.copy_in(slot, value)
            with looking_at(module):
                program = list(function(entry, list(slots), result, machine.allocate))
            shown = "\n".join(map(str, program))
            try:
                with np.errstate(all="ignore"):
                    machine.run(program)
                got = machine.copy_out(result)
            except StackMachineError as error:
                return Failure(
                    "machine-stopped",
                    "The machine stopped.",
                    "a run to the end",
                    f"{error}\n\n{shown}",
                    module,
                    hint="After each operation, store its result in a new slot: then the stack "
                    "never holds more than two values.",
                )
            want = leaves_of(module, arguments)[0]
            if not np.array_equal(got, want, equal_nan=True):
                return Failure(
                    "wrong-value",
                    "The machine computes something else.",
                    value_text(want),
                    f"{value_text(got)}\n\n{shown}",
                    module,
                    arguments,
                    "The last value pushed is the last operand.",
                )
            kept = [
                np.array_equal(machine.copy_out(slot), value, equal_nan=True)
                for slot, value in zip(slots, arguments, strict=True)
            ]
            spoilt = next((k for k, same in enumerate(kept) if not same), None)
            if spoilt is not None:
                return Failure(
                    "input-overwritten",
                    f"After the run, the slot of parameter {spoilt} holds something else.",
                    value_text(arguments[spoilt]),
                    f"{value_text(machine.copy_out(slots[spoilt]))}\n\n{shown}",
                    module,
                    hint="Weights stay on the device from run to run: keep intermediate results "
                    "in slots from new_slot().",
                )
            allowed = len([i for i in entry.instructions.values() if i.opcode.name in OPERATIONS])
            executed = sum(
                [count for name, count in machine.executed.items() if name in OPERATIONS]
            )
            if executed > allowed:
                return Failure(
                    "computed-twice",
                    f"{executed} operations are executed, the program has {allowed}.",
                    f"at most {allowed}",
                    shown,
                    module,
                    hint="Keep each result in a slot, and push it from there for each user.",
                )
        return None

    modules = [
        *map(parse_hlo, (*_FIXED, _doubling(6), _deep(12))),
        *[vector_program(seed, 2 + seed // 3) for seed in range(30)],
    ]
    yield from cases_of(modules, test)


@exercise(
    "nb13.executable",
    "Write load(machine, program, weights): a function that runs the program on new inputs.",
    "Copy the weights in when the program is loaded, not when it is run.",
    hints=(
        "Memory that you allocate for a call must be freed after it, also when the program fails.",
        "Weights stay: they are copied to the machine once, and freed never or with the function.",
    ),
)
def executable(function: Callable[..., Any]) -> Cases:
    """Check three runs, then another executable on the same machine.

    Results must be right, weights copied once, inputs once a run, and the result once. No slot may
    leak.
    """
    module = parse_hlo(
        "HloModule layer\nENTRY main { x = f32[4] parameter(0)  w = f32[4] parameter(1)  b = f32[4] parameter(2)  "
        "p = f32[4] multiply(x, w)  ROOT r = f32[4] add(p, b) }"
    )
    machine = StackMachine()
    w, b = np.array([1, 2, 3, 4], np.float32), np.array([5, 5, 5, 5], np.float32)

    def program(inputs: list[int], result: int) -> list[tuple[Any, ...]]:
        return [
            ("push", inputs[0]),
            ("push", inputs[1]),
            ("multiply",),
            ("push", inputs[2]),
            ("add",),
            ("store", result),
        ]

    run = function(machine, program, [w, b])
    if not callable(run):
        raise WrongAnswerError(
            Failure(
                "no-function",
                "load returns a function of the input.",
                "a function",
                repr(run),
                module,
            )
        )
    in_use = 0
    for number in range(3):
        x = np.arange(4, dtype=np.float32) + number
        got = run(x)
        if not isinstance(got, np.ndarray) or not np.array_equal(got, x * w + b):
            raise WrongAnswerError(
                Failure(
                    "wrong-value",
                    f"Run {number + 1} returns something else.",
                    value_text(x * w + b),
                    value_text(got),
                    module,
                    (x, w, b),
                    "Parameter 0 is the input; the weights are parameters 1 and 2.",
                )
            )
        yield None
        copies = (machine.copies_in, machine.copies_out)
        if copies != (3 + number, 1 + number):
            raise WrongAnswerError(
                Failure(
                    "too-many-copies",
                    f"After run {number + 1}: {copies[0]} copies to the device and {copies[1]} "
                    "back.",
                    f"{3 + number} and {1 + number}",
                    f"{copies[0]} and {copies[1]}",
                    module,
                    hint="Weights once, when loaded; then a copy of the input and a copy of the "
                    "result for each run.",
                )
            )
        yield None
        if number and len(machine.memory) != in_use:
            raise WrongAnswerError(
                Failure(
                    "memory-lost",
                    f"Run {number + 1} leaves {len(machine.memory)} slots in use, the run before "
                    f"left {in_use}.",
                    str(in_use),
                    str(len(machine.memory)),
                    module,
                    hint="Memory of a run is freed after it, or allocated once before all runs.",
                )
            )
        in_use = len(machine.memory)
        yield None
    other = function(machine, program, [b, w])
    for weights, one in (((w, b), run), ((b, w), other), ((w, b), run)):
        x = np.array([3, -1, 0, 2], np.float32)
        got = one(x)
        if not isinstance(got, np.ndarray) or not np.array_equal(got, x * weights[0] + weights[1]):
            raise WrongAnswerError(
                Failure(
                    "not-alone",
                    "Two programs with different weights run alternately on one machine: one of "
                    "them returns something else now.",
                    value_text(x * weights[0] + weights[1]),
                    value_text(got),
                    module,
                    (x, *weights),
                    "Each load needs slots of its own: keep them in variables of load, not of "
                    "the notebook.",
                )
            )
        yield None
