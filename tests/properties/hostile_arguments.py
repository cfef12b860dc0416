"""Arguments for a module: ordinary ones, and what arguments of its types can be at the worst."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
KINDS = ("ordinary", "hostile")
MOST_BYTES = 4 << 20


def argument_bytes(module: HloModule) -> int:
    """Return the bytes of the arguments."""
    return sum(
        leaf.byte_size
        for p in module.entry.parameters()
        for _, leaf in p.shape.leaves()
        if leaf.is_array
    )


def _ordinary(t: PrimitiveType, sizes: tuple[int, ...], generator: np.random.Generator) -> Array:
    if t.is_pred:
        return np.asarray(generator.integers(0, 2, sizes), dtype=bool)
    if t.is_integer:
        low, high = (
            (max(-4, -(1 << (t.bits - 1))), min(8, 1 << (t.bits - 1)))
            if t.is_signed
            else (0, min(8, 1 << t.bits))
        )
        return np.asarray(generator.integers(low, high, sizes)).astype(t.dtype)
    values = np.asarray(generator.standard_normal(sizes))
    if t.is_complex:
        values = values + 1j * np.asarray(generator.standard_normal(sizes))
    return (np.abs(values) if t.name == "f8e8m0fnu" else values).astype(
        t.dtype
    )  # which has powers of two, and no sign


def _hostile(t: PrimitiveType, sizes: tuple[int, ...], generator: np.random.Generator) -> Array:
    if t.is_pred:
        return np.asarray(generator.integers(0, 2, sizes), dtype=bool)
    if t.is_complex:
        made = np.empty(sizes, t.dtype)
        made.real, made.imag = (
            _hostile(t.component, sizes, generator),
            _hostile(t.component, sizes, generator),
        )
        return made
    if t.is_integer:
        # Every value of a narrow type; of a wide one the ends, zero and their neighbours.
        low, high = (
            (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1)
            if t.is_signed
            else (0, (1 << t.bits) - 1)
        )
        picks = np.array(
            [
                low,
                low + (t.bits > 1),
                high,
                high - (t.bits > 1),
                0,
                min(1, high),
                low // 2,
                high // 2,
            ],
            dtype=object,
        )
        drawn = picks[generator.integers(0, len(picks), sizes)]
        return np.asarray(drawn).astype(np.int64 if t.is_signed else np.uint64).astype(t.dtype)
    # Of floats, any bits at all and the special ones.
    width = t.dtype.itemsize * 8
    raw = np.asarray(generator.integers(0, 1 << min(t.bits, 63), sizes, dtype=np.uint64))
    if width == 64:
        raw = raw ^ (np.asarray(generator.integers(0, 2, sizes, dtype=np.uint64)) << np.uint64(63))
    bits = np.asarray(raw.astype(f"uint{width}")).view(t.dtype)
    with np.errstate(all="ignore"):
        special = np.array(
            [
                0.0,
                -0.0,
                1.0,
                -1.0,
                np.inf,
                -np.inf,
                np.nan,
                1e-40,
                -5e-324,
                3e38,
                -1e300,
                0.5,
                2.5,
                2147483648.0,
                -129.0,
            ]
        ).astype(t.dtype)
        chosen = special[generator.integers(0, len(special), sizes)]
        ordinary = np.asarray(generator.standard_normal(sizes)).astype(t.dtype)
    draw = generator.random(sizes)
    return np.where(draw < 0.4, chosen, np.where(draw < 0.6, bits, ordinary)).astype(t.dtype)


def arguments(module: HloModule, kind: str, seed: int) -> tuple[Any, ...]:
    """One argument for each parameter; the same for the same seed."""
    generator = np.random.default_rng(seed)
    make = _ordinary if kind == "ordinary" else _hostile

    def value(shape: Shape) -> Any:
        if shape.is_tuple:
            return tuple([value(part) for part in shape.tuple_shapes])
        return make(shape.element_type, shape.dimensions, generator) if shape.is_array else None

    return tuple([value(p.shape) for p in module.entry.parameters()])
