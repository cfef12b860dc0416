"""Choice of the device for GPU programs: an NVIDIA one if a driver answers, else the emulator.

A warning reports the emulator once per process.
"""

from __future__ import annotations

from functools import cache

from xla_explorer.backends.gpu.device_executor import DeviceExecutor
from xla_explorer.backends.gpu.runtime.cuda_driver import find_driver
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor
from xla_explorer.backends.gpu.runtime.emulated_executor import EmulatedExecutor
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.warning import warn

_said: set[str] = set()


class EmulatedDeviceWarning(UserWarning):
    """GPU programs run on the built-in emulator: values are right, times are not of a device."""


@cache
def cuda_executor() -> CudaExecutor | Reason:
    """Return the first CUDA device, or the reason against it."""
    driver = find_driver()
    return driver if isinstance(driver, Reason) else CudaExecutor(driver)


@cache
def emulated_executor() -> EmulatedExecutor:
    """Return the emulator of this process."""
    return EmulatedExecutor()


def device_executor(requested: str = "auto") -> tuple[DeviceExecutor, Reason | None]:
    """Return the device, and the reason for the emulator. requested: `auto`, `cuda` or `emulator`.

    XlaExplorerError if `cuda` is requested and unavailable, with the reason.
    """
    if requested == "emulator":
        return emulated_executor(), None
    if requested not in ("auto", "cuda"):
        raise XlaExplorerError(
            f"unknown device {requested!r}", "choose from auto, cuda or emulator"
        )
    found = cuda_executor()
    if not isinstance(found, Reason):
        return found, None
    if requested == "cuda":
        raise XlaExplorerError(found.message, 'run with device="emulator"')
    return emulated_executor(), found


def warn_once(why: Reason) -> None:
    """Warn that programs run on the emulator, once per reason and process."""
    if why.code not in _said:
        _said.add(why.code)
        warn(f"GPU programs run on the built-in PTX emulator: {why.message}", EmulatedDeviceWarning)
