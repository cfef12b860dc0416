"""The program that the thread ends with: a block of a transformer."""

from __future__ import annotations

from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape


def transformer_block(
    rows: int = 128, width: int = 256, heads: int = 4, hidden: int = 1024
) -> HloModule:
    """Return a transformer block: multi-head attention, then a layer of two products.

    Each of them has a normalisation before it and a residual sum around it.

    Parameters
    ----------
    rows
        How many tokens.
    width
        Numbers a token; a multiple of `heads`.
    heads
        Into how many parts attention divides them.
    hidden
        Numbers a token between the two products.

    Returns
    -------
    HloModule
        Parameters: x[rows,width], the matrices of query, key, value and output, gain and bias of
        the normalisation, and the two matrices of the layer. Result: f32[rows,width].

    Examples
    --------
    >>> from xla_explorer.course.mini import transformer_block
    >>> transformer_block(4, 8, 2, 16).result_shape()
    f32[4,8]{1,0}
    """
    b = HloBuilder("block", locations=False)
    shapes = {"x": (rows, width), "query": (width, width), "key": (width, width), "value": (width, width), "out": (width, width),
              "gain": (width,), "bias": (width,), "up": (width, hidden), "down": (hidden, width)}  # fmt: skip
    p = {name: b.parameter(array_shape("f32", shape), name) for name, shape in shapes.items()}

    def wide(value: HloValue | float, like: HloValue, dimensions: tuple[int, ...] = ()) -> HloValue:
        return b.broadcast(
            b.constant(value, like.dtype) if isinstance(value, float) else value,
            like.shape.dimensions,
            dimensions,
        )

    def product(x: HloValue, y: HloValue) -> HloValue:
        return b.dot(x, y, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))

    def normal(x: HloValue) -> HloValue:
        mean = x.sum(axis=1) * wide(1 / width, x.sum(axis=1))
        centred = b.subtract(x, wide(mean, x, (0,)))
        squares = b.multiply(centred, centred).sum(axis=1)
        scale = b.rsqrt(b.add(b.multiply(squares, wide(1 / width, squares)), wide(1e-5, squares)))
        return b.add(
            b.multiply(b.multiply(centred, wide(scale, x, (0,))), wide(p["gain"], x, (1,))),
            wide(p["bias"], x, (1,)),
        )

    def parts(x: HloValue) -> HloValue:
        return b.transpose(b.reshape(x, rows, heads, width // heads), dimensions=(1, 0, 2))

    x = p["x"]
    query, key, value = [parts(product(normal(x), p[name])) for name in ("query", "key", "value")]
    scores = b.dot(
        query,
        key,
        lhs_batch_dims=(0,),
        rhs_batch_dims=(0,),
        lhs_contracting_dims=(2,),
        rhs_contracting_dims=(2,),
    )
    scores = b.multiply(scores, wide((width // heads) ** -0.5, scores))
    weights = b.exponential(b.subtract(scores, wide(scores.max(axis=2), scores, (0, 1))))
    weights = b.divide(weights, wide(weights.sum(axis=2), weights, (0, 1)))
    mixed = b.dot(
        weights,
        value,
        lhs_batch_dims=(0,),
        rhs_batch_dims=(0,),
        lhs_contracting_dims=(2,),
        rhs_contracting_dims=(1,),
    )
    y = b.add(
        product(b.reshape(b.transpose(mixed, dimensions=(1, 0, 2)), rows, width), p["out"]), x
    )
    h = product(normal(y), p["up"])
    cube = b.multiply(b.multiply(h, h), b.multiply(h, wide(0.044715, h)))
    h = b.multiply(
        b.multiply(h, wide(0.5, h)),
        b.add(wide(1.0, h), b.tanh(b.multiply(b.add(h, cube), wide(0.7978846, h)))),
    )
    return b.build(b.add(product(h, p["down"]), y))
