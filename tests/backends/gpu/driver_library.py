"""The fake driver as a shared library, `libcuda.so.1`, that NVIDIA's cuda-bindings call.

So what is passed goes through the bindings' conversions and C's calling convention. Signatures are
those of cuda.h (CUDA 13), written down here by hand: function -> what C takes, where `Out(type)` is
a pointer that a result is written to.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from tests.backends.gpu.fake_driver import OK, CUresult
from xla_explorer.backends.gpu.runtime.cuda_driver import CudaDriver, CudaError

INT, UNSIGNED, SIZE, LONG, POINTER = (
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.c_uint64,
    ctypes.c_void_p,
)
ADDRESS = ctypes.c_uint64  # CUdeviceptr
_TENSOR_MAP = (
    POINTER,
    INT,
    UNSIGNED,
    POINTER,
    POINTER,
    POINTER,
    POINTER,
    POINTER,
    INT,
    INT,
    INT,
    INT,
)


class Out(NamedTuple):
    """A result of a type; what the fake answers is made a handle where it is an object."""

    type: Any


class Handle(NamedTuple):
    """An argument that was such a result: the fake gets the object back."""


SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (UNSIGNED,),
    "cuDriverGetVersion": (Out(INT),),
    "cuDeviceGetCount": (Out(INT),),
    "cuDeviceGet": (Out(INT), INT),
    "cuDeviceGetAttribute": (Out(INT), INT, INT),
    "cuDeviceTotalMem": (Out(SIZE), INT),
    "cuDevicePrimaryCtxRetain": (Out(POINTER), INT),
    "cuCtxSetCurrent": (Handle(),),
    "cuMemGetInfo": (Out(SIZE), Out(SIZE)),
    "cuMemAlloc": (Out(ADDRESS), SIZE),
    "cuMemFree": (ADDRESS,),
    "cuMemHostAlloc": (Out(POINTER), SIZE, UNSIGNED),
    "cuMemFreeHost": (POINTER,),
    "cuMemcpyHtoDAsync": (ADDRESS, POINTER, SIZE, Handle()),
    "cuMemcpyDtoHAsync": (POINTER, ADDRESS, SIZE, Handle()),
    "cuMemcpyDtoDAsync": (ADDRESS, ADDRESS, SIZE, Handle()),
    "cuModuleGetFunction": (Out(POINTER), Handle(), ctypes.c_char_p),
    "cuModuleUnload": (Handle(),),
    "cuFuncSetAttribute": (Handle(), INT, INT),
    "cuStreamCreate": (Out(POINTER), UNSIGNED),
    "cuStreamSynchronize": (Handle(),),
    "cuStreamWaitEvent": (Handle(), Handle(), UNSIGNED),
    "cuEventCreate": (Out(POINTER), UNSIGNED),
    "cuEventRecord": (Handle(), Handle()),
    "cuEventQuery": (Handle(),),
    "cuEventSynchronize": (Handle(),),
    "cuEventElapsedTime": (Out(ctypes.c_float), Handle(), Handle()),
    "cuEventDestroy": (Handle(),),
    "cuStreamBeginCapture": (Handle(), INT),
    "cuStreamEndCapture": (Handle(), Out(POINTER)),
    "cuStreamBeginCaptureToGraph": (Handle(), Handle(), POINTER, POINTER, SIZE, INT),
    "cuGraphConditionalHandleCreate": (Out(LONG), Handle(), Handle(), UNSIGNED, UNSIGNED),
    "cuGraphInstantiate": (Out(POINTER), Handle(), LONG),
    "cuGraphLaunch": (Handle(), Handle()),
    "cuGraphDestroy": (Handle(),),
    "cuGraphExecDestroy": (Handle(),),
    # By hand below: texts, structures and arrays.
    "cuGetErrorString": (INT, POINTER),
    "cuDeviceGetName": (POINTER, INT, INT),
    "cuModuleLoadDataEx": (POINTER, POINTER, UNSIGNED, POINTER, POINTER),
    "cuLaunchKernel": (POINTER, *(UNSIGNED,) * 7, POINTER, POINTER, POINTER),
    "cuTensorMapEncodeTiled": _TENSOR_MAP,
    "cuStreamGetCaptureInfo": (POINTER,) * 7,
    "cuStreamUpdateCaptureDependencies": (POINTER, POINTER, POINTER, SIZE, UNSIGNED),
    "cuGraphAddNode": (POINTER, POINTER, POINTER, POINTER, SIZE, POINTER),
}
_NAMES = {
    "cuGraphInstantiate": "cuGraphInstantiateWithFlags"
}  # by which the bindings look for them
_SOURCE = """
#include <stddef.h>
#include <string.h>
typedef void *(*finder_t)(const char *);
static finder_t finder;
void set_finder(finder_t f) { finder = f; }
int cuGetProcAddress_v2(const char *name, void **found, int version, unsigned long long flags, int *status) {
  *found = !strcmp(name, "cuGetProcAddress") ? (void *)cuGetProcAddress_v2 : finder(name);
  if (status) *status = *found ? 0 : 1;
  return *found ? 0 : 500;
}
int cuTensorMapEncodeTiled(void *m, int kind, unsigned rank, void *at, void *dims, void *strides, void *box, void *steps, int i, int s, int p,
                           int f) {
  int (*found)(void *, int, unsigned, void *, void *, void *, void *, void *, int, int, int, int) = finder("cuTensorMapEncodeTiled");
  return found(m, kind, rank, at, dims, strides, box, steps, i, s, p, f);
}
"""


def compiler() -> str | None:
    """Return a C compiler."""
    return shutil.which("gcc") or shutil.which("cc")


class DriverLibrary:
    """`libcuda.so.1` of this process.

    driver: the FakeDriver that answers; may be another one for every test.
    """

    def __init__(self, folder: Path) -> None:
        self.driver: Any = None
        self.problem: BaseException | None = None
        self._objects: dict[int, Any] = {}
        self._kept: list[Any] = []  # callbacks, texts and buffers that C holds
        self._by_name: dict[bytes, int] = {}
        (folder / "driver.c").write_text(_SOURCE)
        path = folder / "libcuda.so.1"
        command = [
            str(compiler()),
            "-shared",
            "-fPIC",
            "-Wl,-soname,libcuda.so.1",
            str(folder / "driver.c"),
            "-o",
            str(path),
        ]
        subprocess.run(command, check=True)
        library = ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
        for name, types in SIGNATURES.items():
            plain = [POINTER if isinstance(t, (Out, Handle)) else t for t in types]
            call = getattr(self, f"_{name}", None) or self._translated(name, types)
            callback = ctypes.CFUNCTYPE(INT, *plain)(self._guarded(name, call))
            self._kept.append(callback)
            self._by_name[_NAMES.get(name, name).encode()] = (
                ctypes.cast(callback, POINTER).value or 0
            )
        finder = ctypes.CFUNCTYPE(POINTER, ctypes.c_char_p)(lambda name: self._by_name.get(name))
        self._kept += [library, finder]
        library.set_finder(finder)

    def _guarded(self, name: str, call: Any) -> Any:
        """Keep an exception of a callback for the caller, since C has no exceptions."""

        def guarded(*arguments: Any) -> int:
            try:
                return int(call(*arguments))
            except BaseException as problem:
                self.problem = problem
                return 999

        return guarded

    # -- objects and handles
    def _handle(self, value: Any) -> int:
        if isinstance(value, int) and value:
            return value
        handle = 0x5000_0000 + id(value) if not isinstance(value, int) else 0x4FFF_FFFF
        self._objects[handle] = value
        return handle

    def _object(self, handle: int | None) -> Any:
        assert handle, "a handle that is NULL: the default stream, or nothing"
        return self._objects.get(handle, handle)

    def _translated(self, name: str, types: tuple[Any, ...]) -> Any:
        def call(*given: Any) -> int:
            results = [
                (t.type, at) for t, at in zip(types, given, strict=True) if isinstance(t, Out)
            ]
            plain = [
                self._object(value) if isinstance(t, Handle) else value or 0 if t is POINTER else value
                for t, value in zip(types, given, strict=True) if not isinstance(t, Out)
            ]  # fmt: skip
            if name == "cuDeviceGetAttribute":
                plain[0] = _attribute_name(self.driver, plain[0])
            elif name == "cuFuncSetAttribute":
                assert plain[1] == 8, "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
                plain[1] = "shared"
            if name == "cuDeviceGetAttribute" and plain[0] is None:
                return int(CUresult.CUDA_ERROR_INVALID_VALUE)
            status, *values = getattr(self.driver, name)(*plain)
            for (kind, at), value in zip(results, values, strict=False):
                if value is not None:
                    kind.from_address(at).value = self._handle(value) if kind is POINTER else value
            return status

        return call

    # -- by hand
    def _cuGetErrorString(self, status: int, target: int) -> int:
        if status == 999:
            return status
        text = ctypes.create_string_buffer(self.driver.cuGetErrorString(CUresult(status))[1])
        self._kept.append(text)
        POINTER.from_address(target).value = ctypes.addressof(text)
        return OK

    def _cuDeviceGetName(self, target: int, length: int, device: int) -> int:
        status, name = self.driver.cuDeviceGetName(length, device)
        ctypes.memmove(target, name, length)
        return status

    def _cuModuleLoadDataEx(
        self, target: int, image: int, count: int, options: int, values: int
    ) -> int:
        text = ctypes.string_at(image)
        taken = [INT.from_address(options + 4 * k).value for k in range(count)]
        places = [POINTER.from_address(values + 8 * k).value or 0 for k in range(count)]
        logs = dict(zip(taken, places, strict=True))
        assert set(logs) == {5, 6}, "CU_JIT_ERROR_LOG_BUFFER and its size in bytes"
        log = (ctypes.c_char * logs[6]).from_address(logs[5])
        status, module = self.driver.cuModuleLoadDataEx(
            text if text[:4] == b"\x7fELF" else text + b"\0", count, taken, [log, logs[6]]
        )
        if not status:
            POINTER.from_address(target).value = self._handle(module)
        return status

    def _cuLaunchKernel(self, function: int, *rest: Any) -> int:
        *sizes, stream, parameters, extra = rest
        kernel = self._object(function)
        values, types = [], []
        for number, (_, size) in enumerate(kernel.code.kernel.parameters.values()):
            at = POINTER.from_address(parameters + 8 * number).value or 0
            if size == 8:
                values.append(ctypes.c_uint64.from_address(at).value)
                types.append(ctypes.c_void_p)
            else:
                assert size == 128 and at % 64 == 0, "a tensor map"
                values.append(_Placed(ctypes.c_uint64.from_address(at).value))
                types.append(None)
        return self.driver.cuLaunchKernel(
            kernel, *sizes, self._object(stream), (tuple(values), tuple(types)), extra or 0
        )[0]

    def _cuStreamGetCaptureInfo(
        self, stream: int, status: int, number: int, graph: int, nodes: int, edges: int, count: int
    ) -> int:
        answer, kept, _, recorded, before, _, length = self.driver.cuStreamGetCaptureInfo(
            self._object(stream)
        )
        INT.from_address(status).value, LONG.from_address(number).value = kept, 7
        POINTER.from_address(graph).value, SIZE.from_address(count).value = (
            self._handle(recorded),
            length,
        )
        listed, data = (POINTER * 1)(*before), (ctypes.c_char * 8)()
        self._kept += [listed, data]
        POINTER.from_address(nodes).value, POINTER.from_address(edges).value = (
            ctypes.addressof(listed),
            ctypes.addressof(data),
        )
        return int(answer)

    def _cuStreamUpdateCaptureDependencies(
        self, stream: int, nodes: int, edges: int, count: int, flags: int
    ) -> int:
        listed = list((LONG * count).from_address(nodes))
        return int(
            self.driver.cuStreamUpdateCaptureDependencies(
                self._object(stream), listed, edges, count, flags
            )[0]
        )

    def _cuGraphAddNode(
        self, target: int, graph: int, nodes: int, edges: int, count: int, made: int
    ) -> int:
        """Add a graph node from CUgraphNodeParams.

        Its type comes first, then at 16 CUDA_CONDITIONAL_NODE_PARAMS: handle, type, size, graphs,
        context.
        """
        handle, context = (LONG.from_address(made + at).value for at in (16, 40))
        kind, size = (UNSIGNED.from_address(made + at).value for at in (24, 28))
        inside = SimpleNamespace(handle=handle, type=kind, size=size, ctx=self._object(context))
        node = SimpleNamespace(type=INT.from_address(made).value, conditional=inside)
        listed = list((LONG * count).from_address(nodes)) if count else []
        status, number = self.driver.cuGraphAddNode(self._object(graph), listed, edges, count, node)
        if not status:
            bodies = (POINTER * size)(*map(self._handle, inside.phGraph_out))
            self._kept.append(bodies)
            POINTER.from_address(made + 32).value, POINTER.from_address(target).value = (
                ctypes.addressof(bodies),
                number,
            )
        return int(status)

    def _cuTensorMapEncodeTiled(
        self,
        target: int,
        kind: int,
        rank: int,
        address: int,
        dims: int,
        strides: int,
        box: int,
        steps: int,
        *rest: int,
    ) -> int:
        assert target % 64 == 0
        wide = [list((ctypes.c_uint64 * rank).from_address(at)) for at in (dims,)]
        wide.append([*(ctypes.c_uint64 * (rank - 1)).from_address(strides), 0])
        narrow = [list((ctypes.c_uint32 * rank).from_address(at)) for at in (box, steps)]
        status = self.driver.library.cuTensorMapEncodeTiled(
            target, kind, rank, address, *wide, *narrow, *rest
        )
        ctypes.c_uint64.from_address(target).value = target
        return int(status)


class _Placed(NamedTuple):
    """The bytes of a map at a launch: they begin with the key under which the fake keeps it."""

    key: int

    def getPtr(self) -> int:
        return self.key


_ATTRIBUTES = {
    13: "CLOCK_RATE", 16: "MULTIPROCESSOR_COUNT", 36: "MEMORY_CLOCK_RATE", 37: "GLOBAL_MEMORY_BUS_WIDTH", 75: "COMPUTE_CAPABILITY_MAJOR",
    76: "COMPUTE_CAPABILITY_MINOR",
}  # fmt: skip


def _attribute_name(driver: Any, number: int) -> Any:
    return getattr(
        driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{_ATTRIBUTES.get(number, '?')}", None
    )


FOLDER = "XLA_EXPLORER_TEST_DRIVER_LIBRARY"  # names a folder for the library in a process that tests NVIDIA's bindings
_library, _bindings = None, None
if FOLDER in os.environ:
    _library = DriverLibrary(Path(os.environ[FOLDER]))
    _bindings = importlib.import_module("cuda.bindings.driver")


class _Raising(CudaDriver):
    """Raises what the fake raised."""

    def call(self, function: str, *arguments: Any) -> Any:
        with _raised():
            return super().call(function, *arguments)

    def call_library(self, function: str, types: tuple[Any, ...], *arguments: Any) -> None:
        with _raised():
            super().call_library(function, types, *arguments)


@contextlib.contextmanager
def _raised() -> Iterator[None]:
    assert _library is not None
    try:
        yield
    except CudaError:
        problem, _library.problem = _library.problem, None
        if problem is not None:
            raise problem from None
        raise


def driver_of(fake: Any) -> CudaDriver:
    """Return the backend's driver on a fake one, directly or through NVIDIA's bindings.

    The bindings need a process that was started for them.
    """
    if _library is None:
        return CudaDriver(fake, fake.library)
    _library.driver = fake
    return _Raising(_bindings)
