"""An NVIDIA device: context, stream, pooled memory, modules, launches, events, graphs."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.backends.gpu.architecture import (
    ARCHITECTURES,
    BLOCKS_IN_GRID,
)
from xla_explorer.backends.gpu.device_executor import (
    Array,
    DeviceFacts,
    GpuExecutionError,
    PtxProgram,
)
from xla_explorer.backends.gpu.runtime.code_loading import load_program
from xla_explorer.backends.gpu.runtime.cuda_driver import CudaDriver, CudaError
from xla_explorer.backends.gpu.runtime.cuda_graphs import CudaGraphs
from xla_explorer.backends.gpu.runtime.pinned_memory import PinnedMemory
from xla_explorer.backends.gpu.runtime.tensor_map_encoding import (
    EncodedTensorMap,
    encode_tensor_map,
)
from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap
from xla_explorer.backends.interfaces import DeviceMemory
from xla_explorer.compiler.codegen.nest.launch import STATIC_SHARED_BYTES
from xla_explorer.foundation.diagnostic import XlaExplorerError

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.libraries.library_runner import LibraryRunner

_KEPT_TENSOR_MAPS = 4096
_KEPT_MODULES = 256  # of those that were loaded last; who still runs another one holds it


class OutOfDeviceMemoryError(GpuExecutionError, MemoryError):
    """The device has not so much memory left."""


class LoadedModule:
    """A module on the device.

    functions: those looked up so far. shared_limits: their bytes of dynamic shared memory. code:
    `cubin`, or `ptx` (compiled by the driver). made_by: see `load_program`. given_up: called with
    the module when it is garbage-collected.
    """

    def __init__(self, module: Any, code: str, given_up: list[Any]) -> None:
        weakref.finalize(self, given_up.append, module).atexit = False
        self.module, self.code, self.made_by = module, code, ""
        self.functions: dict[str, Any] = {}
        self.shared_limits: dict[str, int] = {}


class CudaExecutor:
    """See `DeviceExecutor`.

    Work is queued on a stream of its own. Released memory is kept by size for later requests.
    Threads may share it: a graph that one records does not contain work that others queue. stream:
    the default stream of work; recording changes it. lock: for calls of the driver. context: of the
    device.
    """

    def __init__(self, driver: CudaDriver, ordinal: int = 0) -> None:
        self.driver = driver
        self.device = driver.call("cuDeviceGet", ordinal)
        self.context = driver.call("cuDevicePrimaryCtxRetain", self.device)
        self._current = threading.local()
        self.lock = threading.RLock()
        self.enter()
        self.stream = self.create_stream()
        self._pinned = PinnedMemory(driver)
        self._tensor_maps: dict[PlacedTensorMap, EncodedTensorMap] = {}
        self._side_streams: dict[int, Any] = {}
        self._free: dict[int, list[int]] = {}
        self._modules: dict[tuple[str, str], LoadedModule] = {}
        self._given_up: list[Any] = []
        self._facts: DeviceFacts | None = None

    def enter(self) -> None:
        """Make the context current in the calling thread."""
        if not getattr(self._current, "entered", False):
            self.driver.call("cuCtxSetCurrent", self.context)
            self._current.entered = True

    @property
    def facts(self) -> DeviceFacts:
        """Facts of the device, read from the driver once."""
        if self._facts is None:
            d = self.driver
            major, minor = (
                d.attribute(self.device, f"COMPUTE_CAPABILITY_{part}")
                for part in ("MAJOR", "MINOR")
            )
            name = d.call("cuDeviceGetName", 256, self.device)
            text = name.split(b"\0", 1)[0].decode() if isinstance(name, bytes) else str(name)
            self._facts = DeviceFacts(
                text,
                nearest_architecture(10 * major + minor),
                d.attribute(self.device, "MULTIPROCESSOR_COUNT"),
                int(d.call("cuDeviceTotalMem", self.device)),
                int(d.call("cuDriverGetVersion")),
                self._attribute("CLOCK_RATE") / 1e6,  # kHz
                # Two transfers a clock (kHz), each as wide as the bus (bits).
                2
                * self._attribute("MEMORY_CLOCK_RATE")
                * self._attribute("GLOBAL_MEMORY_BUS_WIDTH")
                / 8
                / 1e6,
                self._attribute("L2_CACHE_SIZE"),
            )
        return self._facts

    def _attribute(self, name: str) -> int:
        """Return an attribute of the device, 0 if the driver or the binding lacks it."""
        try:
            return self.driver.attribute(self.device, name)
        except (CudaError, AttributeError):
            return 0

    # -- memory ------------------------------------------------------------------------------------
    def allocate(self, size: int) -> DeviceMemory:
        """Allocate memory aligned to 256 bytes.

        OutOfDeviceMemoryError (a MemoryError) with the requested and the available size.
        """
        self.enter()
        room = _room(size)
        with self.lock:
            kept = self._free.get(room)
            if kept:
                return DeviceMemory(kept.pop(), size, self)
        try:
            return DeviceMemory(int(self.driver.call("cuMemAlloc", room)), size, self)
        except CudaError as problem:
            if problem.code != "CUDA_ERROR_OUT_OF_MEMORY":
                raise
        self.release_unused()
        try:
            return DeviceMemory(int(self.driver.call("cuMemAlloc", room)), size, self)
        except CudaError as again:
            free, total = self.driver.call("cuMemGetInfo")
            raise OutOfDeviceMemoryError(
                f"the device has no {size:,} bytes left: {int(free):,} of its {int(total):,} are "
                "free",
                "use smaller shapes, or free other programs' memory",
            ) from again

    def allocate_named(self, size: int, name: str) -> DeviceMemory:
        """See `DeviceExecutor`; the name is of no use here."""
        return self.allocate(size)

    def deallocate(self, memory: DeviceMemory) -> None:
        """Keep the memory for the next request of its size.

        Work on the stream that uses it comes before that of the next owner.
        """
        if memory.handle is not None:
            with self.lock:
                self._free.setdefault(_room(memory.size), []).append(memory.address)
            memory.handle = None

    def release_unused(self) -> None:
        """Give the memory that nothing uses back to the device."""
        self._synchronize_all()
        with self.lock:
            self._pinned.release()
            while self._free:
                for address in self._free.popitem()[1]:
                    self.driver.call("cuMemFree", address)
        self._unload_given_up()

    def copy_to_device(
        self, target: DeviceMemory, data: bytes | memoryview, stream: Any = None
    ) -> None:
        """Copy bytes to the device; ValueError if they do not fit."""
        if len(data) > target.size:
            raise ValueError(
                f"{len(data)} bytes do not fit into {target.size} bytes of device memory"
            )
        self.write(target.address, np.frombuffer(data, np.uint8), stream)
        self.synchronize(stream)

    def copy_from_device(self, source: DeviceMemory, size: int, stream: Any = None) -> bytes:
        """Copy bytes to the host. ValueError for more than the memory has."""
        if size > source.size:
            raise ValueError(f"cannot read {size} bytes from a device memory of {source.size}")
        data = np.empty(size, np.uint8)
        self.read(source.address, data, stream)
        return data.tobytes()

    def write(self, address: int, data: Array, stream: Any = None) -> None:
        """See `DeviceExecutor`."""
        if data.nbytes:
            self.enter()
            queue = self.stream if stream is None else stream
            with self.lock:
                piece = self._pinned.staged(data)
                source = data.ctypes.data if piece is None else piece[0]
                self.driver.call("cuMemcpyHtoDAsync", address, source, data.nbytes, queue)
                if piece is not None:
                    event = self.create_event()
                    self.driver.call("cuEventRecord", event, queue)
                    self._pinned.in_use(piece, event)

    def read(self, address: int, target: Array, stream: Any = None) -> None:
        """See `DeviceExecutor`."""
        if target.nbytes:
            self.enter()
            with self.lock:
                self.driver.call(
                    "cuMemcpyDtoHAsync",
                    target.ctypes.data,
                    address,
                    target.nbytes,
                    self.stream if stream is None else stream,
                )
                self.synchronize(stream)

    def copy_on_device(self, source: int, target: int, size: int, stream: Any = None) -> None:
        """See `DeviceExecutor`."""
        if size:
            self.enter()
            with self.lock:
                self.driver.call(
                    "cuMemcpyDtoDAsync",
                    target,
                    source,
                    size,
                    self.stream if stream is None else stream,
                )

    # -- kernels -----------------------------------------------------------------------------------
    def load(self, code: bytes, exports: list[str]) -> LoadedModule:
        """Load a cubin, or PTX text that the driver compiles."""
        self.enter()
        image = code if code[:4] == b"\x7fELF" else code.rstrip(b"\0") + b"\0"
        loaded = LoadedModule(
            self.driver.load_module(image), "cubin" if image is code else "ptx", self._given_up
        )
        for name in exports:
            self.function(loaded, name)
        return loaded

    def load_ptx(self, program: PtxProgram) -> LoadedModule:
        """See `DeviceExecutor`.

        GpuExecutionError when neither ptxas, nvJitLink nor the driver makes code of the text.
        """
        key = (program.text, program.architecture)
        with self.lock:
            found = self._modules.pop(key, None)
            if found is None:
                self._unload_given_up()
                found, way = load_program(program, lambda code: self.load(code, []))
                found.made_by = way
            self._modules[key] = found  # the last one of the dictionary: used last
            if len(self._modules) > _KEPT_MODULES:
                del self._modules[next(iter(self._modules))]
        return found

    def _unload_given_up(self) -> None:
        """Unload modules that nothing holds, once the work that used them is done."""
        if self._given_up:
            self._synchronize_all()
            while self._given_up:
                self.driver.discard("cuModuleUnload", self._given_up.pop())

    def function(self, loaded: LoadedModule, name: str) -> Any:
        """Return a kernel's handle."""
        found = loaded.functions.get(name)
        if found is None:
            found = loaded.functions[name] = self.driver.call(
                "cuModuleGetFunction", loaded.module, name.encode()
            )
        return found

    def launch(
        self, loaded: LoadedModule, function: str, arguments: list[int], stream: Any = None
    ) -> None:
        """Launch one block of one thread."""
        self.launch_kernel(loaded, function, 1, 1, arguments, 0, stream)

    def launch_kernel(
        self,
        loaded: LoadedModule,
        function: str,
        grid: int,
        block: int,
        arguments: Sequence[int | PlacedTensorMap],
        shared: int,
        stream: Any = None,
    ) -> None:
        """See `DeviceExecutor`.

        GpuExecutionError for a grid that no launch may have; one of no blocks does nothing.
        """
        self.enter()
        if grid == 0:  # CUDA refuses what has nothing to do
            return
        if grid > BLOCKS_IN_GRID:
            raise GpuExecutionError(
                f"{function}: a launch has at most {BLOCKS_IN_GRID} blocks, {grid} are requested "
                "for",
                "use smaller shapes",
            )
        handle = self.function(loaded, function)
        if shared > loaded.shared_limits.get(function, STATIC_SHARED_BYTES):
            wanted = self.driver.binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.driver.call("cuFuncSetAttribute", handle, wanted, shared)
            loaded.shared_limits[function] = shared
        values = tuple(
            [self._tensor_map(a) if isinstance(a, PlacedTensorMap) else a for a in arguments]
        )
        # None: the value has its own address.
        types = tuple(
            [None if isinstance(a, PlacedTensorMap) else ctypes.c_void_p for a in arguments]
        )
        queue = self.stream if stream is None else stream
        with self.lock:
            self.driver.call(
                "cuLaunchKernel",
                handle,
                grid,
                1,
                1,
                block,
                1,
                1,
                shared,
                queue,
                (values, types) if values else 0,
                0,
            )

    def _tensor_map(self, placed: PlacedTensorMap) -> EncodedTensorMap:
        """Return the driver's 128 bytes of a tensor map, made once for each address."""
        found = self._tensor_maps.get(placed)
        if found is None:
            if len(self._tensor_maps) >= _KEPT_TENSOR_MAPS:
                self._tensor_maps.clear()
            found = self._tensor_maps[placed] = encode_tensor_map(self.driver, placed)
        return found

    # -- the queue ---------------------------------------------------------------------------------
    def create_stream(self) -> Any:
        """Create a stream that does not wait for the default stream."""
        self.enter()
        return self.driver.call(
            "cuStreamCreate", int(self.driver.binding.CUstream_flags.CU_STREAM_NON_BLOCKING)
        )

    def synchronize(self, stream: Any = None) -> None:
        """Wait; errors of kernels that were queued come up here."""
        self.enter()
        with self.lock:
            self.driver.call("cuStreamSynchronize", self.stream if stream is None else stream)

    def _synchronize_all(self) -> None:
        for stream in (None, *self._side_streams.values()):
            self.synchronize(stream)

    def record_event(self, stream: Any = None) -> Any:
        """See `DeviceExecutor`."""
        self.enter()
        with self.lock:
            event = self.driver.call("cuEventCreate", 0)
            self.driver.call("cuEventRecord", event, self.stream if stream is None else stream)
        return event

    def side_stream(self, number: int) -> Any:
        """See `DeviceExecutor`. Created on first use."""
        with self.lock:
            if number not in self._side_streams:
                self._side_streams[number] = self.create_stream()
            return self._side_streams[number]

    def create_event(self) -> Any:
        """See `DeviceExecutor`."""
        self.enter()
        return self.driver.call(
            "cuEventCreate", int(self.driver.binding.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        )

    def destroy_event(self, event: Any) -> None:
        """See `DeviceExecutor`."""
        self.driver.discard("cuEventDestroy", event)

    def wait_for(self, stream: Any, other: Any, event: Any) -> None:
        """See `DeviceExecutor`."""
        self.enter()
        with self.lock:
            self.driver.call("cuEventRecord", event, self.stream if other is None else other)
            self.driver.call(
                "cuStreamWaitEvent", self.stream if stream is None else stream, event, 0
            )

    def stream_address(self, stream: Any) -> int:
        """See `DeviceExecutor`."""
        return int(self.stream if stream is None else stream)

    @cached_property
    def libraries(self) -> LibraryRunner:
        """NVIDIA's libraries on this device."""
        from xla_explorer.backends.gpu.libraries.library_runner import LibraryRunner

        return LibraryRunner(self)

    def elapsed_us(self, first: Any, last: Any) -> float:
        """See `DeviceExecutor`. The events are gone afterwards."""
        self.enter()
        self.driver.call("cuEventSynchronize", last)
        milliseconds = float(self.driver.call("cuEventElapsedTime", first, last))
        for event in (first, last):
            self.driver.discard("cuEventDestroy", event)
        return milliseconds * 1e3

    @cached_property
    def graphs(self) -> CudaGraphs:
        """Graphs of this device's work."""
        return CudaGraphs(self)


def _room(size: int) -> int:
    """Return the request rounded up, so that requests of similar sizes share memory."""
    return -(-max(size, 1) // 512) * 512


def nearest_architecture(capability: int) -> str:
    """Return the newest known architecture that a device of a compute capability (90 is 9.0) runs.

    It has its own instructions (sm_90a) if the capability is equal. XlaExplorerError for older
    devices.
    """
    if f"sm_{capability}a" in ARCHITECTURES:
        return f"sm_{capability}a"
    known = sorted(int(name[3:]) for name in ARCHITECTURES if name[3:].isdigit())
    fitting = [number for number in known if number <= capability]
    if not fitting:
        raise XlaExplorerError(
            f"devices of compute capability {capability / 10} are too old",
            f"the oldest is sm_{known[0]}",
        )
    return f"sm_{fitting[-1]}"
