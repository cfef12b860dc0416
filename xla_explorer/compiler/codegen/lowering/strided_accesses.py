"""Accesses of vectors whose lanes are not contiguous, or whose stores bypass the caches."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.ir.marks import NONTEMPORAL
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.codegen.ir.values import Scalar
from xla_explorer.compiler.codegen.llvm_types import real
from xla_explorer.compiler.codegen.lowering.elements import in_lanes
from xla_explorer.compiler.codegen.lowering.lower_accesses import AccessLowering
from xla_explorer.compiler.codegen.lowering.register_layouts import (
    packed_pairs_of,
    transposed,
    unpacked_pairs,
)
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, UnrolledValue, points
from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.ir import Load, Store
from xla_explorer.hlo.analysis.indexing import Axis, linearize


def load_square(
    lowering: AccessLowering, s: Load, axes: Sequence[Axis], rows: Axis
) -> UnrolledValue:
    """Load registers along an unrolled axis and transpose them to the vector axis."""
    array, found = lowering.nest.array(s.array), dict[tuple[int, ...], list[Scalar]]()
    assert array is not None
    offset = linearize(s.place, array.shape.strides)

    def instance(point: Point) -> Scalar:
        key = tuple([step for axis, step in point.items() if axis != rows])
        if key not in found:
            with lowering.each_lane_alone() as lanes:
                read = [
                    lowering.load_at(array, offset, (), {**point, rows: 0, **lane}, rows.extent)
                    for lane in lanes
                ]
            found[key] = transposed(lowering.b, read)
        return found[key][point[rows]]

    return UnrolledValue(axes, instance)


def load_packed_pairs(
    lowering: AccessLowering, s: Load, axes: Sequence[Axis], pair: Axis
) -> UnrolledValue:
    """Load words of two elements, over which an unrolled axis goes."""
    array = lowering.nest.array(s.array)
    assert array is not None
    memory = lowering.memory[array.name]

    def instance(point: Point) -> Scalar:
        address = lowering.address(
            array, linearize(s.place, array.shape.strides), {**point, pair: 0}
        )
        words = memory.load_packed_pairs(address, lowering.lanes)
        return unpacked_pairs(lowering.b, words)[point[pair]]

    return UnrolledValue(axes, instance)


def store_streamed(lowering: AccessLowering, s: Store) -> None:
    """Write non-temporal stores if the array begins with a cache line, else ordinary ones."""
    b, memory, pointer = lowering.b, lowering.memory[s.array], lowering.pointers[s.array]
    array, value = lowering.arrays[s.array], lowering.values[s.value]
    offset = linearize(s.place, array.shape.strides)
    axes = [a for a in lowering.unrolled if any(a in x.axes for x in s.place)]
    low = b.binary("and", b.emit("ptrtoint", I64, (pointer,)), LINE_BYTES - 1)
    size = lowering.lanes * memory.alignment
    for tail, alignment, condition in (
        (NONTEMPORAL, min(size, LINE_BYTES), b.compare("eq", low, 0)),
        ("", 0, b.compare("ne", low, 0)),
    ):
        with b.only_if(condition):
            for point in points([*axes, *[a for a in value.axes if a not in axes]]):
                address = lowering.address(array, offset, point)
                memory.store(value.at(point), address, lowering.lanes, None, tail, alignment)


def store_packed_pairs(lowering: AccessLowering, s: Store, pair: Axis) -> None:
    """Store words of two elements, over which an unrolled axis goes."""
    array, b = lowering.arrays[s.array], lowering.b
    offset = linearize(s.place, array.shape.strides)
    value = lowering.values[s.value]
    axes = {*[a for x in s.place for a in x.axes], *value.axes} - {pair}
    for point in points([a for a in lowering.unrolled if a in axes]):
        even, odd = [
            real(in_lanes(b, value.at({**point, pair: k}), lowering.lanes)) for k in (0, 1)
        ]
        words = packed_pairs_of(b, even, odd)
        b.store(words, lowering.address(array, offset, {**point, pair: 0}), 2)
