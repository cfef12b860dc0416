"""The text of unfused attention, and the size of the largest array of a module."""

from __future__ import annotations

from xla_explorer.hlo.builder import HloBuilder
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape
from xla_explorer.hlo.text import PrintOptions, module_text


def attention_text(rows: int, keys: int, depth: int) -> str:
    """Return the HLO text of attention with all its scores in memory.

    Parameters
    ----------
    rows, keys, depth : int
        The number of queries, the number of keys and of values, and the length of each vector.

    Returns
    -------
    str
        A program of q[rows,depth], k[keys,depth] and v[keys,depth] to f32[rows,depth].

    Examples
    --------
    >>> from xla_explorer.course.capstone import attention_text
    >>> "f32[4,6]" in attention_text(4, 6, 8)
    True
    """
    b = HloBuilder("attention", locations=False)
    q, k, v = [
        b.parameter(array_shape("f32", (n, depth)), name)
        for n, name in ((rows, "q"), (keys, "k"), (keys, "v"))
    ]
    scores = b.dot(q, k, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))
    scores = b.multiply(
        scores, b.broadcast(b.constant(depth**-0.5, scores.dtype), (rows, keys), ())
    )
    weights = b.exponential(b.subtract(scores, b.broadcast(scores.max(axis=1), (rows, keys), (0,))))
    weights = b.divide(weights, b.broadcast(weights.sum(axis=1), (rows, keys), (0,)))
    return module_text(
        b.build(b.dot(weights, v, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))),
        PrintOptions.short_parsable,
    )


def largest_array(module: HloModule) -> int:
    """Return the number of elements of the largest array that the entry computes.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.course.capstone import attention_text, largest_array
    >>> largest_array(xe.parse_hlo(attention_text(16, 32, 4)))
    512
    """
    made = [
        i
        for i in module.entry.instructions.values()
        if i.opcode.name != "parameter" and i.shape.is_array
    ]
    return max([i.shape.element_count for i in made], default=0)
