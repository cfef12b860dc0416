"""Arguments and results of a jitted function: names, keys of compiles, shapes, random keys."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.frontends.jax_program import JaxProgram


def is_key(jax: Any, leaf: Any) -> bool:
    """Return True for an array of random keys."""
    kind = getattr(leaf, "dtype", None)
    return (
        kind is not None
        and not isinstance(leaf, np.ndarray)
        and bool(jax.dtypes.issubdtype(kind, jax.dtypes.prng_key))
    )


def abstract_leaf(jax: Any, leaf: Any) -> tuple[Any, ...]:
    """Return the key of a leaf: shape, type, weakness of the type, explicit sharding."""
    aval = _aval(jax, leaf)
    return (
        tuple(aval.shape),
        str(aval.dtype),
        bool(getattr(aval, "weak_type", False)),
        _explicit_sharding(aval),
    )


def _explicit_sharding(aval: Any) -> Any:
    """Return the sharding that is a part of the type; None without a mesh of explicit axes."""
    sharding = getattr(aval, "sharding", None)
    explicit = getattr(getattr(sharding, "mesh", None), "explicit_axes", ())
    return sharding if explicit else None


def _aval(jax: Any, leaf: Any) -> Any:
    if (
        hasattr(leaf, "shape")
        and hasattr(leaf, "dtype")
        and not isinstance(leaf, np.ndarray | np.generic)
    ):
        return getattr(leaf, "aval", leaf)
    return jax.api_util.shaped_abstractify(leaf)


def specification(jax: Any, leaf: Any) -> Any:
    """Return a leaf's shape and type, as JAX traces them."""
    aval = _aval(jax, leaf)
    return jax.ShapeDtypeStruct(
        aval.shape,
        aval.dtype,
        sharding=_explicit_sharding(aval),
        weak_type=bool(getattr(aval, "weak_type", False)),
    )


def with_keys(jax: Any, made: list[Any], program: JaxProgram) -> list[Any]:
    """Return results with random keys where the function returns keys."""
    return [jax.random.wrap_key_data(a, impl=info.dtype) if is_key(jax, info) else a
            for a, info in zip(made, program.results, strict=True)]  # fmt: skip


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that have a position."""
    try:
        parameters = inspect.signature(function).parameters
        return [
            name
            for name, p in parameters.items()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        return []
