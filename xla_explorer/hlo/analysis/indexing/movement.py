"""Index maps of opcodes that move elements.

Source: StableHLO sections of the same names; xla/hlo/analysis/indexing_analysis.cc.
"""

from __future__ import annotations

from xla_explorer.foundation.reason import refuse
from xla_explorer.hlo.analysis.empty_slices import gathers_nothing
from xla_explorer.hlo.analysis.indexing.expression import (
    ZERO,
    IndexExpression,
    Place,
    RuntimeValue,
    index,
)
from xla_explorer.hlo.analysis.indexing.offsets import delinearize, linearize, row_major_strides
from xla_explorer.hlo.analysis.indexing.reads import (
    Guard,
    Read,
    Reads,
    guards_where_needed,
    reads_by,
)
from xla_explorer.hlo.instruction import HloInstruction


@reads_by("iota", "constant", moves=True)
def nothing(i: HloInstruction, place: Place) -> Reads:
    """Return no reads: iota and constant have no operand."""
    return []


@reads_by("copy", "opt-barrier", "domain", "add-dependency", moves=True)
def same_place(i: HloInstruction, place: Place) -> Reads:
    """Map to the same place of operand 0."""
    return [Read(0, place)]


@reads_by("bitcast-convert", moves=True)
def bitcast_convert(i: HloInstruction, place: Place) -> Reads:
    """Map to the same place, if both types have one width."""
    if i.operands[0].shape.dimensions == i.shape.dimensions:
        return [Read(0, place)]
    return refuse(
        "element-width-changes",
        f"%{i.name}: an element of the result is a part, or several, of the operand's",
    )


@reads_by("broadcast", moves=True)
def broadcast(i: HloInstruction, place: Place) -> Reads:
    """Map result dimension dimensions[k] to operand dimension k."""
    return [Read(0, tuple([place[d] for d in i.attribute("dimensions")]))]


@reads_by("transpose", moves=True)
def transpose(i: HloInstruction, place: Place) -> Reads:
    """Map result dimension k to operand dimension permutation[k]."""
    return [Read(0, _permuted(place, i.attribute("dimensions")))]


@reads_by("reverse", moves=True)
def reverse(i: HloInstruction, place: Place) -> Reads:
    """Map the listed dimensions to indices from the end."""
    from_end = set(i.attribute("dimensions"))
    return [
        Read(
            0,
            tuple(
                [
                    n - 1 - x if d in from_end else x
                    for d, (x, n) in enumerate(zip(place, i.shape.dimensions, strict=True))
                ]
            ),
        )
    ]


@reads_by("slice", moves=True)
def slice_(i: HloInstruction, place: Place) -> Reads:
    """Map to start + stride * index."""
    return [
        Read(
            0,
            tuple(
                [
                    x * row.stride + row.start
                    for x, row in zip(place, i.attribute("slice"), strict=True)
                ]
            ),
        )
    ]


@reads_by("reshape", moves=True)
def reshape(i: HloInstruction, place: Place) -> Reads:
    """Map to the same offset in row-major order."""
    return [Read(0, _same_offset(place, i.shape.dimensions, i.operands[0].shape.dimensions))]


@reads_by("bitcast", moves=True)
def bitcast(i: HloInstruction, place: Place) -> Reads:
    """Map to the same offset in memory, by both layouts."""
    operand = i.operands[0]
    if (
        operand.shape.element_type.bits != i.shape.element_type.bits
        or operand.shape.element_count != i.shape.element_count
    ):
        return refuse(
            "element-width-changes",
            f"%{i.name}: an element of the result is a part, or several, of the operand's",
        )
    to, of = [tuple(reversed(shape.layout.minor_to_major)) for shape in (i.shape, operand.shape)]
    result, source = [
        tuple([s.dimensions[d] for d in order]) for s, order in ((i.shape, to), (operand.shape, of))
    ]
    found = _same_offset(tuple([place[d] for d in to]), result, source)
    return [Read(0, _permuted(found, of))]


def _permuted(place: Place, order: tuple[int, ...]) -> Place:
    """Return the place whose dimension order[k] is dimension k of the given one."""
    found: list[IndexExpression] = [ZERO] * len(place)
    for k, d in enumerate(order):
        found[d] = place[k]
    return tuple(found)


def _same_offset(place: Place, dimensions: tuple[int, ...], others: tuple[int, ...]) -> Place:
    return (
        place
        if dimensions == others
        else delinearize(linearize(place, row_major_strides(dimensions)), others)
    )


@reads_by("concatenate", moves=True)
def concatenate(i: HloInstruction, place: Place) -> Reads:
    """Map to each operand at its offset along the dimension."""
    (d,) = i.attribute("dimensions")
    found, start = [], 0
    for number, operand in enumerate(i.operands):
        extent = operand.shape.dimensions[d]
        x = place[d] - start
        found.append(
            Read(number, (*place[:d], x, *place[d + 1 :]), guards_where_needed(Guard(x, extent)))
        )
        start += extent
    return found


@reads_by("pad", moves=True)
def pad(i: HloInstruction, place: Place) -> Reads:
    """Map to the operand at its elements, else to the padding value."""
    source: list[IndexExpression] = []
    guards: list[Guard] = []
    for x, row, extent in zip(
        place, i.attribute("padding"), i.operands[0].shape.dimensions, strict=True
    ):
        shifted = x - row.low
        if row.interior:
            guards.append(Guard(shifted % (row.interior + 1), 1))
            shifted = shifted // (row.interior + 1)
        guards.append(Guard(shifted, extent))
        source.append(shifted)
    return [Read(0, tuple(source), guards_where_needed(*guards)), Read(1, ())]


@reads_by("dynamic-slice", moves=True)
def dynamic_slice(i: HloInstruction, place: Place) -> Reads:
    """Map to the clamped start + index."""
    starts, addressing = _starts(i, 1, i.operands[0].shape.dimensions, i.shape.dimensions)
    return [
        Read(0, tuple([start + x for start, x in zip(starts, place, strict=True)])),
        *addressing,
    ]


@reads_by("dynamic-update-slice", moves=True)
def dynamic_update_slice(i: HloInstruction, place: Place) -> Reads:
    """Map to the update inside its window, else to the operand."""
    update = i.operands[1].shape.dimensions
    starts, addressing = _starts(i, 2, i.shape.dimensions, update)
    inside = tuple([x - start for x, start in zip(place, starts, strict=True)])
    guards = guards_where_needed(
        *[Guard(x, extent) for x, extent in zip(inside, update, strict=True)]
    )
    return [Read(1, inside, guards), Read(0, place), *addressing]


def _starts(
    i: HloInstruction, first: int, extents: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[Place, list[Read]]:
    """Return the clamped starts of a window, and their reads.

    The starts are scalars from operand `first` on, or one vector.
    """
    vector = len(i.operands) == first + 1 and i.operands[first].shape.rank == 1
    starts, addressing = [], []
    for d, (extent, size) in enumerate(zip(extents, sizes, strict=True)):
        number, where = (first, (index(d),)) if vector else (first + d, ())
        addressing.append(Read(number, where, addressing=True))
        starts.append(index(RuntimeValue(i.operands[number], where, 0, max(0, extent - size))))
    return tuple(starts), addressing


@reads_by("gather", moves=True)
def gather(i: HloInstruction, place: Place) -> Reads:
    """Map to the clamped start from the indices + offset in the slice.

    Nothing if slices are empty.
    """
    if gathers_nothing(i):
        return []
    operand, indices = i.operands
    batching = i.attribute("operand_batching_dims")
    dropped = {*i.attribute("collapsed_slice_dims"), *batching}
    vector, sizes, offset_dims = (
        i.attribute("index_vector_dim"),
        i.attribute("slice_sizes"),
        i.attribute("offset_dims"),
    )
    offsets = iter([place[d] for d in offset_dims])
    source = [ZERO if d in dropped else next(offsets) for d in range(operand.shape.rank)]
    batch = iter([x for d, x in enumerate(place) if d not in offset_dims])
    at = [ZERO if d == vector else next(batch) for d in range(indices.shape.rank)]
    for d, b in zip(batching, i.attribute("start_indices_batching_dims"), strict=True):
        source[d] = at[b]
    addressing = []
    for component, d in enumerate(i.attribute("start_index_map")):
        where = tuple([index(component) if k == vector else x for k, x in enumerate(at)])
        addressing.append(Read(1, where, addressing=True))
        source[d] = source[d] + RuntimeValue(
            indices, where, 0, max(0, operand.shape.dimensions[d] - sizes[d])
        )
    return [Read(0, tuple(source)), *addressing]
