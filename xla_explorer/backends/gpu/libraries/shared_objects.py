"""NVIDIA's shared objects: where they are, and their functions with statuses turned into errors.

They are looked for by NVIDIA's `cuda-pathfinder` (it comes with cuda-bindings), which knows its wheels, conda and CUDA installations.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from xla_explorer.backends.gpu.libraries.prototypes import PROTOTYPES
from xla_explorer.backends.gpu.runtime.device_executor import GpuExecutionError
from xla_explorer.foundation.reason import Reason, refuse

LIBRARIES = ("cublasLt", "cublas", "cufft", "cusolver")
_WHEELS = {"cublasLt": "nvidia-cublas", "cublas": "nvidia-cublas", "cufft": "nvidia-cufft", "cusolver": "nvidia-cusolver"}
_STATUS = {
    1: "NOT_INITIALIZED", 2: "ALLOC_FAILED", 3: "INVALID_VALUE", 4: "ARCH_MISMATCH", 6: "EXECUTION_FAILED", 7: "INVALID_VALUE",
    8: "ARCH_MISMATCH", 11: "MAPPING_ERROR", 13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED",
}  # fmt: skip
_CUFFT_STATUS = {
    1: "INVALID_PLAN", 2: "ALLOC_FAILED", 3: "INVALID_TYPE", 4: "INVALID_VALUE", 5: "INTERNAL_ERROR", 6: "EXEC_FAILED", 7: "SETUP_FAILED",
    8: "INVALID_SIZE",
}  # fmt: skip
_CUSOLVER_STATUS = {
    1: "NOT_INITIALIZED", 2: "ALLOC_FAILED", 3: "INVALID_VALUE", 4: "ARCH_MISMATCH", 5: "MAPPING_ERROR", 6: "EXECUTION_FAILED",
    7: "INTERNAL_ERROR", 8: "MATRIX_TYPE_NOT_SUPPORTED", 9: "NOT_SUPPORTED",
}  # fmt: skip


class LibraryError(GpuExecutionError):
    """A library function answered with an error. status: its number."""

    def __init__(self, function: str, status: int) -> None:
        self.status = status
        table = _CUFFT_STATUS if function.startswith("cufft") else _CUSOLVER_STATUS if function.startswith("cusolver") else _STATUS
        step = 'compile with libraries="never" to use our own kernels'
        super().__init__(f"{function}: status {status} ({table.get(status, 'unknown')})", step)


class SharedObject:
    """Functions of one library. library: a `ctypes.CDLL`, or an object with functions of the same names."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._functions: dict[str, Any] = {}

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function of `PROTOTYPES`; LibraryError when it answers with an error."""
        found = self._functions.get(function)
        if found is None:
            found = getattr(self.library, function)
            found.restype, found.argtypes = ctypes.c_int, list(PROTOTYPES[function])
            self._functions[function] = found
        status = int(found(*arguments))
        if status:
            raise LibraryError(function, status)


@cache
def find_library(name: str) -> SharedObject | Reason:
    """A library of `LIBRARIES`, loaded; or why it is not there."""
    wheel = _WHEELS[name]
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib
    except ImportError:
        return refuse("no-cuda-pathfinder", 'the package cuda-pathfinder is not installed: pip install "xla-explorer[gpu]"')
    try:
        loaded = load_nvidia_dynamic_lib(name)
        if loaded.abs_path is None:  # it was loaded before, by somebody else
            return SharedObject(ctypes.CDLL(name, handle=int(loaded._handle_uint)))
        return SharedObject(ctypes.CDLL(str(loaded.abs_path)))
    # cuda-pathfinder raises errors of its own kinds, the loader OSError.
    except Exception as problem:
        text = (str(problem).splitlines() or [""])[0][:200]
        return refuse("library-not-installed", f"not installed (pip install {wheel}): {text}", library=name)


def why_missing(name: str) -> str:
    """Empty when a library can be loaded, else one sentence."""
    found = find_library(name)
    return found.message if isinstance(found, Reason) else ""
