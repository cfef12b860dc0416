"""Attributes of a foreign call, from MLIR's text to values with their types.

Example: `{a = 1 : i64, b = dense<[1, 2]> : tensor<2xi32>, c = "text"}`.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import numpy as np

from xla_explorer.frontends.stablehlo.attributes import NUMBER, read_attribute
from xla_explorer.frontends.stablehlo.reader import IDENTIFIER, Reader
from xla_explorer.frontends.stablehlo.types import read_shape
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.primitive_type import PrimitiveType, primitive_type

ForeignValue: TypeAlias = (
    "str | tuple[PrimitiveType, np.ndarray[Any, Any]] | dict[str, ForeignValue]"
)
"""A text, numbers of one type (a scalar has rank 0, an array rank 1), or a dictionary."""
_TYPED = re.compile(r":\s*(?=[us]?i\d|bf16|f\d|index)")
_ELEMENTS = re.compile(r"array<\s*([us]?i\d+|bf16|f\d\w*)\s*(?::\s*([^>]*))?>")


def read_foreign_attributes(text: str) -> dict[str, ForeignValue]:
    """Return the attributes by name, sorted, as XLA passes them.

    StablehloError if the text is not a dictionary of attributes.
    """
    reader = Reader(text, "backend_config")
    return _dictionary(reader)


def _dictionary(reader: Reader) -> dict[str, ForeignValue]:
    reader.expect("{", "a dictionary")
    found: dict[str, ForeignValue] = {}
    while not reader.accept("}"):
        word = reader.take(IDENTIFIER)
        name = word.group() if word else reader.string()
        # A name alone is MLIR's unit attribute, which is true.
        found[name] = _value(reader) if reader.accept("=") else _numbers("pred", True)
        if not reader.accept(","):
            reader.expect("}", "a dictionary")
            break
    return dict(sorted(found.items()))


def _numbers(name: str, values: Any) -> tuple[PrimitiveType, np.ndarray[Any, Any]]:
    kind = primitive_type(name)
    return kind, np.asarray(values, kind.dtype)


def _value(reader: Reader) -> ForeignValue:
    start = reader.skip()
    if reader.peek("{"):
        return _dictionary(reader)
    array = reader.take(_ELEMENTS)
    if array is not None:
        kind = read_shape(Reader(array.group(1))).element_type
        words = [word.strip() for word in (array.group(2) or "").split(",") if word.strip()]
        truth = {"true": 1, "false": 0}
        return kind, np.asarray(
            [truth[w] if w in truth else float(w) if kind.is_float else int(w) for w in words],
            kind.dtype,
        )
    number = reader.take(NUMBER)
    if number is not None:
        given = read_shape(reader).element_type if reader.take(_TYPED) is not None else None
        is_whole = re.fullmatch(r"-?\d+", number.group()) is not None
        kind = given or primitive_type("s64" if is_whole else "f64")
        return _of_text(kind, number.group())
    value = read_attribute(reader)
    if isinstance(value, bool):
        return _numbers("pred", value)
    if isinstance(value, str):
        return value
    if isinstance(value, Literal) and value.shape.rank <= 1:
        return value.shape.element_type, np.asarray(value.array)
    reader.fail(
        "an attribute of a foreign function must be a number, a text, an array of one dimension "
        "or a dictionary of them",
        "pass another attribute",
        start,
    )


def _of_text(kind: PrimitiveType, text: str) -> tuple[PrimitiveType, np.ndarray[Any, Any]]:
    if "0x" in text and kind.is_float:  # the bits: an infinity, or NaN
        return kind, np.frombuffer(
            int(text, 16).to_bytes(kind.dtype.itemsize, "little"), kind.dtype
        )[0].reshape(())
    return kind, np.asarray(float(text) if kind.is_float else int(text, 0), kind.dtype)
