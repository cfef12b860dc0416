"""Wrong answers to the exercises of notebook 01."""

from __future__ import annotations

import math

from tests.explorer.course.mistakes import mistake, solution, variant

RIGHT_QUIZ = solution("nb01.quiz", "answers")
mistake("nb01.quiz", "no-number")({k: v for k, v in RIGHT_QUIZ.items() if k != "rank of f32[]"})
mistake("nb01.quiz", "no-number")({**RIGHT_QUIZ, "rank of f32[]": "0"})
mistake("nb01.quiz", "no-number")({**RIGHT_QUIZ, "rank of f32[]": None})
mistake("nb01.quiz", "wrong-number")({**RIGHT_QUIZ, "bytes of bf16[10,3]": 120})
mistake("nb01.quiz", "wrong-number")({**RIGHT_QUIZ, "fastest dimension of f32[2,3,5]{0,2,1}": 1})


@mistake("nb01.strides", "wrong-strides", 1)
def _(dimensions, order, size):  # ignores the layout
    out, step = [], size
    for d in reversed(dimensions):
        out.insert(0, step)
        step *= d
    return tuple(out)


@mistake("nb01.strides", "wrong-strides", 1)
def _(dimensions, order, size):  # in the order of the layout
    out, step = [], size
    for d in order:
        out.append(step)
        step *= dimensions[d]
    return tuple(out)


@mistake("nb01.leaves", "wrong-leaves", 1)
def _(shape):  # one level only
    return (
        [((k,), part) for k, part in enumerate(shape.tuple_shapes)]
        if shape.is_tuple
        else [((), shape)]
    )


@mistake("nb01.leaves", "wrong-leaves", 1)
def _(shape):  # paths of the last number only
    def walk(s, path):
        return (
            [leaf for k, part in enumerate(s.tuple_shapes) for leaf in walk(part, (k,))]
            if s.is_tuple
            else [(path, s)]
        )

    return walk(shape, ())


mistake("nb01.quiz", "wrong-number")({**RIGHT_QUIZ, "elements of f32[8,256,64]": 8 + 256 + 64})
mistake("nb01.quiz", "wrong-number")({**RIGHT_QUIZ, "rank of f32[]": 1})
mistake("nb01.quiz", "wrong-number")(
    {**RIGHT_QUIZ, "bytes between [0,0] and [1,0] in f32[4,6]{1,0}": 6}
)  # elements
mistake("nb01.quiz", "wrong-number")(
    {**RIGHT_QUIZ, "bytes between [0,0] and [1,0] in f32[4,6]{0,1}": 24}
)  # as if the layout did not count
mistake("nb01.quiz", "wrong-number")(
    {**RIGHT_QUIZ, "arrays in ((f32[2], s32[]), pred[3])": 2}
)  # the outer tuple's elements
mistake("nb01.quiz", "wrong-number")(
    {**RIGHT_QUIZ, "arrays in ((f32[2], s32[]), pred[3])": math.nan}
)
mistake("nb01.quiz", "no-number")({**RIGHT_QUIZ, "rank of f32[]": False})
mistake("nb01.quiz", "another-form")(list(RIGHT_QUIZ.values()))


def steps(dimensions, order, size):
    found, step = [0] * len(dimensions), size
    for d in order:
        found[d] = step
        step *= dimensions[d]
    return tuple(found)


mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: list(steps(dimensions, order, size))
)
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: steps(dimensions, order, 1)
)  # elements
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: steps(dimensions, order[::-1], size)
)  # major to minor
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: steps(dimensions, order, size)[::-1]
)
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: steps([d + 1 for d in dimensions], order, size)
)
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: steps([max(d, 1) for d in dimensions], order, size)
)
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: tuple([s / 1 for s in steps(dimensions, order, size)])
)  # fractions
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: (
        tuple([s * dimensions[-1] for s in steps(dimensions, order, size)]) or (size,)
    )
)
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: {(4, 6): (4, 16)}.get(dimensions, (size,))
)  # the text's example
mistake("nb01.strides", "wrong-strides", 1)(
    lambda dimensions, order, size: print(steps(dimensions, order, size))
)
mistake("nb01.strides", "raised-IndexError")(
    lambda dimensions, order, size: (
        (size, size * dimensions[0]) if order[0] == 0 else (size * dimensions[1], size)
    )
)
mistake("nb01.strides", "another-form")(lambda dimensions, order: steps(dimensions, order, 4))


@mistake("nb01.strides", "too-slow")
def _(dimensions, order, size):  # the counter stands still
    found, k = [0] * len(dimensions), 0
    while k < len(order):
        found[order[k]] = size
    return tuple(found)


@variant("nb01.strides")
def _(dimensions, order, size):  # by the definition
    return tuple(
        [
            size * math.prod([dimensions[d] for d in order[: order.index(k)]])
            for k in range(len(dimensions))
        ]
    )


def walk(shape, path=(), first=0):
    return (
        [
            leaf
            for k, part in enumerate(shape.tuple_shapes, first)
            for leaf in walk(part, (*path, k), first)
        ]
        if shape.is_tuple
        else [(path, shape)]
    )


mistake("nb01.leaves", "wrong-leaves", 1)(lambda shape: walk(shape, (), 1))  # counted from 1
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: [(path[::-1], leaf) for path, leaf in walk(shape)]
)
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: [(list(path), leaf) for path, leaf in walk(shape)]
)
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: [(leaf, path) for path, leaf in walk(shape)]
)
mistake("nb01.leaves", "wrong-leaves", 1)(lambda shape: [leaf for _, leaf in walk(shape)])
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: [(path, str(leaf)) for path, leaf in walk(shape)]
)
mistake("nb01.leaves", "wrong-leaves", 1)(lambda shape: dict(walk(shape)))
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: sorted(walk(shape), key=lambda found: len(found[0]))
)  # breadth first
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: walk(shape) or [((), shape)]
)  # an empty tuple taken for an array
mistake("nb01.leaves", "another-form")(lambda shape: walk(shape) if shape.is_array else None)
mistake("nb01.leaves", "raised-RecursionError")(
    lambda shape, again=lambda f, s: f(f, s): again(again, shape)
)


@mistake("nb01.leaves", "wrong-leaves", 1)
def _(shape, found=[]):  # noqa: B006  # the list is one for all calls
    found += walk(shape)
    return found


@mistake("nb01.leaves", "wrong-leaves", 1)
def _(shape):  # two levels
    if not shape.is_tuple:
        return [((), shape)]
    return [
        ((k, n), inner) if part.is_tuple else ((k,), part)
        for k, part in enumerate(shape.tuple_shapes)
        for n, inner in enumerate(part.tuple_shapes if part.is_tuple else [part])
    ]


@variant("nb01.leaves")
def _(shape):  # a generator with a stack
    stack = [((), shape)]
    while stack:
        path, part = stack.pop()
        if part.is_tuple:
            stack += [((*path, k), one) for k, one in reversed(list(enumerate(part.tuple_shapes)))]
        else:
            yield path, part


mistake("nb01.leaves", "another-form")(lambda shape: len(walk(shape)))  # how many
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: walk(shape)[::-1]
)  # a stack without `reversed`
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: [((0, *path), leaf) for path, leaf in walk(shape)]
)  # the shape itself is counted
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: [(path[:-1], leaf) for path, leaf in walk(shape)]
)  # the path of the tuple it is in
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: [(number, leaf) for number, (_, leaf) in enumerate(walk(shape))]
)
mistake("nb01.leaves", "wrong-leaves", 1)(
    lambda shape: list(dict.fromkeys(walk(shape)[:2]))
)  # pairs
