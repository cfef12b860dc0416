"""Wrong answers to the exercises of notebook 02."""

from __future__ import annotations

from tests.explorer.course.mistakes import mistake, variant


@mistake("nb02.softmax", "not-finite")
def _(x):
    return x.exp() / x.exp().sum(axis=-1, keepdims=True)


@mistake("nb02.softmax", "wrong-value")
def _(x):  # over everything
    e = (x - x.max()).exp()
    return e / e.sum()


@mistake("nb02.softmax", "not-finite")
def _(x):  # the largest of all rows: another row may be far below it
    e = (x - x.max()).exp()
    return e / e.sum(axis=-1, keepdims=True)


@mistake("nb02.softmax", "over-budget")
def _(x):
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    f = (x - x.max(axis=-1, keepdims=True)).exp()
    return e / f.sum(axis=-1, keepdims=True)


@mistake("nb02.softmax", "no-value")
def _(x):
    return 3


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # cancellation
    m = x.mean(axis=-1, keepdims=True)
    return (x - m) * ((x * x).mean(axis=-1, keepdims=True) - m * m + 1e-5).rsqrt() * g + b


@mistake("nb02.layernorm", "not-finite")
def _(x, g, b):  # no epsilon
    c = x - x.mean(axis=-1, keepdims=True)
    return c / (c * c).mean(axis=-1, keepdims=True).sqrt() * g + b


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # epsilon after the square root
    c = x - x.mean(axis=-1, keepdims=True)
    return c / ((c * c).mean(axis=-1, keepdims=True).sqrt() + 1e-5) * g + b


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # a tenth of the epsilon
    c = x - x.mean(axis=-1, keepdims=True)
    return c * ((c * c).mean(axis=-1, keepdims=True) + 1e-6).rsqrt() * g + b


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # gain after bias
    c = x - x.mean(axis=-1, keepdims=True)
    return (c * ((c * c).mean(axis=-1, keepdims=True) + 1e-5).rsqrt() + b) * g


def scaled(shift, of=lambda x: x, over=-1, keep=True, plus=0.0):
    """Answers to nb02.softmax that forget something."""

    def softmax(x):
        e = of(x - shift(x)).exp()
        return e / (
            e.sum(axis=over, keepdims=keep) + plus if plus else e.sum(axis=over, keepdims=keep)
        )

    return softmax


def top(x, axis=-1):
    return x.max(axis=axis, keepdims=True)


mistake("nb02.softmax", "wrong-value")(scaled(lambda x: top(x, 0), over=0))  # columns
mistake("nb02.softmax", "wrong-shape")(lambda x: scaled(top)(x).sum(axis=-1))
mistake("nb02.softmax", "not-finite")(
    scaled(lambda x: x.mean(axis=-1, keepdims=True))
)  # the mean is not the largest
mistake("nb02.softmax", "not-finite")(scaled(lambda x: x.min(axis=-1, keepdims=True)))
mistake("nb02.softmax", "wrong-value")(
    scaled(lambda x: 0.0, of=lambda x: x.minimum(80.0))
)  # cut off
mistake("nb02.softmax", "wrong-value")(scaled(top, plus=1e-2))
mistake("nb02.softmax", "wrong-value")(lambda x: (x - top(x)).exp())  # not divided
mistake("nb02.softmax", "wrong-value")(scaled(top, of=lambda x: -x))
mistake("nb02.softmax", "wrong-value")(
    lambda x: x - top(x) - (x - top(x)).exp().sum(axis=-1, keepdims=True).log()
)  # its logarithm
mistake("nb02.softmax", "raised-HloBuilderError")(
    scaled(lambda x: top(x, 1), over=1)
)  # rank 2 only
mistake("nb02.softmax", "wrong-value")(scaled(top, keep=False))
mistake("nb02.softmax", "no-value")(lambda x: [scaled(top)(x)])


@variant("nb02.softmax")
def _(x):  # multiplied by the reciprocal
    e = (x - top(x)).exp()
    return e * (1.0 / e.sum(axis=-1, keepdims=True))


def normal(
    centre=-1, spread=-1, epsilon=1e-5, of=lambda c: c * c, end=lambda n, g, b: n * g + b, less=0
):
    """Answers to nb02.layernorm that forget something."""

    def layernorm(x, g, b):
        c = x - x.mean(axis=centre, keepdims=True) if centre is not None else x
        v = of(c).mean(axis=spread, keepdims=True)
        if less:
            v = v * (x.shape.dimensions[-1] / max(x.shape.dimensions[-1] - less, 1))
        return end(c * (v + epsilon).rsqrt(), g, b)

    return layernorm


mistake("nb02.layernorm", "wrong-value")(normal(end=lambda n, g, b: n * g))  # no bias
mistake("nb02.layernorm", "wrong-value")(normal(end=lambda n, g, b: n + b))  # no gain
mistake("nb02.layernorm", "wrong-value")(normal(end=lambda n, g, b: n * b + g))
mistake("nb02.layernorm", "wrong-value")(normal(centre=None))  # not centred: the mean of squares
mistake("nb02.layernorm", "wrong-value")(normal(centre=0, spread=0))
mistake("nb02.layernorm", "wrong-value")(normal(epsilon=1e-3))
mistake("nb02.layernorm", "wrong-value")(normal(of=lambda c: c.abs()))
mistake("nb02.layernorm", "wrong-value")(normal(less=1))  # the sample's variance
mistake("nb02.layernorm", "wrong-value")(
    lambda x, g, b: (x - x.mean(axis=-1, keepdims=True)) * g + b
)  # not divided
mistake("nb02.layernorm", "no-value")(lambda x, g, b: (normal()(x, g, b), g))
mistake("nb02.layernorm", "no-value")(lambda x, g, b: None)
mistake("nb02.layernorm", "another-form")(lambda x: normal()(x, 1, 0))


@mistake("nb02.layernorm", "over-budget")
def _(x, g, b):  # everything once more
    m = x.mean(axis=-1, keepdims=True)
    v = ((x - m) * (x - x.mean(axis=-1, keepdims=True))).mean(axis=-1, keepdims=True)
    return (
        (x - x.mean(axis=-1, keepdims=True)) * (v + 1e-5).rsqrt() * g + b * 1 + 0 * (v + 1e-5) * 0
    )


@variant("nb02.layernorm")
def _(x, g, b):  # divided, not multiplied by the reciprocal
    c = x - x.mean(axis=-1, keepdims=True)
    return c / ((c * c).mean(axis=-1, keepdims=True) + 1e-5).sqrt() * g + b
