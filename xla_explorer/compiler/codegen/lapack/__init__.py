"""Custom calls of JAX to LAPACK, as native code."""

from __future__ import annotations

from xla_explorer.compiler.codegen.lapack.call_kernel import write_lapack_call
from xla_explorer.compiler.codegen.lapack.routines import (
    LAPACK_SYMBOLS,
    is_lapack_call,
    lapack_call,
    why_lapack_call,
)

__all__ = [
    "LAPACK_SYMBOLS",
    "is_lapack_call",
    "lapack_call",
    "why_lapack_call",
    "write_lapack_call",
]
