"""Tensor maps: descriptions of arrays for the copy engine of sm_90, kernel arguments of 128 bytes.

A kernel lists the described arrays in `tensor_maps` (`TensorMap`). Its parameters are the pointers,
then scratch memory if any, then one `ptr byval([128 x i8]) %map0`, `%map1` ... each. The launch
adds the address of the array (`PlacedTensorMap`, in the list of arguments with integer pointers).
The executor encodes the 128 bytes: CUDA's driver by cuTensorMapEncodeTiled, the emulator in its own
format.

Source: CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors", "Swizzling Modes".
"""

from __future__ import annotations

from typing import NamedTuple

MAP_BYTES = 128


class TensorMap(NamedTuple):
    """Description of an array.

    parameter: number of the kernel's pointer parameter. element_type: an HLO name (`bf16`); tf32
    copies are those of `f32`. dimensions: extents, minor first, 1 to 5 of them. strides: bytes
    between adjacent elements of every dimension except the minor one, multiples of 16. box:
    elements of a copy, minor first, each at most 256; the minor extent is at most the swizzle's
    bytes. swizzle: bytes of a row in shared memory within which 16-byte chunks are permuted (0, 32,
    64, 128).

    Reads outside the array give zero; writes there are dropped.
    """

    parameter: int
    element_type: str
    element_bytes: int
    dimensions: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int = 128


class PlacedTensorMap(NamedTuple):
    """A launch argument: the map, and the address of the array, a multiple of 16."""

    map: TensorMap
    address: int
