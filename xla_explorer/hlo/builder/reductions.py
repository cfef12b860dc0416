"""Reductions of a value along axes, by numpy's names and by any Python function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.builder.axes import axis_numbers, one_axis
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.identity_element import highest_value, lowest_value
from xla_explorer.hlo.primitive_type import PRED, S32, PrimitiveType
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.builder import HloBuilder
    from xla_explorer.hlo.builder.value import HloValue

Axis = int | Sequence[int] | None


class Reductions:
    """The reducing methods of `HloValue`; axis None means all dimensions."""

    __slots__ = ()

    if TYPE_CHECKING:
        builder: HloBuilder

        @property
        def shape(self) -> Shape:
            """Shape of the value."""

        @property
        def dtype(self) -> PrimitiveType:
            """Element type of the value."""

        @property
        def ndim(self) -> int:
            """Number of dimensions."""

    def axes(self, axis: Axis) -> list[int]:
        """Return axis numbers in [0, ndim) from one number, several, or None for all.

        Negative numbers count from the end.
        """
        return axis_numbers("reduce", self.shape, axis)

    def reduce(  # type: ignore[misc]
        self: HloValue,
        function: Callable[[Any, Any], Any],
        init: Any,
        axes: Axis = None,
        *,
        keepdims: bool = False,
    ) -> HloValue:
        """Combine all elements along the axes by a function of two scalars with identity `init`."""
        dimensions = self.axes(axes)
        if not dimensions:
            return self
        initial = (
            self.builder.constant(init, self.dtype) if not hasattr(init, "instruction") else init
        )
        reduced = self.builder.emit(
            "reduce",
            (self, initial),
            {"dimensions": tuple(sorted(dimensions)), "to_apply": function},
        )
        if keepdims:
            return reduced.reshape(
                [1 if d in dimensions else size for d, size in enumerate(self.shape.dimensions)]
            )
        return reduced

    def sum(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Sum along the axes."""
        return self.reduce(_add, 0, axis, keepdims=keepdims)

    def prod(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Multiply along the axes."""
        return self.reduce(_multiply, 1, axis, keepdims=keepdims)

    def max(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return the largest element along the axes; NaN wins."""
        return self.reduce(_maximum, lowest_value(self.dtype), axis, keepdims=keepdims)

    def min(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return the smallest element along the axes; NaN wins."""
        return self.reduce(_minimum, highest_value(self.dtype), axis, keepdims=keepdims)

    def mean(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return the sum divided by the number of elements; floats only."""
        if not (self.dtype.is_float or self.dtype.is_complex):
            raise HloBuilderError(
                f"mean: {self.shape.text_without_layout} is not float",
                "convert it first, for instance with .astype(xe.f32)",
            )
        count = 1
        for d in self.axes(axis):
            count *= self.shape.dimensions[d]
        return self.sum(axis, keepdims) / float(count)

    def var(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return the mean squared distance from the mean."""
        centred = self - self.mean(axis, keepdims=True)
        return (centred * centred).mean(axis, keepdims)

    def std(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return the square root of the variance."""
        return self.var(axis, keepdims).sqrt()

    def all(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return pred: all elements hold."""
        return (self if self.dtype is PRED else self != 0).reduce(
            _and, True, axis, keepdims=keepdims
        )

    def any(self: HloValue, axis: Axis = None, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return pred: at least one element holds."""
        return (self if self.dtype is PRED else self != 0).reduce(
            _or, False, axis, keepdims=keepdims
        )

    def argmax(self: HloValue, axis: int | None = -1, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return the s32 index of the first largest element along one axis.

        None: among all elements in row-major order.
        """
        return _arg("argmax", self, axis, keepdims, "GT", lowest_value(self.dtype))

    def argmin(self: HloValue, axis: int | None = -1, keepdims: bool = False) -> HloValue:  # type: ignore[misc]
        """Return the s32 index of the first smallest element along one axis.

        None: among all elements in row-major order.
        """
        return _arg("argmin", self, axis, keepdims, "LT", highest_value(self.dtype))

    def sort(self: HloValue, axis: int | None = -1) -> HloValue:  # type: ignore[misc]
        """Sort in ascending order along one axis, NaN last; None: all elements in one dimension."""
        if axis is None:
            return self.ravel().sort()
        order = "TOTALORDER" if self.dtype.is_float else None
        return self.builder.emit(
            "sort",
            (self,),
            {
                "dimensions": (one_axis("sort", self.shape, axis),),
                "to_apply": lambda a, b: a.builder.compare(a, b, "LT", order),
            },
        )


def _add(a: Any, b: Any) -> Any:
    return a + b


def _multiply(a: Any, b: Any) -> Any:
    return a * b


def _maximum(a: Any, b: Any) -> Any:
    return a.maximum(b)


def _minimum(a: Any, b: Any) -> Any:
    return a.minimum(b)


def _and(a: Any, b: Any) -> Any:
    return a & b


def _or(a: Any, b: Any) -> Any:
    return a | b


for _function, _name in (
    (_add, "add"),
    (_multiply, "multiply"),
    (_maximum, "maximum"),
    (_minimum, "minimum"),
    (_and, "and"),
    (_or, "or"),
):
    _function.__name__ = f"{_name}_computation"


def _arg(
    name: str, value: HloValue, axis: int | None, keepdims: bool, direction: str, initial: Any
) -> HloValue:
    if axis is None:
        flat = _arg(name, value.ravel(), 0, False, direction, initial)
        return flat.reshape([1] * value.ndim) if keepdims else flat
    builder, dimension = value.builder, one_axis(name, value.shape, axis)
    indices = builder.iota(value.shape.base.with_element_type(S32), dimension)

    def better(best: HloValue, place: HloValue, candidate: HloValue, where: HloValue) -> Any:
        b = best.builder
        # Equal values (and two NaNs) keep the lower index, so the order of evaluation does not
        # matter.
        wins, ties = b.compare(candidate, best, direction), candidate == best
        if value.dtype.is_float:
            wins, ties = (
                wins | ((candidate != candidate) & (best == best)),
                ties | ((candidate != candidate) & (best != best)),
            )
        take = wins | (ties & (where < place))
        return b.select(take, candidate, best), b.select(take, where, place)

    last = value.shape.dimensions[dimension] - 1
    start = (builder.constant(initial, value.dtype), builder.constant(max(last, 0), S32))
    found = builder.emit(
        "reduce", (value, indices, *start), {"dimensions": (dimension,), "to_apply": better}
    )[1]
    return (
        found.reshape(
            [1 if d == dimension else size for d, size in enumerate(value.shape.dimensions)]
        )
        if keepdims
        else found
    )
