"""A fake of the `cuda.bindings.driver` functions in use; kernels run on the emulator.

Checks what a real driver would: a current context, arguments of the right kind, memory that was
allocated, events in order.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from enum import IntEnum
from types import SimpleNamespace

import numpy as np

from tests.backends.gpu.order_checker import OrderChecker
from xla_explorer.backends.gpu.emulator import EmulatedKernel, GlobalMemory, parse_ptx
from xla_explorer.backends.gpu.emulator.memory import GLOBAL_BASE
from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap, TensorMap


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901


OK = CUresult.CUDA_SUCCESS
_WITH_A_RESULT = {
    "cuModuleLoadDataEx",
    "cuMemAlloc",
    "cuMemHostAlloc",
    "cuStreamEndCapture",
    "cuGraphAddNode",
}  # that tests let fail
# The emulator's form of a call of `cudaGraphSetConditional`: handles are addresses here.
_SET_CONDITION = re.compile(rb"\{[^{}]*cudaGraphSetConditional, \(handle, value\);[^{}]*\}")


class FakeDriverLibrary:
    """Functions of the driver's shared object."""

    def __init__(self, driver):
        self.driver = driver

        def encode(
            target,
            kind,
            rank,
            address,
            dimensions,
            strides,
            box,
            steps,
            interleave,
            swizzle,
            promotion,
            fill,
        ):
            for given, wanted in zip(
                (target, kind, rank, address), getattr(encode, "argtypes", ()), strict=False
            ):
                wanted.from_param(given)
            if target % 64 or address % 16:
                return int(CUresult.CUDA_ERROR_INVALID_VALUE)
            assert (
                set(steps) == {1}
                and (interleave, promotion, fill) == (0, 3, 0)
                and len(dimensions) == len(box) == rank
            )
            element = {9: "bf16", 6: "f16"}[kind]
            made = TensorMap(
                -1,
                element,
                2,
                tuple(dimensions),
                tuple(strides)[: rank - 1],
                tuple(box),
                {0: 0, 3: 128}[swizzle],
            )
            driver.maps[target] = PlacedTensorMap(made, address)
            driver.calls.append("cuTensorMapEncodeTiled")
            return 0

        self.cuTensorMapEncodeTiled = encode


class FakeDriver:
    """calls: names of the functions called.

    devices: how many there are. fail: function -> error to answer once.

    accesses: kernel -> (bytes, whether read, whether written) of each argument; where it is known,
    `order` proves that streams wait.
    """

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR="major",
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR="minor",
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT="multiprocessors",
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE="clock",
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE="memory clock",
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH="bus",
    )
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL=1)
    CUgraphNodeType = SimpleNamespace(CU_GRAPH_NODE_TYPE_CONDITIONAL=13)
    CUgraphConditionalNodeType = SimpleNamespace(
        CU_GRAPH_COND_TYPE_WHILE=1, CU_GRAPH_COND_TYPE_SWITCH=2
    )
    CUstreamUpdateCaptureDependencies_flags = SimpleNamespace(CU_STREAM_SET_CAPTURE_DEPENDENCIES=1)
    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUtensorMapDataType = SimpleNamespace(
        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16=9, CU_TENSOR_MAP_DATA_TYPE_FLOAT16=6
    )
    CUtensorMapInterleave = SimpleNamespace(CU_TENSOR_MAP_INTERLEAVE_NONE=0)
    CUtensorMapSwizzle = SimpleNamespace(CU_TENSOR_MAP_SWIZZLE_NONE=0, CU_TENSOR_MAP_SWIZZLE_128B=3)
    CUtensorMapL2promotion = SimpleNamespace(CU_TENSOR_MAP_L2_PROMOTION_L2_256B=3)
    CUtensorMapFloatOOBfill = SimpleNamespace(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE=0)
    CUresult = CUresult
    CUjit_option = SimpleNamespace(CU_JIT_ERROR_LOG_BUFFER=5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES=6)
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared")

    def __init__(self, devices=1, capability=(9, 0), multiprocessors=132):
        self.devices, self.capability, self.multiprocessors = devices, capability, multiprocessors
        self.calls, self.fail = [], {}
        self.memory = GlobalMemory()
        self.clock = itertools.count()
        self.CUDA_VERSION = 13000
        self.CUgraphNodeParams = lambda: SimpleNamespace(type=None, conditional=SimpleNamespace())
        self.CUgraphConditionalHandle = int
        self.recordings = []  # (its stream, graph) of those that are inside each other
        self.graphs, self.events = [], {}
        self.streams, self.pinned, self.sizes = [], {}, {}
        self.unloaded, self.shared = [], {}
        self.library, self.maps = FakeDriverLibrary(self), {}
        self.order, self.accesses = OrderChecker(GLOBAL_BASE), {}
        self.context = self.ptx = None

    @property
    def recording(self):
        """The graph that is being recorded; of the innermost body where there are several."""
        return self.recordings[-1][1] if self.recordings else None

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if not name.startswith("cu"):
            return found

        def checked(*arguments):
            self.calls.append(name)
            if name in self.fail:
                if name == "cuModuleLoadDataEx":
                    arguments[3][0][:8] = b"planted\0"
                elif name == "cuStreamEndCapture":
                    self.recordings.pop()
                return (
                    (self.fail.pop(name), None)
                    if name in _WITH_A_RESULT
                    else (self.fail.pop(name),)
                )
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
        facts = {
            "major": self.capability[0],
            "minor": self.capability[1],
            "multiprocessors": self.multiprocessors,
        }
        return OK, (facts | {"clock": 1_980_000, "memory clock": 3_201_000, "bus": 6144})[attribute]

    def cuDeviceGetName(self, length, device):
        return OK, b"NVIDIA FAKE" + bytes(length - 11)

    def cuDeviceTotalMem(self, device):
        return OK, 1 << 37

    def cuDriverGetVersion(self):
        return OK, 13000

    # -- memory
    def cuMemAlloc(self, size):
        assert self.context == "context" and isinstance(size, int) and size > 0
        address = self.memory.allocate(size)
        self.sizes[address] = size
        return OK, address

    def cuMemGetInfo(self):
        return OK, (1 << 37) - sum(self.sizes.values()), 1 << 37

    def cuMemFree(self, address):
        self.order.free(address, self.sizes.pop(address))
        self.memory.release(address)
        return (OK,)

    def cuMemHostAlloc(self, size, flags):
        assert flags == 0
        buffer = ctypes.create_string_buffer(size)
        self.pinned[ctypes.addressof(buffer)] = buffer
        return OK, ctypes.addressof(buffer)

    def cuMemFreeHost(self, address):
        del self.pinned[address]
        return (OK,)

    def _do(self, stream, action, name="", reads=(), writes=()):
        assert stream in self.streams
        self.order.queue(stream, name, list(reads), list(writes))
        if self.recording is not None:
            assert len(self.recordings) == 1 or stream == self.recordings[-1][0], (
                "what is inside goes to the stream of the body"
            )
            self.recording.append(action)
        else:
            action()
        return (OK,)

    def cuMemcpyHtoDAsync(self, target, source, size, stream):
        def copy():
            self.memory.write(target, np.frombuffer(ctypes.string_at(source, size), np.uint8))

        return self._do(stream, copy, "copy to the device", (), [(target, size)])

    def cuMemcpyDtoHAsync(self, target, source, size, stream):
        assert self.recording is None, "no copy to the host inside a graph"

        def copy():
            ctypes.memmove(target, self.memory.read(source, size).tobytes(), size)

        return self._do(stream, copy, "copy to the host", [(source, size)])

    def cuMemcpyDtoDAsync(self, target, source, size, stream):
        return self._do(
            stream,
            lambda: self.memory.copy(source, target, size),
            "copy",
            [(source, size)],
            [(target, size)],
        )

    # -- code
    def cuModuleLoadDataEx(self, image, count, options, values):
        assert options == [5, 6] and count == 2 and len(values[0]) == values[1]
        text = self.ptx if image[:4] == b"\x7fELF" else image
        assert text.endswith(b"\0")
        text = _SET_CONDITION.sub(b"st.global.u32 [%rd1], %r1;", text)
        text = b"".join(
            [
                line
                for line in text.splitlines(keepends=True)
                if not line.startswith(b".extern .func cudaGraphSetConditional")
            ]
        )
        return OK, parse_ptx(text.rstrip(b"\0").decode())

    def cuModuleGetFunction(self, module, name):
        kernel = module.kernels.get(name.decode())
        if kernel is None:
            return CUresult.CUDA_ERROR_NOT_FOUND, None
        return OK, EmulatedKernel(module, kernel, self.memory)

    def cuModuleUnload(self, module):
        self.unloaded.append(module)
        return (OK,)

    def cuFuncSetAttribute(self, function, attribute, value):
        assert attribute == "shared" and 48 << 10 < value <= 227 << 10
        self.shared[function] = value
        return (OK,)

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
        assert extra == 0
        assert (
            all(n > 0 for n in (gx, gy, gz, bx, by, bz))
            and bx * by * bz <= 1024
            and max(gy, gz) < 1 << 16
        )
        assert shared <= self.shared.get(function, 48 << 10)
        values, types = parameters if parameters else ((), ())
        assert len(values) == len(types)
        values = [
            self.maps[v.getPtr()] if t is None else v for v, t in zip(values, types, strict=True)
        ]
        assert set(types) <= {None, ctypes.c_void_p} and all(
            isinstance(v, (int, PlacedTensorMap)) for v in values
        )

        def launch():
            result = function.launch((gx, gy, gz), (bx, by, bz), values, None, shared)
            assert result.findings == [], result.findings[0]

        name = function.code.kernel.name
        known = list(zip(values, self.accesses.get(name, ()), strict=False))
        reads, writes = ([(v, a[0]) for v, a in known if a[k]] for k in (1, 2))
        return self._do(stream, launch, name, reads, writes)

    # -- queue
    def cuStreamCreate(self, flags):
        assert flags == 1
        self.streams.append(1000 + len(self.streams))
        return OK, self.streams[-1]

    def cuStreamSynchronize(self, stream):
        assert self.recording is None, "no waiting inside a graph"
        self.order.synchronize(self.order.record(stream))
        return (OK,)

    def cuStreamWaitEvent(self, stream, event, flags):
        assert flags == 0 and stream in self.streams
        self.order.wait(stream, self.events[event][1])
        return (OK,)

    def cuEventCreate(self, flags):
        assert flags in (0, 2)
        event = next(self.clock)
        self.events[event] = [flags, None, None]
        return OK, event

    def cuEventRecord(self, event, stream):
        self.events[event][1:] = self.order.record(stream), next(self.clock)
        return (OK,)

    def cuEventQuery(self, event):
        return (OK,)

    def cuEventSynchronize(self, event):
        self.order.synchronize(self.events[event][1])
        return (OK,)

    def cuEventElapsedTime(self, first, last):
        assert self.events[first][0] == self.events[last][0] == 0, "these events have no time"
        return OK, 0.25 * (self.events[last][2] > self.events[first][2])

    def cuEventDestroy(self, event):
        del self.events[event]
        return (OK,)

    # -- graphs
    def cuStreamBeginCapture(self, stream, mode):
        assert mode == 1 and not self.recordings
        self.recordings.append((stream, []))
        return (OK,)

    def cuStreamBeginCaptureToGraph(self, stream, graph, nodes, edges, count, mode):
        assert (
            mode == 1
            and not nodes
            and not edges
            and count == 0
            and graph == []
            and stream not in [s for s, _ in self.recordings]
        )
        self.order.wait(
            stream, self.order.record(self.recordings[-1][0])
        )  # a body comes after what is before its node
        self.recordings.append((stream, graph))
        return (OK,)

    def cuStreamEndCapture(self, stream):
        by, graph = self.recordings.pop()
        assert by == stream
        if self.recordings:
            self.order.wait(self.recordings[-1][0], self.order.record(stream))
        return OK, graph

    def cuStreamGetCaptureInfo(self, stream):
        by, graph = self.recordings[-1]
        assert by == stream
        nodes = [len(graph)] if graph else []
        return OK, 1, 7, graph, nodes, [None] * len(nodes), len(nodes)

    def cuStreamUpdateCaptureDependencies(self, stream, nodes, edges, count, flags):
        by, graph = self.recordings[-1]
        assert by == stream and flags == 1 and nodes == [len(graph)] and count == 1 and not edges
        return (OK,)

    def cuGraphConditionalHandleCreate(self, graph, context, default, flags):
        assert graph is self.recording and context == self.context and (default, flags) == (0, 0)
        return OK, self.memory.allocate(4)

    def cuGraphAddNode(self, graph, nodes, edges, count, made):
        before = [len(graph)] if graph else []
        assert (
            graph is self.recording and not edges and list(nodes) == before and count == len(before)
        )
        assert made.type == 13 and made.conditional.ctx == self.context
        handle, kind, bodies = (
            int(made.conditional.handle),
            made.conditional.type,
            [[] for _ in range(made.conditional.size)],
        )

        def value():
            return int(self.memory.read(handle, 4).view(np.uint32)[0])

        def run(body):
            for action in body:
                action()

        def decide():
            if kind == 2:
                run(bodies[value()] if value() < len(bodies) else ())
            while kind == 1 and value():
                run(bodies[0])

        graph.append(decide)
        made.conditional.phGraph_out = bodies
        return OK, len(graph)

    def cuGraphInstantiate(self, graph, flags):
        assert flags == 0
        self.graphs.append(graph)
        return OK, graph

    def cuGraphLaunch(self, graph, stream):
        assert stream in self.streams
        for action in graph:
            action()
        return (OK,)

    def cuGraphDestroy(self, graph):
        return (OK,)

    def cuGraphExecDestroy(self, graph):
        self.graphs.remove(graph)
        return (OK,)
