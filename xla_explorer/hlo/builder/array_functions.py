"""numpy's split, stack, cumsum, take and einsum on values, and updates `x.at[i].set(v)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.builder.axes import one_axis
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.builder.indexing import take_attributes

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.value import HloValue


def split(value: HloValue, parts: int | Sequence[int], axis: int = 0) -> list[HloValue]:
    """Return the parts of a value along an axis: a number of equal ones, or borders."""
    d = one_axis("split", value.shape, axis)
    size = value.shape.dimensions[d]
    if isinstance(parts, int | np.integer):
        if parts < 1 or size % int(parts):
            raise HloBuilderError(
                f"split: {value.shape.text_without_layout} has {size} elements along axis {d}, "
                f"not a multiple of {parts}",
                "name the borders instead: np.split(x, [2, 5])",
            )
        borders = [size // int(parts) * k for k in range(1, int(parts))]
    else:
        borders = [min(int(border), size) for border in parts]
    ends = zip([0, *borders], [*borders, size], strict=True)
    before = (slice(None),) * d
    return [value[(*before, slice(start, max(start, end)))] for start, end in ends]


def stack(values: Sequence[Any], axis: int = 0) -> HloValue:
    """Return values of one shape one beside the other along a new axis."""
    first: HloValue = next(value for value in values if hasattr(value, "builder"))
    parts = [first.builder.value(value, first.dtype) for value in values]
    shapes = {part.shape.dimensions for part in parts}
    if len(shapes) > 1:
        words = " and ".join([part.shape.text_without_layout for part in parts[:4]])
        raise HloBuilderError(f"stack: the shapes {words} differ", "give all one shape")
    wide = parts[0].reshape([1, *parts[0].shape.dimensions])
    d = one_axis("stack", wide.shape, axis)
    sizes = list(parts[0].shape.dimensions)
    sizes.insert(d, 1)
    return first.builder.concatenate([part.reshape(sizes) for part in parts], dimensions=d)


def cumsum(value: HloValue, axis: int | None = None) -> HloValue:
    """Return running sums along an axis; None: of all elements in row-major order."""
    if axis is None:
        return cumsum(value.ravel(), 0)
    d = one_axis("cumsum", value.shape, axis)
    sizes = [1] * value.ndim
    low = [0] * value.ndim
    sizes[d], low[d] = value.shape.dimensions[d], max(value.shape.dimensions[d] - 1, 0)
    window = {"size": tuple(sizes), "pad": tuple([(n, 0) for n in low])}
    zero = value.builder.constant(0, value.dtype)
    return value.builder.reduce_window(value, zero, window=window, to_apply=lambda a, b: a + b)


def take(value: HloValue, indices: Any, axis: int | None = None) -> HloValue:
    """Return the elements at indices along an axis; indices out of range are clamped."""
    if axis is None:
        return take(value.ravel(), indices, 0)
    d = one_axis("take", value.shape, axis)
    places = indices if hasattr(indices, "builder") else value.builder.value(np.asarray(indices))
    return value.builder.gather(value, places, **take_attributes(value.shape, d, places.ndim))


def einsum(formula: str, *values: Any) -> HloValue:
    """Return the sum of products that a formula such as `ij,jk->ik` names, for one or two values.

    A letter is written once in an operand; without an arrow the result has the letters that occur
    once, in alphabetic order.
    """
    inputs, _, output = formula.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if "->" not in formula:
        output = "".join(sorted(c for c in set(inputs) if inputs.count(c) == 1 and c != ","))
    first: HloValue = next(value for value in values if hasattr(value, "builder"))
    operands = [first.builder.value(value, first.dtype) for value in values]
    _check_formula(formula, terms, output, operands)
    summed = [
        _sum_of(operand, term, set(output).union(*(t for t in terms if t is not term)))
        for operand, term in zip(operands, terms, strict=True)
    ]
    if len(summed) == 1:
        ((value, term),) = summed
        return value.transpose([term.index(c) for c in output]) if output else value
    (left, a), (right, b) = summed
    batch = [c for c in a if c in b and c in output]
    contracted = [c for c in a if c in b and c not in output]
    product = first.builder.dot(
        left,
        right,
        lhs_batch_dims=[a.index(c) for c in batch],
        rhs_batch_dims=[b.index(c) for c in batch],
        lhs_contracting_dims=[a.index(c) for c in contracted],
        rhs_contracting_dims=[b.index(c) for c in contracted],
    )
    order = [*batch, *[c for c in a if c not in b], *[c for c in b if c not in a]]
    wanted = [order.index(c) for c in output]
    return product if wanted == sorted(wanted) else product.transpose(wanted)


def _check_formula(
    formula: str, terms: Sequence[str], output: str, operands: Sequence[HloValue]
) -> None:
    """Raise HloBuilderError for a formula that does not fit the operands."""
    if len(terms) != len(operands) or len(terms) > 2:
        raise HloBuilderError(
            f"einsum: {formula!r} names {len(terms)} operands, {len(operands)} are given",
            "einsum takes one or two; multiply further ones one by one",
        )
    sizes: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=True):
        if len(term) != operand.ndim or len(set(term)) != len(term) or not term.isalpha():
            raise HloBuilderError(
                f"einsum: {term!r} of {formula!r} does not name the dimensions of "
                f"{operand.shape.text_without_layout}",
                "one letter for each dimension, each once",
            )
        for letter, size in zip(term, operand.shape.dimensions, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise HloBuilderError(
                    f"einsum: {letter!r} of {formula!r} is {sizes[letter]} and {size}",
                    "dimensions of one letter have one size",
                )
    if len(set(output)) != len(output) or not set(output) <= set(sizes):
        raise HloBuilderError(
            f"einsum: the result {output!r} of {formula!r} has a letter twice, or one of no operand",
            "name each dimension of the result once",
        )


def _sum_of(value: HloValue, term: str, kept: set[str]) -> tuple[HloValue, str]:
    """Return a value without the dimensions that only it has, and its letters."""
    axes = [k for k, letter in enumerate(term) if letter not in kept]
    return (value.sum(axes) if axes else value), "".join([c for c in term if c in kept])


class At:
    """The place of `x.at[i]`: one index of the first dimension, a scalar or an array."""

    def __init__(self, value: HloValue, index: Any = None) -> None:
        self._value, self._index = value, index

    def __getitem__(self, index: Any) -> At:
        """Return the place of an index."""
        if isinstance(index, tuple | slice):
            raise HloBuilderError(
                "at: x.at[i] takes one index or an array of indices of the first dimension",
                "use b.dynamic_update_slice or b.scatter for others",
            )
        return At(self._value, index)

    def set(self, update: Any) -> HloValue:
        """Return the value with other elements there; an index out of range is left out."""
        return self._scattered(update, lambda old, new: new)

    def add(self, update: Any) -> HloValue:
        """Return the value with sums there; an index out of range is left out."""
        return self._scattered(update, lambda old, new: old + new)

    def _scattered(self, update: Any, combine: Any) -> HloValue:
        value, builder = self._value, self._value.builder
        index = self._index
        places = index if hasattr(index, "builder") else builder.value(np.asarray(index, np.int32))
        rest = value.shape.dimensions[1:]
        updates = builder.broadcast_to(
            builder.value(update, value.dtype), [*places.shape.dimensions, *rest]
        )
        return builder.scatter(
            value,
            places,
            updates,
            update_window_dims=tuple(range(places.ndim, places.ndim + len(rest))),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            index_vector_dim=places.ndim,
            to_apply=combine,
        )
