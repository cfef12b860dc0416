"""Wrong answers to the exercises of notebook 08."""

from __future__ import annotations

from tests.explorer.course.mistakes import mistake, solution, variant

live_ranges = solution("nb08.liveness", "live_ranges")


def changed_ranges(change):
    def ranges(computation):
        return change(computation, live_ranges(computation))

    return ranges


mistake("nb08.liveness", "result-freed")(
    changed_ranges(
        lambda c, r: {
            i: (a, max([a] + [c.post_order().index(u) for u in i.users])) for i, (a, _) in r.items()
        }
    )
)
mistake("nb08.liveness", "wrong-range", 4)(
    changed_ranges(
        lambda c, r: {
            i: (a, b if b == len(c.post_order()) - 1 else b - 1) for i, (a, b) in r.items()
        }
    )
)
mistake("nb08.liveness", "too-many", 2)(
    changed_ranges(lambda c, r: {**dict.fromkeys(c.parameters(), (0, 0)), **r})
)


@mistake("nb08.assign", "too-large")
def _(ranges):  # one after the other
    return [sum([size for size, _, _ in ranges[:k]]) for k in range(len(ranges))]


mistake("nb08.assign", "overlap")(lambda ranges: [0] * len(ranges))


def first_fit(ranges, order, meets):
    offsets, placed = [0] * len(ranges), []
    for k in order(ranges):
        at = 0
        for low, high in sorted(
            [(offsets[j], offsets[j] + ranges[j][0]) for j in placed if meets(ranges[j], ranges[k])]
        ):
            if low - at >= ranges[k][0]:
                break
            at = max(at, high)
        offsets[k] = at
        placed.append(k)
    return offsets


def decreasing(ranges):
    return sorted(range(len(ranges)), key=lambda k: (-ranges[k][0], ranges[k][1]))


mistake("nb08.assign", "overlap")(
    lambda r: first_fit(r, decreasing, lambda a, b: a[1] < b[2] and b[1] < a[2])
)
mistake("nb08.assign", "too-large")(
    lambda r: first_fit(
        r,
        lambda s: sorted(range(len(s)), key=lambda k: s[k][0]),
        lambda a, b: a[1] <= b[2] and b[1] <= a[2],
    )
)
mistake("nb08.assign", "not-aligned")(
    lambda r: [o + 1 for o in first_fit(r, decreasing, lambda a, b: a[1] <= b[2] and b[1] <= a[2])]
)


mistake("nb08.liveness", "too-many")(
    changed_ranges(lambda c, r: {**r, **{i: (0, len(c.post_order()) - 1) for i in c.parameters()}})
)
mistake("nb08.liveness", "result-freed")(
    changed_ranges(lambda c, r: {i: (a + 1, b) for i, (a, b) in r.items()})
)
mistake("nb08.liveness", "wrong-range")(
    changed_ranges(lambda c, r: {i: (a, len(c.post_order()) - 1) for i, (a, _) in r.items()})
)  # never freed
mistake("nb08.liveness", "result-freed")(
    changed_ranges(lambda c, r: {i: (a + 1, b + 1) for i, (a, b) in r.items()})
)  # counted from 1
mistake("nb08.liveness", "result-freed")(
    changed_ranges(lambda c, r: {i: (a, b + 1 if i is c.root else b) for i, (a, b) in r.items()})
)
mistake("nb08.liveness", "wrong-range")(
    changed_ranges(lambda c, r: {i: (a, b) for i, (a, b) in r.items() if i.users or i is c.root})
)  # without the unread
mistake("nb08.liveness", "result-freed", 2)(
    changed_ranges(lambda c, r: {i: (a, b) for i, (a, b) in r.items() if i is not c.root})
)
mistake("nb08.liveness", "another-form")(
    changed_ranges(lambda c, r: {i.name: place for i, place in r.items()})
)
mistake("nb08.liveness", "another-form")(
    changed_ranges(lambda c, r: {i: b - a for i, (a, b) in r.items()})
)  # how long, not when
mistake("nb08.liveness", "wrong-range")(  # the first reader, not the last
    changed_ranges(
        lambda c, r: {
            i: (
                a,
                min([c.post_order().index(u) for u in i.users])
                if i.users and b < len(c.post_order()) - 1
                else b,
            )
            for i, (a, b) in r.items()
        }
    )
)


@mistake("nb08.liveness", "wrong-range", 3)
def _(c):  # the operands of a tuple are results, the tuple owns nothing
    order = list(c.post_order())
    owns = [i for i in order if i.opcode.name not in ("parameter", "constant", "tuple")]
    return {
        i: (
            order.index(i),
            len(order) - 1
            if i is c.root
            else max([order.index(i), *[order.index(u) for u in i.users if u is not c.root]]),
        )
        for i in owns
    }


@mistake("nb08.liveness", "module-changed")
def _(c):  # cleans up before it looks
    for i in reversed(list(c.post_order())):
        if not i.users and i is not c.root and i.opcode.name != "parameter":
            c.remove(i)
    return live_ranges(c)


variant("nb08.liveness")(
    changed_ranges(lambda c, r: dict(reversed([(i, list(place)) for i, place in r.items()])))
)


def meets(a, b):
    return a[1] <= b[2] and b[1] <= a[2]


mistake("nb08.assign", "no-offsets")(lambda r: first_fit(r, decreasing, meets)[:-1])
mistake("nb08.assign", "no-offsets")(lambda r: [float(o) for o in first_fit(r, decreasing, meets)])
mistake("nb08.assign", "no-offsets")(lambda r: [o - 64 for o in first_fit(r, decreasing, meets)])
mistake("nb08.assign", "no-offsets")(
    lambda r: [
        (o, o + size) for o, (size, _, _) in zip(first_fit(r, decreasing, meets), r, strict=True)
    ]
)
mistake("nb08.assign", "another-form")(lambda r: None)
mistake("nb08.assign", "raised-ValueError")(
    lambda r: [0] if max(size for size, _, _ in r) == 0 else first_fit(r, decreasing, meets)
)  # no ranges at all
mistake("nb08.assign", "raised-IndexError")(lambda r: [r[0][0] * k for k in range(len(r[0]))])
mistake("nb08.assign", "overlap")(
    lambda r: sorted(first_fit(r, decreasing, meets))
)  # in another order than the list's
mistake("nb08.assign", "overlap")(
    lambda r: [first_fit(r, decreasing, meets)[k] for k in decreasing(r)]
)  # in the order of placing
mistake("nb08.assign", "overlap")(
    lambda r: first_fit(r, decreasing, lambda a, b: b[1] <= a[1] <= b[2])
)  # who begins while the other lives
mistake("nb08.assign", "too-large")(
    lambda r: first_fit(r, lambda s: range(len(s)), meets)
)  # as they come
mistake("nb08.assign", "too-large")(
    lambda r: first_fit(r, decreasing, lambda a, b: True)
)  # as if all lived together
mistake("nb08.assign", "not-aligned")(lambda r: [o // 2 for o in first_fit(r, decreasing, meets)])


@mistake("nb08.assign", "too-large")
def _(ranges):  # gaps are looked for below the first neighbour only
    offsets, placed = [0] * len(ranges), []
    for k in decreasing(ranges):
        near = sorted([offsets[j] for j in placed if meets(ranges[j], ranges[k])])
        offsets[k] = (
            0
            if near and near[0] > 0
            else max(
                [offsets[j] + ranges[j][0] for j in placed if meets(ranges[j], ranges[k])],
                default=0,
            )
        )
        placed.append(k)
    return offsets


@mistake("nb08.assign", "too-slow")
def _(ranges):  # raises the offset while there is a collision, with itself too
    offsets = [0] * len(ranges)
    for k in range(len(ranges)):
        while any(meets(ranges[j], ranges[k]) and offsets[j] == offsets[k] for j in range(k + 1)):
            offsets[k] += 64
    return offsets


@variant("nb08.assign")
def _(ranges):  # every multiple of 64 is tried, and numpy's integers
    import numpy as np

    offsets, placed = np.zeros(len(ranges), np.int64), []
    for k in decreasing(ranges):
        near = [j for j in placed if meets(ranges[j], ranges[k])]
        while any(
            offsets[k] < offsets[j] + ranges[j][0] and offsets[j] < offsets[k] + ranges[k][0]
            for j in near
        ):
            offsets[k] += 64
        placed.append(k)
    return tuple(offsets)
