"""Names of the variables that a function captures, for the large constants of its program."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from xla_explorer.explorer.advice.captured_constants import CapturedConstant
from xla_explorer.explorer.xla.places import short_place
from xla_explorer.hlo.module import HloModule

_DEEPEST: Final = 3  # functions that a captured function captures


def with_variables(
    found: Sequence[CapturedConstant], module: HloModule, program: Any
) -> list[CapturedConstant]:
    """Return the constants, each with the captured variable of an equal array and its line."""
    if not found or not callable(program):
        return list(found)
    variables = list(_captured(inspect.unwrap(program), _DEEPEST))
    values = {i.name: i for i in module.instructions() if i.opcode.name == "constant"}
    rows = []
    for one in found:
        array = np.asarray(values[one.name].payload.array)
        is_it = _has_row if one.parts > 1 else _is_same
        named = next((v for v in variables if is_it(v[1], array)), None)
        if named is not None:
            line = _line_of(named[2], named[0]) or one.line
            one = one._replace(variable=named[0], line=line)
        rows.append(one)
    return rows


def _captured(function: Any, depth: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, value, function) of the variables of functions that are not their own."""
    function = inspect.unwrap(function)
    if depth == 0 or not inspect.isfunction(function):
        return
    try:
        given = inspect.getclosurevars(function)
    except ValueError:  # a variable that is not set yet
        return
    for name, value in {**given.globals, **given.nonlocals}.items():
        yield name, value, function
        yield from _captured(value, depth - 1) if callable(value) else ()


def _is_same(value: Any, array: np.ndarray[Any, Any]) -> bool:
    """Return True for an array of the same elements; a broadcast adds dimensions of size 1."""
    if not hasattr(value, "dtype") or getattr(value, "size", None) != array.size:
        return False
    flat = np.asarray(value).reshape(-1).astype(array.dtype, copy=False)
    return bool(np.array_equal(flat, array.reshape(-1)))


def _has_row(value: Any, array: np.ndarray[Any, Any]) -> bool:
    """Return True for an array with a row of the same elements."""
    size = getattr(value, "size", 0)
    if not isinstance(size, int) or not hasattr(value, "dtype"):
        return False
    if size <= array.size or size % array.size:
        return False
    rows = np.asarray(value).reshape(-1, array.size).astype(array.dtype, copy=False)
    return bool((rows == array.reshape(-1)).all(1).any())


def _line_of(function: Any, name: str) -> str:
    """Return the first line of a function that reads a variable; empty without a source."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return ""
    word = re.compile(rf"\b{re.escape(name)}\b")
    number = next((first + k for k, line in enumerate(lines) if k and word.search(line)), 0)
    return short_place(f"{inspect.getsourcefile(function)}:{number}") if number else ""
