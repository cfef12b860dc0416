"""Tensor maps in the emulator: 128 bytes in its own format (the hardware's is undocumented)."""

from __future__ import annotations

import struct

from xla_explorer.backends.gpu.tensor_map import MAP_BYTES, PlacedTensorMap
from xla_explorer.foundation.diagnostic import XlaExplorerError

_MAGIC = b"XETM"
_FORMAT = struct.Struct("<4sBBBxQ5I4xQQQQ5H")
_TYPES = (
    "s8",
    "u8",
    "bf16",
    "f16",
    "s16",
    "u16",
    "f32",
    "s32",
    "u32",
    "f64",
    "s64",
    "u64",
    "f8e4m3fn",
    "f8e5m2",
)
_MOST_DIMENSIONS, _BOX_LIMIT = 5, 256


class TensorMapError(XlaExplorerError, ValueError):
    """An invalid tensor map."""


class Described:
    """A decoded map. dimensions, box: minor first. strides: bytes, the minor dimension's first."""

    __slots__ = ("address", "box", "dimensions", "element_bytes", "strides", "swizzle")

    def __init__(
        self,
        address: int,
        element_bytes: int,
        dimensions: tuple[int, ...],
        strides: tuple[int, ...],
        box: tuple[int, ...],
        swizzle: int,
    ) -> None:
        self.address, self.element_bytes, self.dimensions, self.swizzle = (
            address,
            element_bytes,
            dimensions,
            swizzle,
        )
        self.box, self.strides = box, (element_bytes, *strides)

    @classmethod
    def flat(cls, address: int, size: int) -> Described:
        """Return a map of `size` bytes at an address, copied as a whole."""
        return cls(address, 1, (size,), (), (size,), 0)


def encode(placed: PlacedTensorMap) -> bytes:
    """Encode a map in 128 bytes.

    TensorMapError for errors of cuTensorMapEncodeTiled: alignment, box and swizzle.
    """
    m = placed.map
    rank = len(m.dimensions)
    complaint = ""
    if not 1 <= rank <= _MOST_DIMENSIONS or len(m.box) != rank or len(m.strides) != rank - 1:
        complaint = f"{rank} dimensions need as many extents of the box and one stride less"
    elif placed.address % 16 or any(stride % 16 for stride in m.strides):
        complaint = (
            f"the address {hex(placed.address)} and the strides {m.strides} must be multiples of "
            "16 bytes"
        )
    elif any(not 1 <= extent <= _BOX_LIMIT for extent in m.box):
        complaint = f"the box {m.box} must have extents of 1 to {_BOX_LIMIT}"
    elif m.swizzle and m.box[0] * m.element_bytes > m.swizzle:
        complaint = (
            f"a row of the box has {m.box[0] * m.element_bytes} bytes, its swizzle only {m.swizzle}"
        )
    elif m.box[0] * m.element_bytes % 16:
        complaint = (
            f"a row of the box has {m.box[0] * m.element_bytes} bytes, which is not a multiple "
            "of 16"
        )
    if complaint or m.element_type not in _TYPES:
        raise TensorMapError(
            f"no tensor map of parameter {m.parameter}: "
            f"{complaint or 'no elements of ' + m.element_type}"
        )
    dimensions, box = (
        tuple(given) + (0,) * (_MOST_DIMENSIONS - rank) for given in (m.dimensions, m.box)
    )
    strides = tuple(m.strides) + (0,) * (_MOST_DIMENSIONS - rank)
    packed = _FORMAT.pack(
        _MAGIC, m.element_bytes, rank, m.swizzle, placed.address, *dimensions, *strides[:4], *box
    )
    return packed.ljust(MAP_BYTES, b"\0")


def decode(data: bytes) -> Described | None:
    """Decode a map; None for other bytes."""
    if data[:4] != _MAGIC:
        return None
    _, element_bytes, rank, swizzle, address, *numbers = _FORMAT.unpack(data[: _FORMAT.size])
    return Described(
        address,
        element_bytes,
        tuple(numbers[:rank]),
        tuple(numbers[5 : 4 + rank]),
        tuple(numbers[9 : 9 + rank]),
        swizzle,
    )
