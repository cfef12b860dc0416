"""Wrong answers to the exercises of notebook 15."""

from __future__ import annotations

import math

from tests.explorer.course.mistakes import mistake


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
    found = [(r, v) for r in range(1, registers) for v in range(1, registers) if r * v + v + 1 <= registers]
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
    return plain.split("j", lanes * vectors).split("ji", lanes).vectorize("jii").unroll("jio").split("i", rows)


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # one vector
    return plain.split("j", lanes).vectorize("ji").split("i", rows).unroll("ii")


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # rows and vectors exchanged
    return plain.split("j", lanes * rows).split("ji", lanes).vectorize("jii").unroll("jio").split("i", vectors).unroll("ii")


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # nothing
    return plain


@mistake("nb15.schedule", "another-tile")
def _(plain, lanes, rows, vectors):  # sixteen lanes, whatever was asked for
    return plain.split("j", 16 * vectors).split("ji", 16).vectorize("jii").unroll("jio").split("i", rows).unroll("ii")


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
mistake("nb15.schedule", "raised-ScheduleError")(tiled(vector="jio", unrolled="jii"))  # the vector in the middle
mistake("nb15.schedule", "another-tile")(tiled(rows="io"))  # the outer part
mistake("nb15.schedule", "another-tile")(tiled(unrolled="jo"))
mistake("nb15.schedule", "raised-ScheduleError")(tiled(unrolled="ji"))  # it was split
mistake("nb15.schedule", "raised-ScheduleError")(tiled(unrolled="jio jio"))
mistake("nb15.schedule", "another-tile")(lambda plain, lanes, rows, vectors: tiled()(plain, lanes, vectors, rows))
mistake("nb15.schedule", "another-tile")(lambda plain, lanes, rows, vectors: tiled()(plain, vectors, rows, lanes))
mistake("nb15.schedule", "another-tile")(lambda plain, lanes, rows, vectors: tiled()(plain, 8, 6, 2))  # the first case's numbers
mistake("nb15.schedule", "another-tile")(lambda plain, lanes, rows, vectors: tiled()(plain, lanes * vectors, rows, 1))
mistake("nb15.schedule", "no-schedule")(lambda plain, lanes, rows, vectors: None)
mistake("nb15.schedule", "no-schedule")(lambda plain, lanes, rows, vectors: (lanes, rows, vectors))
