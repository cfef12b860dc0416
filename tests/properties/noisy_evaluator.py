"""The evaluator with every rounding disturbed as far as HLO allows: bounds of differences."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import Evaluator, evaluate, flatten_value
from xla_explorer.hlo.evaluator.plan import Plan
from xla_explorer.hlo.evaluator.vectorise import evaluate_scalar_step, is_vectorisable
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]


class Noise(NamedTuple):
    """ulps: by which a result of 32 bits and more may differ; narrow: one of 16 or 8 bits.

    operands: whether what is summed differs before (and by more, the more there is of it). signs:
    whether a zero may come with either sign.
    """

    ulps: float
    narrow: float
    operands: bool
    signs: bool


_ONE_ROUNDING = Noise(
    1, 0, False, False
)  # products and sums may be contracted; 16 bits and less are rounded from f32, which is exact
_FUNCTION = Noise(4, 1, False, False)
_COMPLEX_POWER = Noise(
    512, 1, False, False
)  # e^(c log z): an ulp of the exponent is as many of the result as the exponent is large
_SUM = Noise(2, 1, True, True)
_EITHER_ZERO = Noise(0, 0, False, True)  # of +0 and -0 either is the maximum
NOISE: dict[str, Noise] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "sqrt", "complex", "map", "fusion", "call", "reduce-precision"), _ONE_ROUNDING),
    **dict.fromkeys(
        ("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh", "tan", "sine", "cosine", "power", "atan2", "cbrt", "rsqrt",
         "erf", "asin", "acos", "asinh", "acosh", "atanh", "sinh", "cosh", "stochastic-convert", "abs", "sign"),
        _FUNCTION,
    ),
    **dict.fromkeys(
        ("dot", "convolution", "reduce", "reduce-window", "scatter", "select-and-scatter", "scan", "fft", "cholesky", "triangular-solve", "batch-norm-training",
         "batch-norm-inference", "batch-norm-grad", "ragged-dot", "scaled-dot", "all-reduce", "reduce-scatter", "custom-call"),
        _SUM,
    ),
    **dict.fromkeys(("maximum", "minimum", "clamp"), _EITHER_ZERO),
}  # fmt: skip
_ONLY_COMPLEX = frozenset(("abs", "sign"))  # exact for real numbers
_PASSES_ON = frozenset(
    ("fusion", "call", "complex")
)  # what they compute has been disturbed inside, or is exact


class NoisyEvaluator(Evaluator):
    """The evaluator with every rounding disturbed.

    loose: as rewrites over the real numbers may, which also round narrow types otherwise.
    """

    def __init__(self, seed: int, *, loose: bool, deadline: float) -> None:
        super().__init__(max_iterations=MAX_ITERATIONS)
        self.generator = np.random.default_rng(seed)
        self.loose, self.deadline = loose, deadline

    def run_plan(self, plan: Plan, arguments: Sequence[Any]) -> Any:
        frame = plan.frame.copy()
        for slot, number in plan.parameters:
            frame[slot] = arguments[number]
        if time.process_time() > self.deadline:
            raise ReferenceTooLongError
        for function, instruction, operands, result, _dead, dtype, dimensions in plan.steps:
            values = [frame[o] for o in operands]
            noise = NOISE.get(instruction.opcode.name)
            if instruction.opcode.name == "power" and instruction.shape.element_type.is_complex:
                noise = _COMPLEX_POWER
            if noise is not None and noise.operands:
                ulps = noise.ulps * (1 + math.sqrt(_terms(instruction)))
                # One after the other, equal terms are rounded the same way each time.
                together = noise.ulps * _terms(instruction) / 8
                values = [
                    self._disturbed(
                        v, ulps, 1 if self.loose else 0.25, signs=False, together=together
                    )
                    for v in values
                ]
            if instruction.opcode.name == "map" and is_vectorisable(instruction.called[0]):
                value = self._mapped(instruction.called[0], values)
            else:
                value = function(instruction, values, self)
            if dtype is not None and (
                value.__class__ is not np.ndarray
                or value.dtype != dtype
                or value.shape != dimensions
            ):
                value = self._reconcile(instruction, np.asarray(value))
            if noise is not None and instruction.opcode.name not in _PASSES_ON:
                if (
                    instruction.opcode.name not in _ONLY_COMPLEX
                    or instruction.operands[0].shape.element_type.is_complex
                ):
                    value = self._disturbed(
                        value,
                        noise.ulps,
                        max(noise.narrow, 1) if self.loose else noise.narrow,
                        signs=noise.signs or self.loose,
                    )
            frame[result] = value
        return frame[plan.root]

    def _mapped(self, computation: HloComputation, arguments: Sequence[Any]) -> Any:
        """Return a map of all elements at once, with its operations disturbed as outside."""
        values: dict[HloInstruction, Any] = {}
        for i in computation.post_order():
            if i.opcode.name == "parameter":
                values[i] = arguments[int(i.payload)]
                continue
            value = evaluate_scalar_step(i, [values[o] for o in i.operands], self)
            noise = NOISE.get(i.opcode.name)
            if (
                noise is not None
                and i.opcode.name not in _PASSES_ON
                and (
                    i.opcode.name not in _ONLY_COMPLEX
                    or i.operands[0].shape.element_type.is_complex
                )
            ):
                value = self._disturbed(
                    np.asarray(value),
                    noise.ulps,
                    max(noise.narrow, 1) if self.loose else noise.narrow,
                    signs=noise.signs or self.loose,
                )
            values[i] = value
        return np.broadcast_to(
            values[computation.root], np.broadcast_shapes(*[a.shape for a in arguments])
        )

    def _disturbed(
        self, value: Any, ulps: float, narrow: float, *, signs: bool, together: float = 0
    ) -> Any:
        if isinstance(value, tuple):
            return tuple(
                [
                    self._disturbed(part, ulps, narrow, signs=signs, together=together)
                    for part in value
                ]
            )
        if (
            not isinstance(value, np.ndarray)
            or value.dtype.kind in "biuO"
            or not value.size
            or value.dtype.name.startswith(("int", "uint"))
        ):
            return value
        if value.dtype.kind == "c":
            made = np.empty_like(value)
            # A rounding of either part is one of the size of the whole.
            size = np.maximum(abs(value.real), abs(value.imag))
            made.real = self._near(np.asarray(value.real), ulps, signs, size, together)
            made.imag = self._near(np.asarray(value.imag), ulps, signs, size, together)
            return made
        bits = value.dtype.itemsize * 8
        if bits < 32:
            return self._narrow(value, narrow, signs)
        return self._near(value, ulps, signs, np.abs(value), together)

    def _near(self, value: Array, ulps: float, signs: bool, size: Array, together: float) -> Array:
        # Some of it is the same for all, as roundings of equal terms are.
        shift = (
            self.generator.uniform(-ulps, ulps, value.shape)
            + self.generator.uniform(-together, together)
        ).astype(value.dtype)
        with np.errstate(all="ignore"):
            made = np.where(
                np.isfinite(value),
                value + shift * np.spacing(np.where(np.isfinite(size), size, 1)),
                value,
            )
        return self._signs(
            np.where(value == 0, value + 0 * shift, made)
            if not ulps
            else np.where((value == 0) & (size == 0), value, made),
            signs,
        )

    def _signs(self, value: Array, signs: bool) -> Array:
        flips = self.generator.random(value.shape) < 0.5
        either = np.isnan(value) | ((value == 0) if signs else False)  # a NaN has no sign in HLO
        return np.where(flips & either, -value, value).astype(value.dtype)

    def _narrow(self, value: Array, steps: float, signs: bool) -> Array:
        if steps:
            wide = value.astype(np.float32)
            epsilon = 2.0 ** -(
                np.finfo(value.dtype).nmant
                if value.dtype == np.float16
                else _fraction_bits(value.dtype)
            )
            draw = self.generator.random(value.shape)
            move = np.where(draw < min(steps, 1) / 2, -1, np.where(draw < min(steps, 1), 1, 0))
            with np.errstate(all="ignore"):
                # Of a subnormal number one ulp is more than the rounding of its type.
                least = float(ml_dtypes.finfo(value.dtype).smallest_subnormal)
                step = np.where(wide == 0, 0, np.maximum(np.abs(wide) * epsilon, least)).astype(
                    np.float32
                )
                value = np.where(
                    np.isfinite(wide), wide + move.astype(np.float32) * step, wide
                ).astype(value.dtype)
        if np.signbit(np.asarray(-1, value.dtype)) and value.dtype.name != "float8_e8m0fnu":
            return self._signs(value, signs)
        return value


def _terms(instruction: HloInstruction) -> float:
    """About how many terms make one element of the result."""
    results = [leaf.element_count for _, leaf in instruction.shape.leaves() if leaf.is_array]
    sizes = [
        leaf.element_count
        for operand in instruction.operands
        for _, leaf in operand.shape.leaves()
        if leaf.is_array
    ]
    whole = max(results, default=1) or 1
    if instruction.opcode.name in ("dot", "convolution", "ragged-dot", "scaled-dot"):
        return math.sqrt(sizes[0] * sizes[1] / whole)
    if instruction.opcode.name in ("fft", "cholesky", "triangular-solve", "scan"):
        return float(max(instruction.operands[0].shape.dimensions, default=1))
    return max([*sizes, 1]) / min(whole, max(sizes, default=1) or 1)


def _fraction_bits(dtype: np.dtype[Any]) -> int:
    return int(ml_dtypes.finfo(dtype).nmant)


MAX_ITERATIONS = 2000


class ReferenceTooLongError(Exception):
    """The evaluator takes too long: not a fault of it, but nothing to compare with."""


def reference(
    module: HloModule, arguments: Sequence[Any], evaluator: Evaluator | None = None
) -> list[Array]:
    """Return the leaves of the evaluator's value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = (
            evaluator
            if evaluator is not None
            else Evaluator(max_elements=1 << 22, max_iterations=MAX_ITERATIONS)
        )
        return [
            np.asarray(leaf)
            for leaf in flatten_value(evaluate(module, *arguments, evaluator=runner))
        ]
