"""The layout of ThreeFry's words in an array, shared by evaluator, expander and kernel."""

from __future__ import annotations


def paired_dimension(dimensions: tuple[int, ...]) -> int:
    """Return the dimension along which a counter's two 32-bit words are adjacent.

    It is the first even dimension, else the first of the largest. An odd size is rounded up, and
    its last pair gives one word. `dimensions` must have rank one or more.

    Source: xla/hlo/builder/lib/prng.cc, SplitShapeIntoHalves.
    """
    even = next((d for d, n in enumerate(dimensions) if n % 2 == 0), None)
    return dimensions.index(max(dimensions)) if even is None else even
