"""Matching of Fourier transforms, Cholesky factors and triangular systems with library calls.

Source: cuFFT, cuSOLVER and cuBLAS documentation; xla/service/gpu/transforms/gpusolver_rewriter.cc,
triangular_solve_rewriter.cc.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.library_calls.library_call import (
    CholeskyCall,
    FftCall,
    TriangularSolveCall,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

_LARGEST = 2**31 - 1
_TYPES = ("f32", "f64", "c64", "c128")
_REAL = {"f32": "f32", "c64": "f32", "f64": "f64", "c128": "f64"}


def fft_of(i: HloInstruction) -> FftCall | Reason:
    """Return the call for an `fft`, or a Reason."""
    refused = _common(i)
    if refused is not None:
        return refused
    lengths = tuple(i.attribute("fft_length"))
    if not 1 <= len(lengths) <= 3:
        return refuse(
            "too-many-dimensions",
            f"%{i.name}: cuFFT transforms at most three dimensions",
            dimensions=len(lengths),
        )
    direction = str(i.attribute("fft_type"))
    dimensions = (i.operands[0] if direction == "RFFT" else i).shape.dimensions
    batch = math.prod(dimensions[: len(dimensions) - len(lengths)])
    return FftCall(direction, lengths, batch, _REAL[i.shape.element_type.name])


def cholesky_of(i: HloInstruction) -> CholeskyCall | Reason:
    """Return the call for a `cholesky`, or a Reason."""
    refused = _common(i)
    if refused is not None:
        return refused
    shape = i.shape
    if 4 * shape.element_count > _LARGEST:  # the kernel after it indexes 32-bit words
        return refuse(
            "too-large-for-the-library", f"%{i.name} has more than {_LARGEST // 4} elements"
        )
    return CholeskyCall(
        bool(i.attributes.value("lower")),
        shape.dimensions[-1],
        math.prod(shape.dimensions[:-2]),
        shape.element_type.name,
    )


def triangular_solve_of(i: HloInstruction) -> TriangularSolveCall | Reason:
    """Return the call for a `triangular-solve`, or a Reason."""
    refused = _common(i)
    if refused is not None:
        return refused
    value, dimensions = i.attributes.value, i.shape.dimensions
    return TriangularSolveCall(
        bool(value("left_side")), bool(value("lower")), bool(value("unit_diagonal")), str(value("transpose_a")), dimensions[-2],
        dimensions[-1], math.prod(dimensions[:-2]), i.shape.element_type.name,
    )  # fmt: skip


def _common(i: HloInstruction) -> Reason | None:
    kind = i.shape.element_type.name if i.shape.is_array else "tuple"
    if kind not in _TYPES:
        return refuse(
            "type-not-served", f"%{i.name}: {kind} is not a type of the library", type=kind
        )
    if not all(fusible.has_default_layout(o) for o in (i, *i.operands)):
        return refuse("result-layout", f"%{i.name}: an array of it is not row-major")
    if 0 in i.shape.dimensions:
        return refuse("no-elements", f"%{i.name} is empty")
    if i.shape.element_count > _LARGEST:
        return refuse("too-large-for-the-library", f"%{i.name} has more than {_LARGEST} elements")
    return None
