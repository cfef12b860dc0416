"""Workloads: a function for JAX, and inputs as the performance harness makes them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Input = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """A JAX function with its inputs; `tpu` lowers for that platform.

    For a TPU, cholesky and triangular-solve stay instructions. `tolerance` holds the harness's
    fields.

    On it cholesky and triangular-solve stay instructions.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Input, ...]
    tpu: bool
    tolerance: dict[str, float]


WORKLOADS: list[Workload] = []


def workload(
    name: str, *inputs: Input, tpu: bool = False, **tolerance: float
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the function under `name` (prefix m_ micro, b_ block)."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        seeded = tuple(
            {**spec, "seed": zlib.crc32(f"{name} {number}".encode())}
            for number, spec in enumerate(inputs)
        )
        WORKLOADS.append(Workload(name, function, seeded, tpu, tolerance))
        return function

    return register


def normal(*shape: int, dtype: str = "f32", mean: float = 0.0, std: float = 1.0) -> Input:
    """Return normally distributed numbers."""
    return {"shape": list(shape), "dtype": dtype, "dist": "normal", "mean": mean, "std": std}


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: str = "f32") -> Input:
    """Uniform in [low, high)."""
    return {"shape": list(shape), "dtype": dtype, "dist": "uniform", "lo": low, "hi": high}


def integers(*shape: int, low: int = 0, high: int, dtype: str = "s32") -> Input:
    """Integers in [low, high)."""
    return {"shape": list(shape), "dtype": dtype, "dist": "randint", "lo": low, "hi": high}


def positive_definite(*shape: int, dtype: str = "f32") -> Input:
    """Return A A^T / n + I."""
    return {"shape": list(shape), "dtype": dtype, "dist": "spd"}


def lower_triangle(*shape: int, dtype: str = "f32") -> Input:
    """Well conditioned."""
    return {"shape": list(shape), "dtype": dtype, "dist": "tril"}
