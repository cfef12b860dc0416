"""`HloValue`: an instruction under construction, with Python's operators and numpy's methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.builder.any_value import AnyValue
from xla_explorer.hlo.builder.array_functions import At
from xla_explorer.hlo.builder.axes import axis_numbers, axis_order, one_axis
from xla_explorer.hlo.builder.broadcasting import matched_operands
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.builder.indexing import index_value
from xla_explorer.hlo.builder.numpy_protocol import apply_function, apply_ufunc
from xla_explorer.hlo.builder.products import matrix_product
from xla_explorer.hlo.builder.reductions import Reductions
from xla_explorer.hlo.builder.value_methods import method_of_value, opcode_methods
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.builder import HloBuilder


class HloValue(AnyValue, Reductions):
    """A value of the module under construction, whose operators broadcast as numpy does.

    Element types are never converted implicitly: `f32 + s32` is an error that names both sides.
    Python and numpy numbers take the type of their partner. `/` is HLO divide (integers truncate)
    and `%` HLO remainder (sign of the dividend); `//` is Python's floor division.
    """

    __slots__ = ("builder", "instruction")
    __hash__ = object.__hash__

    def __init__(self, builder: HloBuilder, instruction: HloInstruction) -> None:
        self.builder = builder
        self.instruction = instruction

    @property
    def shape(self) -> Shape:
        """HLO shape; `.dimensions` are the sizes."""
        return self.instruction.shape

    @property
    def dtype(self) -> PrimitiveType:
        """Element type."""
        return self.shape.element_type

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.shape.rank

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.shape.element_count

    @property
    def name(self) -> str:
        """Name of the instruction."""
        return self.instruction.name

    def named(self, name: str) -> HloValue:
        """Rename the instruction and return the value."""
        self.builder.computation.set_name(self.instruction, name)
        return self

    def __repr__(self) -> str:
        return f"%{self.instruction.name}: {self.shape.text_without_layout}"

    def __len__(self) -> int:
        if self.shape.is_tuple:
            return len(self.shape.tuple_shapes)
        if not self.shape.rank:
            raise TypeError("a scalar has no length")
        return self.shape.dimensions[0]

    def __iter__(self) -> Iterator[HloValue]:
        return iter([self[k] for k in range(len(self))])

    def __getitem__(self, index: Any) -> HloValue:
        return index_value(self, index)

    def __bool__(self) -> bool:
        raise HloBuilderError(
            f"{self!r} has no truth value while the module is built",
            "use b.where for a choice by element, b.cond or b.while_loop for control flow",
        )

    if not TYPE_CHECKING:  # type checkers would accept any name

        def __getattr__(self, name: str) -> Callable[..., HloValue]:
            """Return the builder's method of an opcode with this value as its first operand.

            `x.reduce_window(f, 0, window="{size=2}")`
            """
            if name not in opcode_methods():
                own = (
                    [n for n in (*dir(self), *opcode_methods()) if not n.startswith("_")]
                    if not name.startswith("_")
                    else []
                )
                near = nearest(name, own, 3)
                raise AttributeError(
                    f"an HloValue has no {name}" + (f"; near: {', '.join(near)}" if near else "")
                )
            return method_of_value(self, name)

        def __dir__(self) -> list[str]:
            return sorted({*object.__dir__(self), *opcode_methods(self.shape.is_array)})

    def _binary(self, name: str, other: Any, swapped: bool = False) -> HloValue:
        operands = (other, self) if swapped else (self, other)
        return self.builder.emit(name, matched_operands(self.builder, name, operands), {})

    def _compare(self, direction: str, other: Any) -> HloValue:
        return self.builder.compare(self, other, direction)

    def _unary(self, name: str) -> HloValue:
        return self.builder.emit(name, (self,), {})

    def __add__(self, other: Any) -> HloValue:
        return self._binary("add", other)

    def __radd__(self, other: Any) -> HloValue:
        return self._binary("add", other, True)

    def __sub__(self, other: Any) -> HloValue:
        return self._binary("subtract", other)

    def __rsub__(self, other: Any) -> HloValue:
        return self._binary("subtract", other, True)

    def __mul__(self, other: Any) -> HloValue:
        return self._binary("multiply", other)

    def __rmul__(self, other: Any) -> HloValue:
        return self._binary("multiply", other, True)

    def __truediv__(self, other: Any) -> HloValue:
        return self._binary("divide", other)

    def __rtruediv__(self, other: Any) -> HloValue:
        return self._binary("divide", other, True)

    def __mod__(self, other: Any) -> HloValue:
        return self._binary("remainder", other)

    def __rmod__(self, other: Any) -> HloValue:
        return self._binary("remainder", other, True)

    def __pow__(self, other: Any) -> HloValue:
        return self._binary("power", other)

    def __rpow__(self, other: Any) -> HloValue:
        return self._binary("power", other, True)

    def __floordiv__(self, other: Any) -> HloValue:
        quotient = self._binary("divide", other)
        if quotient.dtype.is_float:
            return quotient.floor()
        remainder = self._binary("remainder", other)
        opposite = (
            remainder.sign() * self.builder.value(other, self.dtype).sign() < 0
            if self.dtype.is_signed
            else None
        )
        return quotient if opposite is None else quotient - opposite.astype(self.dtype)

    def __rfloordiv__(self, other: Any) -> HloValue:
        return self.builder.value(other, self.dtype).broadcast_to(*self.shape.dimensions) // self

    def __and__(self, other: Any) -> HloValue:
        return self._binary("and", other)

    def __rand__(self, other: Any) -> HloValue:
        return self._binary("and", other, True)

    def __or__(self, other: Any) -> HloValue:
        return self._binary("or", other)

    def __ror__(self, other: Any) -> HloValue:
        return self._binary("or", other, True)

    def __xor__(self, other: Any) -> HloValue:
        return self._binary("xor", other)

    def __rxor__(self, other: Any) -> HloValue:
        return self._binary("xor", other, True)

    def __lshift__(self, other: Any) -> HloValue:
        return self._binary("shift-left", other)

    def __rshift__(self, other: Any) -> HloValue:
        return self._binary(
            "shift-right-arithmetic" if self.dtype.is_signed else "shift-right-logical", other
        )

    def __matmul__(self, other: Any) -> HloValue:
        return matrix_product(self, self.builder.value(other, self.dtype))

    def __rmatmul__(self, other: Any) -> HloValue:
        return matrix_product(self.builder.value(other, self.dtype), self)

    def __neg__(self) -> HloValue:
        return self._unary("negate")

    def __pos__(self) -> HloValue:
        return self

    def __abs__(self) -> HloValue:
        return self._unary("abs")

    def __invert__(self) -> HloValue:
        return self._unary("not")

    def __eq__(self, other: object) -> HloValue:  # type: ignore[override]
        return self._compare("EQ", other)

    def __ne__(self, other: object) -> HloValue:  # type: ignore[override]
        return self._compare("NE", other)

    def __lt__(self, other: Any) -> HloValue:
        return self._compare("LT", other)

    def __le__(self, other: Any) -> HloValue:
        return self._compare("LE", other)

    def __gt__(self, other: Any) -> HloValue:
        return self._compare("GT", other)

    def __ge__(self, other: Any) -> HloValue:
        return self._compare("GE", other)

    def exp(self) -> HloValue:
        """Return e to the value."""
        return self._unary("exponential")

    def expm1(self) -> HloValue:
        """Return e to the value, minus one."""
        return self._unary("exponential-minus-one")

    def log(self) -> HloValue:
        """Return the natural logarithm."""
        return self._unary("log")

    def log1p(self) -> HloValue:
        """Return the natural logarithm of one plus the value."""
        return self._unary("log-plus-one")

    def tanh(self) -> HloValue:
        """Return the hyperbolic tangent."""
        return self._unary("tanh")

    def sqrt(self) -> HloValue:
        """Return the square root."""
        return self._unary("sqrt")

    def rsqrt(self) -> HloValue:
        """Return one over the square root."""
        return self._unary("rsqrt")

    def cbrt(self) -> HloValue:
        """Return the cube root."""
        return self._unary("cbrt")

    def sin(self) -> HloValue:
        """Return the sine."""
        return self._unary("sine")

    def cos(self) -> HloValue:
        """Return the cosine."""
        return self._unary("cosine")

    def tan(self) -> HloValue:
        """Return the tangent."""
        return self._unary("tan")

    def erf(self) -> HloValue:
        """Return the error function."""
        return self._unary("erf")

    def logistic(self) -> HloValue:
        """Return 1 / (1 + exp(-x)), the sigmoid."""
        return self._unary("logistic")

    sigmoid = logistic

    def abs(self) -> HloValue:
        """Return the absolute value."""
        return self._unary("abs")

    def sign(self) -> HloValue:
        """Return -1, 0 or 1."""
        return self._unary("sign")

    def floor(self) -> HloValue:
        """Round down."""
        return self._unary("floor")

    def ceil(self) -> HloValue:
        """Round up."""
        return self._unary("ceil")

    def round(self) -> HloValue:
        """Round to nearest, halves to even."""
        return self._unary("round-nearest-even")

    def isfinite(self) -> HloValue:
        """Return pred: neither infinite nor NaN."""
        return self._unary("is-finite")

    def square(self) -> HloValue:
        """Return the value times itself."""
        return self * self

    @property
    def real(self) -> HloValue:
        """Real part."""
        return self._unary("real")

    @property
    def imag(self) -> HloValue:
        """Imaginary part."""
        return self._unary("imag")

    def maximum(self, other: Any) -> HloValue:
        """Return the larger of two values, element by element; NaN wins."""
        return self._binary("maximum", other)

    def minimum(self, other: Any) -> HloValue:
        """Return the smaller of two values, element by element; NaN wins."""
        return self._binary("minimum", other)

    def clip(self, low: Any = None, high: Any = None) -> HloValue:
        """Clamp between two bounds, either of which may be absent."""
        if low is not None and high is not None:
            bounds = [self.builder.value(bound, self.dtype) for bound in (low, high)]
            if all(
                bound.shape.is_scalar or bound.shape.dimensions == self.shape.dimensions
                for bound in bounds
            ):
                return self.builder.emit("clamp", (bounds[0], self, bounds[1]), {})
        value = self if low is None else self.maximum(low)
        return value if high is None else value.minimum(high)

    def astype(self, element_type: Any) -> HloValue:
        """Convert the values to another element type (HLO convert)."""
        return self.builder.convert(self, element_type)

    def reshape(self, *dimensions: Any) -> HloValue:
        """Reshape to other dimensions; one size may be -1."""
        return self.builder.reshape(self, *dimensions)

    def ravel(self) -> HloValue:
        """Reshape to one dimension."""
        return self.reshape(self.size)

    flatten = ravel

    def squeeze(self, axis: int | Sequence[int] | None = None) -> HloValue:
        """Remove dimensions of size one."""
        sizes = self.shape.dimensions
        gone = (
            [d for d, size in enumerate(sizes) if size == 1]
            if axis is None
            else axis_numbers("squeeze", self.shape, axis)
        )
        for d in gone:
            if sizes[d] != 1:
                raise HloBuilderError(
                    f"squeeze: dimension {d} of {self.shape.text_without_layout} has {sizes[d]} "
                    "elements"
                )
        return self.reshape([size for d, size in enumerate(sizes) if d not in gone])

    def transpose(self, *axes: Any) -> HloValue:
        """Permute the dimensions; reverse them by default."""
        given = axes[0] if len(axes) == 1 else axes or None
        order = axis_order("transpose", self.shape, given)
        return (
            self
            if order == sorted(order)
            else self.builder.emit("transpose", (self,), {"dimensions": order})
        )

    @property
    def T(self) -> HloValue:  # noqa: N802 - numpy's name
        """The transpose, with all dimensions reversed."""
        return self.transpose()

    def swapaxes(self, a: int, b: int) -> HloValue:
        """Exchange two dimensions."""
        a, b = (one_axis("swapaxes", self.shape, axis) for axis in (a, b))
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(order)

    def broadcast_to(self, *dimensions: Any) -> HloValue:
        """Broadcast as numpy's broadcast_to."""
        return self.builder.broadcast_to(
            self, dimensions[0] if len(dimensions) == 1 else dimensions
        )

    def dot(self, other: Any) -> HloValue:
        """Multiply as numpy's dot for up to two dimensions; see `@`."""
        return matrix_product(self, self.builder.value(other, self.dtype))

    def copy(self) -> HloValue:
        """Copy the value to a buffer of its own."""
        return self._unary("copy")

    @property
    def at(self) -> At:
        """The place of updates: `x.at[i].set(v)` and `x.at[i].add(v)`, by the first dimension."""
        return At(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Build operations for `np.exp(x)` and `np.float32(2) * x`.

        Only plain calls are supported.
        """
        return (
            NotImplemented
            if method != "__call__" or options
            else apply_ufunc(self, ufunc.__name__, inputs)
        )

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Build operations for functions such as `np.sum`, `np.einsum` and `np.concatenate`."""
        return apply_function(function.__name__, arguments, options)
