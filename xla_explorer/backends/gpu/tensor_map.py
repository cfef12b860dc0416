"""Tensor maps: how the copy engine of sm_90 sees an array in memory, as a kernel argument of 128 bytes.

A kernel says in `tensor_maps` which of its arrays it wants described and how (`TensorMap`); its parameters are the pointers, then scratch
memory where it has some, then one `ptr byval([128 x i8]) %map0`, `%map1` ... each. Who launches it puts the address of the array beside the
record (`PlacedTensorMap`, in the list of arguments where the pointers are integers), and the executor makes the 128 bytes of it: CUDA's
driver by cuTensorMapEncodeTiled, the emulator by a format of its own.

Source: CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors", "Swizzling Modes".
"""

from __future__ import annotations

from typing import NamedTuple

MAP_BYTES = 128


class TensorMap(NamedTuple):
    """parameter: number of the kernel's pointer parameter whose memory it describes. element_type: an HLO name (`bf16`); tf32 copies are
    those of `f32`. dimensions: extents, minor first, 1 to 5 of them. strides: bytes between neighbours of every dimension but the minor
    one, multiples of 16. box: elements that a copy moves, minor first, each at most 256; the minor extent of the box is at most the
    swizzle's bytes. swizzle: bytes of a row in shared memory within which chunks of 16 bytes change places (0, 32, 64, 128).

    What a copy reads outside the array is zero; what it would write there is dropped.
    """

    parameter: int
    element_type: str
    element_bytes: int
    dimensions: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int = 128


class PlacedTensorMap(NamedTuple):
    """A launch's argument: the map, and the address of the array, a multiple of 16."""

    map: TensorMap
    address: int
