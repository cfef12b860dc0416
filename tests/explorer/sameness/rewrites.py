"""Right rewrites that a check of sameness must accept, each beside its original.

They were written before the check, without a look at its code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.explorer.sameness.tricks import add, vectors

Array = np.ndarray[Any, Any]


class Rewrite(NamedTuple):
    """A right candidate, and the claim that it keeps."""

    make: Callable[[], tuple[Any, Any, tuple[Any, ...]]]
    claim: str = "real"
    options: dict[str, Any] = {}  # noqa: RUF012


def matrices(*shapes: tuple[int, ...]) -> tuple[Array, ...]:
    generator = np.random.default_rng(3)
    return tuple(generator.standard_normal(shape).astype(np.float32) for shape in shapes)


def commuted() -> Any:
    return add, (lambda x, y: y + x), vectors()


def doubled() -> Any:
    return (lambda x: x + x), (lambda x: x * np.float32(2)), vectors(1)


def halved() -> Any:
    return (lambda x: x / np.float32(4)), (lambda x: x * np.float32(0.25)), vectors(1)


def sum_in_another_order() -> Any:
    return (lambda x: x.sum()), (lambda x: x[::-1].cumsum(dtype=np.float32)[-1]), vectors(1, 300)


def product_by_einsum() -> Any:
    return (
        (lambda x, y: x @ y),
        (lambda x, y: np.einsum("ij,jk->ik", x, y)),
        matrices((7, 33), (33, 5)),
    )


def product_in_parts() -> Any:
    return (
        (lambda x, y: x @ y),
        (lambda x, y: x[:, :20] @ y[:20] + x[:, 20:] @ y[20:]),
        matrices((7, 33), (33, 5)),
    )


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def softmax_by_reciprocal() -> Any:
    def candidate(x: Array) -> Array:
        e = np.exp(x - x.max(-1, keepdims=True))
        return np.asarray(e * (np.float32(1) / e.sum(-1, keepdims=True)))

    return softmax, candidate, matrices((5, 17))


def softmax_in_two_parts() -> Any:
    def candidate(x: Array) -> Array:
        left, right = x[:, :9], x[:, 9:]
        m = np.maximum(left.max(-1, keepdims=True), right.max(-1, keepdims=True))
        parts = [np.exp(left - m), np.exp(right - m)]
        total = parts[0].sum(-1, keepdims=True) + parts[1].sum(-1, keepdims=True)
        return np.concatenate(parts, -1) / total

    return softmax, candidate, matrices((5, 17))


def normalised() -> Any:
    def reference(x: Array) -> Array:
        d = x - x.mean(-1, keepdims=True)
        return np.asarray(d / np.sqrt((d * d).mean(-1, keepdims=True) + np.float32(1e-5)))

    def candidate(x: Array) -> Array:
        d = x - x.mean(-1, keepdims=True)
        v = np.square(d).mean(-1, keepdims=True) + np.float32(1e-5)
        return np.asarray(d * (np.float32(1) / np.sqrt(v)))

    return reference, candidate, matrices((6, 32))


def two_signs() -> Any:
    return (lambda x: x.copy()), (lambda x: np.negative(-x)), vectors(1)


def subtraction_by_negation() -> Any:
    return (lambda x, y: x - y), (lambda x, y: x + (-y)), vectors()


def absolute_value_by_bits() -> Any:
    def candidate(x: Array) -> Array:
        return (x.view(np.uint32) & np.uint32(0x7FFFFFFF)).view(np.float32)

    return np.abs, candidate, vectors(1)


def shifted() -> Any:
    x = np.arange(9, dtype=np.int32)
    return (lambda x: x * np.int32(8)), (lambda x: x << np.int32(3)), (x,)


def average_of_bytes() -> Any:
    def reference(x: Array, y: Array) -> Array:
        return ((x.astype(np.int32) + y) // 2).astype(np.uint8)

    def candidate(x: Array, y: Array) -> Array:
        return (x & y) + ((x ^ y) >> np.uint8(1))

    x = np.arange(7, dtype=np.uint8)
    return reference, candidate, (x, x[::-1].copy())


def sorted_by_order() -> Any:
    return np.sort, (lambda x: x[np.argsort(x, kind="stable")]), (np.arange(11, dtype=np.int16),)


def relu_that_keeps_nan() -> Any:
    return (
        (lambda x: np.maximum(x, np.float32(0))),
        (lambda x: np.where(x <= 0, np.float32(0), x)),
        vectors(1),
    )


def written_into_the_output() -> Any:
    def reference(x: Array, y: Array, out: Array) -> None:
        out[...] = x * y

    def candidate(x: Array, y: Array, out: Array) -> None:
        for k in range(len(x)):
            out[k] = x[k] * y[k]

    x, y = vectors()
    return reference, candidate, (x, y, np.zeros_like(x))


def remembered_by_value() -> Any:
    """A cache whose key is the whole content is right."""
    cache: dict[bytes, Array] = {}

    def candidate(x: Array) -> Array:
        key = x.tobytes()
        if key not in cache:
            cache[key] = np.tanh(x)
        return cache[key].copy()

    return np.tanh, candidate, vectors(1)


def private_scratch() -> Any:
    scratch = np.zeros(24, np.float32)

    def candidate(x: Array, y: Array) -> Array:
        np.add(x, y, out=scratch)
        return scratch.copy()

    return add, candidate, vectors()


def another_order_each_time() -> Any:
    """Sums of a parallel program come in another order each time."""
    generator = np.random.default_rng(0)

    def candidate(x: Array) -> Any:
        return x[generator.permutation(len(x))].sum()

    return (lambda x: x.sum()), candidate, vectors(1, 100)


def attention_in_blocks() -> Any:
    def reference(q: Array, k: Array, v: Array) -> Array:
        return softmax(q @ k.T / np.float32(math.sqrt(q.shape[1]))) @ v

    def candidate(q: Array, k: Array, v: Array) -> Array:
        scores = q @ k.T / np.float32(math.sqrt(q.shape[1]))
        m = np.full((len(q), 1), -np.inf, np.float32)
        total, found = np.zeros_like(m), np.zeros((len(q), v.shape[1]), np.float32)
        for start in range(0, len(k), 8):
            part = scores[:, start : start + 8]
            new = np.maximum(m, part.max(-1, keepdims=True))
            e, fade = np.exp(part - new), np.exp(m - new)
            total = total * fade + e.sum(-1, keepdims=True)
            found = found * fade + e @ v[start : start + 8]
            m = new
        return found / total

    # The sums before the division leave the range earlier than the result does.
    return reference, candidate, matrices((6, 16), (24, 16), (24, 10))


def logistic_by_tanh() -> Any:
    """Two formulas of the logistic function, as long as neither leaves the range."""

    def reference(x: Array) -> Array:
        return np.float32(1) / (np.float32(1) + np.exp(-x))

    def candidate(x: Array) -> Array:
        return np.float32(0.5) * np.tanh(np.float32(0.5) * x) + np.float32(0.5)

    return reference, candidate, vectors(1)


def mean_of_a_size() -> Any:
    def reference(n: int) -> Callable[..., Any]:
        return lambda x: x.sum() / np.float32(n)

    def candidate(n: int) -> Callable[..., Any]:
        return lambda x: x.sum() * np.float32(1 / n)

    return reference, candidate, ()


def reshaped_twice() -> Any:
    before = (
        "ENTRY m { x = f32[4,6] parameter(0) a = f32[24] reshape(x) ROOT r = f32[2,12] reshape(a) }"
    )
    after = "ENTRY m { x = f32[4,6] parameter(0) ROOT r = f32[2,12] reshape(x) }"
    return before, after, ()


def transposed_product() -> Any:
    before = "ENTRY m { x = f32[4,6] parameter(0) y = f32[6,5] parameter(1) d = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = f32[5,4] transpose(d), dimensions={1,0} }"
    after = "ENTRY m { x = f32[4,6] parameter(0) y = f32[6,5] parameter(1) ROOT r = f32[5,4] dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={1} }"
    return before, after, ()


def selected_by_its_negation() -> Any:
    before = "ENTRY m { p = pred[8] parameter(0) x = bf16[8] parameter(1) y = bf16[8] parameter(2) ROOT r = bf16[8] select(p, x, y) }"
    after = "ENTRY m { p = pred[8] parameter(0) x = bf16[8] parameter(1) y = bf16[8] parameter(2) n = pred[8] not(p) ROOT r = bf16[8] select(n, y, x) }"
    return before, after, ()


REWRITES = {
    "commuted": Rewrite(commuted, "bitwise"),
    "doubled": Rewrite(doubled, "bitwise"),
    "halved": Rewrite(halved, "bitwise"),
    "sum in another order": Rewrite(sum_in_another_order),
    "product by einsum": Rewrite(product_by_einsum),
    "product in parts": Rewrite(product_in_parts),
    "softmax by reciprocal": Rewrite(softmax_by_reciprocal),
    "softmax in two parts": Rewrite(softmax_in_two_parts),
    "normalised": Rewrite(normalised),
    "two signs": Rewrite(two_signs, "bitwise"),
    "subtraction by negation": Rewrite(subtraction_by_negation, "bitwise"),
    "absolute value by bits": Rewrite(absolute_value_by_bits, "bitwise"),
    "shifted": Rewrite(shifted, "bitwise"),
    "average of bytes": Rewrite(average_of_bytes, "bitwise"),
    "sorted by order": Rewrite(sorted_by_order, "bitwise"),
    "relu that keeps nan": Rewrite(relu_that_keeps_nan, "numeric"),
    "written into the output": Rewrite(written_into_the_output, "bitwise"),
    "remembered by value": Rewrite(remembered_by_value, "bitwise"),
    "private scratch": Rewrite(private_scratch, "bitwise"),
    "another order each time": Rewrite(another_order_each_time),
    "attention in blocks": Rewrite(attention_in_blocks, "fast"),
    "logistic by tanh": Rewrite(logistic_by_tanh, "fast"),
    "mean of a size": Rewrite(
        mean_of_a_size,
        "real",
        {"sizes": (1, 7, 64), "arguments": lambda n: (np.ones(n, np.float32),)},
    ),
    "reshaped twice": Rewrite(reshaped_twice, "bitwise"),
    "transposed product": Rewrite(transposed_product),
    "selected by its negation": Rewrite(selected_by_its_negation, "bitwise"),
}
