"""Windowed reductions: `reduce-window` and `select-and-scatter`.

Both loop over the few positions inside a window and treat all windows at once: position p of all
windows is one strided slice of the operand. A position on padding or between dilated elements is
skipped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xla_explorer.hlo.attributes import Window, WindowDimension
from xla_explorer.hlo.evaluator.combiner import (
    Combiner,
    accumulation_dtype,
    combine_pair,
    combiner_of,
)
from xla_explorer.hlo.evaluator.conversion import WIDER, narrow, type_of, widen
from xla_explorer.hlo.evaluator.indexing import scatter_elements
from xla_explorer.hlo.evaluator.reduction import as_list
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.primitive_type import primitive_type_of

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


TRIVIAL_WINDOW = WindowDimension(1)


class WindowPosition(NamedTuple):
    """One position inside the window, the windows with an element there, and these elements."""

    kernel: tuple[int, ...]
    windows: tuple[slice, ...]
    elements: tuple[slice, ...]


def window_positions(
    window: Window, base: Sequence[int], output: Sequence[int]
) -> Iterator[WindowPosition]:
    """Yield the positions in row-major order; a position without elements is skipped."""
    per_dimension = [
        [found for k in range(d.size) if (found := _along(d, k, n, m)) is not None]
        for d, n, m in zip(window.dimensions, base, output, strict=True)
    ]
    for choice in itertools.product(*per_dimension):
        yield WindowPosition(
            tuple([c[0] for c in choice]),
            tuple([c[1] for c in choice]),
            tuple([c[2] for c in choice]),
        )


def _along(d: WindowDimension, k: int, base: int, output: int) -> tuple[int, slice, slice] | None:
    """Return k, and the windows and elements that meet at window position k along one dimension.

    Window o and an element meet if o * stride + k * window_dilation - low = element *
    base_dilation.
    """
    stride, base_dilation = d.stride, d.base_dilation
    shift = (d.size - 1 - k if d.window_reversal else k) * d.window_dilation - d.padding_low
    earliest = max(0, -(shift // stride))
    candidates = range(earliest, min(output, earliest + base_dilation))
    first = next((o for o in candidates if (o * stride + shift) % base_dilation == 0), None)
    if first is None:
        return None
    period = base_dilation // math.gcd(stride, base_dilation)
    element = (first * stride + shift) // base_dilation
    element_step = period * stride // base_dilation
    if element >= base:
        return None
    count = min((output - 1 - first) // period, (base - 1 - element) // element_step) + 1
    return (
        k,
        slice(first, first + (count - 1) * period + 1, period),
        slice(element, element + (count - 1) * element_step + 1, element_step),
    )


@evaluates("reduce-window")
def reduce_window(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Reduce each window: the initial value once, then the elements, without padding."""
    count = len(operands) // 2
    arrays, initial = operands[:count], operands[count:]
    window = i.attributes.value("window")
    output = tuple(
        [d.output_size(n) for d, n in zip(window.dimensions, arrays[0].shape, strict=True)]
    )
    combiner = combiner_of(i.called[0]) if count == 1 else None
    if combiner is not None:
        result = _reduce_window_known(combiner, arrays[0], initial[0], window, output)
        return (result,) if i.shape.is_tuple else result
    accumulators = [np.broadcast_to(v, output).copy() for v in initial]
    for position in window_positions(window, arrays[0].shape, output):
        values = as_list(
            evaluator.evaluate_elementwise(
                i.called[0],
                [
                    *[a[position.windows] for a in accumulators],
                    *[x[position.elements] for x in arrays],
                ],
            )
        )
        for accumulator, value in zip(accumulators, values, strict=True):
            accumulator[position.windows] = value
    return tuple(accumulators) if i.shape.is_tuple else accumulators[0]


# Windows of at most this size, of a type narrower than f32, round at every step in row-major order,
# as in XLA. Emulating the rounding of larger windows would be too slow.
_STEPWISE = 1024
# Windows of at most this size are summed element by element in row-major order, like a loop ...
_SMALL = 36
# ... and of at most this size in the element type itself (f32 for types without numpy arithmetic),
# since few rounding errors accumulate.
_SHORT = 8
# Along one dimension, wider windows are composed of windows of 1, 2, 4 ... elements.
_NARROW = 16


def _reduce_window_known(
    combiner: Combiner, x: Array, initial: Array, window: Window, output: tuple[int, ...]
) -> Array:
    """Reduce small windows position by position, larger ones one dimension after the other.

    The combiners are associative and commutative; padding is the identity.
    """
    dtype = x.dtype
    native = widen(x) if dtype in WIDER else x
    wide = accumulation_dtype(dtype, combiner.name)
    values = native.astype(wide, copy=False)
    size = math.prod([d.size for d in window.dimensions])
    if (
        size <= _STEPWISE
        and type_of(dtype).is_float
        and dtype.itemsize < 4
        and combiner.name in ("add", "multiply")
    ):
        total = np.full(output, initial, dtype)
        for position in window_positions(window, x.shape, output):
            total[position.windows] = combine_pair(
                combiner, total[position.windows], x[position.elements]
            )
        return total
    if size <= _SHORT and native.dtype.kind in "fc" and native.dtype.itemsize >= 4:
        wide, values = native.dtype, native
    # A maximum or minimum starts from the initial value: the wide type's extreme is not in a narrow
    # type.
    extreme = combiner.name in ("maximum", "minimum")
    identity = (
        widen(initial).astype(wide)[()]
        if extreme
        else wide.type(identity_element(combiner.name, primitive_type_of(wide)))
    )
    if size <= _SMALL:
        source, values = values, np.full(output, identity, wide)
        for position in window_positions(window, x.shape, output):
            values[position.windows] = combiner.ufunc(
                values[position.windows], source[position.elements]
            )
    else:
        for axis, (d, count) in enumerate(zip(window.dimensions, output, strict=True)):
            if d != TRIVIAL_WINDOW:
                line = np.moveaxis(values, axis, 0)
                values = np.moveaxis(
                    _reduce_along(combiner.ufunc, line, d, count, identity), 0, axis
                )
    if extreme:
        return combine_pair(combiner, narrow(values, dtype), np.asarray(initial))
    return np.asarray(
        narrow(np.asarray(combiner.ufunc(values, widen(initial).astype(wide))), dtype)
    )


def _reduce_along(
    ufunc: np.ufunc, x: Array, d: WindowDimension, count: int, identity: object
) -> Array:
    """Reduce windows along dimension 0."""
    spread = (x.shape[0] - 1) * d.base_dilation + 1 if x.shape[0] else 0
    length = max(0, d.padding_low + spread + d.padding_high)
    span = (d.size - 1) * d.window_dilation + 1
    padded = np.full((max(length, span, 1), *x.shape[1:]), identity, x.dtype)
    first = max(0, -(d.padding_low // d.base_dilation))
    begin = d.padding_low + first * d.base_dilation
    room = len(range(begin, length, d.base_dilation))
    kept = x[first : first + room]
    padded[begin : begin + len(kept) * d.base_dilation : d.base_dilation] = kept
    if not count:
        return padded[:0]
    step = d.window_dilation
    starts = (count - 1) * d.stride + 1
    if d.size <= _NARROW:
        total = padded[: starts : d.stride].copy()
        for k in range(1, d.size):
            ufunc(total, padded[k * step : k * step + starts : d.stride], out=total)
        return total
    # block[j] covers `width` elements from j on; the bits of the size select the blocks of a
    # window.
    block, width, offset = padded, 1, 0
    total = np.full((starts, *x.shape[1:]), identity, x.dtype)
    while True:
        if d.size & width:
            ufunc(total, block[offset * step : offset * step + starts], out=total)
            offset += width
        if offset == d.size:
            return total[:: d.stride]
        block = ufunc(block[: len(block) - width * step], block[width * step :])
        width *= 2


@evaluates("select-and-scatter")
def select_and_scatter(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Select one element of each window and scatter the source values there.

    The selected element is the first one that `select` keeps.
    """
    x, source, initial = operands
    window = i.attributes.value("window")
    output = source.shape
    numbers = np.arange(x.size).reshape(x.shape)
    best = np.zeros(output, x.dtype)
    chosen = np.full(output, -1)
    for position in window_positions(window, x.shape, output):
        held, candidates, at = (
            best[position.windows],
            x[position.elements],
            chosen[position.windows],
        )
        keep = np.asarray(evaluator.evaluate_elementwise(i.called[0], [held, candidates]))
        take = ~keep | (at < 0)
        best[position.windows] = np.where(take, candidates, held)
        chosen[position.windows] = np.where(take, numbers[position.elements], at)
    result = np.full(x.shape, initial, x.dtype)
    selected = chosen.reshape(-1)
    valid = selected >= 0
    flat = scatter_elements(
        [result.reshape(-1)], selected[valid], [source.reshape(-1)[valid]], i.called[1], evaluator
    )[0]
    return flat.reshape(x.shape)
