"""Notebook 02, builder and interpreter: numerically sound softmax and layer normalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import Array
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape
from xla_explorer.hlo.verifier import verify

EPSILON = 1e-5


def built(function: Callable[..., Any], dimensions: tuple[int, ...], parameters: int) -> HloModule:
    """Return the program of a function of arrays.

    Parameter 0 has the given dimensions, the others are vectors along the last one.
    """
    b = HloBuilder(getattr(function, "__name__", "answer"), locations=False)
    values = [
        b.parameter(array_shape("f32", dimensions if not k else dimensions[-1:]), "xgb"[k])
        for k in range(parameters)
    ]
    with answering():
        root = function(*values)
    if not isinstance(root, HloValue):
        raise WrongAnswerError(
            Failure(
                "no-value",
                "The function returns the result as a value of the builder.",
                "an HloValue",
                repr(root),
                hint="Compute with the parameters themselves, not with numpy arrays.",
            )
        )
    return b.build(root)


def _compare(
    function: Callable[..., Any],
    inputs: list[tuple[Array, ...]],
    reference: Callable[..., Array],
    budget: int,
    hints: dict[str, str],
) -> Cases:
    for arrays in inputs:
        module = built(function, arrays[0].shape, len(arrays))
        verify(module)
        want = reference(*[a.astype(np.float64) for a in arrays]).astype(np.float32)
        if module.result_shape().dimensions != want.shape:
            raise WrongAnswerError(
                Failure(
                    "wrong-shape",
                    "The result has another shape.",
                    f"f32{list(want.shape)}",
                    str(module.result_shape()),
                    module,
                    hint="keepdims=True keeps the reduced dimension with size 1, so that it "
                    "broadcasts back.",
                )
            )
        with np.errstate(all="ignore"):
            got = np.asarray(evaluate(module, *arrays))
        if not np.allclose(got, want, rtol=2e-5, atol=1e-6):
            code = "not-finite" if not np.isfinite(got).all() else "wrong-value"
            raise WrongAnswerError(
                Failure(
                    code,
                    "The values differ.",
                    value_text(want),
                    value_text(got),
                    module,
                    arrays,
                    hints[code],
                )
            )
        yield None
    entry = [
        i
        for i in module.entry.instructions.values()
        if i.opcode.name not in ("parameter", "constant")
    ]
    powers = sum([i.opcode.name == "exponential" for i in entry])
    if len(entry) > budget or powers > 1:
        raise WrongAnswerError(
            Failure(
                "over-budget",
                f"{powers} exponentials; one is enough."
                if powers > 1
                else f"{len(entry)} instructions; {budget} are enough.",
                "one exponential" if powers > 1 else f"at most {budget}",
                str(powers if powers > 1 else len(entry)),
                module,
                hint="Compute a value once, keep it in a variable, and use it twice.",
            )
        )


def _reference_softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


@exercise(
    "nb02.softmax",
    "Write softmax(x) over the last dimension.",
    "Start with the largest value of each row: x.max(axis=-1, keepdims=True).",
    hints=(
        (
            "Subtract the row's largest value before exp: then no power is above 1, and the "
            "quotient stays the same."
        ),
        "Keep the exponentials in a variable: the program must compute them once.",
    ),
)
def softmax(function: Callable[[HloValue], HloValue]) -> Cases:
    """Check rows of ordinary, equal and huge values."""
    generator = np.random.default_rng(0)
    rows: list[Any] = [
        [[0.0]],
        [[1.0, 1.0]],
        [[0.0, 1.0]],
        [[1.0, 2.0], [3.0, 5.0]],
        [1.0, 2.0, 4.0],
        [[1000.0, 1000.0]],
        [[1000.0, 1000.0], [0.0, 0.0]],
        [[-1000.0, 0.0]],
        [[90.0, 89.0, -1e4]],
    ]
    inputs: list[tuple[Array, ...]] = [(np.array(row, np.float32),) for row in rows]
    inputs += [
        (generator.standard_normal((3, 5)).astype(np.float32),),
        (generator.standard_normal((2, 3, 4)).astype(np.float32),),
    ]
    yield from _compare(
        function,
        inputs,
        _reference_softmax,
        11,
        {
            "not-finite": "exp(1000) is infinite in f32, and infinity / infinity is NaN. Softmax "
            "does not change when you "
            "subtract the same "
            "number from a whole row: which number of that row makes its largest exponent 0? "
            "Rows may lie far apart.",
            "wrong-value": (
                "Each row sums to one by itself: reduce along axis=-1 only, and keep the dimension."
            ),
        },
    )


def _reference_layernorm(x: Array, g: Array, b: Array) -> Array:
    return np.asarray(
        (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPSILON) * g + b
    )


@exercise(
    "nb02.layernorm",
    "Write layernorm(x, gain, bias) over the last dimension.",
    "Start with the mean: x.mean(axis=-1, keepdims=True).",
    hints=(
        (
            "Take the differences from the mean, then the mean of their squares: d * d, not x * "
            "x less the square of the mean."
        ),
        (
            "Epsilon belongs under the square root, where it keeps a row without spread from a "
            "division by zero."
        ),
    ),
)
def layernorm(function: Callable[[HloValue, HloValue, HloValue], HloValue]) -> Cases:
    """Check rows with, without and with almost no spread, where epsilon counts, and a distant one.

    For a row far from zero, the mean of squares less the squared mean fails.
    """
    generator = np.random.default_rng(1)
    inputs: list[tuple[Array, ...]] = []
    rows: list[Any] = [
        [[1, 3]],
        [1, 2, 6],
        [[2, 2]],
        [[1, 2, 6], [0, 0, 3]],
        [[4096, 4097, 4098, 4099]],
        [[0, 0.001, 0.002, 0.003]],
    ]
    for row in rows:
        x = np.array(row, np.float32)
        inputs.append((x, np.ones(x.shape[-1], np.float32), np.zeros(x.shape[-1], np.float32)))
    inputs += [
        tuple([generator.standard_normal(s).astype(np.float32) for s in (dimensions, (8,), (8,))])
        for dimensions in ((3, 8), (8,), (2, 3, 8))
    ]
    yield from _compare(
        function,
        inputs,
        _reference_layernorm,
        24,
        {
            "not-finite": (
                "Where a row is constant its variance is zero: add epsilon before the square root."
            ),
            "wrong-value": "mean((x - mean)**2) is exact where mean(x**2) - mean**2 cancels; the "
            "square root comes after "
            "epsilon; gain and bias "
            "belong to the last dimension.",
        },
    )
