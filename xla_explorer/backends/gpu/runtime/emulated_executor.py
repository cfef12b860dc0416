"""The emulator as a device: memory, kernels from PTX text, one queue that runs at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.architecture import DEFAULT_ARCHITECTURE, gpu_architecture
from xla_explorer.backends.gpu.device_executor import (
    Array,
    DeviceFacts,
    KernelFaultError,
    PtxProgram,
)
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    Finding,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)
from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap
from xla_explorer.backends.interfaces import DeviceMemory

EmulatedProgram = dict[str, EmulatedKernel]
_KEPT_PROGRAMS = 256  # of those that ran last; who still runs another one holds it


class LaunchReachedError(Exception):
    """The launch before which an executor had to stop, for a caller that steps through it."""

    def __init__(
        self,
        kernel: EmulatedKernel,
        grid: int,
        block: int,
        arguments: Sequence[int | PlacedTensorMap],
        shared: int,
    ) -> None:
        super().__init__(kernel.name)
        self.kernel, self.grid, self.block, self.arguments, self.shared = (
            kernel,
            grid,
            block,
            arguments,
            shared,
        )


class EmulatedExecutor:
    """See `DeviceExecutor`.

    findings: None raises at the first launch with a fault; a list collects them. stop_before: a
    kernel instead of whose first launch LaunchReachedError is raised.
    """

    def __init__(
        self,
        options: LaunchOptions | None = None,
        findings: list[Finding] | None = None,
        stop_before: str | None = None,
    ) -> None:
        self.stop_before = stop_before
        self.memory = GlobalMemory()
        self.options = options or LaunchOptions()
        self.findings = findings
        self._programs: dict[str, EmulatedProgram] = {}

    @property
    def facts(self) -> DeviceFacts:
        """Facts of the emulated device, of the default architecture."""
        architecture = gpu_architecture(DEFAULT_ARCHITECTURE)
        return DeviceFacts("PTX emulator", architecture.name, architecture.multiprocessors, 0, 0)

    @property
    def graphs(self) -> None:
        """Every run is emulated anew."""

    @property
    def libraries(self) -> None:
        """No library computes in the emulator's memory."""

    # -- memory ------------------------------------------------------------------------------------
    def allocate(self, size: int) -> DeviceMemory:
        """Allocate memory without initial values."""
        return self.allocate_named(size, "")

    def allocate_named(self, size: int, name: str) -> DeviceMemory:
        """See `DeviceExecutor`."""
        return DeviceMemory(self.memory.allocate(size, name), size, self)

    def deallocate(self, memory: DeviceMemory) -> None:
        """Free memory; later accesses are out of bounds."""
        if memory.handle is not None:
            self.memory.release(memory.address)
            memory.handle = None

    def copy_to_device(
        self, target: DeviceMemory, data: bytes | memoryview, stream: Any = None
    ) -> None:
        """Copy bytes to the emulated memory; ValueError if they do not fit."""
        if len(data) > target.size:
            raise ValueError(
                f"{len(data)} bytes do not fit into {target.size} bytes of device memory"
            )
        self.memory.write(target.address, np.frombuffer(data, np.uint8))

    def copy_from_device(self, source: DeviceMemory, size: int, stream: Any = None) -> bytes:
        """Copy bytes to the host. ValueError for more than the memory has."""
        if size > source.size:
            raise ValueError(f"cannot read {size} bytes from a device memory of {source.size}")
        return self.memory.read(source.address, size).tobytes()

    def write(self, address: int, data: Array, stream: Any = None) -> None:
        """See `DeviceExecutor`."""
        self.memory.write(address, data.reshape(-1).view(np.uint8))

    def read(self, address: int, target: Array, stream: Any = None) -> None:
        """See `DeviceExecutor`."""
        target.reshape(-1).view(np.uint8)[:] = self.memory.read(address, target.nbytes)

    def copy_on_device(self, source: int, target: int, size: int, stream: Any = None) -> None:
        """See `DeviceExecutor`."""
        self.memory.copy(source, target, size)

    # -- kernels -----------------------------------------------------------------------------------
    def load(self, code: bytes, exports: list[str]) -> EmulatedProgram:
        """Parse the kernels of PTX text."""
        return self.load_ptx(PtxProgram(code.decode(), DEFAULT_ARCHITECTURE, ()))

    def load_ptx(self, program: PtxProgram) -> EmulatedProgram:
        """See `DeviceExecutor`. UnsupportedPtxError names the unsupported instruction."""
        found = self._programs.pop(program.text, None)
        if found is None:
            module = parse_ptx(program.text, program.origins or None)
            found = {
                name: EmulatedKernel(module, kernel, self.memory)
                for name, kernel in module.kernels.items()
            }
        self._programs[program.text] = found  # the last one of the dictionary: used last
        if len(self._programs) > _KEPT_PROGRAMS:
            del self._programs[next(iter(self._programs))]
        return found

    def launch(
        self, loaded: EmulatedProgram, function: str, arguments: list[int], stream: Any = None
    ) -> None:
        """Launch one block of the kernel's own size."""
        self.launch_kernel(
            loaded, function, 1, loaded[function].code.kernel.threads or 1, arguments, 0
        )

    def launch_kernel(
        self,
        loaded: EmulatedProgram,
        function: str,
        grid: int,
        block: int,
        arguments: Sequence[int | PlacedTensorMap],
        shared: int,
        stream: Any = None,
    ) -> None:
        """See `DeviceExecutor`. KernelFaultError when faults are found and are not collected."""
        kernel = loaded[function]
        if function == self.stop_before:
            raise LaunchReachedError(kernel, grid, block, arguments, shared)
        result = kernel.launch(grid, block, arguments, self.options, shared)
        if not result.findings:
            return
        if self.findings is None:
            raise KernelFaultError(result.findings)
        self.findings.extend(result.findings)

    # -- the queue ---------------------------------------------------------------------------------
    def create_stream(self) -> Any:
        """Return None: all work runs in the calling thread."""
        return None

    def synchronize(self, stream: Any = None) -> None:
        """Do nothing: every call has finished."""

    def record_event(self, stream: Any = None) -> float:
        """Return the current time of the emulator, which is unrelated to a device's time."""
        return time.perf_counter()

    def side_stream(self, number: int) -> Any:
        """Return None: all work runs in the calling thread."""
        return None

    def create_event(self) -> Any:
        """Return None: no event has anything to wait for."""
        return None

    def destroy_event(self, event: Any) -> None:
        """Do nothing: an event holds no resource."""

    def wait_for(self, stream: Any, other: Any, event: Any) -> None:
        """Do nothing: every call has finished."""

    def stream_address(self, stream: Any) -> int:
        """Return 0: the emulator has no C interface."""
        return 0

    def elapsed_us(self, first: float, last: float) -> float:
        """Return the microseconds that the emulator took."""
        return (last - first) * 1e6
