"""Random convolutions, scattering windows, top-k, batching gathers and bit operations."""

from __future__ import annotations

import numpy as np

from tests.properties.random_families import Families, Known
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, S32
from xla_explorer.hlo.shape import array_shape


def convolution(s: Families) -> Known | None:
    """Draw one or two spatial dimensions, strides, paddings, dilations, groups, any order."""
    kind = s.choice.choice(("f32", "f32", "f64", "s32"))
    if s.extremes and kind != "s32":
        return None
    c = s.choice
    spatial, groups = c.choice((1, 2)), c.choice((1, 1, 1, 2))
    batch, features, outputs = (
        c.choice((1, 2, 3)),
        groups * c.choice((1, 2, 3)),
        groups * c.choice((1, 2, 4)),
    )
    sizes = [c.choice((3, 4, 5, 8)) for _ in range(spatial)]
    kernel = [c.choice((1, 2, 3)) for _ in range(spatial)]
    names = "012"[:spatial]

    def labels(letters: str) -> str:
        order = list(letters + names)
        if c.random() < 0.5:
            c.shuffle(order)
        return "".join(order)

    left, right, result = labels("bf"), labels("io"), labels("bf")
    left_sizes = {"b": batch, "f": features, **{names[k]: sizes[k] for k in range(spatial)}}
    right_sizes = {
        "i": features // groups,
        "o": outputs,
        **{names[k]: kernel[k] for k in range(spatial)},
    }
    x = _of(s, kind, tuple([left_sizes[letter] for letter in left]))
    y = _of(s, kind, tuple([right_sizes[letter] for letter in right]))
    window = {
        "size": tuple(kernel),
        "stride": tuple([c.choice((1, 1, 2)) for _ in kernel]),
        "pad": tuple([(c.choice((0, 0, 1, 2)), c.choice((0, 0, 1, -1))) for _ in kernel]),
        "rhs_dilate": tuple([c.choice((1, 1, 2)) for _ in kernel]),
        "lhs_dilate": tuple([c.choice((1, 1, 2)) for _ in kernel]),
        "rhs_reversal": tuple([int(c.random() < 0.2) for _ in kernel]),
    }
    made = s.b.convolution(
        x.value,
        y.value,
        window=window,
        dim_labels=f"{left}_{right}->{result}",
        feature_group_count=groups,
    )
    count = features * int(np.prod(kernel))
    return s.made(
        made, x.bound * y.bound * count, x.denominator * y.denominator, x.exact and y.exact
    )


def _of(s: Families, kind: str, sizes: tuple[int, ...]) -> Known:
    """Return a value of a shape, made of an equally large one, of a prefix, or a constant."""
    count = int(np.prod(sizes))
    fitting = [k for k in s.known if k.kind == kind and k.value.size >= count]
    if not fitting or s.choice.random() < 0.3:
        return s.constant_of(kind, sizes)
    k = s.choice.choice(fitting)
    flat = s.b.reshape(k.value, (k.value.size,))
    if k.value.size != count:
        flat = s.b.slice(flat, slice=((0, count, 1),))
    return s.same(s.b.reshape(flat, sizes), k)


def select_and_scatter(s: Families) -> Known | None:
    k = s.array(
        1, lambda k: k.exact and k.kind in ("f32", "f64", "s32", "s64") and 0 < k.value.size <= 600
    )
    if k is None or s.extremes:
        return None
    rank = k.rank
    window = {
        "size": tuple([s.choice.choice((1, 2, 3)) for _ in range(rank)]),
        "stride": tuple([s.choice.choice((1, 2)) for _ in range(rank)]),
    }
    if any(size > extent for size, extent in zip(window["size"], k.dimensions, strict=True)):
        return None
    sizes = tuple(
        [
            (extent - size) // stride + 1
            for extent, size, stride in zip(
                k.dimensions, window["size"], window["stride"], strict=True
            )
        ]
    )
    source = _of(s, k.kind, sizes)
    made = s.b.select_and_scatter(
        k.value,
        source.value,
        s.b.constant(0, k.value.dtype),
        window=window,
        select=lambda x, y: x >= y,
        scatter=lambda x, y: x + y,
    )
    return s.made(
        made, source.bound * max(int(np.prod(sizes)), 1), source.denominator, source.exact
    )


def cumulative(s: Families) -> Known | None:
    """Return a running sum or maximum, as a window over all earlier elements."""
    k = s.array(1, lambda k: k.kind in ("f32", "f64", "s32", "s64") and 0 < k.value.size <= 3000)
    if k is None:
        return None
    d, forward = s.choice.randrange(k.rank), s.choice.random() < 0.7
    length = k.dimensions[d]
    name = s.choice.choice(("add", "maximum", "minimum"))
    initial = 0 if name == "add" else {"maximum": -100, "minimum": 100}[name]
    if name != "add" and (s.extremes or k.value.dtype.is_integer):
        return None
    if name == "add" and s.extremes and k.value.dtype.is_float:
        return None
    size, pads = [1] * k.rank, [(0, 0)] * k.rank
    size[d], pads[d] = length, (length - 1, 0) if forward else (0, length - 1)
    made = s.b.reduce_window(
        k.value,
        s.b.constant(initial, k.value.dtype),
        window={"size": tuple(size), "pad": tuple(pads)},
        to_apply=lambda x, y: getattr(x.builder, name)(x, y),
    )
    if name == "add":
        return s.made(made, k.bound * length, k.denominator, k.exact)
    return s.made(made, k.bound, k.denominator, k.exact)


def topk(s: Families) -> list[Known] | None:
    k = s.array(
        1,
        lambda k: (
            k.exact
            and k.kind in ("f32", "s32", "bf16", "u8")
            and k.value.size <= 3000
            and k.dimensions[-1] > 0
        ),
    )
    if k is None or (s.extremes and k.value.dtype.is_float):
        return None
    made = s.b.topk(
        k.value, k=s.choice.randint(1, k.dimensions[-1]), largest=s.choice.random() < 0.7
    )
    return (
        [s.same(made[0], k), Known(made[1])] if not k.value.dtype.is_float else [s.same(made[0], k)]
    )


def batched_gather(s: Families) -> Known | None:
    """operand_batching_dims: row b of the operand with row b of the indices."""
    k = s.array(2, lambda k: k.value.size > 0)
    if k is None:
        return None
    batch = s.choice.randrange(k.rank)
    indexed = s.choice.choice([d for d in range(k.rank) if d != batch])
    count = s.choice.choice((1, 2, 3))
    numbers = np.array(
        [s.choice.randint(-1, 6) for _ in range(k.dimensions[batch] * count)], np.int32
    )
    indices = s.b.constant(numbers.reshape(k.dimensions[batch], count, 1), S32)
    rest = [d for d in range(k.rank) if d not in (batch, indexed)]
    sizes = [1 if d in (batch, indexed) else k.dimensions[d] for d in range(k.rank)]
    made = s.b.gather(
        k.value,
        indices,
        offset_dims=tuple(range(2, 2 + len(rest))),
        collapsed_slice_dims=(indexed,),
        operand_batching_dims=(batch,),
        start_indices_batching_dims=(0,),
        start_index_map=(indexed,),
        index_vector_dim=2,
        slice_sizes=tuple(sizes),
    )
    return s.same(made, k)


def scatter_several(s: Families) -> list[Known] | None:
    """Two operands scattered at once."""
    k = s.array(1, lambda k: k.kind in ("s32", "f32", "u8") and 0 < k.value.size <= 2000)
    if k is None:
        return None
    o = s.like(k, kind=s.choice.choice(("s32", "f32")))
    count = s.choice.choice((1, 3, 6))
    numbers = np.array(
        [s.choice.randint(-1, k.dimensions[0]) for _ in range(count)], np.int32
    ).reshape(count, 1)
    sizes = (count, *k.dimensions[1:])
    first, second = _of(s, k.kind, sizes), _of(s, o.kind, sizes)
    made = s.b.scatter(
        k.value,
        o.value,
        s.b.constant(numbers, S32),
        first.value,
        second.value,
        update_window_dims=tuple(range(1, k.rank)),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=1,
        to_apply=lambda a, c, x, y: (a.builder.maximum(a, x), c.builder.minimum(c, y)),
    )
    return [s.same(made[0], k, first), s.same(made[1], o, second)]


def wide_bits(s: Families) -> Known | None:
    """bitcast-convert between widths."""
    k = s.array(1, lambda k: k.kind in ("s32", "u32", "s64", "u8", "s8"))
    if k is None:
        return None
    bits = k.value.dtype.bits
    kind = s.choice.choice(("u8", "u16", "s32", "u64"))
    t = PRIMITIVE_TYPES[kind]
    if t.bits > bits and k.dimensions[-1] != t.bits // bits:
        return None
    return Known(s.b.bitcast_convert(k.value, kind)) if kind != k.kind else None


def reduce_precision(s: Families) -> Known | None:
    k = s.pick(lambda k: k.exact and k.kind in ("f32", "f64", "bf16", "f16"))
    if k is None:
        return None
    made = s.b.reduce_precision(k.value, s.choice.choice((4, 5, 8)), s.choice.choice((0, 3, 7, 10)))
    # Rounded up to a power of two at worst; the digits kept are fewer.
    return (
        Known(made, 2 * k.bound, k.denominator, True)
        if not s.extremes
        else Known(made, 0.0, 1.0, True)
    )


def barrier(s: Families) -> list[Known] | None:
    k = s.pick()
    if k is None:
        return None
    o = s.pick()
    assert o is not None
    made = s.b.opt_barrier(s.b.tuple(k.value, o.value))
    return [s.same(made[0], k), s.same(made[1], o)]


def complex_function(s: Families) -> Known | None:
    k = s.pick(lambda k: k.kind in ("c64", "c128"))
    if k is None or s.extremes:
        return None
    name = s.choice.choice(("sine", "tanh", "exponential", "sqrt", "log", "divide"))
    half = s.b.complex(
        s.b.clamp(-2.0, s.b.real(k.value), 2.0), s.b.clamp(-1.0, s.b.imag(k.value), 1.0)
    )
    if name == "divide":
        return s.inexact(s.b.divide(half, s.b.add(s.b.multiply(half, half), 9.0)), 1.0)
    if name in ("sqrt", "log"):
        half = s.b.add(half, 4.0)
    return (
        s.inexact(getattr(s.b, name)(half), 10.0)
        if name != "tanh"
        else s.inexact(s.b.sine(half), 10.0)
    )


def fft(s: Families) -> Known | None:
    k = s.array(1, lambda k: k.kind in ("c64", "c128") and k.value.size > 0)
    if k is None or s.extremes:
        return None
    length = k.dimensions[-1]
    return s.inexact(
        s.b.fft(k.value, fft_type=s.choice.choice(("FFT", "IFFT")), fft_length=(length,)),
        k.bound * 2 * length,
    )


def triangular_solve(s: Families) -> Known | None:
    if s.extremes:
        return None
    n, m = s.choice.choice((1, 2, 3, 5)), s.choice.choice((1, 2, 4))
    kind = s.choice.choice(("f32", "f64"))
    a = _of(s, kind, (n, n))
    small = s.b.multiply(s.b.tanh(a.value), 0.1)
    eye = s.b.select(
        s.b.compare(
            s.b.iota(array_shape("s32", (n, n)), 0), s.b.iota(array_shape("s32", (n, n)), 1), "EQ"
        ),
        s.b.broadcast(s.b.constant(2.0, PRIMITIVE_TYPES[kind]), (n, n), []),
        small,
    )
    left = s.choice.random() < 0.5
    y = _of(s, kind, (n, m) if left else (m, n))
    made = s.b.triangular_solve(
        eye,
        y.value,
        left_side=left,
        lower=s.choice.random() < 0.5,
        unit_diagonal=s.choice.random() < 0.3,
        transpose_a=s.choice.choice(("NO_TRANSPOSE", "TRANSPOSE")),
    )
    return s.inexact(made, y.bound * 4)


SPECIAL = (
    convolution,
    convolution,
    select_and_scatter,
    cumulative,
    cumulative,
    topk,
    batched_gather,
    scatter_several,
    wide_bits,
    reduce_precision,
    barrier,
    complex_function,
    fft,
    triangular_solve,
)
