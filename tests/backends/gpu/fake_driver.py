"""An object with the functions of `cuda.bindings.driver` that the backend calls; kernels run on the emulator.

Checks what a real driver would: a current context, arguments of the right kind, memory that was allocated, events in order.
"""

from __future__ import annotations

import ctypes
import itertools
from enum import IntEnum
from types import SimpleNamespace

import numpy as np

from xla_explorer.backends.gpu.emulator import EmulatedKernel, GlobalMemory, parse_ptx


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


OK = CUresult.CUDA_SUCCESS


class FakeDriver:
    """calls: names of the functions called. devices: how many there are. fail: function -> error to answer once."""

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR="major",
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR="minor",
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT="multiprocessors",
    )
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL=1)
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared")

    def __init__(self, devices=1, capability=(9, 0)):
        self.devices, self.capability = devices, capability
        self.calls, self.fail = [], {}
        self.memory = GlobalMemory()
        self.clock = itertools.count()
        self.recording = None
        self.graphs, self.events = [], set()
        self.context = self.ptx = None

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if not name.startswith("cu"):
            return found

        def checked(*arguments):
            self.calls.append(name)
            if name in self.fail:
                return (self.fail.pop(name),) + (None,) * 2
            return found(*arguments)

        return checked

    # -- device and context
    def cuInit(self, flags):
        return (OK if self.devices else CUresult.CUDA_ERROR_NO_DEVICE,)

    def cuDeviceGetCount(self):
        return OK, self.devices

    def cuGetErrorString(self, status):
        return OK, f"what {status.name} means".encode()

    def cuDeviceGet(self, ordinal):
        assert 0 <= ordinal < self.devices
        return OK, ordinal

    def cuDevicePrimaryCtxRetain(self, device):
        return OK, "context"

    def cuCtxSetCurrent(self, context):
        self.context = context
        return (OK,)

    def cuDeviceGetAttribute(self, attribute, device):
        return OK, {"major": self.capability[0], "minor": self.capability[1], "multiprocessors": 132}[attribute]

    def cuDeviceGetName(self, length, device):
        return OK, b"NVIDIA FAKE" + bytes(length - 11)

    def cuDeviceTotalMem(self, device):
        return OK, 1 << 37

    def cuDriverGetVersion(self):
        return OK, 13000

    # -- memory
    def cuMemAlloc(self, size):
        assert self.context == "context" and isinstance(size, int) and size > 0
        return OK, self.memory.allocate(size)

    def cuMemFree(self, address):
        self.memory.release(address)
        return (OK,)

    def _do(self, stream, action):
        assert stream == "stream 1"
        if self.recording is not None:
            self.recording.append(action)
        else:
            action()
        return (OK,)

    def cuMemcpyHtoDAsync(self, target, source, size, stream):
        return self._do(stream, lambda: self.memory.write(target, np.frombuffer(ctypes.string_at(source, size), np.uint8)))

    def cuMemcpyDtoHAsync(self, target, source, size, stream):
        assert self.recording is None, "no copy to the host inside a graph"
        return self._do(stream, lambda: ctypes.memmove(target, self.memory.read(source, size).tobytes(), size))

    def cuMemcpyDtoDAsync(self, target, source, size, stream):
        return self._do(stream, lambda: self.memory.copy(source, target, size))

    # -- code
    def cuModuleLoadDataEx(self, image, count, options, values):
        assert count == 0 and options == [] and values == []
        text = self.ptx if image[:4] == b"\x7fELF" else image
        assert text.endswith(b"\0")
        return OK, parse_ptx(text.rstrip(b"\0").decode())

    def cuModuleGetFunction(self, module, name):
        kernel = module.kernels.get(name.decode())
        if kernel is None:
            return CUresult.CUDA_ERROR_NOT_FOUND, None
        return OK, EmulatedKernel(module, kernel, self.memory)

    def cuFuncSetAttribute(self, function, attribute, value):
        assert attribute == "shared"
        return (OK,)

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
        assert extra == 0
        values, types = parameters if parameters else ((), ())
        assert len(values) == len(types) and all(t is ctypes.c_void_p for t in types)

        def launch():
            result = function.launch((gx, gy, gz), (bx, by, bz), values, None, shared)
            assert result.findings == [], result.findings[0]

        return self._do(stream, launch)

    # -- queue
    def cuStreamCreate(self, flags):
        assert flags == 1
        return OK, "stream 1"

    def cuStreamSynchronize(self, stream):
        assert self.recording is None, "no waiting inside a graph"
        return (OK,)

    def cuEventCreate(self, flags):
        event = f"event {next(self.clock)}"
        self.events.add(event)
        return OK, event

    def cuEventRecord(self, event, stream):
        assert event in self.events
        return (OK,)

    def cuEventSynchronize(self, event):
        return (OK,)

    def cuEventElapsedTime(self, first, last):
        return OK, 0.25 * (int(last.split()[1]) - int(first.split()[1]))

    def cuEventDestroy(self, event):
        self.events.remove(event)
        return (OK,)

    # -- graphs
    def cuStreamBeginCapture(self, stream, mode):
        assert mode == 1
        self.recording = []
        return (OK,)

    def cuStreamEndCapture(self, stream):
        recorded, self.recording = self.recording, None
        return OK, recorded

    def cuGraphInstantiate(self, graph, flags):
        assert flags == 0
        self.graphs.append(graph)
        return OK, graph

    def cuGraphLaunch(self, graph, stream):
        for action in graph:
            action()
        return (OK,)

    def cuGraphDestroy(self, graph):
        return (OK,)

    def cuGraphExecDestroy(self, graph):
        self.graphs.remove(graph)
        return (OK,)
