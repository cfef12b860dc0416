"""Unreduced results over a mesh of 2 by 2 devices: each device's part, here and on JAX's CPU.

python tests/pjrt/unreduced.py; JAX_PLATFORMS=xla_explorer,cpu and four devices of each. Prints the
names of the cases that were compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

CASES: list[Callable[[], Any]] = []
KINDS = getattr(jax.sharding, "UnreducedKind", None)  # since JAX 0.12


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    CASES.append(function)
    return function


def over_x(*dimensions: Any) -> Any:
    return P(*dimensions, unreduced={"x"})


def numbers(seed: int, spec: Any) -> Any:
    given = np.random.default_rng(seed).integers(-9, 9, (4, 4)).astype(np.float32)
    return jax.device_put(given, spec)


def product(out: Any) -> Any:
    multiply = jax.jit(lambda x, y: jnp.einsum("ab,bc->ac", x, y, out_sharding=out))
    return multiply(numbers(1, P("y", "x")), numbers(2, P("x", None)))


@case
def sums_over_a_dimension() -> Any:
    add = jax.jit(lambda x: jax.lax.reduce_sum(x, axes=(0,), out_sharding=over_x("y")))
    return add(numbers(0, P("x", "y")))


@case
def products() -> Any:
    return product(over_x("y", None))


@case
def linear_operations_behind_a_product() -> Any:
    def f(x: Any, y: Any) -> Any:
        z = jnp.einsum("ab,bc->ac", x, y, out_sharding=over_x("y", None))
        return -z.T, z + z

    return jax.jit(f)(numbers(1, P("y", "x")), numbers(2, P("x", None)))


@case
def sums_of_segments() -> Any:
    add = jax.jit(lambda x, y: jax.ops.segment_sum(x, y, num_segments=4, out_sharding=over_x()))
    return add(jax.device_put(np.arange(8), P("x")), jax.device_put(np.arange(8) // 3, P("x")))


@case
def parts_in_their_places() -> Any:
    spread = jax.jit(lambda x: jax.reshard(x, over_x(None, "y")))
    return spread(numbers(0, P("x", "y"))), spread(numbers(0, P(None, "y")))


@case
def gradients_of_weights_that_all_have() -> Any:
    def loss(w: Any, x: Any) -> Any:
        return jnp.einsum("ab,bc->ac", x, w, out_sharding=P("x", None)).sum()

    of_loss = jax.jit(jax.grad(loss))(
        numbers(0, P(None, None, reduced={"x"})), numbers(1, P("x", None))
    )
    of_sum = jax.jit(jax.grad(lambda w: jax.reshard(w, P("x", None)).sum()))
    return of_loss, of_sum(numbers(0, P(None, None, reduced={"x"})))


@case
def scalars() -> Any:
    ones = jax.jit(lambda x: jax.lax.reduce_sum(x * 0 + 1, axes=(0, 1), out_sharding=over_x()))
    return ones(numbers(0, P("x", None)))


@case
def functions_inside_functions() -> Any:
    multiply = jax.jit(
        lambda x, y: (x, jnp.einsum("ab,bc->ac", x, y, out_sharding=over_x("y", None)))
    )
    twice = jax.jit(lambda x, y: multiply(x, y)[1])
    own = jax.jit(jax.shard_map(lambda x: (x, x * 2), out_specs=(P(), P("x")), check_vma=False))
    keep = jax.jit(lambda x: own(x)[0])
    terms = jax.jit(twice)(numbers(1, P("y", "x")), numbers(2, P("x", None)))
    inner = jax.jit(lambda d: d + d)
    return terms, keep(numbers(0, P("x", "y"))), jax.jit(lambda d: (inner(d),))(terms)


@case
def unreduced_arguments() -> Any:
    return jax.jit(lambda d: (d + d, jax.reshard(d, P())))(product(over_x("y", None)))


@case
def largest_and_smallest() -> Any:
    if KINDS is None:
        return ()
    made = []
    for reduce, together, kind in (
        (jax.lax.reduce_max, jax.lax.pmax, KINDS.max),
        (jax.lax.reduce_min, jax.lax.pmin, KINDS.min),
    ):
        out = P("y", unreduced={"x"}, unreduced_kind=kind)
        terms = jax.jit(lambda x, f=reduce, o=out: f(x, axes=(0,), out_sharding=o))(
            numbers(0, P("x", "y"))
        )
        inside = jax.shard_map(lambda v, f=together: f(v, "x"), out_specs=P("y"))
        made += [terms, jax.reshard(terms, P()), jax.jit(inside)(terms)]
    return made


def held(platform: str, function: Callable[[], Any]) -> list[Any]:
    """Of each result how it lies, and what each device has."""
    devices = jax.devices(platform)[:4]
    mesh = jax.make_mesh((2, 2), ("x", "y"), devices=devices, axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        return [
            [str(a.sharding.spec), *[np.asarray(s.data).tolist() for s in a.addressable_shards]]
            for a in jax.tree.leaves(function())
        ]


if __name__ == "__main__":
    for function in CASES:
        try:
            theirs = held("cpu", function)
        except (NotImplementedError, TypeError) as problem:  # rules that an older JAX lacks
            assert KINDS is None, problem
            continue
        ours = held("xla_explorer", function)
        assert ours == theirs, f"{function.__name__}:\n{ours}\n{theirs}"
        print(function.__name__)
