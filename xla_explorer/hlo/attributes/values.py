"""Values of structured HLO attributes: windows, dimension labels, paddings, slices, groups.

`codecs.py` beside this file reads and writes their text; a new attribute needs both.
"""

from __future__ import annotations

from typing import NamedTuple


class WindowDimension(NamedTuple):
    """One dimension of a window.

    Source: xla_data.proto WindowDimension; padding may be negative.
    """

    size: int
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    window_reversal: bool = False

    def output_size(self, base_size: int) -> int:
        """Return the number of window positions over a base of this size (XLA's `StridedBound`)."""
        dilated_base = 0 if base_size == 0 else (base_size - 1) * self.base_dilation + 1
        padded = dilated_base + self.padding_low + self.padding_high
        dilated_window = 0 if self.size == 0 else (self.size - 1) * self.window_dilation + 1
        return 0 if dilated_window > padded else (padded - dilated_window) // self.stride + 1


class Window(NamedTuple):
    """`window={size=3x3 stride=...}`: one WindowDimension per dimension."""

    dimensions: tuple[WindowDimension, ...]


class ConvolutionDimensionNumbers(NamedTuple):
    """`dim_labels=b01f_01io->b01f`.

    Entry k of a spatial tuple is the array dimension with the label k. text: as written in HLO.
    """

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]
    text: str


class PaddingDimension(NamedTuple):
    """One dimension of `padding=low_high_interior`; low and high may be negative (cropping)."""

    low: int
    high: int
    interior: int = 0


class OperandAlias(NamedTuple):
    """One entry of `output_to_operand_aliasing={{output index}: (operand, {operand index})}`.

    Both indices are shape indices: paths into nested tuples, empty for an array.
    """

    output_index: tuple[int, ...]
    operand_number: int
    operand_index: tuple[int, ...]


class SliceDimension(NamedTuple):
    """One dimension of `slice={[start:limit:stride]}`."""

    start: int
    limit: int
    stride: int = 1

    @property
    def size(self) -> int:
        """Number of elements of the slice: ceil((limit - start) / stride), at least 0."""
        return max(0, -((self.start - self.limit) // self.stride))


class ReplicaGroups(NamedTuple):
    """Replica groups and their text: `{{0,1},{2,3}}`, or the iota form `[2,2]<=[4]T(1,0)`."""

    groups: tuple[tuple[int, ...], ...]
    text: str
