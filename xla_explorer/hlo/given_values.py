"""Arguments from users as arrays: Python numbers in a parameter's type, and array-likes."""

from __future__ import annotations

import contextlib
import math
import sys
from typing import Any

import ml_dtypes
import numpy as np

from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]


class GivenValueError(Exception):
    """A value is not an array, or its number is not in the type. `hint` names the next step."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def array_of_number(value: bool | int | float | complex, element_type: PrimitiveType) -> Array:
    """Return a Python number as an array without dimensions.

    Floats may be rounded. An integer type takes only integers in its range, and only complex types
    take complex numbers.

    Raises
    ------
    GivenValueError
        The type does not hold the number.

    Examples
    --------
    >>> from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
    >>> array_of_number(3, PRIMITIVE_TYPES["s8"])
    array(3, dtype=int8)
    """
    name, dtype = element_type.name, element_type.dtype
    if isinstance(value, complex) and not element_type.is_complex:
        hint = "pass its real part, or compile for c64 or c128"
        raise GivenValueError(f"is {name}, which does not hold the complex number {value}", hint)
    if element_type.is_pred:
        if isinstance(value, float) and value not in (0.0, 1.0):
            raise GivenValueError(f"is pred, which does not hold {value}", "pass True or False")
        return np.asarray(bool(value))
    if element_type.is_integer:
        assert not isinstance(value, complex)
        if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
            raise GivenValueError(
                f"is {name}, which does not hold {value}", "round it: pass an integer"
            )
        low, high = _bounds(element_type)
        if not low <= value <= high:
            raise GivenValueError(
                f"is {name}, which does not hold {_brief(int(value))}: {low} to {high}",
                "pass a number in that range",
            )
        return np.asarray(int(value)).astype(dtype)
    try:
        with np.errstate(all="ignore"):
            return (
                np.asarray(value).astype(dtype)
                if isinstance(value, complex)
                else np.asarray(float(value)).astype(dtype)
            )
    except OverflowError:
        raise GivenValueError(
            f"is {name}, which does not hold {_brief(int(value.real))}",
            "pass a smaller number, or inf",
        ) from None


def array_of(value: Any) -> Array:
    """Return an array from the array interface, DLPack or a nested sequence.

    Nothing is copied if possible.

    Raises
    ------
    GivenValueError
        The value is not an array, or its interface is inconsistent.
    """
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except MemoryError:
        raise GivenValueError("is larger than the memory", "pass a smaller array") from None
    except Exception as problem:  # any exception of the object's own methods
        with contextlib.suppress(Exception):
            found = _of_torch(value)
            if found is None:
                found = _of_jax_key(value)
            if found is not None:
                return found
        said = " ".join(str(problem).split())[:200]
        raise GivenValueError(
            f"cannot be read as an array from a {type(value).__name__}: "
            f"{type(problem).__name__}: {said}",
            "pass an array, or nested lists of equal lengths",
        ) from None


def _of_torch(value: Any) -> Array | None:
    """Return the elements of a torch tensor that numpy cannot convert itself.

    These have a gradient, a lazy conjugate, or a type of ml_dtypes. None for other objects, and for
    tensors without elements in memory.
    """
    torch = sys.modules.get("torch")
    if (
        torch is None
        or not isinstance(value, torch.Tensor)
        or value.layout is not torch.strided
        or value.device.type != "cpu"
    ):
        return None
    plain = value.detach().resolve_conj().resolve_neg()
    name = str(plain.dtype).removeprefix("torch.")
    if hasattr(np, name) or not hasattr(ml_dtypes, name):
        found: Array = plain.numpy()
        return found
    bits = torch.uint8 if plain.element_size() == 1 else torch.int16
    same: Array = plain.contiguous().view(bits).numpy().view(getattr(ml_dtypes, name))
    return same


def _of_jax_key(value: Any) -> Array | None:
    """Return the numbers of JAX's typed random keys, which are a program's parameter; else None."""
    jax = sys.modules.get("jax")
    if (
        jax is None
        or not isinstance(value, jax.Array)
        or not jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
    ):
        return None
    return np.asarray(jax.random.key_data(value))


def whole_booleans(array: Array) -> Array:
    """Return truth values with bytes 0 or 1, as compiled code expects.

    The array itself is returned if possible.
    """
    if array.dtype != np.bool_ or not array.size:
        return array
    raw = array.view(np.uint8)
    return array if raw.max() <= 1 else raw != 0


def has_dimensions_of(array: Array, shape: Shape) -> bool:
    """Return True if an array has a shape's dimensions; a dynamic one may be below its bound."""
    return array.shape == shape.dimensions or (
        any(shape.dynamic)
        and array.ndim == shape.rank
        and all(
            size == wanted or (dynamic and (wanted < 0 or size <= wanted))
            for size, wanted, dynamic in zip(
                array.shape, shape.dimensions, shape.dynamic, strict=True
            )
        )
    )


def _bounds(element_type: PrimitiveType) -> tuple[int, int]:
    bits = element_type.bits
    return (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if element_type.is_signed else (0, (1 << bits) - 1)
    )


def _brief(number: int) -> str:
    if abs(number) < 10**40:
        return str(number)
    return f"a number of about {int(math.log10(2) * abs(number).bit_length()) + 1} digits"
