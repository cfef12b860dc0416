"""Wrong answers to the exercises of notebook 15."""

from __future__ import annotations

import math

import numpy as np

from tests.explorer.course.mistakes import mistake, variant


def pairs(registers, fits):
    found = [(r, v) for r in range(1, registers + 1) for v in range(1, registers + 1) if fits(r, v)]
    return min(found, key=lambda p: (p[0] + p[1]) / (p[0] * p[1]), default=(1, 1))


@mistake("nb15.tile", "does-not-fit")
def _(registers):  # the sums only
    return pairs(registers, lambda r, v: r * v <= registers)


@mistake("nb15.tile", "does-not-fit")
def _(registers):  # without the element of a
    return pairs(registers, lambda r, v: r * v + v <= registers)


@mistake("nb15.tile", "more-loads")
def _(registers):  # one too careful
    return pairs(registers, lambda r, v: r * v + v + 1 < registers)


@mistake("nb15.tile", "more-loads")
def _(registers):  # a square
    side = max(s for s in range(1, registers) if s * s + s + 1 <= registers)
    return side, side


@mistake("nb15.tile", "more-loads")
def _(registers):  # as many sums as possible
    found = [
        (r, v)
        for r in range(1, registers)
        for v in range(1, registers)
        if r * v + v + 1 <= registers
    ]
    return max(found, key=lambda p: p[0] * p[1] - p[1])


@mistake("nb15.tile", "more-loads")
def _(registers):
    return 1, 1


@mistake("nb15.tile", "no-tile")
def _(registers):
    return math.isqrt(registers)


@mistake("nb15.tile", "no-tile")
def _(registers):
    return 2.0, 2.0


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # rows are not unrolled
    return (
        plain.split("j", lanes * vectors)
        .split("ji", lanes)
        .vectorize("jii")
        .unroll("jio")
        .split("i", rows)
    )


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # one vector
    return plain.split("j", lanes).vectorize("ji").split("i", rows).unroll("ii")


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # rows and vectors exchanged
    return (
        plain.split("j", lanes * rows)
        .split("ji", lanes)
        .vectorize("jii")
        .unroll("jio")
        .split("i", vectors)
        .unroll("ii")
    )


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # nothing
    return plain


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # sixteen lanes, whatever the argument
    return (
        plain.split("j", 16 * vectors)
        .split("ji", 16)
        .vectorize("jii")
        .unroll("jio")
        .split("i", rows)
        .unroll("ii")
    )


@mistake("nb15.schedule", "raised-ScheduleError")
def _(plain, lanes, rows, vectors):  # rows as lanes
    return plain.split("i", lanes).vectorize("ii")


@mistake("nb15.schedule", "raised-ScheduleError")
def _(plain, lanes, rows, vectors):  # names of another split
    return plain.split("j", lanes * vectors).vectorize("jii")


@mistake("nb15.schedule", "no-schedule")
def _(plain, lanes, rows, vectors):  # nothing is returned
    plain.split("j", lanes).vectorize("ji")
    return "split{j,8},vectorize{ji}"


@mistake("nb15.blocks", "another-block")
def _(n, cache):  # one block fits
    t = max(t for t in range(1, n + 1) if n % t == 0 and 4 * t * t <= cache)
    return t, 2 * t * t * (n // t) ** 3 + n * n


@mistake("nb15.blocks", "another-block")
def _(n, cache):  # does not divide
    t = min(n, math.isqrt(cache // 12))
    return t, 2 * t * t * (n // t) ** 3 + n * n


@mistake("nb15.blocks", "another-block")
def _(n, cache):  # bytes forgotten
    t = max(t for t in range(1, n + 1) if n % t == 0 and 3 * t * t <= cache)
    return t, 2 * t * t * (n // t) ** 3 + n * n


@mistake("nb15.blocks", "other-traffic")
def _(n, cache):  # without the result
    t = max(t for t in range(1, n + 1) if n % t == 0 and 12 * t * t <= cache)
    return t, 2 * t * t * (n // t) ** 3


@mistake("nb15.blocks", "other-traffic")
def _(n, cache):  # the result again and again
    t = max(t for t in range(1, n + 1) if n % t == 0 and 12 * t * t <= cache)
    return t, 3 * t * t * (n // t) ** 3


@mistake("nb15.blocks", "other-traffic")
def _(n, cache):  # in bytes
    t = max(t for t in range(1, n + 1) if n % t == 0 and 12 * t * t <= cache)
    return t, 4 * (2 * t * t * (n // t) ** 3 + n * n)


@mistake("nb15.blocks", "no-pair")
def _(n, cache):
    return n


def tiled(order=("jo", "ji"), rows="ii", vector="jii", unrolled="jio", scale=1, reverse=False):
    """Answers to nb15.schedule that name another loop, or split by another factor."""

    def answer(plain, lanes, rows_, vectors):
        outer, inner = (lanes, lanes * vectors) if reverse else (lanes * vectors * scale, lanes)
        found = plain.split("j", outer).split("ji", inner).vectorize(vector)
        for name in unrolled.split():
            found = found.unroll(name)
        return found.split("i", rows_).unroll(rows) if rows else found

    return answer


mistake("nb15.schedule", "another-tile")(tiled(rows=""))  # rows are forgotten
mistake("nb15.schedule", "another-tile")(tiled(unrolled=""))  # the loop of vectors stays a loop
mistake("nb15.schedule", "another-tile")(tiled(scale=2))
mistake("nb15.schedule", "another-tile")(tiled(reverse=True))  # lanes first, then lanes * vectors
mistake("nb15.schedule", "raised-ScheduleError")(
    tiled(vector="jio", unrolled="jii")
)  # the vector in the middle
mistake("nb15.schedule", "another-tile")(tiled(rows="io"))  # the outer part
mistake("nb15.schedule", "another-tile")(tiled(unrolled="jo"))
mistake("nb15.schedule", "raised-ScheduleError")(tiled(unrolled="ji"))  # it was split
mistake("nb15.schedule", "raised-ScheduleError")(tiled(unrolled="jio jio"))
mistake("nb15.schedule", "another-tile")(
    lambda plain, lanes, rows, vectors: tiled()(plain, lanes, vectors, rows)
)
mistake("nb15.schedule", "another-tile")(
    lambda plain, lanes, rows, vectors: tiled()(plain, vectors, rows, lanes)
)
mistake("nb15.schedule", "another-tile")(
    lambda plain, lanes, rows, vectors: tiled()(plain, 8, 6, 2)
)  # the first case's numbers
mistake("nb15.schedule", "another-tile")(
    lambda plain, lanes, rows, vectors: tiled()(plain, lanes * vectors, rows, 1)
)
mistake("nb15.schedule", "no-schedule")(lambda plain, lanes, rows, vectors: None)
mistake("nb15.schedule", "no-schedule")(lambda plain, lanes, rows, vectors: (lanes, rows, vectors))


def chosen(key, fits=lambda r, v, registers: r * v + v + 1 <= registers):
    """Answers to nb15.tile that prefer other pairs."""

    def best_tile(registers):
        found = [
            (r, v)
            for r in range(1, registers)
            for v in range(1, registers)
            if fits(r, v, registers)
        ]
        return min(found, key=lambda p: key(*p))

    return best_tile


def loads(r, v):
    return (r + v) / (r * v)


mistake("nb15.tile", "more-loads")(chosen(lambda r, v: -loads(r, v)))
mistake("nb15.tile", "more-loads")(chosen(lambda r, v: r + v))  # the fewest loads at all
mistake("nb15.tile", "more-loads")(chosen(lambda r, v: -r))
mistake("nb15.tile", "more-loads")(chosen(lambda r, v: -v))
mistake("nb15.tile", "more-loads")(chosen(lambda r, v: abs(r - v)))
mistake("nb15.tile", "more-loads")(chosen(lambda r, v: (r + v) // (r * v)))  # whole numbers
mistake("nb15.tile", "does-not-fit")(chosen(loads, lambda r, v, registers: r * v + 1 <= registers))
mistake("nb15.tile", "does-not-fit")(chosen(loads, lambda r, v, registers: r + v + 1 <= registers))
mistake("nb15.tile", "does-not-fit")(lambda registers: (6, 2))  # what this machine takes
mistake("nb15.tile", "does-not-fit")(lambda registers: chosen(loads)(registers)[::-1])
mistake("nb15.tile", "no-tile")(lambda registers: chosen(loads)(registers)[0])
mistake("nb15.tile", "no-tile")(lambda registers: list(chosen(loads)(registers)))
mistake("nb15.tile", "no-tile")(lambda registers: (*chosen(loads)(registers), registers))


def blocked(traffic, arrays=12, divides=True, choose=max, also=lambda t: True):
    """Answers to nb15.blocks that count another traffic, or choose another block."""

    def blocks(n, cache):
        t = choose(
            [
                t
                for t in range(1, n + 1)
                if (not divides or n % t == 0) and arrays * t * t <= cache and also(t)
            ],
            default=1,
        )
        return t, traffic(n, t)

    return blocks


def right_traffic(n, t):
    return 2 * t * t * (n // t) ** 3 + n * n


mistake("nb15.blocks", "another-block")(blocked(right_traffic, arrays=8))  # two blocks
mistake("nb15.blocks", "another-block")(blocked(right_traffic, arrays=24))  # f64
mistake("nb15.blocks", "another-block")(blocked(right_traffic, choose=min))
mistake("nb15.blocks", "another-block")(blocked(right_traffic, divides=False))
mistake("nb15.blocks", "another-block")(
    blocked(right_traffic, also=lambda t: t & (t - 1) == 0)
)  # powers of two
mistake("nb15.blocks", "other-traffic")(
    blocked(lambda n, t: t * t * (n // t) ** 3 + n * n)
)  # a alone
mistake("nb15.blocks", "other-traffic")(blocked(lambda n, t: 2 * t * t * (n // t) ** 2 + n * n))
mistake("nb15.blocks", "other-traffic")(blocked(lambda n, t: 2 * n**3 + n * n))  # without blocks
mistake("nb15.blocks", "other-traffic")(
    blocked(lambda n, t: 3 * n * n)
)  # as if each were read once
mistake("nb15.blocks", "other-traffic")(
    blocked(lambda n, t: 2 * t * t * (n // t) ** 3 + 2 * n * n)
)  # the result is read, too
mistake("nb15.blocks", "other-traffic")(
    blocked(lambda n, t: 2 * (n // t) ** 3 + n * n)
)  # blocks, not elements
mistake("nb15.blocks", "other-traffic")(blocked(lambda n, t: str(right_traffic(n, t))))
mistake("nb15.blocks", "no-pair")(lambda n, cache: [*blocked(right_traffic)(n, cache)])


@variant("nb15.tile")
def _(registers):  # numpy's integers
    return tuple(np.array(pairs(registers, lambda r, v: r * v + v + 1 <= registers)))
