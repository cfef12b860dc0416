"""C prototypes of library functions: argument types by function. All return 0 for success.

Source: cublasLt.h, cublas_v2.h, cufft.h, cusolverDn.h, cudnn_ops.h, cudnn_cnn.h in their
documentation.
"""

from __future__ import annotations

import ctypes
from typing import Any

INT, LONG, SIZE, UNSIGNED_LONG, POINTER = (
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_size_t,
    ctypes.c_uint64,
    ctypes.c_void_p,
)

PROTOTYPES: dict[str, tuple[Any, ...]] = {
    # cuBLASLt
    "cublasLtCreate": (POINTER,),
    "cublasLtDestroy": (POINTER,),
    "cublasLtMatmulDescCreate": (POINTER, INT, INT),
    "cublasLtMatmulDescSetAttribute": (POINTER, INT, POINTER, SIZE),
    "cublasLtMatmulDescDestroy": (POINTER,),
    "cublasLtMatrixLayoutCreate": (POINTER, INT, UNSIGNED_LONG, UNSIGNED_LONG, LONG),
    "cublasLtMatrixLayoutSetAttribute": (POINTER, INT, POINTER, SIZE),
    "cublasLtMatrixLayoutDestroy": (POINTER,),
    "cublasLtMatmulPreferenceCreate": (POINTER,),
    "cublasLtMatmulPreferenceSetAttribute": (POINTER, INT, POINTER, SIZE),
    "cublasLtMatmulPreferenceDestroy": (POINTER,),
    # handle, operation, layouts of A, B, C, D, preference, requested count, results, found count
    "cublasLtMatmulAlgoGetHeuristic": (POINTER,) * 7 + (INT, POINTER, POINTER),
    # handle, operation, alpha, A, its layout, B, its layout, beta, C, its layout, D, its layout,
    # algorithm, workspace, its size, stream
    "cublasLtMatmul": (POINTER,) * 14 + (SIZE, POINTER),
    # cuBLAS
    "cublasCreate_v2": (POINTER,),
    "cublasDestroy_v2": (POINTER,),
    "cublasSetStream_v2": (POINTER, POINTER),
    # cuFFT: plans are integers
    "cufftCreate": (POINTER,),
    "cufftDestroy": (INT,),
    "cufftSetStream": (INT, POINTER),
    # plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, size of the work
    # area
    "cufftMakePlanMany": (
        INT,
        INT,
        POINTER,
        POINTER,
        INT,
        INT,
        POINTER,
        INT,
        INT,
        INT,
        INT,
        POINTER,
    ),
    # cuSOLVER
    "cusolverDnCreate": (POINTER,),
    "cusolverDnDestroy": (POINTER,),
    "cusolverDnSetStream": (POINTER, POINTER),
    # cuDNN
    "cudnnCreate": (POINTER,),
    "cudnnDestroy": (POINTER,),
    "cudnnSetStream": (POINTER, POINTER),
    "cudnnCreateTensorDescriptor": (POINTER,),
    "cudnnSetTensorNdDescriptor": (
        POINTER,
        INT,
        INT,
        POINTER,
        POINTER,
    ),  # descriptor, type, dimensions, extents, strides
    "cudnnDestroyTensorDescriptor": (POINTER,),
    "cudnnCreateFilterDescriptor": (POINTER,),
    "cudnnSetFilterNdDescriptor": (
        POINTER,
        INT,
        INT,
        INT,
        POINTER,
    ),  # descriptor, type, format, dimensions, extents
    "cudnnDestroyFilterDescriptor": (POINTER,),
    "cudnnCreateConvolutionDescriptor": (POINTER,),
    # descriptor, spatial dimensions, padding, strides, dilations, mode, type of computation
    "cudnnSetConvolutionNdDescriptor": (POINTER, INT, POINTER, POINTER, POINTER, INT, INT),
    "cudnnSetConvolutionMathType": (POINTER, INT),
    "cudnnSetConvolutionGroupCount": (POINTER, INT),
    "cudnnDestroyConvolutionDescriptor": (POINTER,),
    # handle, three descriptors and the convolution's, requested count, found count, results
    "cudnnGetConvolutionForwardAlgorithm_v7": (POINTER,) * 5 + (INT, POINTER, POINTER),
    "cudnnGetConvolutionBackwardDataAlgorithm_v7": (POINTER,) * 5 + (INT, POINTER, POINTER),
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7": (POINTER,) * 5 + (INT, POINTER, POINTER),
    # handle, alpha, two descriptors with their arrays, the convolution's, algorithm, workspace, its
    # size, beta, result's descriptor, result
    "cudnnConvolutionForward": (POINTER,) * 7 + (INT, POINTER, SIZE, POINTER, POINTER, POINTER),
    "cudnnConvolutionBackwardData": (POINTER,) * 7
    + (INT, POINTER, SIZE, POINTER, POINTER, POINTER),
    "cudnnConvolutionBackwardFilter": (POINTER,) * 7
    + (INT, POINTER, SIZE, POINTER, POINTER, POINTER),
}
for _letter in "SDCZ":  # f32, f64, c64, c128
    # handle, side, triangle, operation, diagonal, m, n, alpha, A, its leading dimension, B, its
    # leading dimension
    PROTOTYPES[f"cublas{_letter}trsm_v2"] = (
        POINTER,
        INT,
        INT,
        INT,
        INT,
        INT,
        INT,
        POINTER,
        POINTER,
        INT,
        POINTER,
        INT,
    )
    # handle, triangle, n, A, its leading dimension, elements of workspace
    PROTOTYPES[f"cusolverDn{_letter}potrf_bufferSize"] = (POINTER, INT, INT, POINTER, INT, POINTER)
    # handle, triangle, n, A, its leading dimension, workspace, its elements, status on the device
    PROTOTYPES[f"cusolverDn{_letter}potrf"] = (
        POINTER,
        INT,
        INT,
        POINTER,
        INT,
        POINTER,
        INT,
        POINTER,
    )
for _name in ("Sscal", "Dscal", "Csscal", "Zdscal"):
    PROTOTYPES[f"cublas{_name}_v2"] = (
        POINTER,
        INT,
        POINTER,
        POINTER,
        INT,
    )  # handle, n, factor, x, step
for _name in ("C2C", "Z2Z"):
    PROTOTYPES[f"cufftExec{_name}"] = (INT, POINTER, POINTER, INT)  # plan, in, out, direction
for _name in ("R2C", "D2Z", "C2R", "Z2D"):
    PROTOTYPES[f"cufftExec{_name}"] = (INT, POINTER, POINTER)
