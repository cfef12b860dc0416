"""Notebook 11, roofline: operations, bytes, levels of memory, and the bound of an operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from xla_explorer.backends.cpu.machine_limits import machine_limits
from xla_explorer.course.checking.programs import random_program
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

PEAK, BANDWIDTH = 100e9, 20e9


class Machine(NamedTuple):
    """Limits of a machine for kernels.

    peak: operations a second. launch: seconds before a kernel begins. levels: (capacity in bytes,
    bytes a second) of each memory, from the fastest to the largest.
    """

    peak: float
    launch: float
    levels: tuple[tuple[float, float], ...]


def this_machine() -> Machine:
    """Return the measured limits of one core of this machine.

    A call of a compiled program takes about a microsecond.
    """
    found = machine_limits()
    levels = [level for level in found.cached_bandwidth if level[1] > found.stream_bandwidth]
    return Machine(found.f32_flops, 1e-6, (*levels, (math.inf, found.stream_bandwidth)))


_ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT t = f32[] add(a, b) }"


def _one(parameters: str, root: str, reducer: bool = False) -> HloModule:
    return parse_hlo(
        f"HloModule m\n{_ADD if reducer else ''}\nENTRY main {{ {parameters}  ROOT r = {root} }}"
    )


def programs() -> list[HloModule]:
    """Return programs of one operation each, small ones first."""
    x, y = "x = f32[10] parameter(0)", "y = f32[10] parameter(1)"
    made = [
        _one(x, "f32[10] negate(x)"),
        _one(f"{x}  {y}", "f32[10] add(x, y)"),
        _one(x, "f32[10] exponential(x)"),
        _one(x, "f32[10] multiply(x, x)"),
        _one(x, "f32[10] copy(x)"),
        _one(x, "f32[3,10] broadcast(x), dimensions={1}"),
        _one("x = f32[4,5] parameter(0)", "f32[5,4] transpose(x), dimensions={1,0}"),
        _one("x = bf16[10] parameter(0)", "f32[10] convert(x)"),
        _one("x = f64[10] parameter(0)  y = f64[10] parameter(1)", "f64[10] multiply(x, y)"),
        _one(
            "x = f32[6,7] parameter(0)  z = f32[] constant(0)",
            "f32[6] reduce(x, z), dimensions={1}, to_apply=add",
            True,
        ),
        _one(
            "x = f32[6,7] parameter(0)  z = f32[] constant(0)",
            "f32[] reduce(x, z), dimensions={0,1}, to_apply=add",
            True,
        ),
    ]
    for m, k, n in ((1, 1, 1), (2, 3, 5), (64, 32, 16), (128, 128, 1)):
        made.append(
            _one(
                f"x = f32[{m},{k}] parameter(0)  y = f32[{k},{n}] parameter(1)",
                f"f32[{m},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            )
        )
    made.append(
        _one(
            "x = f32[3,4,5] parameter(0)  y = f32[3,5,6] parameter(1)",
            "f32[3,4,6] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        )
    )
    return made


@exercise(
    "nb11.cost",
    "Write cost(i): (operations, bytes) of one instruction.",
    "Start with the bytes: all operands and the result.",
    hints=(
        "Elementwise: one operation for each element of the result. Data movement: none.",
        "An operand that is read twice is moved once.",
        (
            "A product's operations: 2 for each element of the result and each index that is "
            "summed over."
        ),
    ),
)
def cost(function: Callable[[HloInstruction], Any]) -> Cases:
    """Check exact costs of elementwise operations, data movement, reductions, matrix products."""
    hints = {
        "dot": (
            "Each element of the result is a sum of products: two operations for each index of "
            "the contracted dimensions of operand 0."
        ),
        "reduce": (
            "To fold n numbers into one takes n - 1 additions; the initial value is an operand, "
            "and is read."
        ),
        "broadcast": "Moving data is not an operation.",
        "transpose": "Moving data is not an operation.",
        "copy": "Moving data is not an operation.",
    }
    for module in programs():
        i = module.entry.root
        known = instruction_cost(i)
        expected = (int(known.flops + known.transcendentals), int(known.bytes_accessed))
        got = function(i)
        if isinstance(got, tuple) and len(set(i.operands)) < len(i.operands) and got != expected:
            hints = {
                i.opcode.name: (
                    "An operand that is listed twice is read twice here: XLA counts each "
                    "occurrence."
                )
            }
        if not isinstance(got, tuple) or tuple(got) != expected:
            name = i.opcode.name
            raise WrongAnswerError(
                Failure(
                    f"wrong-cost-{name}",
                    f"The cost of {name} is different.",
                    f"(operations, bytes) = {expected}",
                    repr(got),
                    module,
                    hint=hints.get(
                        name,
                        "One operation an element; every operand is read, the result written. "
                        "i.shape.byte_size has the bytes.",
                    ),
                )
            )
        yield None


@exercise(
    "nb11.bound",
    "Write attainable(operations, bytes_moved, peak, bandwidth): operations a second.",
    "How long does the memory need, how long the arithmetic? The slower one decides.",
    hints=(
        "Time is the larger of operations / peak and bytes / bandwidth.",
        "No bytes at all: then only the arithmetic counts.",
    ),
)
def bound(function: Callable[[float, float, float, float], Any]) -> Cases:
    """Check the roof at exact points: around the ridge, and without operations."""
    for operations, moved in ((1, 1), (5, 1), (10, 1), (1e9, 1e6), (0, 8), (2e6, 8e6), (7, 0)):
        seconds = max(operations / PEAK, moved / BANDWIDTH)
        expected = operations / seconds
        try:
            got = function(operations, moved, PEAK, BANDWIDTH)
        except ZeroDivisionError:
            raise WrongAnswerError(
                Failure(
                    "divides-by-zero",
                    f"Your code divides by 0: {operations:g} operations, {moved:g} bytes, "
                    f"{PEAK:g} operations/s, {BANDWIDTH:g} bytes/s.",
                    f"{expected:g}",
                    "ZeroDivisionError",
                    hint="The textbook's min(peak, operations / bytes * bandwidth) fails where "
                    "no bytes are moved. The times never do: "
                    "time = max(operations / peak, bytes / bandwidth); the rate is operations / "
                    "time.",
                )
            ) from None
        if not isinstance(got, (int, float)) or abs(got - expected) > 1e-9 * max(expected, 1):
            raise WrongAnswerError(
                Failure(
                    "wrong-roof",
                    f"{operations:g} operations and {moved:g} bytes at {PEAK:g} operations/s and "
                    f"{BANDWIDTH:g} bytes/s.",
                    f"{expected:g}",
                    repr(got),
                    hint="time = max(operations / peak, bytes / bandwidth); the rate is "
                    "operations / time.",
                )
            )
        yield None


# name -> (operations, bytes, hint)
_PLACES: dict[str, tuple[int, int, str]] = {
    "add of f32[1000000]": (10**6, 12 * 10**6, "One operation for twelve bytes."),
    "exponential of f32[1000000]": (
        10**6,
        8 * 10**6,
        "Counted as one operation for eight bytes; a machine may need a dozen instructions for it.",
    ),
    "sum of f32[1000,1000] over dimension 1": (
        999 * 1000,
        4 * 10**6,
        "About one addition for each four bytes read.",
    ),
    "dot of f32[1024,1024] and f32[1024,1024]": (
        2 * 1024**3,
        12 * 1024**2,
        "2 * 1024^3 operations, 3 * 4 * 1024^2 bytes.",
    ),
    "dot of f32[1024,1024] and f32[1024,1]": (
        2 * 1024**2,
        4 * 1024**2,
        "Each element of the matrix is read once and used once: two operations for four bytes.",
    ),
}


@exercise(
    "nb11.place",
    'For each operation: "memory" or "arithmetic".',
    "Divide operations by bytes and compare with the ridge.",
    hints=(
        "An addition of two arrays: 1 operation for 12 bytes. Where is the ridge?",
        "A product of n x n matrices: 2 n^3 operations for 12 n^2 bytes; it depends on n.",
    ),
)
def place(answers: dict[str, Any]) -> Cases:
    """Check five operations on a machine whose ridge is at 5 operations a byte."""
    if any(answers.get(name) is None for name in _PLACES):
        raise NotImplementedError
    for name, (operations, moved, hint) in _PLACES.items():
        if answers[name] not in ("memory", "arithmetic"):
            raise WrongAnswerError(Failure("another-form", f"The answer for {name} must be one of two words.", "'memory' or 'arithmetic'",
                                      repr(answers[name]), hint="What takes longer there: to move the bytes, or to compute?"))  # fmt: skip
        if answers[name] != ("memory" if operations / moved < PEAK / BANDWIDTH else "arithmetic"):
            raise WrongAnswerError(
                Failure(
                    "wrong-place",
                    f"Not this one: {name}.",
                    "the other one",
                    repr(answers[name]),
                    hint=hint,
                )
            )
        yield None


def _work(module: HloModule) -> tuple[int, int]:
    needed, todo = set(), [module.entry.root]
    while todo:
        i = todo.pop()
        if i not in needed:
            needed.add(i)
            todo += i.operands
    root = module.entry.root
    results = root.operands if root.opcode.name == "tuple" else (root,)
    inner = [
        instruction_cost(i)
        for i in needed
        if i.opcode.name not in ("parameter", "constant", "tuple")
    ]
    moved = sum([i.shape.byte_size for i in needed if i.opcode.name == "parameter"]) + sum(
        [r.shape.byte_size for r in results]
    )
    return int(sum([c.flops + c.transcendentals for c in inner])), moved


def _fusible() -> list[HloModule]:
    x, y = "x = f32[10] parameter(0)", "y = f32[10] parameter(1)"
    made = [
        _one(x, "f32[10] negate(x)"), _one(x, "f32[10] multiply(x, x)"), _one(f"{x}  {y}", "f32[10] negate(x)"),
        _one(f"{x}  {y}  d = f32[10] add(x, y)", "f32[10] negate(x)"), _one(f"{x}  n = f32[10] negate(x)", "f32[10] add(n, n)"),
        _one(f"{x}  c = f32[] constant(2)  cs = f32[10] broadcast(c), dimensions={{}}", "f32[10] multiply(x, cs)"),
        _one(f"{x}  n = f32[10] negate(x)  e = f32[10] exponential(n)", "(f32[10], f32[10]) tuple(n, e)"),
        _one("x = f32[6,7] parameter(0)  z = f32[] constant(0)  e = f32[6,7] exponential(x)",
             "f32[6] reduce(e, z), dimensions={1}, to_apply=add", True),
    ]  # fmt: skip
    for seed in range(120):
        module = random_program(seed, 8)
        root = module.entry.root
        if root.opcode.name != "tuple" or len(set(root.operands)) == len(root.operands):
            made.append(module)
    return made


@exercise(
    "nb11.fused",
    "Write fused_cost(computation): (operations, bytes) of a computation as one kernel.",
    "Intermediate values stay in registers: only parameters are read and results written.",
    hints=(
        (
            "Walk back from computation.root: instructions that you do not reach are not needed, "
            "and cost nothing."
        ),
        "A parameter is read once, however many instructions use it. Constants come with the code.",
        "A root with the opcode tuple has several results: each of its operands is written.",
        "Operations: your cost(i)[0] of each needed instruction.",
    ),
)
def fused(function: Callable[[HloComputation], Any]) -> Cases:
    """Check programs with unused parameters, dead code, several results; then random ones."""

    def test(module: HloModule) -> Failure | None:
        expected = _work(module)
        with answering(module):
            got = function(module.entry)
        if not (isinstance(got, tuple) and len(got) == 2):
            return Failure(
                "no-pair", "The answer is a pair.", "(operations, bytes)", repr(got), module
            )
        if got[0] != expected[0]:
            return Failure("wrong-operations", "The kernel executes another number of operations.", str(expected[0]), repr(got[0]), module,
                           hint="Each needed instruction once; instructions that the root does not need, not at all.")  # fmt: skip
        if got[1] != expected[1]:
            return Failure("wrong-bytes", "The kernel moves another number of bytes.", str(expected[1]), repr(got[1]), module,
                           hint="Each needed parameter once, each result once, nothing else.")  # fmt: skip
        return None

    yield from cases_of(_fusible(), test)


@exercise(
    "nb11.predict",
    "Write predict(operations, moved, touched, machine): the seconds of a kernel.",
    "Which of machine.levels is the first that holds the touched bytes?",
    hints=(
        "machine.levels goes from the fastest to the largest; the last one holds everything.",
        "The slower of operations / peak and moved / bandwidth, and machine.launch before it.",
    ),
)
def predict(function: Callable[[float, float, float, Machine], Any]) -> Cases:
    """Check kernels at and just beyond the capacity of a level.

    Some move their data several times, one does nothing.
    """
    machine = Machine(100e9, 2e-6, ((32e3, 400e9), (1e6, 100e9), (math.inf, 20e9)))
    flat = Machine(1e12, 0.0, ((math.inf, 1e12),))
    for operations, moved, touched, on in (
        (0, 0, 0, machine), (10, 12e3, 12e3, machine), (10, 32e3, 32e3, machine), (10, 32004, 32004, machine), (1e9, 1e6, 1e6, machine),
        (1e3, 8e6, 8e6, machine), (1e3, 8e6, 8e3, machine), (1e9, 4e9, 500e3, machine), (1e8, 8e6, 8e6, machine), (7, 8, 8, flat),
    ):  # fmt: skip
        bandwidth = next(speed for size, speed in on.levels if touched <= size)
        expected = on.launch + max(operations / on.peak, moved / bandwidth)
        got = function(operations, moved, touched, on)
        if not isinstance(got, (int, float)) or abs(got - expected) > 1e-9 * max(expected, 1e-12):
            raise WrongAnswerError(
                Failure(
                    "wrong-time",
                    f"{operations:g} operations, {moved:g} bytes moved, {touched:g} of them "
                    "different ones.",
                    f"{expected:g} s",
                    repr(got),
                    arguments=(operations, moved, touched, on),
                    hint="launch + max(operations / peak, moved / bandwidth); the bandwidth is "
                    "that of the "
                    "first level with touched <= size.",
                )
            )
        yield None
