"""How the words of ThreeFry lie in an array: facts that the evaluator, the expander and the kernel share."""

from __future__ import annotations


def paired_dimension(dimensions: tuple[int, ...]) -> int:
    """The dimension along which the two 32-bit words of a counter are neighbours: the first even one, else the first of the largest.

    An odd one is rounded up, and its last pair gives one word only. `dimensions` has rank one or more.

    Source: xla/hlo/builder/lib/prng.cc, SplitShapeIntoHalves.
    """
    even = next((d for d, n in enumerate(dimensions) if n % 2 == 0), None)
    return dimensions.index(max(dimensions)) if even is None else even
