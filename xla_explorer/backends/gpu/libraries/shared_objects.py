"""NVIDIA's shared objects: discovery, and function calls whose error statuses raise.

NVIDIA's `cuda-pathfinder` (part of cuda-bindings) finds them in wheels, conda and CUDA
installations.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path
from typing import Any

from xla_explorer.backends.gpu.device_executor import GpuExecutionError
from xla_explorer.backends.gpu.libraries.prototypes import PROTOTYPES
from xla_explorer.foundation.reason import Reason, refuse

LIBRARIES = ("cublasLt", "cublas", "cufft", "cusolver", "cudnn")
_WHEELS = {"cublasLt": "nvidia-cublas", "cublas": "nvidia-cublas", "cufft": "nvidia-cufft", "cusolver": "nvidia-cusolver",
           "cudnn": "nvidia-cudnn-cu13"}  # fmt: skip
_CUBLAS_STATUS = {
    1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH", 11: "MAPPING_ERROR", 13: "EXECUTION_FAILED",
    14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR",
}  # fmt: skip
_CUFFT_STATUS = {
    1: "INVALID_PLAN", 2: "ALLOC_FAILED", 3: "INVALID_TYPE", 4: "INVALID_VALUE", 5: "INTERNAL_ERROR", 6: "EXEC_FAILED", 7: "SETUP_FAILED",
    8: "INVALID_SIZE",
}  # fmt: skip
_CUSOLVER_STATUS = {
    1: "NOT_INITIALIZED", 2: "ALLOC_FAILED", 3: "INVALID_VALUE", 4: "ARCH_MISMATCH", 5: "MAPPING_ERROR", 6: "EXECUTION_FAILED",
    7: "INTERNAL_ERROR", 8: "MATRIX_TYPE_NOT_SUPPORTED", 9: "NOT_SUPPORTED",
}  # fmt: skip
_CUDNN_STATUS = {
    1001: "NOT_INITIALIZED", 1002: "SUBLIBRARY_VERSION_MISMATCH", 1004: "DEPRECATED", 1008: "SUBLIBRARY_LOADING_FAILED", 2000: "BAD_PARAM",
    2002: "BAD_PARAM_NULL_POINTER", 2003: "BAD_PARAM_MISALIGNED_POINTER", 2006: "BAD_PARAM_SIZE_INSUFFICIENT",
    2008: "BAD_PARAM_SHAPE_MISMATCH", 3000: "NOT_SUPPORTED", 4000: "INTERNAL_ERROR", 5000: "EXECUTION_FAILED",
}  # fmt: skip
_TABLES = {
    "cublas": _CUBLAS_STATUS,
    "cufft": _CUFFT_STATUS,
    "cusolver": _CUSOLVER_STATUS,
    "cudnn": _CUDNN_STATUS,
}
_CUDNN_FILES = ("libcudnn.so.9", "libcudnn.so")


class LibraryError(GpuExecutionError):
    """A library function returned an error. status: its number."""

    def __init__(self, function: str, status: int) -> None:
        self.status = status
        table = next(known for prefix, known in _TABLES.items() if function.startswith(prefix))
        step = 'compile with libraries="never" to use our own kernels'
        super().__init__(f"{function}: status {status} ({table.get(status, 'unknown')})", step)


class SharedObject:
    """Functions of one library. library: a `ctypes.CDLL`, or an object with the same functions."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._functions: dict[str, Any] = {}

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function of `PROTOTYPES`; LibraryError if it returns an error."""
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
    """Return a loaded library of `LIBRARIES`, or a refusal."""
    wheel = _WHEELS[name]
    if name == "cudnn":
        return _find_cudnn()
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib
    except ImportError:
        return refuse(
            "no-cuda-pathfinder",
            'the package cuda-pathfinder is not installed: pip install "xla-explorer[gpu]"',
        )
    try:
        loaded = load_nvidia_dynamic_lib(name)
        if loaded.abs_path is None:  # already loaded by other code
            return SharedObject(ctypes.CDLL(name, handle=int(loaded._handle_uint)))
        return SharedObject(ctypes.CDLL(str(loaded.abs_path)))
    # cuda-pathfinder raises its own errors, the loader OSError.
    except Exception as problem:
        text = (str(problem).splitlines() or [""])[0][:200]
        return refuse(
            "library-not-installed", f"not installed (pip install {wheel}): {text}", library=name
        )


def _find_cudnn() -> SharedObject | Reason:
    """Return cuDNN, which older cuda-pathfinders do not find, or a refusal.

    It is loaded from its wheel, else from the loader's paths, and loads its parts itself.
    """
    problem = ""
    folders = [
        f"{folder}/nvidia/cudnn/lib/"
        for folder in sys.path
        if Path(f"{folder}/nvidia/cudnn/lib").is_dir()
    ]
    for path in [f"{folder}{name}" for folder in (*folders, "") for name in _CUDNN_FILES]:
        try:
            return SharedObject(ctypes.CDLL(path))
        except OSError as error:
            problem = problem or (str(error).splitlines() or [""])[0][:200]
    return refuse(
        "library-not-installed",
        f"not installed (pip install {_WHEELS['cudnn']}): {problem}",
        library="cudnn",
    )


def why_missing(name: str) -> str:
    """Return an empty string if a library can be loaded, else one sentence."""
    found = find_library(name)
    return found.message if isinstance(found, Reason) else ""
