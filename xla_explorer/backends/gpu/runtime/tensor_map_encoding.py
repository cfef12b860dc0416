"""Tensor maps encoded by the driver: 128 bytes, aligned to 64.

The object of cuda-bindings does not guarantee the alignment. Source: CUDA Driver API, "Tensor Map
Object Management", cuTensorMapEncodeTiled().
"""

from __future__ import annotations

import ctypes
from typing import Any

from xla_explorer.backends.gpu.runtime.cuda_driver import CudaDriver
from xla_explorer.backends.gpu.tensor_map import MAP_BYTES, PlacedTensorMap

_ALIGNMENT = 128
_TYPES = {"f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32", "f64": "FLOAT64"}
# map, element type, rank, address, extents, strides in bytes, box, steps, interleave, swizzle,
# promotion to L2, fill
ARGUMENTS = (
    ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_uint32), ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int,
)  # fmt: skip


class EncodedTensorMap:
    """The bytes of a map, to be passed to a kernel by value."""

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(MAP_BYTES + _ALIGNMENT)
        self.address = -(-ctypes.addressof(self._memory) // _ALIGNMENT) * _ALIGNMENT

    def getPtr(self) -> int:  # noqa: N802 - the name that cuda-bindings calls
        """Return the address of the bytes."""
        return self.address


def encode_tensor_map(driver: CudaDriver, placed: PlacedTensorMap) -> EncodedTensorMap:
    """Return the encoded form of a map. CudaError if the driver refuses it."""
    m, names = placed.map, driver.binding
    made = EncodedTensorMap()
    wide, narrow = ctypes.c_uint64 * len(m.dimensions), ctypes.c_uint32 * len(m.dimensions)
    swizzle = f"CU_TENSOR_MAP_SWIZZLE_{m.swizzle}B" if m.swizzle else "CU_TENSOR_MAP_SWIZZLE_NONE"

    def number(group: Any, name: str) -> int:
        return int(getattr(group, name))

    driver.call_library(
        "cuTensorMapEncodeTiled",
        ARGUMENTS,
        made.address,
        number(names.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[m.element_type]}"),
        len(m.dimensions),
        placed.address,
        wide(*m.dimensions),
        wide(*m.strides),
        narrow(*m.box),
        narrow(*[1 for _ in m.box]),
        number(names.CUtensorMapInterleave, "CU_TENSOR_MAP_INTERLEAVE_NONE"),
        number(names.CUtensorMapSwizzle, swizzle),
        number(names.CUtensorMapL2promotion, "CU_TENSOR_MAP_L2_PROMOTION_L2_256B"),
        number(names.CUtensorMapFloatOOBfill, "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"),
    )
    return made
