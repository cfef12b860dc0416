"""Notebook 18, your JAX step: recompilation, and the gradient of a graph."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.course.checking.programs import Array, values_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

_STEP = 1e-6  # of the finite differences, whose error is near its square
_TOLERANCE = 1e-6
# The numpy functions of the operations of random losses.
_COMPUTED: dict[str, Callable[..., Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "tanh": np.tanh, "negate": np.negative, "sine": np.sin,
    "dot": np.matmul, "reduce": lambda values, initial: values.sum() + initial,
}  # fmt: skip
_SUM = "sum { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT c = f64[] add(a, b) }"


class ArrayArgument(NamedTuple):
    """An array; jit reads only its element type and shape."""

    dtype: str
    shape: tuple[int, ...]


class PythonNumber(NamedTuple):
    """A number of Python: a value that the program is not made for."""

    value: bool | int | float


class StaticArgument(NamedTuple):
    """An argument that is declared static: a constant of the program."""

    value: str | int


Call = tuple[ArrayArgument | PythonNumber | StaticArgument, ...]


def _call_text(call: Call) -> str:
    def word(argument: Any) -> str:
        if isinstance(argument, ArrayArgument):
            return f"{argument.dtype}{list(argument.shape)}"
        return f"{argument.value!r}" + (" (static)" if isinstance(argument, StaticArgument) else "")

    return f"f({', '.join(map(word, call))})"


def _series() -> list[tuple[list[Call], int, str]]:
    small, tall, wide = (
        ArrayArgument("float32", (8,)),
        ArrayArgument("float32", (8, 1)),
        ArrayArgument("float32", (1, 8)),
    )
    half, double, whole = (
        ArrayArgument("float16", (8,)),
        ArrayArgument("float64", (8,)),
        ArrayArgument("int32", (8,)),
    )
    long, scalar = ArrayArgument("int64", (8,)), ArrayArgument("float32", ())
    relu, tanh = StaticArgument("relu"), StaticArgument("tanh")
    return [
        ([], 0, "Nothing was called."),
        ([(small,)] * 5, 1, "The same signature five times."),
        (
            [(small,), (tall,), (wide,), (small,)],
            3,
            "A shape is its dimensions in order; one seen before is known.",
        ),
        ([(small,), (half,), (whole,)], 3, "Another element type is another program."),
        (
            [(small,), (double,)],
            1,
            "Without x64 a float64 array becomes float32 before jit looks at it.",
        ),
        ([(whole,), (long,)], 1, "Without x64 an int64 array becomes int32."),
        (
            [(small, PythonNumber(0.1 * k)) for k in range(9)],
            1,
            "The value of a Python number is not part of the program.",
        ),
        (
            [(small, PythonNumber(1)), (small, PythonNumber(1.0)), (small, PythonNumber(True))],
            3,
            "int, float and bool are three types.",
        ),
        (
            [(small, PythonNumber(0.5)), (small, scalar)],
            2,
            "A Python float is weakly typed: float16 times it stays float16.",
        ),
        (
            [(small, StaticArgument(k)) for k in range(6)],
            6,
            "A static argument is a constant: each value is another program.",
        ),
        (
            [(small, relu), (small, tanh), (small, relu), (tall, relu)],
            3,
            "Each pair of shape and static value, once.",
        ),
        (
            [(small, StaticArgument(3)), (small, PythonNumber(3))],
            2,
            "As a static argument 3 is a constant, else a parameter.",
        ),
        (
            [(ArrayArgument("float32", (n, 8)),) for n in (32, 32, 32, 17)],
            2,
            "The last batch of an epoch is smaller.",
        ),
        ([(small,), (small, small), (small, small, small)], 3, "The number of arguments counts."),
        (
            [(double, PythonNumber(2.5)), (small, PythonNumber(-1.0)), (long, PythonNumber(0.0))],
            2,
            "Both rules at once.",
        ),
    ]


@exercise(
    "nb18.traces",
    "Write traces(calls): how often jax.jit traces and compiles a function that is called so.",
    "Which parts of a call belong to the program, and which are only its inputs? Collect the "
    "first in a set.",
    hints=(
        (
            "Of an array the element type and the shape, of a static argument the value, of a "
            "Python number only its type."
        ),
        "float64 becomes float32 and int64 int32, unless x64 is switched on (it is not).",
        "type(True) is bool, although True == 1 and 1 == 1.0.",
    ),
)
def traces(function: Callable[[list[Call]], Any]) -> Cases:
    """Check fifteen series of calls."""
    for calls, want, why in _series():
        got = function(list(calls))
        if isinstance(got, bool) or not isinstance(got, int):
            raise WrongAnswerError(
                Failure(
                    "no-number",
                    "The answer is how many programs are compiled.",
                    str(want),
                    repr(got),
                )
            )
        shown = "; ".join(list(map(_call_text, calls))[:6]) + ("; ..." if len(calls) > 6 else "")
        code, what = (
            "too-few" if got < want else "too-many",
            f"{shown or 'no calls'}: another number is compiled.",
        )
        yield None if got == want else Failure(code, what, str(want), str(got), hint=why)


def _operations() -> list[HloModule]:
    def one(root: str, *shapes: str) -> HloModule:
        given = "  ".join([f"x{n} = {shape} parameter({n})" for n, shape in enumerate(shapes)])
        return parse_hlo(
            f"HloModule one\n{_SUM if 'to_apply' in root else ''}\nENTRY main {{ {given}  ROOT r = {root} }}"
        )

    v, m = "f64[3]", "f64[2,3]"
    made = [
        one(f"{v} {name}(x0)", v)
        for name in ("negate", "tanh", "exponential", "log", "sine", "cosine", "copy")
    ]
    made += [one(f"{v} {name}(x0, x1)", v, v) for name in ("add", "subtract", "multiply", "divide")]
    made += [
        one("f64[3,2] transpose(x0), dimensions={1,0}", m), one("f64[6] reshape(x0)", m), one("f64[2,3] broadcast(x0), dimensions={1}", v),
        one("f64[3,2] broadcast(x0), dimensions={0}", v), one("f64[2,3] broadcast(x0), dimensions={}", "f64[]"),
        one("f64[2] reduce(x0, x1), dimensions={1}, to_apply=sum", m, "f64[]"),
        one("f64[3] reduce(x0, x1), dimensions={0}, to_apply=sum", m, "f64[]"),
        one("f64[] reduce(x0, x1), dimensions={0,1}, to_apply=sum", m, "f64[]"),
        one("f64[2,4] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", m, "f64[3,4]"),
        one("f64[2] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", m, v),
    ]  # fmt: skip
    return made


def _numbers(module: HloModule, seed: int) -> list[Array]:
    generator = np.random.default_rng(seed)
    return [generator.uniform(0.5, 2.0, p.shape.dimensions) for p in module.entry.parameters()]


def _run(module: HloModule) -> Callable[[list[Array]], Any]:
    return lambda values: evaluate(module, *values)


def _differences(
    function: Callable[[list[Array]], Any], values: Sequence[Array], g: Any
) -> list[Array]:
    """Return the gradient of sum(g * function(values)) by central differences."""
    found = []
    for n, value in enumerate(values):
        slopes = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            moved = []
            for step in (_STEP, -_STEP):
                nudged = [v.copy() for v in values]
                nudged[n][place] += step
                moved.append(np.sum(np.asarray(g) * np.asarray(function(nudged))))
            slopes[place] = (moved[0] - moved[1]) / (2 * _STEP)
        found.append(slopes)
    return found


@exercise(
    "nb18.pullback",
    "Write pullback(i, operands, g): the gradients of the operands of one instruction, given the "
    "gradient of its result.",
    "operands are the arrays that it was computed from; for multiply(a, b) the answer is (g * b, "
    "g * a).",
    hints=(
        (
            "The derivative of tanh is 1 - tanh^2, of log 1/x, of exponential itself; a / b "
            "gives (g / b, -g * a / b^2)."
        ),
        (
            "Data movement is inverted: transpose by the inverse permutation, reshape to the "
            "operand's shape."
        ),
        (
            "broadcast copies: sum g over the dimensions that are not in "
            "i.attribute('dimensions'). reduce sums: copy g along the summed ones."
        ),
        (
            "dot of matrices: (g @ b.T, a.T @ g); for a vector b, np.outer(g, b) and a.T @ g. "
            "The initial value of a sum gets the sum of g."
        ),
    ),
)
def pullback(function: Callable[[HloInstruction, list[Array], Array], Any]) -> Cases:
    """Check each operation at three places against finite differences in 64 bits."""
    for module in _operations():
        for seed in range(3):
            i, values = module.entry.root, _numbers(module, seed)
            g = np.asarray(np.random.default_rng(seed + 7).uniform(-1, 1, i.shape.dimensions))
            want = _differences(_run(module), values, g)
            with answering(module):
                got = function(i, [v.copy() for v in values], g.copy())
            yield _compared(module, [f"operand {n}" for n in range(len(values))], values, want, got)


def _compared(
    module: HloModule, names: list[str], values: Sequence[Array], want: list[Array], got: Any
) -> Failure | None:
    if not isinstance(got, (tuple, list)) or len(got) != len(want):
        return Failure(
            "no-gradients",
            "The answer is one array for each.",
            ", ".join(names),
            repr(got)[:300],
            module,
        )
    for name, right, found in zip(names, want, got, strict=True):
        if np.shape(found) != right.shape:
            return Failure("another-shape", f"The gradient of {name} has its shape.", str(right.shape), str(np.shape(found)), module,
                           tuple(values), "Sum over copies, copy along sums, and invert data movement.")  # fmt: skip
        if not np.allclose(found, right, rtol=_TOLERANCE, atol=_TOLERANCE):
            return Failure("wrong-gradient", f"The gradient of {name} is another one.", value_text(right), value_text(np.asarray(found)),
                           module, tuple(values), "Nudge one number of it by a little: by how much does each result change?")  # fmt: skip
    return None


def random_loss(seed: int) -> HloModule:
    """Return a program of f64 arrays with a scalar result; values have any number of uses."""
    choice = random.Random(seed)
    known = ["x0", "x1"]
    lines = ["x0 = f64[3] parameter(0)", "x1 = f64[3] parameter(1)", "w = f64[3,3] parameter(2)"]
    for number in range(choice.randint(1, 7)):
        name, x, y = f"v{number}", choice.choice(known[-3:]), choice.choice(known[-2:])
        kind = choice.choice(("add", "subtract", "multiply", "tanh", "negate", "sine", "dot"))
        if kind == "dot":
            lines.append(
                f"{name} = f64[3] dot(w, {x}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
            )
        else:
            lines.append(
                f"{name} = f64[3] {kind}({f'{x}, {y}' if kind in ('add', 'subtract', 'multiply') else x})"
            )
        known.append(name)
    return parse_hlo(f"""HloModule loss\n{_SUM}
ENTRY main {{ {"  ".join(lines)}  zero = f64[] constant(0)
  ROOT loss = f64[] reduce({known[-1]}, zero), dimensions={{0}}, to_apply=sum }}""")


@exercise(
    "nb18.gradients",
    "Write gradients(computation, values, pullback): the gradient of the root, one number, for "
    "each parameter.",
    "The gradient of the root is 1. Go through computation.post_order() backwards.",
    hints=(
        (
            "When you reach an instruction, all its users have been visited: its gradient is "
            "complete. Then pull it back to its operands."
        ),
        (
            "An operand that several instructions use gets the *sum* of what each of them gives; "
            "x * x gives to x twice."
        ),
        "A parameter that nothing needs has a gradient of zeros, of its shape.",
    ),
)
def gradients(function: Callable[[Any, Mapping[str, Array], Callable[..., Any]], Any]) -> Cases:
    """Check losses whose values have no, one or several uses, against finite differences."""

    def numeric(i: HloInstruction, operands: Sequence[Array], g: Array) -> list[Array]:
        return _differences(lambda moved: _COMPUTED[i.opcode.name](*moved), list(operands), g)

    for module in sorted(
        map(random_loss, range(24)), key=HloModule.instruction_count
    ):  # small counter-examples first
        values = _numbers(module, 5)
        want = _differences(_run(module), values, 1.0)
        with answering(module):
            got = function(module.entry, values_of(module, *values), numeric)
        yield _compared(
            module, [f"%{p.name}" for p in module.entry.parameters()], values, want, got
        )
