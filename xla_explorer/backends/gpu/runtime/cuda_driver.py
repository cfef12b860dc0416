"""CUDA's driver through NVIDIA's `cuda-bindings`, which is imported on first use.

Every status other than success becomes an exception. Source: CUDA Driver API reference.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any

from xla_explorer.backends.gpu.device_executor import GpuExecutionError
from xla_explorer.foundation.reason import Reason, refuse

# Errors after which the context is lost: nothing on it works any more.
_FATAL = frozenset(
    {
        "CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION", "CUDA_ERROR_HARDWARE_STACK_ERROR", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_ASSERT", "CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_CONTAINED", "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "CUDA_ERROR_DEINITIALIZED",
    }
)  # fmt: skip
_LOG_BYTES = 8192


class CudaError(GpuExecutionError):
    """A driver call failed.

    code: `CUDA_ERROR_...`; fatal: True if the process must be restarted to use the device. where:
    the work that failed, if known.
    """

    where = ""

    def __init__(self, function: str, code: str, sentence: str) -> None:
        self.function, self.code, self.sentence = function, code, sentence
        fatal = code in _FATAL
        step = (
            (
                "start the process again: the device's context is lost (with isolate=True only a "
                "child process is)"
            )
            if fatal
            else ""
        )
        super().__init__(f"{function}: {code}: {sentence}", step)
        self.fatal = fatal


class CudaDriver:
    """The driver's functions by name.

    binding: the module `cuda.bindings.driver`, or an object with the same functions. library: the
    driver's shared object, for functions that the binding lacks; None finds it on first use. lost:
    the error that destroyed the context. Every later call fails with it, so that no later program
    is blamed.
    """

    def __init__(self, binding: Any, library: Any = None) -> None:
        self.binding, self._library = binding, library
        self.lost: CudaError | None = None

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function; its result (None, one value, or a tuple).

        CudaError with the driver's own sentence.
        """
        self._refuse_if_lost(function)
        status, *results = getattr(self.binding, function)(*arguments)
        if int(status):
            raise self._error(function, status)
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def discard(self, function: str, *arguments: Any) -> None:
        """Release a resource, and ignore errors.

        The work that used the resource has reported them already.
        """
        if self.lost is None:
            with contextlib.suppress(CudaError):
                self.call(function, *arguments)

    def call_library(self, function: str, types: tuple[Any, ...], *arguments: Any) -> None:
        """Call a C function of the driver's shared object. CudaError like `call`."""
        self._refuse_if_lost(function)
        if self._library is None:
            self._library = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
        found = getattr(self._library, function)
        found.restype, found.argtypes = ctypes.c_int, list(types)
        number = int(found(*arguments))
        if number:
            raise self._error(function, self.binding.CUresult(number))

    def load_module(self, image: bytes) -> Any:
        """Load a module of a cubin, or of PTX text that ends with a zero byte.

        CudaError has the log of the driver's compiler.
        """
        self._refuse_if_lost("cuModuleLoadDataEx")
        options, log = self.binding.CUjit_option, bytearray(_LOG_BYTES)
        wanted = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        status, module = self.binding.cuModuleLoadDataEx(
            image, len(wanted), wanted, [log, _LOG_BYTES]
        )
        if int(status):
            said = " ".join(bytes(log).split(b"\0", 1)[0].decode(errors="replace").split())
            raise self._error("cuModuleLoadDataEx", status, said)
        return module

    def _refuse_if_lost(self, function: str) -> None:
        if self.lost is not None:
            before = "; ".join(filter(None, (self.lost.message, self.lost.where)))
            raise CudaError(
                function, self.lost.code, f"the device's context was lost before this, in {before}"
            )

    def _error(self, function: str, status: Any, more: str = "") -> CudaError:
        sentence = self._sentence(status)
        error = CudaError(
            function,
            getattr(status, "name", str(int(status))),
            f"{sentence}: {more}" if more else sentence,
        )
        if error.fatal:
            self.lost = error
        return error

    def is_done(self, event: Any) -> bool:
        """Return True if all work before an event is done; does not wait."""
        self._refuse_if_lost("cuEventQuery")
        (status,) = self.binding.cuEventQuery(event)
        if getattr(status, "name", "") == "CUDA_ERROR_NOT_READY":
            return False
        if int(status):
            raise self._error("cuEventQuery", status)
        return True

    def _sentence(self, status: Any) -> str:
        failed, text = self.binding.cuGetErrorString(status)
        return (
            "no description"
            if int(failed) or text is None
            else str(text, "utf-8")
            if isinstance(text, bytes)
            else str(text)
        )

    def attribute(self, device: Any, name: str) -> int:
        """Return an integer attribute of a device, such as `MULTIPROCESSOR_COUNT`."""
        return int(
            self.call(
                "cuDeviceGetAttribute",
                getattr(self.binding.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"),
                device,
            )
        )


def find_driver() -> CudaDriver | Reason:
    """Return the initialised driver with at least one device, or the reason against it."""
    try:
        from cuda.bindings import driver as binding
    except ImportError:
        return refuse(
            "no-cuda-bindings",
            'the package cuda-bindings is not installed: pip install "xla-explorer[gpu]"',
        )
    driver = CudaDriver(binding)
    try:
        driver.call("cuInit", 0)
        count = int(driver.call("cuDeviceGetCount"))
    except CudaError as problem:
        return refuse(
            "no-cuda-device", f"CUDA's driver answers: {problem.message}", status=problem.code
        )
    # cuda-bindings raises errors of its own kind when the driver's library is missing.
    except Exception as problem:
        return refuse(
            "no-cuda-driver", f"CUDA's driver could not be loaded: {str(problem).splitlines()[0]}"
        )
    if not count:
        return refuse("no-cuda-device", "CUDA's driver sees no device")
    return driver
