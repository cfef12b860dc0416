"""Tricks and wrong programs that a check of sameness must refuse, each beside its reference.

They were written before the check, without a look at its code. A row is a name, a function that
returns fresh (reference, candidate, examples) and the options of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Trick(NamedTuple):
    """A wrong candidate. word: what the verdict must mention."""

    make: Callable[[], tuple[Any, Any, tuple[Any, ...]]]
    word: str = ""
    options: dict[str, Any] = {}  # noqa: RUF012


def vectors(count: int = 2, size: int = 24, dtype: Any = np.float32) -> tuple[Array, ...]:
    generator = np.random.default_rng(5)
    return tuple(generator.standard_normal(size).astype(dtype) for _ in range(count))


def add(x: Array, y: Array) -> Array:
    return x + y


def untouched_output() -> Any:
    def reference(x: Array, y: Array, out: Array) -> None:
        out[...] = x + y

    def candidate(x: Array, y: Array, out: Array) -> None:
        return None

    x, y = vectors()
    return reference, candidate, (x, y, np.zeros_like(x))


def half_of_the_output() -> Any:
    def reference(x: Array, y: Array, out: Array) -> None:
        out[...] = np.maximum(x, y)

    def candidate(x: Array, y: Array, out: Array) -> None:
        out[: len(x) // 2] = np.maximum(x, y)[: len(x) // 2]

    x, y = vectors()
    return reference, candidate, (x, y, np.zeros_like(x))


def memory_of_others() -> Any:
    """An uninitialised array may be the one into which the reference wrote its result before."""
    return add, lambda x, y: np.empty_like(x), vectors()


def constant_output() -> Any:
    return (lambda x: np.maximum(x, 0)), (lambda x: np.zeros_like(x)), vectors(1)


def answer_of_the_example() -> Any:
    x, y = vectors()
    known = x + y
    return add, lambda x, y: known.copy(), (x, y)


def ignores_an_argument() -> Any:
    def reference(x: Array, y: Array) -> Array:
        return np.asarray(x * 2 + 0 * np.sign(y) + np.where(np.abs(y) < 1e-3, 1, 0), x.dtype)

    return reference, lambda x, y: x * 2, vectors()


def cached_by_identity() -> Any:
    cache: dict[tuple[int, int], Array] = {}

    def candidate(x: Array, y: Array) -> Array:
        key = (id(x), id(y))
        if key not in cache:
            cache[key] = x + y
        return cache[key].copy()

    return add, candidate, vectors()


def cached_by_a_corner() -> Any:
    """The key is the first and the last element."""
    cache: dict[bytes, Array] = {}

    def candidate(x: Array) -> Array:
        key = x[:1].tobytes() + x[-1:].tobytes()
        if key not in cache:
            cache[key] = np.abs(x)
        return cache[key].copy()

    return np.abs, candidate, vectors(1)


def right_only_first() -> Any:
    calls: list[int] = []

    def candidate(x: Array, y: Array) -> Array:
        calls.append(1)
        return x + y if len(calls) == 1 else x - y

    return add, candidate, vectors()


def wrong_only_first() -> Any:
    calls: list[int] = []

    def candidate(x: Array, y: Array) -> Array:
        calls.append(1)
        return x * 0 if len(calls) == 1 else x + y

    return add, candidate, vectors()


def right_thirty_times() -> Any:
    calls: list[int] = []

    def candidate(x: Array, y: Array) -> Array:
        calls.append(1)
        return x + y if len(calls) <= 30 else x + y + np.float32(0.25)

    return add, candidate, vectors()


def remembers_the_last_call() -> Any:
    last: list[Array] = [np.zeros(24, np.float32)]

    def candidate(x: Array) -> Array:
        found = np.tanh(x) + (last[0] == x) * np.float32(0.5)
        last[0] = x.copy()
        return found.astype(np.float32)

    return np.tanh, candidate, vectors(1)


def changes_an_argument() -> Any:
    def candidate(x: Array, y: Array) -> Array:
        x += y
        return x.copy()

    return add, candidate, vectors()


def clears_an_argument_later() -> Any:
    def candidate(x: Array, y: Array) -> Array:
        found = x + y
        y[...] = 0
        return found

    return add, candidate, vectors()


def one_buffer_for_all_results() -> Any:
    buffer = np.zeros(24, np.float32)

    def candidate(x: Array, y: Array) -> Array:
        np.add(x, y, out=buffer)
        return buffer

    return add, candidate, vectors()


def numbers_for_nan() -> Any:
    return np.sqrt, (lambda x: np.nan_to_num(np.sqrt(x), nan=0.0, posinf=np.inf)), vectors(1)


def largest_for_infinity() -> Any:
    top = np.finfo(np.float32).max
    return np.exp, (lambda x: np.minimum(np.exp(x), top)), vectors(1)


def lost_sign_of_zero() -> Any:
    return (lambda x: x.copy()), (lambda x: x + np.float32(0)), vectors(1)


def flushed_subnormals() -> Any:
    tiny = np.finfo(np.float32).tiny
    return (
        (lambda x: x * np.float32(0.5)),
        lambda x: np.where(np.abs(x * np.float32(0.5)) < tiny, np.float32(0), x * np.float32(0.5)),
        vectors(1),
    )


def half_precision_inside() -> Any:
    def reference(x: Array, y: Array) -> Array:
        return np.asarray(x @ y)

    def candidate(x: Array, y: Array) -> Array:
        return np.asarray(
            (x.astype(np.float16).astype(np.float32)) @ (y.astype(np.float16).astype(np.float32))
        )

    generator = np.random.default_rng(2)
    shapes = ((6, 8), (8, 5))
    return (
        reference,
        candidate,
        tuple(generator.standard_normal(s).astype(np.float32) for s in shapes),
    )


def one_byte_wrong() -> Any:
    def reference(x: Array) -> Array:
        return (x.astype(np.int16) * 3 // 4).astype(np.uint8)

    def candidate(x: Array) -> Array:
        return reference(x) + (x == 181).astype(np.uint8)

    return reference, candidate, (np.arange(5, dtype=np.uint8),)


def one_half_float_wrong() -> Any:
    def candidate(x: Array) -> Array:
        found = np.abs(x)
        return np.where(x.view(np.uint16) == 0xB3A7, found + np.float16(1), found)

    return np.abs, candidate, (np.ones(16, np.float16),)


def wide_result() -> Any:
    return (
        np.exp,
        (lambda x: np.exp(x).astype(np.float64)),
        vectors(1),
    )


def result_of_one_column() -> Any:
    return (lambda x: x.sum(keepdims=True)), (lambda x: x.sum()), vectors(1)


def half_of_the_sum() -> Any:
    """An estimate from every second element, right on average."""
    return (lambda x: x.mean()), (lambda x: x[::2].mean()), vectors(1, 512)


def last_of_equal_ones() -> Any:
    def candidate(x: Array) -> Any:
        return np.asarray(len(x) - 1 - np.argmax(x[::-1]))

    return (lambda x: np.asarray(np.argmax(x))), candidate, vectors(1)


def softmax_without_the_maximum() -> Any:
    def reference(x: Array) -> Array:
        e = np.exp(x - x.max())
        return e / e.sum()

    def candidate(x: Array) -> Array:
        e = np.exp(x)
        return e / e.sum()

    return reference, candidate, vectors(1)


def swapped_product() -> Any:
    """The example is symmetric; other arguments are not."""
    x = np.eye(4, dtype=np.float32)
    return (lambda x, y: x @ y), (lambda x, y: y @ x), (x, x + 1)


def exponent_by_logarithm() -> Any:
    """The integer part of log2 in single precision is wrong just below powers of two."""

    def reference(x: Array) -> Array:
        return (np.frexp(x)[1] - 1).astype(np.int32)

    def candidate(x: Array) -> Array:
        exponent = np.clip(np.nan_to_num(np.floor(np.log2(np.abs(x)))), -200, 200)
        fine = np.isfinite(x) & (np.abs(x) >= np.finfo(np.float32).tiny)
        return np.where(fine, exponent, reference(x)).astype(np.int32)

    return reference, candidate, (np.float32([1, 3, 5, 6]),)


def wrong_when_arguments_are_one() -> Any:
    """The result is written over x while y, which may be x, is still read."""

    def reference(x: Array, y: Array) -> Array:
        return x[::-1] - y

    def candidate(x: Array, y: Array) -> Array:
        return x[::-1] - y if x is not y else y - y

    return reference, candidate, vectors()


def last_row_forgotten() -> Any:
    def reference(n: int) -> Callable[..., Any]:
        return lambda x: np.asarray(x.sum())

    def candidate(n: int) -> Callable[..., Any]:
        return lambda x: np.asarray(x[: n - n % 8].sum() if n > 8 else x.sum())

    return reference, candidate, ()


def absolute_value_of_the_least() -> Any:
    before = "ENTRY m { x = s32[4] parameter(0) y = s32[4] abs(x) z = s32[4] constant({0,0,0,0}) ROOT r = pred[4] compare(y, z), direction=GE }"
    after = "ENTRY m { x = s32[4] parameter(0) ROOT r = pred[4] constant({true,true,true,true}) }"
    return before, after, ()


def division_by_reciprocal() -> Any:
    before = "ENTRY m { x = f32[8] parameter(0) c = f32[] constant(3) b = f32[8] broadcast(c), dimensions={} ROOT r = f32[8] divide(x, b) }"
    after = "ENTRY m { x = f32[8] parameter(0) c = f32[] constant(0.33333334) b = f32[8] broadcast(c), dimensions={} ROOT r = f32[8] multiply(x, b) }"
    return before, after, ()


def maximum_by_comparison() -> Any:
    before = (
        "ENTRY m { x = f32[8] parameter(0) y = f32[8] parameter(1) ROOT r = f32[8] maximum(x, y) }"
    )
    after = "ENTRY m { x = f32[8] parameter(0) y = f32[8] parameter(1) c = pred[8] compare(x, y), direction=GT ROOT r = f32[8] select(c, x, y) }"
    return before, after, ()


def doubled_and_halved() -> Any:
    before = "ENTRY m { x = s8[8] parameter(0) ROOT r = s8[8] copy(x) }"
    after = "ENTRY m { x = s8[8] parameter(0) a = s8[8] add(x, x) c = s8[] constant(2) b = s8[8] broadcast(c), dimensions={} ROOT r = s8[8] divide(a, b) }"
    return before, after, ()


def difference_times_sum() -> Any:
    """The same over real numbers, but an overflow comes earlier."""
    before = "ENTRY m { x = f32[8] parameter(0) y = f32[8] parameter(1) a = f32[8] add(x, y) b = f32[8] subtract(x, y) ROOT r = f32[8] multiply(a, b) }"
    after = "ENTRY m { x = f32[8] parameter(0) y = f32[8] parameter(1) a = f32[8] multiply(x, x) b = f32[8] multiply(y, y) ROOT r = f32[8] subtract(a, b) }"
    return before, after, ()


TRICKS = {
    "untouched output": Trick(untouched_output, "out"),
    "half of the output": Trick(half_of_the_output, "out"),
    "memory of others": Trick(memory_of_others),
    "constant output": Trick(constant_output, "constant"),
    "answer of the example": Trick(answer_of_the_example, "constant"),
    "ignores an argument": Trick(ignores_an_argument),
    "cached by identity": Trick(cached_by_identity, "in place"),
    "cached by a corner": Trick(cached_by_a_corner),
    "right only first": Trick(right_only_first, "call"),
    "wrong only first": Trick(wrong_only_first),
    "right thirty times": Trick(right_thirty_times),
    "remembers the last call": Trick(remembers_the_last_call, "call"),
    "changes an argument": Trick(changes_an_argument, "argument"),
    "clears an argument": Trick(clears_an_argument_later, "argument"),
    "one buffer for all results": Trick(one_buffer_for_all_results, "later"),
    "numbers for nan": Trick(numbers_for_nan, "nan"),
    "largest for infinity": Trick(largest_for_infinity, "inf"),
    "lost sign of zero": Trick(lost_sign_of_zero, "-0", {"claim": "bitwise"}),
    "flushed subnormals": Trick(flushed_subnormals, "e-", {"claim": "bitwise"}),
    "half precision inside": Trick(half_precision_inside),
    "one byte wrong": Trick(one_byte_wrong, "181"),
    "one half float wrong": Trick(one_half_float_wrong),
    "wide result": Trick(wide_result, "float64"),
    "result of one column": Trick(result_of_one_column, "[]"),
    "half of the sum": Trick(half_of_the_sum),
    "last of equal ones": Trick(last_of_equal_ones),
    "softmax without the maximum": Trick(softmax_without_the_maximum),
    "swapped product": Trick(swapped_product),
    "exponent by logarithm": Trick(exponent_by_logarithm),
    "wrong when arguments are one": Trick(wrong_when_arguments_are_one, "same array"),
    "last row forgotten": Trick(
        last_row_forgotten,
        "size",
        {"sizes": (1, 8, 13), "arguments": lambda n: (np.ones(n, np.float32),)},
    ),
    "absolute value of the least": Trick(absolute_value_of_the_least, "2147483648"),
    "division by reciprocal": Trick(division_by_reciprocal, "", {"claim": "bitwise"}),
    "maximum by comparison": Trick(maximum_by_comparison, "nan"),
    "doubled and halved": Trick(doubled_and_halved),
    "difference times sum": Trick(difference_times_sum),
}
