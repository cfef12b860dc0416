"""Matrix products by cuBLASLt: a cached plan for each distinct call.

A plan has the first algorithm of the library's heuristic. Source: cuBLAS documentation, "Using the
cublasLt API".
"""

from __future__ import annotations

import ctypes
from typing import Any

from xla_explorer.backends.gpu.device_executor import GpuExecutionError
from xla_explorer.backends.gpu.libraries.shared_objects import SharedObject
from xla_explorer.compiler.transforms.library_calls.library_call import MatmulCall, MatrixOperand

WORKSPACE_BYTES = 32 << 20  # NVIDIA's recommendation for Hopper
# cudaDataType_t, cublasComputeType_t, cublasLtEpilogue_t and attribute numbers, from
# library_types.h, cublas_api.h and cublasLt.h.
DATA_TYPES = {"f16": 2, "bf16": 14, "f32": 0, "f64": 1, "c64": 4, "c128": 5}
COMPUTE_TYPES = {"f32": 68, "tf32": 77, "f64": 70}
EPILOGUES = {"none": 1, "relu": 2, "bias": 4, "relu_bias": 6, "gelu": 32, "gelu_bias": 36}
TRANSA, TRANSB, EPILOGUE, BIAS_POINTER, BIAS_DATA_TYPE = 3, 4, 7, 8, 26
BATCH_COUNT, STRIDED_BATCH_OFFSET = 5, 6
MAX_WORKSPACE_BYTES = 1
MIN_ALIGNMENTS = (
    5,
    6,
    7,
    8,
)  # of A, B, C, D; the library assumes 256 by default
_SCALES = {"f16": "f32", "bf16": "f32"}  # of alpha and beta; else the operands' type
_C_TYPES: dict[str, Any] = {
    "f32": ctypes.c_float, "f64": ctypes.c_double, "c64": ctypes.c_float * 2, "c128": ctypes.c_double * 2,
}  # fmt: skip


class MatmulAlgorithm(ctypes.Structure):
    """cublasLtMatmulAlgo_t."""

    _fields_ = (("data", ctypes.c_uint64 * 8),)


class HeuristicResult(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", MatmulAlgorithm),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


def alignment_of(address: int) -> int:
    """Return the largest power of two that divides an address, at most 256."""
    return min(address & -address, 256) if address else 256


class MatmulPlan:
    """Descriptors of a call. Addresses may change between runs, alignments may not.

    alignments: bytes of left, right, result.
    """

    def __init__(
        self,
        library: SharedObject,
        handle: ctypes.c_void_p,
        call: MatmulCall,
        bias: int | None,
        alignments: tuple[int, int, int],
    ) -> None:
        self.library, self.handle, self.call = library, handle, call
        scale = _SCALES.get(call.operand_type, call.operand_type)
        self.operation = self._made(
            "cublasLtMatmulDescCreate", COMPUTE_TYPES[call.compute], DATA_TYPES[scale]
        )
        self._set(
            "cublasLtMatmulDescSetAttribute",
            self.operation,
            TRANSA,
            ctypes.c_int32(int(call.left.transposed)),
        )
        self._set(
            "cublasLtMatmulDescSetAttribute",
            self.operation,
            TRANSB,
            ctypes.c_int32(int(call.right.transposed)),
        )
        self._set(
            "cublasLtMatmulDescSetAttribute",
            self.operation,
            EPILOGUE,
            ctypes.c_uint32(EPILOGUES[call.epilogue]),
        )
        if bias is not None:
            self._set(
                "cublasLtMatmulDescSetAttribute",
                self.operation,
                BIAS_DATA_TYPE,
                ctypes.c_int32(DATA_TYPES[call.result_type]),
            )
            self._bias(bias)  # the heuristic reads its alignment
        self.layouts = [
            self._layout(call.left, call.operand_type),
            self._layout(call.right, call.operand_type),
            self._layout(call.result, call.result_type),
        ]
        make = _C_TYPES[scale]
        self.alpha, self.beta = (
            (make(1.0, 0.0), make(0.0, 0.0)) if scale.startswith("c") else (make(1.0), make(0.0))
        )
        self.heuristic = self._best(alignments)

    def _made(self, function: str, *arguments: Any) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self.library.call(function, ctypes.byref(made), *arguments)
        return made

    def _set(self, function: str, descriptor: ctypes.c_void_p, attribute: int, value: Any) -> None:
        self.library.call(
            function, descriptor, attribute, ctypes.byref(value), ctypes.sizeof(value)
        )

    def _bias(self, address: int) -> None:
        self._set(
            "cublasLtMatmulDescSetAttribute", self.operation, BIAS_POINTER, ctypes.c_void_p(address)
        )

    def _layout(self, operand: MatrixOperand, kind: str) -> ctypes.c_void_p:
        layout = self._made(
            "cublasLtMatrixLayoutCreate",
            DATA_TYPES[kind],
            operand.rows,
            operand.columns,
            operand.leading,
        )
        if self.call.batch > 1:
            self._set(
                "cublasLtMatrixLayoutSetAttribute",
                layout,
                BATCH_COUNT,
                ctypes.c_int32(self.call.batch),
            )
            self._set(
                "cublasLtMatrixLayoutSetAttribute",
                layout,
                STRIDED_BATCH_OFFSET,
                ctypes.c_int64(operand.stride),
            )
        return layout

    def _best(self, alignments: tuple[int, int, int]) -> HeuristicResult:
        preference = self._made("cublasLtMatmulPreferenceCreate")
        self._set(
            "cublasLtMatmulPreferenceSetAttribute",
            preference,
            MAX_WORKSPACE_BYTES,
            ctypes.c_uint64(WORKSPACE_BYTES),
        )
        a, b, d = alignments
        for attribute, bytes_ in zip(MIN_ALIGNMENTS, (a, b, d, d), strict=True):
            self._set(
                "cublasLtMatmulPreferenceSetAttribute",
                preference,
                attribute,
                ctypes.c_uint32(bytes_),
            )
        best, found = HeuristicResult(), ctypes.c_int()
        left, right, result = self.layouts
        try:
            self.library.call(
                "cublasLtMatmulAlgoGetHeuristic", self.handle, self.operation, left, right, result, result, preference, 1,
                ctypes.byref(best), ctypes.byref(found),
            )  # fmt: skip
        finally:
            self.library.call("cublasLtMatmulPreferenceDestroy", preference)
        if not found.value or best.state:
            raise GpuExecutionError(
                f"cuBLASLt has no algorithm for {self.call}",
                'compile with libraries="never" to use our own kernels',
            )
        return best

    def run(
        self, left: int, right: int, result: int, bias: int | None, workspace: int, stream: int
    ) -> None:
        """Queue the product on device addresses."""
        if bias is not None:
            self._bias(bias)
        a, b, d = self.layouts
        self.library.call(
            "cublasLtMatmul", self.handle, self.operation, ctypes.byref(self.alpha), left, a, right, b, ctypes.byref(self.beta), result, d,
            result, d, ctypes.byref(self.heuristic.algorithm), workspace, WORKSPACE_BYTES, stream,
        )  # fmt: skip

    def close(self) -> None:
        """Destroy the descriptors."""
        for layout in self.layouts:
            self.library.call("cublasLtMatrixLayoutDestroy", layout)
        self.library.call("cublasLtMatmulDescDestroy", self.operation)
