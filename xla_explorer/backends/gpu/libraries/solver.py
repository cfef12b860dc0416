"""Cholesky factors by cuSOLVER and triangular systems by cuBLAS, one matrix after the other.

The libraries are column-major, HLO is row-major: a matrix is its transpose there, so triangles and
sides are swapped. Source: cuSOLVER documentation, "cusolverDn<t>potrf()"; cuBLAS documentation,
"cublas<t>trsm()".
"""

from __future__ import annotations

import ctypes
from typing import Any

from xla_explorer.backends.gpu.libraries.shared_objects import SharedObject
from xla_explorer.compiler.transforms.library_calls.library_call import (
    CholeskyCall,
    TriangularSolveCall,
)

LETTERS = {"f32": "S", "f64": "D", "c64": "C", "c128": "Z"}
SIZES = {"f32": 4, "f64": 8, "c64": 8, "c128": 16}
_LOWER, _UPPER = 0, 1
_LEFT, _RIGHT = 0, 1
_OPERATIONS = {"NO_TRANSPOSE": 0, "TRANSPOSE": 1, "ADJOINT": 2}
_ONES: dict[str, Any] = {
    "f32": lambda: ctypes.c_float(1.0), "f64": lambda: ctypes.c_double(1.0), "c64": lambda: (ctypes.c_float * 2)(1.0, 0.0),
    "c128": lambda: (ctypes.c_double * 2)(1.0, 0.0),
}  # fmt: skip


def solve_triangular(
    cublas: SharedObject,
    handle: ctypes.c_void_p,
    call: TriangularSolveCall,
    matrix: int,
    target: int,
    stream: int,
) -> None:
    """Queue the solution of all systems. target: the right sides, overwritten by the solutions."""
    cublas.call("cublasSetStream_v2", handle, stream)
    one = _ONES[call.type]()
    size, order = SIZES[call.type], call.order
    for number in range(call.batch):
        cublas.call(
            f"cublas{LETTERS[call.type]}trsm_v2", handle, _RIGHT if call.left_side else _LEFT, _UPPER if call.lower else _LOWER,
            _OPERATIONS[call.transpose], int(call.unit_diagonal), call.columns, call.rows, ctypes.byref(one),
            matrix + number * order * order * size, order, target + number * call.rows * call.columns * size, call.columns,
        )  # fmt: skip


def cholesky_workspace(cusolver: SharedObject, handle: ctypes.c_void_p, call: CholeskyCall) -> int:
    """Return the bytes of workspace for one matrix."""
    elements = ctypes.c_int()
    uplo = _UPPER if call.lower else _LOWER
    cusolver.call(
        f"cusolverDn{LETTERS[call.type]}potrf_bufferSize",
        handle,
        uplo,
        call.n,
        None,
        call.n,
        ctypes.byref(elements),
    )
    return elements.value * SIZES[call.type]


def factor(
    cusolver: SharedObject, handle: ctypes.c_void_p, call: CholeskyCall, target: int, workspace: int, workspace_bytes: int, status: int,
    stream: int,
) -> None:  # fmt: skip
    """Queue the factorisation of all matrices in place; the other triangle is not written.

    status: an s32 for each on the device, 0 if the matrix was positive definite.
    """
    cusolver.call("cusolverDnSetStream", handle, stream)
    size = SIZES[call.type]
    for number in range(call.batch):
        cusolver.call(
            f"cusolverDn{LETTERS[call.type]}potrf", handle, _UPPER if call.lower else _LOWER, call.n,
            target + number * call.n * call.n * size, call.n, workspace, workspace_bytes // size, status + 4 * number,
        )  # fmt: skip
