"""CUDA's driver through NVIDIA's `cuda-bindings`, imported where it is used: every status becomes our error or nothing.

Source: CUDA Driver API reference.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from xla_explorer.backends.gpu.runtime.device_executor import GpuExecutionError
from xla_explorer.foundation.reason import Reason, refuse

# Errors after which the context is lost: nothing on it works any more.
_FATAL = frozenset(
    {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_INSTRUCTION"}
)


class CudaError(GpuExecutionError):
    """A driver call failed. code: `CUDA_ERROR_...`; fatal: whether the process must be started again to use the device."""

    def __init__(self, function: str, code: str, sentence: str) -> None:
        self.code, self.fatal = code, code in _FATAL
        step = "start the process again: the device's context is lost" if self.fatal else ""
        super().__init__(f"{function}: {code}: {sentence}", step)


class CudaDriver:
    """The driver's functions by name. binding: the module `cuda.bindings.driver`, or an object with the same functions. library: the
    driver's shared object, for what the binding does not do; None finds it when it is needed."""

    def __init__(self, binding: Any, library: Any = None) -> None:
        self.binding, self._library = binding, library

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function; its result (None, one value, or a tuple). CudaError with the driver's own sentence."""
        status, *results = getattr(self.binding, function)(*arguments)
        if int(status):
            raise CudaError(function, getattr(status, "name", str(int(status))), self._sentence(status))
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def call_library(self, function: str, types: tuple[Any, ...], *arguments: Any) -> None:
        """Call a C function of the driver's shared object. CudaError like `call`."""
        if self._library is None:
            self._library = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
        found = getattr(self._library, function)
        found.restype, found.argtypes = ctypes.c_int, list(types)
        number = int(found(*arguments))
        if number:
            status = self.binding.CUresult(number)
            raise CudaError(function, status.name, self._sentence(status))

    def is_done(self, event: Any) -> bool:
        """Whether all before an event is done; does not wait."""
        (status,) = self.binding.cuEventQuery(event)
        if getattr(status, "name", "") == "CUDA_ERROR_NOT_READY":
            return False
        if int(status):
            raise CudaError("cuEventQuery", getattr(status, "name", str(int(status))), self._sentence(status))
        return True

    def _sentence(self, status: Any) -> str:
        failed, text = self.binding.cuGetErrorString(status)
        return "no description" if int(failed) or text is None else str(text, "utf-8") if isinstance(text, bytes) else str(text)

    def attribute(self, device: Any, name: str) -> int:
        """An integer fact of a device: `MULTIPROCESSOR_COUNT`."""
        return int(self.call("cuDeviceGetAttribute", getattr(self.binding.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device))


def find_driver() -> CudaDriver | Reason:
    """The driver, initialised, with at least one device; or why there is none."""
    try:
        from cuda.bindings import driver as binding
    except ImportError:
        return refuse("no-cuda-bindings", 'the package cuda-bindings is not installed: pip install "xla-explorer[gpu]"')
    driver = CudaDriver(binding)
    try:
        driver.call("cuInit", 0)
        count = int(driver.call("cuDeviceGetCount"))
    except CudaError as problem:
        return refuse("no-cuda-device", f"CUDA's driver answers: {problem.message}", status=problem.code)
    # cuda-bindings raises errors of its own kind when the driver's library is not there.
    except Exception as problem:
        return refuse("no-cuda-driver", f"CUDA's driver could not be loaded: {str(problem).splitlines()[0]}")
    if not count:
        return refuse("no-cuda-device", "CUDA's driver sees no device")
    return driver
