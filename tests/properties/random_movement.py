"""Random data movement: shapes, slices, pads, gathers and scatters."""

from __future__ import annotations

import numpy as np

from tests.properties.random_families import Families, Known
from xla_explorer.hlo.primitive_type import S32


def _factors(s: Families, count: int) -> list[int]:
    sizes = []
    while count > 1 and len(sizes) < 4 and s.choice.random() < 0.8:
        divisors = [d for d in range(1, min(count, 40) + 1) if count % d == 0]
        size = s.choice.choice(divisors)
        sizes.append(size)
        count //= size
    sizes.append(count)
    if s.choice.random() < 0.3:
        sizes.insert(s.choice.randint(0, len(sizes)), 1)
    s.choice.shuffle(sizes)
    return sizes


def reshape(s: Families) -> Known | None:
    k = s.pick()
    if k is None:
        return None
    if k.value.size == 0:
        return s.same(s.b.reshape(k.value, sorted(k.dimensions)), k)
    sizes = _factors(s, k.value.size)
    if k.value.size == 1 and s.choice.random() < 0.5:
        sizes = []
    return s.same(s.b.reshape(k.value, sizes), k)


def transpose(s: Families) -> Known | None:
    k = s.array(2)
    if k is None:
        return None
    order = list(range(k.rank))
    s.choice.shuffle(order)
    return s.same(s.b.transpose(k.value, dimensions=tuple(order)), k)


def broadcast(s: Families) -> Known | None:
    k = s.pick(lambda k: k.rank <= 3 and k.value.size <= 500)
    if k is None:
        return None
    sizes = list(k.dimensions)
    mapping = list(range(k.rank))
    for _ in range(s.choice.randint(1, 2)):
        at = s.choice.randint(0, len(sizes))
        new = s.choice.choice((1, 2, 3, 5, 9))
        sizes.insert(at, new)
        mapping = [m + (m >= at) for m in mapping]
    return s.same(s.b.broadcast(k.value, sizes, mapping), k)


def slice_(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    rows = []
    for size in k.dimensions:
        if s.choice.random() < 0.3:
            rows.append((0, size, 1))
            continue
        start = s.choice.randint(0, size)
        limit = s.choice.randint(start, size) if s.choice.random() < 0.5 else size
        if start == limit and s.choice.random() < 0.8:
            start, limit = 0, size
        rows.append((start, limit, s.choice.choice((1, 1, 2, 3))))
    return s.same(s.b.slice(k.value, slice=tuple(rows)), k)


def pad(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    rows = []
    for size in k.dimensions:
        interior = s.choice.choice((0, 0, 0, 1, 2))
        low, high = s.choice.choice((0, 0, 1, 2, -1, -2)), s.choice.choice((0, 0, 1, 3, -1, -2))
        full = size + max(size - 1, 0) * interior
        if full + low + high < 0 or (full + low + high == 0 and s.choice.random() < 0.8):
            low = high = 0
        rows.append((low, high, interior))
    o = s.scalar(k.kind)
    return s.same(s.b.pad(k.value, o.value, padding=tuple(rows)), k, o)


def concatenate(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    d = s.choice.randrange(k.rank)
    parts = [k]
    for _ in range(s.choice.randint(0, 3)):
        fitting = [
            o
            for o in s.known
            if o.kind == k.kind
            and o.rank == k.rank
            and all(
                a == c
                for j, (a, c) in enumerate(zip(o.dimensions, k.dimensions, strict=True))
                if j != d
            )
        ]
        parts.append(s.choice.choice(fitting))
    s.choice.shuffle(parts)
    return s.same(s.b.concatenate(*[p.value for p in parts], dimensions=(d,)), *parts)


def reverse(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    return s.same(
        s.b.reverse(
            k.value,
            dimensions=tuple(sorted(s.choice.sample(range(k.rank), s.choice.randint(1, k.rank)))),
        ),
        k,
    )


def iota(s: Families) -> Known | None:
    kind = s.choice.choice([k for k in s.kinds if k != "pred"] or ["s32"])
    sizes = s.shape()
    if not sizes or s.extremes:
        return None
    return s.constant_of(kind, sizes)


def dynamic_slice(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    sizes = [s.choice.randint(min(1, size), size) for size in k.dimensions]
    return s.same(s.b.dynamic_slice(k.value, *_starts(s, k.rank), sizes=tuple(sizes)), k)


def _starts(s: Families, rank: int) -> list:
    first = s.index()
    kind = first.kind
    made = []
    for _ in range(rank):
        i = s.choice.choice((first, s.index()))
        made.append(i.value if i.kind == kind else s.b.convert(i.value, kind))
    return made


def dynamic_update_slice(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    fitting = [
        o
        for o in s.known
        if o.kind == k.kind
        and o.rank == k.rank
        and all(a <= c for a, c in zip(o.dimensions, k.dimensions, strict=True))
    ]
    o = s.choice.choice(fitting)
    if s.choice.random() < 0.5:
        o = s.constant_of(
            k.kind, tuple([s.choice.randint(min(1, size), size) for size in k.dimensions])
        )
    return s.same(s.b.dynamic_update_slice(k.value, o.value, *_starts(s, k.rank)), k, o)


def gather(s: Families) -> Known | None:
    k = s.array()
    if k is None:
        return None
    sizes = [s.choice.randint(min(1, size), size) for size in k.dimensions]
    indexed = s.choice.sample(range(k.rank), s.choice.randint(1, k.rank))
    collapsed = sorted(d for d in range(k.rank) if s.choice.random() < 0.5)
    for d in list(collapsed):
        if k.dimensions[d] == 0:
            collapsed.remove(d)
        else:
            sizes[d] = 1
    batch = [s.choice.choice((1, 2, 3, 5)) for _ in range(s.choice.randint(0, 2))]
    vector_at = s.choice.randint(0, len(batch))
    shape = [*batch[:vector_at], len(indexed), *batch[vector_at:]]
    if len(indexed) == 1 and s.choice.random() < 0.5:
        shape, vector_at = batch, len(batch)
    indices = (
        s.constant_of("s32", tuple(shape)) if s.choice.random() < 0.6 else _indices(s, tuple(shape))
    )
    windows = k.rank - len(collapsed)
    places = sorted(s.choice.sample(range(windows + len(batch)), windows))
    made = s.b.gather(
        k.value,
        indices.value,
        offset_dims=tuple(places),
        collapsed_slice_dims=tuple(collapsed),
        start_index_map=tuple(indexed),
        index_vector_dim=vector_at,
        slice_sizes=tuple(sizes),
    )
    return s.same(made, k)


def _indices(s: Families, sizes: tuple[int, ...]) -> Known:
    count = int(np.prod(sizes))
    fitting = [k for k in s.known if k.kind == "s32" and k.value.size == count]
    if fitting:
        return Known(s.b.reshape(s.choice.choice(fitting).value, sizes))
    numbers = np.array([s.choice.randint(-1, 5) for _ in range(count)], np.int32).reshape(sizes)
    return Known(s.b.constant(numbers, S32))


def scatter(s: Families) -> Known | None:
    k = s.array(1, lambda k: k.value.size <= 2000 and not k.value.dtype.is_complex)
    if k is None:
        return None
    indexed = s.choice.sample(range(k.rank), s.choice.randint(1, k.rank))
    inserted = sorted(d for d in range(k.rank) if s.choice.random() < 0.6)
    windows = [
        s.choice.randint(min(1, k.dimensions[d]), k.dimensions[d])
        for d in range(k.rank)
        if d not in inserted
    ]
    if any(k.dimensions[d] == 0 for d in range(k.rank)):
        return None
    batch = [s.choice.choice((1, 2, 3, 5)) for _ in range(s.choice.randint(0, 2))]
    vector_at = s.choice.randint(0, len(batch))
    shape = [*batch[:vector_at], len(indexed), *batch[vector_at:]]
    if len(indexed) == 1 and s.choice.random() < 0.5:
        shape, vector_at = batch, len(batch)
    indices = _indices(s, tuple(shape))
    places = sorted(s.choice.sample(range(len(windows) + len(batch)), len(windows)))
    rest, window = iter(batch), iter(windows)
    sizes = [next(window) if d in places else next(rest) for d in range(len(windows) + len(batch))]
    updates = s.constant_of(k.kind, tuple(sizes))
    known = [o for o in s.known if o.kind == k.kind and o.dimensions == tuple(sizes)]
    if known:
        updates = s.choice.choice(known)
    t = k.value.dtype
    names = ["maximum", "minimum"] + (["and_", "or_"] if t.is_pred else ["add", "second"])
    name = s.choice.choice(names)
    made = s.b.scatter(
        k.value,
        indices.value,
        updates.value,
        update_window_dims=tuple(places),
        inserted_window_dims=tuple(inserted),
        scatter_dims_to_operand_dims=tuple(indexed),
        index_vector_dim=vector_at,
        to_apply=lambda x, y: y if name == "second" else getattr(x.builder, name)(x, y),
    )
    if name != "add":
        return s.same(made, k, updates)
    count = max(1, int(np.prod(batch)))
    return s.made(
        made,
        k.bound + count * updates.bound,
        max(k.denominator, updates.denominator),
        k.exact and updates.exact and not s.extremes,
    )


def copy(s: Families) -> Known | None:
    k = s.pick()
    return None if k is None else s.same(s.b.copy(k.value), k)


MOVEMENT = (
    reshape,
    reshape,
    transpose,
    transpose,
    broadcast,
    broadcast,
    slice_,
    slice_,
    pad,
    pad,
    concatenate,
    concatenate,
    reverse,
    iota,
    dynamic_slice,
    dynamic_slice,
    dynamic_update_slice,
    dynamic_update_slice,
    gather,
    scatter,
    copy,
)
