"""Random instructions of rare opcodes, for text, verifier, builder and evaluator.

The other families are what native code is tried on; these are added by `ModuleWriter(...,
rare=RARE)`. ON_XLA holds those that real XLA:CPU runs when it is given HLO text; of the rest XLA
refuses some and means other things by others (several devices, a host).
"""

from __future__ import annotations

import numpy as np

from tests.properties.random_families import Families, Known
from xla_explorer.hlo.primitive_type import F32, S32, U32, U64
from xla_explorer.hlo.shape import array_shape, tuple_shape

ALONE = ((0,),)  # the groups of a single device
_FLOATS = ("f32", "f64", "bf16", "f16")


def _float(s: Families, minimum_rank: int = 0, kinds: tuple[str, ...] = _FLOATS) -> Known | None:
    return (
        None
        if s.extremes
        else s.pick(
            lambda k: k.kind in kinds and k.rank >= minimum_rank and 0 < k.value.size <= 3000
        )
    )


def _any(s: Families) -> Known | None:
    return s.pick(lambda k: 0 < k.value.size <= 3000)


# -- arithmetic ------------------------------------------------------------------------------------
def is_finite(s: Families) -> Known | None:
    k = s.pick(lambda k: k.kind in _FLOATS and k.exact)
    return Known(s.b.is_finite(k.value)) if k is not None else None


def two_floats(s: Families) -> Known | None:
    k = _float(s)
    if k is None:
        return None
    o = s.like(k)
    if s.choice.random() < 0.5:
        return s.inexact(
            s.b.power(s.b.clamp(0.5, k.value, 2.0), s.b.clamp(-2.0, o.value, 2.0)), 4.0
        )
    return s.inexact(s.b.atan2(s.b.clamp(0.25, k.value, 8.0), o.value), 3.2)


def tangent(s: Families) -> Known | None:
    k = _float(s, kinds=("f32", "f64"))
    return s.inexact(s.b.tan(s.b.clamp(-1.0, k.value, 1.0)), 1.6) if k is not None else None


def inverse_function(s: Families) -> Known | None:
    k = _float(s, kinds=("f32", "f64"))
    if k is None:
        return None
    name = s.choice.choice(("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"))
    x = s.b.clamp(-0.75, k.value, 0.75)
    return s.inexact(getattr(s.b, name)(x + 2.0 if name == "acosh" else x), 4.0)


def high_product(s: Families) -> Known | None:
    k = s.pick(lambda k: k.kind in ("s32", "u32", "s64", "u8"))
    return Known(s.b.mulhi(k.value, s.like(k).value)) if k is not None else None


def rounded_at_random(s: Families) -> Known | None:
    k = _float(s, kinds=("f32",))
    if k is None or not k.exact:
        return None
    bits = s.constant_of("u32", k.dimensions)
    return Known(s.b.stochastic_convert(k.value, bits.value, shape=array_shape("s8", k.dimensions)))


# -- shapes ----------------------------------------------------------------------------------------
def bitcast(s: Families) -> Known | None:
    k = _any(s)
    return (
        s.same(s.b.bitcast(k.value, shape=array_shape(k.kind, (k.value.size,))), k)
        if k is not None
        else None
    )


def dimension_size(s: Families) -> Known | None:
    k = s.pick(lambda k: k.rank > 0)
    return (
        Known(s.b.get_dimension_size(k.value, dimension=s.choice.randrange(k.rank)))
        if k is not None
        else None
    )


def dynamic_size(s: Families) -> Known | None:
    """Return the size, or the sum, of a vector cut to a dynamic size."""
    k = s.pick(
        lambda k: k.rank == 1 and k.kind in ("s32", "s64", "u8") and 0 < k.value.size <= 3000
    )
    if k is None:
        return None
    size = s.b.constant(s.choice.randint(0, k.value.size), S32)
    if s.choice.random() < 0.5:
        cut = s.b.set_dimension_size(k.value, size, dimensions=0)
    else:
        whole = s.b.constant(k.value.size, S32)
        cut = s.b.dynamic_reshape(k.value, whole, shape=f"{k.kind}[<={k.value.size}]")
    if s.choice.random() < 0.5:
        return Known(s.b.get_dimension_size(cut, dimension=0))
    return Known(cut.sum())


# -- linear algebra --------------------------------------------------------------------------------
def _matrix(s: Families, n: int, m: int, kind: str = "f32") -> Known:
    return s.constant_of(kind, (n, m))


def cholesky(s: Families) -> Known | None:
    if s.extremes:
        return None
    n = s.choice.choice((1, 2, 3, 5))
    x = s.b.multiply(s.b.tanh(_matrix(s, n, n).value), 0.1)
    rows, columns = [s.b.iota(array_shape("s32", (n, n)), d) for d in (0, 1)]
    a = s.b.select(
        s.b.compare(rows, columns, "EQ"), s.b.broadcast(s.b.constant(3.0), (n, n), []), x + x.T
    )
    made = s.b.cholesky(a, lower=True)
    return s.inexact(
        s.b.select(
            s.b.compare(rows, columns, "GE"), made, s.b.broadcast(s.b.constant(0.0), (n, n), [])
        ),
        3.0,
    )


def ragged_dot(s: Families) -> Known | None:
    if s.extremes:
        return None
    rows, depth, columns = 4, s.choice.choice((1, 3)), s.choice.choice((1, 2))
    x, w = _matrix(s, rows, depth), s.constant_of("f32", (2, depth, columns))
    first = s.choice.randint(0, rows)
    made = s.b.ragged_dot(
        x.value,
        w.value,
        s.b.constant([first, rows - first], S32),
        lhs_contracting_dims=1,
        rhs_contracting_dims=1,
        lhs_ragged_dims=0,
        rhs_group_dims=0,
    )
    return s.inexact(made, max(x.bound, 8.0) * max(w.bound, 8.0) * depth)


def scaled_dot(s: Families) -> Known | None:
    if s.extremes:
        return None
    x, y = _matrix(s, 2, 8), _matrix(s, 3, 8)
    made = s.b.scaled_dot(
        x.value,
        y.value,
        s.b.constant(np.full((2, 2), 0.5, np.float32)),
        s.b.constant(np.full((3, 4), 2.0, np.float32)),
        lhs_contracting_dims=1,
        rhs_contracting_dims=1,
        shape=F32[2, 3],
    )
    return s.inexact(made, max(x.bound, 8.0) * max(y.bound, 8.0) * 8)


def batch_norm(s: Families) -> list[Known] | None:
    k = _float(s, 2, ("f32", "f64"))
    if k is None or k.rank > 4:
        return None
    feature = s.choice.randrange(k.rank)
    scale, offset, mean = [s.constant_of(k.kind, (k.dimensions[feature],)) for _ in range(3)]
    variance = s.b.abs(mean.value) + 1.0
    options = {"epsilon": 0.5, "feature_index": feature}
    which = s.choice.randrange(3)
    bound = (k.bound + 20) * 20
    if which == 0:
        made = s.b.batch_norm_training(k.value, scale.value, offset.value, **options)
        return [
            s.inexact(made[0], bound),
            s.inexact(made[1], k.bound + 1),
            s.inexact(made[2], k.bound**2 + 1),
        ]
    if which == 1:
        return [
            s.inexact(
                s.b.batch_norm_inference(
                    k.value, scale.value, offset.value, mean.value, variance, **options
                ),
                bound,
            )
        ]
    made = s.b.batch_norm_grad(
        k.value, scale.value, mean.value, variance, s.like(k).value, **options
    )
    return [s.inexact(made[part], bound * k.value.size * 20) for part in range(3)]


def scan(s: Families) -> list[Known] | None:
    k = s.pick(lambda k: k.rank == 1 and k.kind in ("s32", "u8", "s64") and 0 < k.value.size <= 40)
    if k is None:
        return None
    inner = s.b.nested("step")
    x, carry = [inner.parameter(array_shape(k.kind, ())) for _ in range(2)]
    total = x + carry
    inner.computation.set_root(inner.tuple(total, total).instruction)
    made = s.b.scan(
        k.value,
        s.b.constant(0, k.value.dtype),
        dimensions=0,
        num_carries=1,
        is_reverse=s.choice.random() < 0.5,
        to_apply=inner.computation,
    )
    return [Known(made[0]), Known(made[1])]


# -- random numbers, tokens, calls -----------------------------------------------------------------
def random_bits(s: Families) -> Known:
    algorithm = s.choice.choice(("rng_philox", "rng_three_fry"))
    words = 3 if algorithm == "rng_philox" and s.choice.random() < 0.5 else 2
    state = s.b.constant(np.array([s.choice.getrandbits(64) for _ in range(words)], np.uint64), U64)
    bits = array_shape(s.choice.choice(("u32", "u64")), (s.choice.choice((1, 2, 5, 16)),))
    return Known(
        s.b.rng_bit_generator(state, algorithm=algorithm, shape=tuple_shape((state.shape, bits)))[1]
    )


def drawn(s: Families) -> Known:
    low, high = s.b.constant(0.0), s.b.constant(1.0)
    state = s.b.rng_get_and_update_state(delta=1, shape=U64[2])
    return s.inexact(
        s.b.rng(low, high, distribution="rng_uniform", shape=F32[4])
        + s.b.convert(state[0] % 2, F32),
        2.0,
    )


def ordered(s: Families) -> Known | None:
    k = _any(s)
    if k is None:
        return None
    token = s.b.after_all()
    if s.choice.random() < 0.5:
        token = s.b.after_all(token, s.b.outfeed(k.value, token, outfeed_config="out"))
    if s.choice.random() < 0.5:
        sent = s.b.send(k.value, token, channel_id=7, is_host_transfer=True)
        token = s.b.send_done(sent, channel_id=7, is_host_transfer=True)
    return s.same(s.b.add_dependency(k.value, token), k)


def copied(s: Families) -> Known | None:
    k = _any(s)
    if k is None:
        return None
    if s.choice.random() < 0.5:
        return s.same(s.b.copy_done(s.b.copy_start(k.value)), k)
    return s.same(
        s.b.domain(k.value, domain='{kind="sharding", entry={replicated}, exit={replicated}}'), k
    )


def wrapped(s: Families) -> Known | None:
    """Return a fusion or an asynchronous call."""
    k = _any(s)
    if k is None:
        return None
    if s.choice.random() < 0.5:
        return s.same(
            s.b.fusion(
                k.value,
                kind=s.choice.choice(("kLoop", "kInput", "kOutput")),
                calls=lambda v: v.copy(),
            ),
            k,
        )
    shape = k.value.shape.base
    begun = s.b.async_start(
        k.value,
        calls=lambda v: v.copy(),
        shape=tuple_shape((tuple_shape((shape,)), shape, array_shape(S32, ()))),
    )
    if s.choice.random() < 0.5:
        begun = s.b.async_update(begun)
    return s.same(s.b.async_done(begun), k)


# -- collectives of one device ---------------------------------------------------------------------
def collective(s: Families) -> Known | None:
    k = s.pick(lambda k: k.rank > 0 and 0 < k.value.size <= 3000 and k.kind != "pred")
    if k is None:
        return None
    b, v, shape = s.b, k.value, k.value.shape.base
    add = {"replica_groups": ALONE, "to_apply": lambda x, y: x + y}
    pairs, context = ((0, 0),), array_shape(U32, ())
    makers = {
        "all-reduce": lambda: b.all_reduce(v, **add),
        "all-reduce-start": lambda: b.all_reduce_done(b.all_reduce_start(v, **add)),
        "all-gather": lambda: b.all_gather(v, dimensions=0, replica_groups=ALONE, shape=shape),
        "all-gather-start": lambda: b.all_gather_done(
            b.all_gather_start(
                v, dimensions=0, replica_groups=ALONE, shape=tuple_shape((shape, shape))
            )
        ),
        "reduce-scatter": lambda: b.reduce_scatter(v, dimensions=0, shape=shape, **add),
        "all-to-all": lambda: b.all_to_all(v, dimensions=0, replica_groups=ALONE),
        "collective-permute": lambda: b.collective_permute(v, source_target_pairs=pairs),
        "collective-permute-start": lambda: b.collective_permute_done(
            b.collective_permute_start(
                v, source_target_pairs=pairs, shape=tuple_shape((shape, shape, context, context))
            )
        ),
        "collective-broadcast": lambda: b.collective_broadcast(v, replica_groups=ALONE),
        "collective-reduce": lambda: b.collective_reduce(v, **add),
        "ragged-all-to-all": lambda: b.ragged_all_to_all(
            v,
            v,
            *[b.constant([n], S32) for n in (0, k.dimensions[0], 0, k.dimensions[0])],
            replica_groups=ALONE,
        ),
    }
    return s.same(makers[s.choice.choice(list(makers))](), k)


def place(s: Families) -> Known:
    return Known(s.choice.choice((s.b.replica_id, s.b.partition_id))())


ON_XLA = (
    is_finite,
    two_floats,
    tangent,
    dimension_size,
    cholesky,
    batch_norm,
    batch_norm,
    random_bits,
    random_bits,
    place,
)
ELSEWHERE = (
    inverse_function,
    inverse_function,
    inverse_function,
    high_product,
    rounded_at_random,
    bitcast,
    dynamic_size,
    ragged_dot,
    scaled_dot,
    scan,
    drawn,
    ordered,
    copied,
    wrapped,
    collective,
    collective,
)
RARE = ON_XLA + ELSEWHERE
