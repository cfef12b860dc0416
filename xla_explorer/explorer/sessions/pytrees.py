"""Pytrees of arrays as arguments: dict, list, tuple, NamedTuple, None and JAX's registered classes.

The leaves are in JAX's order, so that a module of a traced function takes the function's arguments.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from xla_explorer.hlo.shape import Shape

NUMBERS = (bool, int, float, complex)


def fits(shape: Shape, value: Any) -> bool:
    """Return True if a value fits a parameter of this shape without flattening.

    A tuple fits a tuple, and a value that is not a pytree fits an array. A nested list of numbers
    is an array.
    """
    if shape.is_tuple:
        parts = shape.tuple_shapes
        return (
            isinstance(value, tuple | list)
            and len(value) == len(parts)
            and all(map(fits, parts, value))
        )
    return not shape.is_array or not is_node(value) or _is_numbers(value)


def is_node(value: Any) -> bool:
    """Return True if a value is a pytree of others, not a leaf."""
    if value is None or isinstance(value, dict | list | tuple):
        return True
    jax = sys.modules.get("jax")  # a class can be registered only if JAX is loaded
    return jax is not None and not jax.tree_util.all_leaves([value])


def _is_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(part, NUMBERS) or _is_numbers(part) for part in value)
    return False


def flatten(arguments: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return (path, leaf) of every leaf: ``args[0]['w']``, ``args[1].bias[2]``."""
    jax = sys.modules.get("jax")
    if jax is not None:
        found, _ = jax.tree_util.tree_flatten_with_path(tuple(arguments))
        return [(f"args{jax.tree_util.keystr(path)}", leaf) for path, leaf in found]
    return list(_flatten("args", tuple(arguments)))


def _flatten(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        keys = list(value) if isinstance(value, OrderedDict) else sorted(value)
        for key in keys:
            yield from _flatten(f"{path}[{key!r}]", value[key])
    elif isinstance(value, list | tuple):
        fields = getattr(value, "_fields", None)
        for number, part in enumerate(value):
            yield from _flatten(
                f"{path}.{fields[number]}" if fields is not None else f"{path}[{number}]", part
            )
    elif value is not None:
        yield path, value
