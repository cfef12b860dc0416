"""Convolutions and their derivatives by cuDNN: a cached plan for each distinct call.

A plan has the first algorithm of the library's heuristic. Source: cuDNN documentation, "cudnn_cnn
Library": cudnnConvolutionForward(), cudnnConvolutionBackwardData(),
cudnnConvolutionBackwardFilter() and their ...Algorithm_v7(); numbers from cudnn_graph.h,
cudnn_ops.h and cudnn_cnn.h of version 9.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from xla_explorer.backends.gpu.device_executor import GpuExecutionError
from xla_explorer.backends.gpu.libraries.shared_objects import SharedObject
from xla_explorer.compiler.transforms.library_calls.library_call import ConvolutionCall

WORKSPACE_BYTES = 256 << 20  # maximum of an algorithm
DATA_TYPES = {"f32": 0, "f64": 1, "f16": 2, "bf16": 9}  # cudnnDataType_t
NCHW, NHWC = 0, 1  # cudnnTensorFormat_t, of filters
CROSS_CORRELATION = 1  # cudnnConvolutionMode_t
DEFAULT_MATH, TENSOR_OP_MATH, FMA_MATH = (
    0,
    1,
    3,
)  # cudnnMathType_t; since Ampere the default allows TF32 for f32
ALGORITHMS = 8  # requested from a heuristic: there are no more of a kind
_QUERIES = {
    "forward": "cudnnGetConvolutionForwardAlgorithm_v7", "backward-input": "cudnnGetConvolutionBackwardDataAlgorithm_v7",
    "backward-filter": "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
}  # fmt: skip
_CALLS = {
    "forward": "cudnnConvolutionForward", "backward-input": "cudnnConvolutionBackwardData",
    "backward-filter": "cudnnConvolutionBackwardFilter",
}  # fmt: skip


class AlgorithmPerformance(ctypes.Structure):
    """cudnnConvolutionFwdAlgoPerf_t; the derivatives' structures have the same fields."""

    _fields_ = (
        ("algorithm", ctypes.c_int),
        ("status", ctypes.c_int),
        ("milliseconds", ctypes.c_float),
        ("memory", ctypes.c_size_t),
        ("determinism", ctypes.c_int),
        ("math_type", ctypes.c_int),
        ("reserved", ctypes.c_int * 3),
    )


def math_type(call: ConvolutionCall) -> int:
    """Return cuDNN's math type: the units that the call may use.

    Tensor cores are used for 16-bit floats, and for f32 only if the call requests TF32.
    """
    if call.type in ("f16", "bf16"):
        return TENSOR_OP_MATH
    return FMA_MATH if call.compute == "f32" else DEFAULT_MATH


class ConvolutionPlan:
    """Descriptors and algorithm of a call. workspace_bytes: of the algorithm."""

    def __init__(
        self, library: SharedObject, handle: ctypes.c_void_p, call: ConvolutionCall
    ) -> None:
        self.library, self.handle, self.call = library, handle, call
        self._made: list[tuple[str, ctypes.c_void_p]] = []
        flat = len(call.padding) == 1  # cuDNN has at least two spatial dimensions
        self.image, self.result = (
            self._tensor(call.image, call.image_strides),
            self._tensor(call.result, call.result_strides),
        )
        self.filter = self._descriptor("Filter")
        extents = _with_row(call.filter, flat)
        library.call("cudnnSetFilterNdDescriptor", self.filter, DATA_TYPES[call.type], NHWC if call.features_last else NCHW, len(extents),
                     _ints(extents))  # fmt: skip
        self.convolution = self._descriptor("Convolution")
        padding = (0, *call.padding) if flat else call.padding
        stride, dilation = [(1, *x) if flat else x for x in (call.stride, call.dilation)]
        compute = DATA_TYPES["f64" if call.compute == "f64" else "f32"]
        library.call("cudnnSetConvolutionNdDescriptor", self.convolution, len(padding), _ints(padding), _ints(stride), _ints(dilation),
                     CROSS_CORRELATION, compute)  # fmt: skip
        library.call("cudnnSetConvolutionGroupCount", self.convolution, call.groups)
        library.call("cudnnSetConvolutionMathType", self.convolution, math_type(call))
        scale = ctypes.c_double if call.type == "f64" else ctypes.c_float
        self.alpha, self.beta = scale(1.0), scale(0.0)
        try:
            best = self._best()
        except GpuExecutionError:
            self.close()
            raise
        self.algorithm, self.workspace_bytes = best.algorithm, best.memory
        if math_type(call) != FMA_MATH and best.math_type != math_type(call):
            library.call("cudnnSetConvolutionMathType", self.convolution, best.math_type)

    @property
    def _descriptors(self) -> tuple[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]:
        """Descriptors of both operands and the result."""
        return {"forward": (self.image, self.filter, self.result), "backward-input": (self.filter, self.result, self.image),
                "backward-filter": (self.image, self.result, self.filter)}[self.call.form]  # fmt: skip

    def _descriptor(self, what: str) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self.library.call(f"cudnnCreate{what}Descriptor", ctypes.byref(made))
        self._made.append((what, made))
        return made

    def _tensor(self, extents: Sequence[int], strides: Sequence[int]) -> ctypes.c_void_p:
        made = self._descriptor("Tensor")
        if len(extents) == 3:  # the inserted row is the only one: its stride is that of a whole row
            extents, strides = (
                _with_row(extents, True),
                (*strides[:2], strides[2] * extents[2], strides[2]),
            )
        self.library.call(
            "cudnnSetTensorNdDescriptor",
            made,
            DATA_TYPES[self.call.type],
            len(extents),
            _ints(extents),
            _ints(strides),
        )
        return made

    def _best(self) -> AlgorithmPerformance:
        """Return the fastest supported algorithm by the library's estimate.

        It must fit the workspace and have the requested accuracy.
        """
        found, results = ctypes.c_int(), (AlgorithmPerformance * ALGORITHMS)()
        a, b, c = self._descriptors
        self.library.call(
            _QUERIES[self.call.form],
            self.handle,
            a,
            b,
            self.convolution,
            c,
            ALGORITHMS,
            ctypes.byref(found),
            results,
        )
        for one in results[: found.value]:
            exact = math_type(self.call) != FMA_MATH or one.math_type in (DEFAULT_MATH, FMA_MATH)
            if one.status == 0 and one.memory <= WORKSPACE_BYTES and exact:
                return one
        shape = "features last" if self.call.features_last else "features first"
        text = f"cuDNN has no algorithm for the {self.call.form} form in {self.call.type}, {shape}"
        step = 'compile with libraries="never" to use our own kernels'
        raise GpuExecutionError(
            f"{text}, that takes at most {WORKSPACE_BYTES >> 20} MiB: {self.call}", step
        )

    def run(self, left: int, right: int, result: int, workspace: int, stream: int) -> None:
        """Queue the call on device addresses. left, right: the instruction's operands."""
        if self.call.form == "backward-input":
            left, right = right, left  # cuDNN has the filter first
        a, b, c = self._descriptors
        self.library.call("cudnnSetStream", self.handle, stream)
        self.library.call(
            _CALLS[self.call.form], self.handle, ctypes.byref(self.alpha), a, left, b, right, self.convolution, self.algorithm, workspace,
            self.workspace_bytes, ctypes.byref(self.beta), c, result,
        )  # fmt: skip

    def close(self) -> None:
        """Destroy the descriptors."""
        for what, made in self._made:
            self.library.call(f"cudnnDestroy{what}Descriptor", made)


def _with_row(numbers: Sequence[int], flat: bool) -> Sequence[int]:
    return (*numbers[:2], 1, *numbers[2:]) if flat else numbers


def _ints(numbers: Sequence[int]) -> Any:
    return (ctypes.c_int * len(numbers))(*numbers)
