"""numpy's functions on values, as the corresponding operator or method. Source: NEP 13, NEP 18."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.builder import array_functions
from xla_explorer.hlo.builder.axes import one_axis

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.value import HloValue

# ufunc name -> method of HloValue.
_UFUNCS = {
    **{
        name: name
        for name in (
            *(
                "exp",
                "expm1",
                "log",
                "log1p",
                "tanh",
                "sqrt",
                "cbrt",
                "sin",
                "cos",
                "tan",
                "sign",
                "floor",
                "ceil",
            ),
            *("isfinite", "square", "maximum", "minimum"),
        )
    },
    "rint": "round",
    "absolute": "abs",
    "negative": "__neg__",
    "add": "__add__",
    "subtract": "__sub__",
    "multiply": "__mul__",
    "divide": "__truediv__",
    "true_divide": "__truediv__",
    "floor_divide": "__floordiv__",
    "fmod": "__mod__",
    "power": "__pow__",
    "matmul": "__matmul__",
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__lt__",
    "less_equal": "__le__",
    "greater": "__gt__",
    "greater_equal": "__ge__",
    "bitwise_and": "__and__",
    "bitwise_or": "__or__",
    "bitwise_xor": "__xor__",
    "logical_and": "__and__",
    "logical_or": "__or__",
    "logical_not": "__invert__",
    "invert": "__invert__",
}
# Functions whose first argument is the value with the method.
_FUNCTIONS = {
    **{
        name: name
        for name in (
            *(
                "sum",
                "prod",
                "max",
                "min",
                "mean",
                "var",
                "std",
                "all",
                "any",
                "argmax",
                "argmin",
                "sort",
                "clip",
            ),
            *("reshape", "ravel", "squeeze", "transpose", "swapaxes", "broadcast_to", "dot"),
        )
    },
    "amax": "max",
    "amin": "min",
    "round": "round",
    "copy": "copy",
}
_ARRAY_FUNCTIONS = frozenset({"split", "stack", "cumsum", "take", "einsum"})


def apply_ufunc(value: HloValue, name: str, inputs: tuple[Any, ...]) -> Any:
    """Return the operation of a ufunc, or NotImplemented.

    Numbers become constants of the type of `value`.
    """
    method = _UFUNCS.get(name)
    if method is None:
        return NotImplemented
    first, *others = [
        operand if isinstance(operand, type(value)) else value.builder.value(operand, value.dtype)
        for operand in inputs
    ]
    return getattr(first, method)(*others)


def apply_function(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the operation of a numpy function, or NotImplemented, as for options such as `out`."""
    if any(option in options for option in ("out", "dtype", "where", "initial")):
        return NotImplemented
    if name == "concatenate" and hasattr(arguments[0][0], "builder"):
        axis = options.get("axis", arguments[1] if len(arguments) > 1 else 0)
        first = arguments[0][0]
        parts = (
            list(arguments[0])
            if axis is not None
            else [first.builder.value(part, first.dtype).ravel() for part in arguments[0]]
        )
        return first.builder.concatenate(
            parts, dimensions=0 if axis is None else one_axis(name, first.shape, axis)
        )
    if name == "where" and len(arguments) == 3:
        builder = next(argument.builder for argument in arguments if hasattr(argument, "builder"))
        return builder.where(*arguments)
    if name in _ARRAY_FUNCTIONS:
        return getattr(array_functions, name)(*arguments, **options)
    method = _FUNCTIONS.get(name)
    if method is None or not hasattr(arguments[0], "builder"):
        return NotImplemented
    if name in ("argmax", "argmin") and len(arguments) == 1:
        options = {
            "axis": None,
            **options,
        }  # numpy's default; the method's default is the last axis
    return getattr(arguments[0], method)(*arguments[1:], **options)
