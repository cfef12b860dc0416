"""One LAPACK call as a module, evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import xla_explorer as xe

NAMES = {
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
    "int32": "s32",
}
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
TYPES = tuple(LETTERS)


def shape(kind: Any, *sizes: int) -> str:
    return f"{NAMES[np.dtype(kind).name]}[{','.join(map(str, sizes))}]"


def target(kind: Any, real: str, complex_: str | None = None) -> str:
    return f"lapack_{LETTERS[np.dtype(kind).name]}{complex_ if complex_ and np.dtype(kind).kind == 'c' else real}_ffi"


def call(
    name: str, arguments: Sequence[np.ndarray], results: Sequence[str], config: str = ""
) -> tuple[np.ndarray, ...]:
    lines = [f"  p{k} = {shape(a.dtype, *a.shape)} parameter({k})" for k, a in enumerate(arguments)]
    operands = ", ".join(f"p{k}" for k in range(len(arguments)))
    kind = results[0] if len(results) == 1 else f"({', '.join(results)})"
    extra = f", api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}" if config else ""
    text = (
        "HloModule m\nENTRY e {\n"
        + "\n".join(lines)
        + f'\n  ROOT r = {kind} custom-call({operands}), custom_call_target="{name}"{extra}\n}}'
    )
    found = xe.evaluate(xe.parse_hlo(text), *arguments)
    return tuple(map(np.asarray, found)) if isinstance(found, tuple) else (np.asarray(found),)


def matrices(kind: str, *sizes: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    real = rng.standard_normal(sizes)
    return (real + 1j * rng.standard_normal(sizes) if kind.startswith("complex") else real).astype(
        kind
    )


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(a, -1, -2))


def close(found: np.ndarray, wanted: np.ndarray) -> None:
    """Check equality up to a few roundings of the found type, relative to the largest element."""
    epsilon = float(np.finfo(found.dtype).eps)
    scale = float(np.max(np.abs(wanted), initial=1))
    np.testing.assert_allclose(found, wanted, atol=100 * epsilon * scale, rtol=0)
