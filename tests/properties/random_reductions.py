"""Random reductions, windows, dots and sorts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.properties.random_families import Families, Known


def _combiner(s: Families, k: Known, count: int) -> tuple[str, Any, float, bool]:
    """Return (name, initial value, factor of the bound, exactness of the value).

    The initial value is the neutral one or another.
    """
    t = k.value.dtype
    if t.is_pred:
        return s.choice.choice(("and_", "or_", "xor")), False, 1.0, True
    if t.is_integer:
        return (
            s.choice.choice(("add", "multiply", "maximum", "minimum", "and_", "or_", "xor")),
            s.choice.choice((0, 1, 3)),
            1.0,
            True,
        )
    if t.is_complex:
        return "add", 0.0, float(count + 1), True
    name = s.choice.choice(("add", "add", "maximum", "minimum"))
    return (
        name,
        s.choice.choice((0.0, 0.0, 1.0)),
        float(count + 1) if name == "add" else 1.0,
        name != "add" or not s.extremes,
    )


def reduce(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    dimensions = tuple(sorted(s.choice.sample(range(k.rank), s.choice.randint(1, k.rank))))
    count = int(np.prod([k.dimensions[d] for d in dimensions]))
    name, initial, factor, exact = _combiner(s, k, count)
    swapped = s.choice.random() < 0.3
    if s.choice.random() < 0.15 and k.value.dtype.is_signed:
        start = s.scalar(k.kind)
    else:
        start = Known(s.b.constant(initial, k.value.dtype), abs(float(initial)), 1.0, True)
    made = s.b.reduce(
        k.value,
        start.value,
        dimensions=dimensions,
        to_apply=lambda x, y: (
            getattr(x.builder, name)(y, x) if swapped else getattr(x.builder, name)(x, y)
        ),
    )
    return s.made(
        made,
        max(k.bound, start.bound) * factor,
        max(k.denominator, start.denominator),
        k.exact and exact and start.exact,
    )


def reduce_mean(s: Families) -> Known | None:
    """Return a value minus its rows' statistic, as in a softmax or a normalisation."""
    k = s.array(1, lambda k: k.kind in ("f32", "f64", "bf16", "f16") and k.value.size > 0)
    if k is None or s.extremes:
        return None
    d = s.choice.randrange(k.rank)
    name = s.choice.choice(("max", "mean", "min"))
    statistic = getattr(k.value, name)(axis=d, keepdims=True)
    exact = k.exact and name != "mean"
    return s.made(k.value - statistic, 2 * k.bound, k.denominator, exact)


def reduce_several(s: Families) -> list[Known] | None:
    k = s.array(1, lambda k: not k.value.dtype.is_complex)
    if k is None:
        return None
    o = s.like(
        k, kind=s.choice.choice([kind for kind in (*s.kinds, "s32") if kind not in ("c64", "c128")])
    )
    d = s.choice.randrange(k.rank)
    if s.choice.random() < 0.4 and k.exact and k.value.size and not k.value.dtype.is_pred:
        return [Known(k.value.argmax(d) if s.choice.random() < 0.5 else k.value.argmin(d))]
    made = s.b.reduce(
        k.value,
        o.value,
        s.b.constant(0, k.value.dtype),
        s.b.constant(1, o.value.dtype),
        dimensions=(d,),
        to_apply=lambda a, c, x, y: (a.builder.maximum(a, x), c.builder.minimum(c, y)),
    )
    return [s.same(made[0], k), s.same(made[1], o, Known(o.value, 1.0))]


def reduce_window(s: Families) -> Known | None:
    k = s.array(1, lambda k: 0 < k.value.size <= 1500)
    if k is None:
        return None
    rank = k.rank
    sizes = [s.choice.choice((1, 1, 2, 3)) for _ in range(rank)]
    name, initial, factor, exact = _combiner(s, k, int(np.prod(sizes)))
    window = {
        "size": tuple(sizes),
        "stride": tuple([s.choice.choice((1, 1, 2)) for _ in range(rank)]),
        "pad": tuple(
            [(s.choice.choice((0, 0, 1, 2)), s.choice.choice((0, 0, 1, 2))) for _ in range(rank)]
        ),
        "rhs_dilate": tuple([s.choice.choice((1, 1, 1, 2)) for _ in range(rank)]),
        "lhs_dilate": tuple([s.choice.choice((1, 1, 1, 2)) for _ in range(rank)]),
    }
    made = s.b.reduce_window(
        k.value,
        s.b.constant(initial, k.value.dtype),
        window=window,
        to_apply=lambda x, y: getattr(x.builder, name)(x, y),
    )
    return s.made(
        made, max(k.bound, abs(float(initial))) * factor, k.denominator, k.exact and exact
    )


def dot(s: Families) -> Known | None:
    k = s.array(1, lambda k: not k.value.dtype.is_pred and k.value.size <= 2000)
    if k is None or (s.extremes and not k.value.dtype.is_integer):
        return None
    # Batch and contracting dimensions of the left in any order; the right is arranged anew.
    order = list(range(k.rank))
    s.choice.shuffle(order)
    batch = order[: s.choice.choice((0, 0, 1, 2))][: k.rank]
    contracting = [d for d in order if d not in batch][: s.choice.choice((0, 1, 1, 1, 2))]
    free = [s.choice.choice((1, 2, 3, 4, 8)) for _ in range(s.choice.choice((0, 1, 1, 2)))]
    roles = (
        [("batch", d) for d in batch]
        + [("contract", d) for d in contracting]
        + [("free", j) for j in range(len(free))]
    )
    s.choice.shuffle(roles)
    sizes = tuple([k.dimensions[n] if role != "free" else free[n] for role, n in roles])
    if np.prod(sizes) > 3000 or np.prod(free) * k.value.size > 20000:
        return None
    o = s.constant_of(k.kind, sizes)
    if fitting := [x for x in s.known if x.kind == k.kind and x.dimensions == sizes]:
        o = s.choice.choice(fitting)
    count = int(np.prod([k.dimensions[d] for d in contracting]))
    made = s.b.dot(
        k.value,
        o.value,
        lhs_batch_dims=tuple(batch),
        rhs_batch_dims=tuple([roles.index(("batch", d)) for d in batch]),
        lhs_contracting_dims=tuple(contracting),
        rhs_contracting_dims=tuple([roles.index(("contract", d)) for d in contracting]),
    )
    return s.made(
        made,
        k.bound * o.bound * max(count, 1) * 2,
        k.denominator * o.denominator,
        k.exact and o.exact,
    )


def dot_known(s: Families) -> Known | None:
    """Return a dot of two earlier values."""
    k = s.array(1, lambda k: not k.value.dtype.is_pred and k.value.size <= 2000)
    if k is None or (s.extremes and not k.value.dtype.is_integer):
        return None
    pairs = [
        (o, d, e)
        for o in s.known
        if o.kind == k.kind and o.rank and o.value.size <= 500
        for d in range(k.rank)
        for e in range(o.rank)
        if k.dimensions[d] == o.dimensions[e]
    ]
    o, d, e = s.choice.choice(pairs) if pairs else (k, 0, 0)
    if k.value.size * o.value.size > 100000:
        return None
    made = s.b.dot(k.value, o.value, lhs_contracting_dims=(d,), rhs_contracting_dims=(e,))
    return s.made(
        made,
        k.bound * o.bound * max(k.dimensions[d], 1) * 2,
        k.denominator * o.denominator,
        k.exact and o.exact,
    )


def sort(s: Families) -> Known | None:
    k = s.array(1, lambda k: k.exact and not k.value.dtype.is_complex and k.value.size <= 2000)
    if k is None:
        return None
    d, direction = s.choice.randrange(k.rank), s.choice.choice(("LT", "GT"))
    order = "TOTALORDER" if k.value.dtype.is_float else None
    if s.choice.random() < 0.6:
        made = s.b.sort(
            k.value,
            dimensions=(d,),
            to_apply=lambda x, y: x.builder.compare(x, y, direction, order),
        )
        return s.same(made, k)
    o = s.like(k, kind=s.choice.choice((*s.kinds, "s32")))
    made = s.b.sort(
        k.value,
        o.value,
        dimensions=(d,),
        is_stable=True,
        to_apply=lambda x, y, u, v: x.builder.compare(x, y, direction, order),
    )
    # Equal keys keep their order, but which zero comes first depends on signs that rules may
    # change.
    return s.same(made[1], o) if not k.value.dtype.is_float else s.same(made[0], k)


REDUCTIONS = (
    reduce,
    reduce,
    reduce,
    reduce_mean,
    reduce_several,
    reduce_window,
    dot,
    dot,
    dot_known,
    sort,
)
