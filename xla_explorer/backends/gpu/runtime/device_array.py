"""Arrays on the device, shared with other libraries by `__cuda_array_interface__` and DLPack.

Source: numba's "CUDA Array Interface (Version 3)"; dlpack.h 0.8.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.device_executor import Array, DeviceExecutor
from xla_explorer.backends.interfaces import DeviceMemory
from xla_explorer.hlo.shape import Shape

_CUDA_DEVICE = 2
_DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_BFLOAT_CODE = 4


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


# Arrays of exported capsules, until their consumer calls the deleter.
_exported: dict[int, tuple[Any, ...]] = {}


def _release(address: int) -> None:
    _exported.pop(address, None)


def _release_unread(capsule: int) -> None:
    """Release the array of a dying capsule that no consumer took (it has its first name)."""
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    if api.PyCapsule_IsValid(capsule, b"dltensor"):
        api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = (
            ctypes.c_void_p,
            [ctypes.c_void_p, ctypes.c_char_p],
        )
        _exported.pop(api.PyCapsule_GetPointer(capsule, b"dltensor"), None)


# Kept alive: a call of a collected callback crashes the process.
_DELETER, _CAPSULE_DESTRUCTOR = _Deleter(_release), _Deleter(_release_unread)


class DeviceArray:
    """A result that stays on the device. It owns its memory; `np.asarray` copies it to the host."""

    def __init__(self, executor: DeviceExecutor, memory: DeviceMemory, shape: Shape) -> None:
        self.executor, self.memory, self.hlo_shape = executor, memory, shape
        self.shape, self.dtype = shape.dimensions, shape.element_type.dtype
        order = tuple(reversed(shape.layout.minor_to_major))
        strides, stride = [0] * shape.rank, 1
        for dimension in reversed(order):
            strides[dimension] = stride
            stride *= shape.dimensions[dimension]
        self._strides, self._order = tuple(strides), order

    def __del__(self) -> None:
        self.executor.deallocate(self.memory)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return a copy on the host."""
        stored = np.empty([self.shape[d] for d in self._order], self.dtype)
        self.executor.read(self.memory.address, stored)
        array = stored.transpose(np.argsort(self._order)) if self._order else stored
        return array if dtype is None else array.astype(dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array interface for numba, CuPy, PyTorch and JAX.

        AttributeError on the emulator, whose memory is not a device's.
        """
        if self.executor.facts.emulated:
            raise AttributeError(
                "this array is in the emulator's memory: copy it with numpy.asarray"
            )
        size = self.dtype.itemsize
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.memory.address, False),
            "strides": tuple([s * size for s in self._strides]),
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """(CUDA, first device)."""
        if self.executor.facts.emulated:
            raise BufferError("this array is in the emulator's memory: copy it with numpy.asarray")
        return _CUDA_DEVICE, 0

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        """Return a DLPack capsule.

        BufferError for types that DLPack lacks. The work that made the array has ended.
        """
        device = self.__dlpack_device__()
        code = _BFLOAT_CODE if self.dtype.name == "bfloat16" else _DLPACK_CODES.get(self.dtype.kind)
        if code is None:
            raise BufferError(f"DLPack has no type for {self.dtype}")
        rank = len(self.shape)
        dimensions, strides = (
            (ctypes.c_int64 * rank)(*self.shape),
            (ctypes.c_int64 * rank)(*self._strides),
        )
        managed = _DLManagedTensor()
        managed.tensor = _DLTensor(
            self.memory.address,
            *device,
            rank,
            _DLDataType(code, 8 * self.dtype.itemsize, 1),
            dimensions,
            strides,
            0,
        )
        managed.deleter = _DELETER
        _exported[ctypes.addressof(managed)] = (managed, self, dimensions, strides)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        return make(
            ctypes.addressof(managed),
            b"dltensor",
            ctypes.cast(_CAPSULE_DESTRUCTOR, ctypes.c_void_p),
        )

    def __repr__(self) -> str:
        return f"<DeviceArray {self.hlo_shape.text_without_layout} on {self.executor.facts.name}>"


class _Borrowed:
    """A DLPack tensor of another library; its deleter is called after the last read."""

    def __init__(self, capsule: Any) -> None:
        api = ctypes.pythonapi
        api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = (
            ctypes.c_void_p,
            [ctypes.py_object, ctypes.c_char_p],
        )
        self.managed = _DLManagedTensor.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor"))
        api.PyCapsule_SetName.restype, api.PyCapsule_SetName.argtypes = (
            ctypes.c_int,
            [ctypes.py_object, ctypes.c_char_p],
        )
        # From here on the tensor is ours to give back: its capsule no longer does. The name must
        # outlive it.
        api.PyCapsule_SetName(capsule, _USED)

    def __del__(self) -> None:
        if self.managed.deleter:
            self.managed.deleter(ctypes.addressof(self.managed))


_USED = b"used_dltensor"


def foreign_array(
    value: Any, dimensions: tuple[int, ...], dtype: Any, executor: DeviceExecutor
) -> tuple[int, Any] | None:
    """Return (device address, its owner) of another library's array on the device.

    The array must be contiguous, of this shape and type; None for anything else. The executor's
    stream waits for the other library's writes.
    """
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        address = address_of(value, dimensions, dtype)
        if address is not None and interface.get("stream") is not None:
            executor.synchronize(interface["stream"])
        return None if address is None else (address, value)
    device = getattr(value, "__dlpack_device__", None)
    if device is None or device()[0] != _CUDA_DEVICE:
        return None
    borrowed = _Borrowed(value.__dlpack__(stream=executor.stream_address(None)))
    tensor, wanted = borrowed.managed.tensor, np.dtype(dtype)
    code = _BFLOAT_CODE if wanted.name == "bfloat16" else _DLPACK_CODES.get(wanted.kind)
    kind = tensor.dtype
    if (kind.code, kind.bits, kind.lanes) != (code, 8 * wanted.itemsize, 1) or tuple(
        tensor.shape[: tensor.ndim]
    ) != dimensions:
        return None
    strides = (
        [s * wanted.itemsize for s in tensor.strides[: tensor.ndim]] if tensor.strides else None
    )
    if not _is_contiguous(strides, dimensions, wanted.itemsize):
        return None
    return tensor.data + tensor.byte_offset if tensor.data else 0, borrowed


def address_of(value: Any, dimensions: tuple[int, ...], dtype: Any) -> int | None:
    """Return the device address of a contiguous array by `__cuda_array_interface__`.

    None if it has another shape or type, or is not contiguous.
    """
    interface = getattr(value, "__cuda_array_interface__", None)
    if (
        interface is None
        or tuple(interface["shape"]) != dimensions
        or interface["typestr"] != np.dtype(dtype).str
    ):
        return None
    if not _is_contiguous(interface.get("strides"), dimensions, np.dtype(dtype).itemsize):
        return None
    return int(interface["data"][0])


def _is_contiguous(strides: Any, dimensions: tuple[int, ...], size: int) -> bool:
    """Return True if strides in bytes (None: contiguous) are those of a row-major array."""
    if strides is None:
        return True
    expected, stride = [], size
    for extent in reversed(dimensions):
        expected.append(stride)
        stride *= extent
    return not any(
        extent > 1 and given != wanted
        for extent, given, wanted in zip(dimensions, strides, reversed(expected), strict=True)
    )
