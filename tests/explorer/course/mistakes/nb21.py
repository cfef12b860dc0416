"""Wrong answers to the exercises of notebook 21."""

from __future__ import annotations

import numpy as np

from tests.explorer.course.mistakes import mistake, solution, variant
from xla_explorer.course.capstone import attention_module, attention_text
from xla_explorer.hlo.text import parse_hlo

merge, attention = solution("nb21.merge", "merge"), solution("nb21.attention", "attention")

mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 2 * (rows * depth + keys * depth + stored * rows * keys)
)
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: (
        4 * (2 * rows * depth + 2 * keys * depth + stored * rows * keys)
    )
)
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: (
        4 * (rows * depth + 2 * keys * depth + 2 * stored * rows * keys)
    )
)
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 4 * (4 * rows * depth + 2 * stored * rows * keys)
)
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 8 * (rows * depth + keys * depth + stored * rows * rows)
)
variant("nb21.bytes")(
    lambda rows, keys, depth, stored: 8 * (depth * (rows + keys) + stored * rows * keys)
)


@mistake("nb21.merge", "wrong-part")  # sums of different maxima
def _(first, second):
    return np.maximum(first[0], second[0]), first[1] + second[1], first[2] + second[2]


@mistake("nb21.merge", "wrong-part")  # the first part keeps its factor
def _(first, second):
    largest = np.maximum(first[0], second[0])
    factor = np.exp(second[0] - largest)
    return largest, first[1] + second[1] * factor, first[2] + second[2] * factor[:, None]


@mistake("nb21.merge", "wrong-part")  # NaN where everything is masked
def _(first, second):
    largest = np.maximum(first[0], second[0])
    with np.errstate(all="ignore"):
        f, s = np.exp(first[0] - largest), np.exp(second[0] - largest)
    return largest, first[1] * f + second[1] * s, first[2] * f[:, None] + second[2] * s[:, None]


@mistake("nb21.merge", "wrong-part")  # the quotient, not the part
def _(first, second):
    largest, total, mixed = merge(first, second)
    with np.errstate(all="ignore"):
        return largest, total, mixed / total[:, None]


@mistake("nb21.merge", "wrong-part")  # exp(new - old)
def _(first, second):
    largest = np.maximum(first[0], second[0])
    with np.errstate(all="ignore"):
        f, s = np.exp(largest - first[0]), np.exp(largest - second[0])
        return largest, first[1] * f + second[1] * s, first[2] * f[:, None] + second[2] * s[:, None]


mistake("nb21.merge", "no-part")(lambda first, second: merge(first, second)[:2])
mistake("nb21.merge", "no-part")(lambda first, second: first[0])
mistake("nb21.merge", "wrong-part")(lambda first, second: first)
mistake("nb21.merge", "raised-ValueError")(
    lambda first, second: (first[0], first[1], first[2] * first[1])
)
variant("nb21.merge")(lambda first, second: merge(second, first))


@mistake("nb21.attention", "wrong-value")  # not scaled
def _(b, q, k, v, block):
    depth = q.shape.dimensions[1]
    return attention(
        b,
        b.multiply(q, b.broadcast(b.constant(depth**0.5, q.dtype), q.shape.dimensions, ())),
        k,
        v,
        block,
    )


@mistake("nb21.attention", "wrong-value")  # keys left over
def _(b, q, k, v, block):
    keys = max(k.shape.dimensions[0] // block, 1) * block
    return (
        attention(b, q, k[0:keys], v[0:keys], block)
        if keys <= k.shape.dimensions[0]
        else attention(b, q, k, v, block)
    )


@mistake("nb21.attention", "wrong-value")  # the mean of the blocks' results
def _(b, q, k, v, block):
    parts = [
        attention(b, q, k[at : at + block], v[at : at + block], block)
        for at in range(0, k.shape.dimensions[0], block)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = b.add(total, part)
    return b.multiply(
        total, b.broadcast(b.constant(1 / len(parts), q.dtype), total.shape.dimensions, ())
    )


@mistake("nb21.attention", "wrong-value")  # no maximum: exp overflows
def _(b, q, k, v, block):
    rows, depth = q.shape.dimensions
    q = b.multiply(q, b.broadcast(b.constant(depth**-0.5, q.dtype), (rows, depth), ()))
    total = mixed = None
    for at in range(0, k.shape.dimensions[0], block):
        part_k, part_v = k[at : at + block], v[at : at + block]
        weights = b.exponential(
            b.dot(q, part_k, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))
        )
        t, m = (
            weights.sum(axis=1),
            b.dot(weights, part_v, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,)),
        )
        total, mixed = (t, m) if total is None else (b.add(total, t), b.add(mixed, m))
    return b.divide(mixed, b.broadcast(total, (rows, depth), (0,)))


mistake("nb21.attention", "too-large")(
    lambda b, q, k, v, block: attention(b, q, k, v, k.shape.dimensions[0])
)
mistake("nb21.attention", "other-shape")(
    lambda b, q, k, v, block: attention(b, q, k, v, block).sum(axis=1)
)
mistake("nb21.attention", "raised-HloBuilderError")(lambda b, q, k, v, block: None)
mistake("nb21.attention", "wrong-value")(lambda b, q, k, v, block: attention(b, q, k, k, block))
variant("nb21.attention")(lambda b, q, k, v, block: attention(b, q, k, v, max(block // 2, 1)))

mistake("nb21.beat", "too-much-memory")(
    lambda rows, keys, depth: parse_hlo(attention_text(rows, keys, depth))
)
mistake("nb21.beat", "too-much-memory")(
    lambda rows, keys, depth: attention_module(attention, rows, keys, depth, keys)
)
mistake("nb21.beat", "too-much-memory")(
    lambda rows, keys, depth: attention_module(attention, rows, keys, depth, 4)
)
mistake("nb21.beat", "no-program")(lambda rows, keys, depth: 64)
mistake("nb21.beat", "wrong-value")(
    lambda rows, keys, depth: attention_module(
        lambda b, q, k, v, block: attention(b, q, k, k, block), rows, keys, depth, keys // 8
    )
)
mistake("nb21.beat", "other-shape")(
    lambda rows, keys, depth: attention_module(attention, rows + 1, keys, depth, keys // 8)
)
variant("nb21.beat")(
    lambda rows, keys, depth: attention_module(attention, rows, keys, depth, keys // 7)
)


mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 8 * (rows * depth + keys * depth) + 4 * stored * rows * keys
)  # written only
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 8 * (rows * depth + keys * depth + rows * keys)
)  # one, whatever is stored
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 8 * stored * (rows * depth + keys * depth + rows * keys)
)  # all is stored
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 4 * (rows * depth + 2 * keys * depth + stored * rows * keys)
)
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 4 * (rows * depth + keys * depth + stored * rows * keys)
)
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 8 * (rows + keys + stored * rows * keys) * depth
)  # scores have depth
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 8 * (rows * depth + keys * depth + stored * keys * keys)
)
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 2 * rows * keys * depth
)  # operations
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: 16 * (rows * depth + keys * depth + stored * rows * keys)
)  # f64
mistake("nb21.bytes", "other-bytes")(
    lambda rows, keys, depth, stored: (
        4 * (2 * rows * depth + keys * depth + 2 * stored * rows * keys)
    )
)  # v only
mistake("nb21.bytes", "other-bytes")(lambda rows, keys, depth, stored: None)


def program(block, change=attention, **sizes):
    """Return answers to nb21.beat: blocks of a number of keys, or other sizes than required."""

    def answer(rows, keys, depth):
        given = {"rows": rows, "keys": keys, "depth": depth}
        given |= {name: size(given[name]) for name, size in sizes.items()}
        return attention_module(change, *given.values(), max(block(keys, depth), 1))

    return answer


mistake("nb21.beat", "too-much-memory")(program(lambda keys, depth: keys // 2))  # two halves
mistake("nb21.beat", "too-much-memory")(program(lambda keys, depth: 8))
mistake("nb21.beat", "too-much-memory")(program(lambda keys, depth: depth // 2))
mistake("nb21.beat", "other-shape")(program(lambda keys, depth: keys // 8, depth=lambda n: n + 1))
mistake("nb21.beat", "other-parameters")(
    program(lambda keys, depth: keys // 8, keys=lambda n: n // 2)
)  # half of the keys
mistake("nb21.beat", "wrong-value")(
    program(
        lambda keys, depth: keys // 8,
        lambda b, q, k, v, block: attention(b, b.negate(q), k, v, block),
    )
)
mistake("nb21.beat", "wrong-value")(
    program(lambda keys, depth: keys // 8, lambda b, q, k, v, block: attention(b, q, v, k, block))
)
mistake("nb21.beat", "wrong-value")(
    program(lambda keys, depth: keys // 8, lambda b, q, k, v, block: q)
)
mistake("nb21.beat", "wrong-value")(
    program(
        lambda keys, depth: keys // 8,
        lambda b, q, k, v, block: attention(b, q, k[0:block], v[0:block], block),
    )
)
mistake("nb21.beat", "other-shape")(
    program(
        lambda keys, depth: keys // 8,
        lambda b, q, k, v, block: attention(b, q, k, v, block).sum(axis=1),
    )
)
mistake("nb21.beat", "no-program")(lambda rows, keys, depth: attention_text(rows, keys, depth))
mistake("nb21.beat", "no-program")(lambda rows, keys, depth: attention)
mistake("nb21.beat", "no-program")(lambda rows, keys, depth: None)
mistake("nb21.beat", "another-form")(
    lambda rows, keys: attention_module(attention, rows, keys, 16, 64)
)


def merged(f, s, largest=np.maximum, mixed=None, total=None):
    """Answers to nb21.merge with other factors; where everything is masked, they are right."""

    def answer(first, second):
        most = largest(first[0], second[0])
        safe = np.where(np.isneginf(most), 0, most)
        with np.errstate(all="ignore"):
            a, b = f(first[0], second[0], safe), s(first[0], second[0], safe)
            c, d = mixed(a, b) if mixed else (a, b)
            e, g = total(a, b) if total else (a, b)
            return (
                most,
                first[1] * e + second[1] * g,
                first[2] * c[:, None] + second[2] * d[:, None],
            )

    return answer


def of_first(a, b, most):
    return np.exp(a - most)


def of_second(a, b, most):
    return np.exp(b - most)


mistake("nb21.merge", "wrong-part")(merged(of_second, of_first))  # exchanged
mistake("nb21.merge", "wrong-part")(merged(of_first, lambda a, b, most: np.ones_like(b)))
mistake("nb21.merge", "wrong-part")(merged(of_first, of_second, largest=np.minimum))
mistake("nb21.merge", "wrong-part")(merged(of_first, of_second, largest=np.add))
mistake("nb21.merge", "wrong-part")(
    merged(of_first, of_second, mixed=lambda a, b: (np.ones_like(a), np.ones_like(b)))
)
mistake("nb21.merge", "wrong-part")(
    merged(of_first, of_second, total=lambda a, b: (np.ones_like(a), np.ones_like(b)))
)
mistake("nb21.merge", "wrong-part")(
    merged(lambda a, b, most: a - most + 1, lambda a, b, most: b - most + 1)
)  # exp forgotten
mistake("nb21.merge", "wrong-part")(
    merged(lambda a, b, most: np.exp2(a - most), lambda a, b, most: np.exp2(b - most))
)
mistake("nb21.merge", "wrong-part")(
    merged(lambda a, b, most: np.exp(a - b), lambda a, b, most: np.ones_like(b))
)  # brought to the second
mistake("nb21.merge", "wrong-part")(
    lambda first, second: tuple(np.nan_to_num(piece, neginf=0) for piece in merge(first, second))
)  # masked is not 0
mistake("nb21.merge", "no-part")(lambda first, second: list(merge(first, second)))
mistake("nb21.merge", "no-part")(
    lambda first, second: tuple(piece.sum() for piece in merge(first, second))
)


def changed(b, q, k, v, block, /, **changes):
    """Return attention with some of `q`, `k`, `v` and `result` replaced by functions of them."""

    def change(name, x):
        return changes[name](b, x) if name in changes else x

    result = attention(b, change("q", q), change("k", k), change("v", v), block)
    return change("result", result)


def doubled(b, x):
    return b.add(x, x)


mistake("nb21.attention", "wrong-value")(lambda b, *given: changed(b, *given, q=doubled))
mistake("nb21.attention", "wrong-value")(lambda b, *given: changed(b, *given, k=doubled))
mistake("nb21.attention", "wrong-value")(lambda b, *given: changed(b, *given, result=doubled))
mistake("nb21.attention", "wrong-value")(
    lambda b, *given: changed(b, *given, q=lambda b, x: b.negate(x))
)
mistake("nb21.attention", "wrong-value")(
    lambda b, *given: changed(b, *given, v=lambda b, x: b.exponential(x))
)
mistake("nb21.attention", "wrong-value")(
    lambda b, q, k, v, block: attention(b, q, k[0:1], v[0:1], block)
)  # the first key
mistake("nb21.attention", "wrong-value")(
    lambda b, q, k, v, block: attention(
        b,
        q,
        k[0 : min(block, k.shape.dimensions[0])],
        v[0 : min(block, k.shape.dimensions[0])],
        block,
    )
)
mistake("nb21.attention", "other-shape")(lambda b, q, k, v, block: v)
mistake("nb21.attention", "wrong-value")(lambda b, q, k, v, block: q)
mistake("nb21.attention", "other-shape")(
    lambda b, q, k, v, block: b.dot(q, k, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))
)  # scores
mistake("nb21.attention", "another-form")(lambda b, q, k, v: attention(b, q, k, v, 4))
mistake("nb21.attention", "other-shape")(
    lambda b, q, k, v, block: (attention(b, q, k, v, block), q)
)
