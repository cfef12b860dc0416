"""The order of ties in an unstable sort on XLA:CPU: the order of libstdc++'s `std::sort`.

HLO leaves the order of ties open. XLA:CPU calls `std::sort`, whose order follows from the
comparisons alone: quicksort with the median of three down to 16 elements, heapsort beyond a depth
limit, and one final insertion sort. Compared with XLA:CPU's outputs for jaxlib 0.10.2. Source:
libstdc++, bits/stl_algo.h (std::sort) and bits/stl_heap.h.
"""

from __future__ import annotations

from collections.abc import Sequence

_SHORT = 16  # parts of at most this size are left to the insertion sort


def introsort(ranks: Sequence[int]) -> list[int]:
    """Return the permutation that `std::sort` makes of these ranks; equal ranks are ties."""
    order = list(range(len(ranks)))
    _quicksort(order, ranks, 0, len(order), 2 * (len(order).bit_length() - 1))
    for at in range(1, len(order)):
        _insert(order, ranks, at)
    return order


def _insert(order: list[int], ranks: Sequence[int], at: int) -> None:
    element = order[at]
    rank = ranks[element]
    while at and rank < ranks[order[at - 1]]:
        order[at] = order[at - 1]
        at -= 1
    order[at] = element


def _quicksort(order: list[int], ranks: Sequence[int], first: int, last: int, depth: int) -> None:
    """Partition until no part has more than `_SHORT` elements; recurse into the right part."""
    while last - first > _SHORT:
        if depth == 0:
            _heapsort(order, ranks, first, last)
            return
        depth -= 1
        _median_to_front(order, ranks, first, first + (last - first) // 2, last - 1)
        pivot = ranks[order[first]]
        low, high = first + 1, last
        while True:
            while ranks[order[low]] < pivot:
                low += 1
            high -= 1
            while pivot < ranks[order[high]]:
                high -= 1
            if low >= high:
                break
            order[low], order[high] = order[high], order[low]
            low += 1
        _quicksort(order, ranks, low, last, depth)
        last = low


def _median_to_front(
    order: list[int], ranks: Sequence[int], first: int, middle: int, last: int
) -> None:
    """Swap the median of the second, the middle and the last element with the first."""
    a, b, c = (ranks[order[at]] for at in (first + 1, middle, last))
    if a < b:
        chosen = middle if b < c else last if a < c else first + 1
    else:
        chosen = first + 1 if a < c else last if b < c else middle
    order[first], order[chosen] = order[chosen], order[first]


def _heapsort(order: list[int], ranks: Sequence[int], first: int, last: int) -> None:
    length = last - first
    for parent in range((length - 2) // 2, -1, -1):
        _sift(order, ranks, first, parent, length, order[first + parent])
    for end in range(last - 1, first, -1):
        element = order[end]
        order[end] = order[first]
        _sift(order, ranks, first, 0, end - first, element)


def _sift(
    order: list[int], ranks: Sequence[int], first: int, hole: int, length: int, element: int
) -> None:
    """Sift down to a leaf along the larger children, then up to the element's position."""
    top = child = hole
    while child < (length - 1) // 2:
        child = 2 * child + 2
        if ranks[order[first + child]] < ranks[order[first + child - 1]]:
            child -= 1
        order[first + hole] = order[first + child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * child + 1
        order[first + hole] = order[first + child]
        hole = child
    while hole > top and ranks[order[first + (hole - 1) // 2]] < ranks[element]:
        order[first + hole] = order[first + (hole - 1) // 2]
        hole = (hole - 1) // 2
    order[first + hole] = element
