"""Workloads drawn by chance: kinds in turn, sizes log-uniformly, from a seed.

One seed serves development, another one the report.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp, log
from typing import Any

import jax
import jax.numpy as jnp
from inputs import Input, integers, normal, workload
from jax import lax

Drawn = tuple[str, tuple[Input, ...], Callable[..., Any]]
MOST_WORK = 3e8  # multiplications or elements of one workload


class Draw:
    """Sizes from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def size(self, least: int, most: int) -> int:
        """Return a size, log-uniformly distributed."""
        return round(exp(self.chance.uniform(log(least), log(most))))

    def sizes(self, work: float, *bounds: tuple[int, int]) -> list[int]:
        """Return sizes within bounds whose product is at most `work`."""
        while True:
            found = [self.size(*bound) for bound in bounds]
            product = 1.0
            for size in found:
                product *= size
            if product <= work:
                return found

    def one_of(self, *values: Any) -> Any:
        """Return one of the values."""
        return self.chance.choice(values)


def product(d: Draw) -> Drawn:
    """Return a product with any of the operands transposed."""
    m, k, n = d.sizes(MOST_WORK, (1, 3000), (4, 3000), (1, 3000))
    left, right = d.one_of(0, 1), d.one_of(0, 1)
    x = normal(k, m) if left else normal(m, k)
    y = normal(n, k) if right else normal(k, n)
    name = f"dot_{m}x{k}x{n}{'_t' * left}{'_u' * right}"
    return name, (x, y), lambda x, y: (x.T if left else x) @ (y.T if right else y)


def batched(d: Draw) -> Drawn:
    """Return a batched product with an epilogue."""
    b, m, k, n = d.sizes(MOST_WORK, (2, 200), (4, 300), (4, 300), (4, 300))
    return (
        f"batched_{b}x{m}x{k}x{n}",
        (normal(b, m, k), normal(b, k, n), normal(n)),
        lambda x, y, z: jax.nn.relu(x @ y + z),
    )


def convolution(d: Draw) -> Drawn:
    """Return a convolution of any stride, dilation, groups."""
    n, size, i, o = d.sizes(MOST_WORK / 3000, (1, 8), (7, 64), (1, 96), (4, 96))
    k, stride, dilation = d.one_of(1, 2, 3, 5), d.one_of(1, 1, 2), d.one_of(1, 1, 2)
    groups = d.one_of(1, 1, 1, i)
    o = -(-o // groups) * groups
    return (
        f"conv_{n}x{size}x{i}_{k}x{k}x{o}_s{stride}d{dilation}g{groups}",
        (normal(n, size, size, i), normal(k, k, i // groups, o)),
        lambda x, w: lax.conv_general_dilated(
            x,
            w,
            (stride, stride),
            "SAME",
            rhs_dilation=(dilation, dilation),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        ),
    )


def reduction(d: Draw) -> Drawn:
    """Return a reduction along one dimension of three, or two."""
    shape = d.sizes(8e6, (2, 800), (2, 800), (2, 800))
    axes = d.one_of((0,), (1,), (2,), (0, 1), (1, 2), (0, 2))
    kind = d.one_of("sum", "max", "mean", "var", "argmax")
    axis = axes[0] if kind == "argmax" else axes
    return (
        f"{kind}_{'x'.join(map(str, shape))}_over_{''.join(map(str, axes))}",
        (normal(*shape),),
        lambda x: getattr(jnp, kind)(x, axis),
    )


def normalization(d: Draw) -> Drawn:
    """Return a softmax, its logarithm, or a layer norm."""
    rows, columns = d.sizes(8e6, (4, 20000), (4, 20000))
    kind = d.one_of("softmax", "log_softmax", "standardize")
    axis = d.one_of(0, 1, 1)
    name = f"{kind}_{rows}x{columns}_over_{axis}"
    return name, (normal(rows, columns),), lambda x: getattr(jax.nn, kind)(x, axis)


def attention(d: Draw) -> Drawn:
    """Return attention, causal or not."""
    b, q, k, h = d.sizes(MOST_WORK / 40, (1, 16), (8, 700), (8, 700), (1, 12))
    size, causal = d.one_of(16, 32, 40, 64, 80, 128), d.one_of(False, True)

    def function(x: Any, y: Any, z: Any) -> Any:
        scores = jnp.einsum("bqhd,bkhd->bhqk", x, y) / size**0.5
        if causal:
            scores = jnp.where(jnp.tri(q, k, k - q, dtype=bool), scores, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), z)

    return (
        f"attention_{b}x{q}x{k}x{h}x{size}{'_causal' * causal}",
        (normal(b, q, h, size), normal(b, k, h, size), normal(b, k, h, size)),
        function,
    )


def scan(d: Draw) -> Drawn:
    """Return a cumulative operation."""
    rows, columns = d.sizes(4e6, (1, 3000), (8, 1000000))
    kind, axis = d.one_of("cumsum", "cummax", "cumlogsumexp"), d.one_of(0, 1)
    name = f"{kind}_{rows}x{columns}_along_{axis}"
    return name, (normal(rows, columns),), lambda x: getattr(lax, kind)(x, axis)


def recurrence(d: Draw) -> Drawn:
    """Return a recurrent network's loop."""
    steps, batch, size = d.sizes(2e6, (8, 500), (1, 64), (8, 256))

    def function(xs: Any, w: Any, h: Any) -> Any:
        return lax.scan(lambda h, x: (jnp.tanh(h @ w + x), h.sum()), h, xs)

    w = normal(size, size, std=size**-0.5)
    inputs = (normal(steps, batch, size), w, normal(batch, size))
    return f"rnn_{steps}x{batch}x{size}", inputs, function


def sort(d: Draw) -> Drawn:
    """Return a sort, an argsort, or top-k."""
    rows, columns = d.sizes(1e6, (1, 2000), (8, 300000))
    kind = d.one_of("sort", "argsort", "top_k")
    k = d.size(1, max(2, columns // 8))
    functions = {
        "sort": lambda x: jnp.sort(x, 1),
        "argsort": lambda x: jnp.argsort(x, 1),
        "top_k": lambda x: lax.top_k(x, k),
    }
    return f"{kind}_{rows}x{columns}_{k}", (normal(rows, columns),), functions[kind]


def gather(d: Draw) -> Drawn:
    """Return rows by index, read or added."""
    rows, columns, count = d.sizes(4e9, (50, 100000), (1, 300), (50, 100000))
    while rows * columns > 8e6 or count * columns > 8e6:
        columns = columns // 2
    kind = d.one_of("take", "add")
    functions = {
        "take": lambda x, i, v: x[i] + v,
        "add": lambda x, i, v: x.at[i].add(v),
    }
    return (
        f"{kind}_{rows}x{columns}x{count}",
        (normal(rows, columns), integers(count, high=rows), normal(count, columns)),
        functions[kind],
    )


def chain(d: Draw) -> Drawn:
    """Return a chain of elementwise operations, with a transpose or a broadcast."""
    rows, columns = d.sizes(4e6, (1, 5000), (2, 5000))
    kind = d.one_of("transposed", "broadcast", "functions", "comparison")
    functions = {
        "transposed": lambda x, y: x.T * 2 + y[None, :].T,
        "broadcast": lambda x, y: (x - y) * x[:, :1] + jnp.abs(y),
        "functions": lambda x, y: jnp.tanh(x) * jnp.exp(-(y**2)) + jnp.log1p(jnp.abs(x)),
        "comparison": lambda x, y: jnp.where(x > y, jnp.sqrt(jnp.abs(x)), jnp.minimum(x, 0.5)),
    }
    return f"{kind}_{rows}x{columns}", (normal(rows, columns), normal(columns)), functions[kind]


KINDS = (
    product, batched, convolution, reduction, normalization, attention, scan, recurrence, sort,
    gather, chain,
)  # fmt: skip


def register(seed: int, count: int) -> None:
    """Register workloads of all kinds in turn."""
    d = Draw(seed)
    for number in range(count):
        name, inputs, function = KINDS[number % len(KINDS)](d)
        loose = {"rtol": 1e-3, "atol": 1e-3, "mismatch": 0.01}
        workload(f"m_{number:03d}_{name}", *inputs, **loose)(function)
