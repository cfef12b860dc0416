"""Fourier transforms by cuFFT; the inverse is scaled by cuBLAS.

Source: cuFFT documentation, "cufftMakePlanMany()", "Multidimensional Transforms";
xla/service/gpu/runtime/fft_thunk.cc.
"""

from __future__ import annotations

import ctypes
import math

from xla_explorer.backends.gpu.libraries.shared_objects import SharedObject
from xla_explorer.compiler.transforms.library_calls.library_call import FftCall

# cufftType, from cufft.h: by (HLO's fft_type, is f64).
TRANSFORMS = {
    ("RFFT", False): (0x2A, "R2C"), ("IRFFT", False): (0x2C, "C2R"), ("FFT", False): (0x29, "C2C"), ("IFFT", False): (0x29, "C2C"),
    ("RFFT", True): (0x6A, "D2Z"), ("IRFFT", True): (0x6C, "Z2D"), ("FFT", True): (0x69, "Z2Z"), ("IFFT", True): (0x69, "Z2Z"),
}  # fmt: skip
_FORWARD, _INVERSE = -1, 1


class FftPlan:
    """A cuFFT plan of `batch` contiguous transforms.

    complex_elements: of the operand of a C2R transform.
    """

    def __init__(self, library: SharedObject, call: FftCall) -> None:
        self.library, self.call = library, call
        self.number, self.kind = TRANSFORMS[call.direction, call.real_type == "f64"]
        plan = ctypes.c_int()
        library.call("cufftCreate", ctypes.byref(plan))
        self.plan = plan.value
        rank, lengths = len(call.lengths), call.lengths
        halved = (*lengths[:-1], lengths[-1] // 2 + 1)
        before, after = (
            (halved if call.direction == "IRFFT" else lengths),
            (halved if call.direction == "RFFT" else lengths),
        )
        numbers = ctypes.c_int * rank
        work = ctypes.c_size_t()
        library.call(
            "cufftMakePlanMany", self.plan, rank, numbers(*lengths), numbers(*before), 1, math.prod(before), numbers(*after), 1,
            math.prod(after), self.number, call.batch, ctypes.byref(work),
        )  # fmt: skip
        element = 16 if call.real_type == "f64" else 8
        self.operand_bytes = math.prod(before) * call.batch * element
        self.result_elements = math.prod(after) * call.batch

    def run(self, operand: int, result: int, stream: int) -> None:
        """Queue the transform. A C2R transform may overwrite its operand."""
        self.library.call("cufftSetStream", self.plan, stream)
        arguments: tuple[int, ...] = (operand, result)
        if self.kind in ("C2C", "Z2Z"):
            arguments = (*arguments, _FORWARD if self.call.direction == "FFT" else _INVERSE)
        self.library.call(f"cufftExec{self.kind}", self.plan, *arguments)

    def scale(
        self, cublas: SharedObject, handle: ctypes.c_void_p, result: int, stream: int
    ) -> None:
        """Divide the result of an inverse transform by the number of points; cuFFT does not."""
        cublas.call("cublasSetStream_v2", handle, stream)
        is_real, is_double = self.call.direction == "IRFFT", self.call.real_type == "f64"
        name = {
            (True, False): "Sscal",
            (True, True): "Dscal",
            (False, False): "Csscal",
            (False, True): "Zdscal",
        }[is_real, is_double]
        factor = (ctypes.c_double if is_double else ctypes.c_float)(
            1.0 / math.prod(self.call.lengths)
        )
        cublas.call(
            f"cublas{name}_v2", handle, self.result_elements, ctypes.byref(factor), result, 1
        )

    def close(self) -> None:
        """Destroy the plan."""
        self.library.call("cufftDestroy", self.plan)
