"""Rules on gather. Source: algebraic_simplifier.cc, HandleGather."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import broadcast_scalar, reshape, splat_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import gather, pad
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.patterns import any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.reshaping import (
    unmodified_dimensions,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import paddings
from xla_explorer.hlo.analysis.empty_slices import gathers_nothing
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRED

_NOTHING = PaddingDimension(0, 0)
_ROWS = (
    "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
    "slice_sizes={1,%d}"
)
_INDICES = "i = s32[2,1] parameter(1)\n"
_VALUE = "v = f32[] parameter(2)\n"


def window_places(i: HloInstruction) -> dict[int, int]:
    """Return operand dimension -> result dimension for dimensions that the result keeps."""
    a = i.attributes
    gone = (*a.value("collapsed_slice_dims"), *a.value("operand_batching_dims"))
    kept = [d for d in range(i.operands[0].shape.rank) if d not in gone]
    return dict(zip(kept, sorted(a.value("offset_dims")), strict=True))


def is_without_elements(i: HloInstruction) -> bool:
    """Return True if the operand or the slices have no elements."""
    return i.operands[0].shape.element_count == 0 or gathers_nothing(i)


@rule(
    gather(any_(), any_()).that(is_without_elements),
    exactness=Exactness.BITWISE,
    before="x = f32[4,0] parameter(0)\n"
    + _INDICES
    + "ROOT r = f32[2,0] gather(x, i), "
    + _ROWS % 0,
    after="x = f32[4,0] parameter(0)\n"
    + _INDICES
    + "z = f32[] constant(0)\nROOT r = f32[2,0] broadcast(z), dimensions={}",
)
def gather_of_empty(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite a gather from an array without elements, or of slices without any, as 0."""
    return splat_constant(computation, instruction.shape, 0)


def gathers_one_element(i: HloInstruction) -> bool:
    """Return True if the operand has one element."""
    return (
        i.operands[0].shape.element_count == 1
        and i.shape.element_count > 0
        and not gathers_nothing(i)
    )


@rule(
    gather(any_("x"), any_()).that(gathers_one_element),
    exactness=Exactness.BITWISE,
    when=(static,),
    before="x = f32[1,1] parameter(0)\n"
    + _INDICES
    + "ROOT r = f32[2,1] gather(x, i), "
    + _ROWS % 1,
    after="x = f32[1,1] parameter(0)\n"
    + _INDICES
    + "a = f32[] reshape(x)\nROOT r = f32[2,1] broadcast(a), dimensions={}",
)
def gather_of_one_element(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a gather from one element as its broadcast: start indices are clamped."""
    value = reshape(computation, x, x.shape.with_dimensions(()))
    return (
        broadcast_scalar(computation, value, instruction.shape) if instruction.shape.rank else value
    )


def _passes_through(i: HloInstruction, rows: list[PaddingDimension]) -> bool:
    """Return True if every padded dimension is read whole and kept by the result."""
    sizes, places = i.attributes.value("slice_sizes"), window_places(i)
    whole = i.operands[0].shape.dimensions
    return all(
        row == _NOTHING or (d in places and sizes[d] == whole[d]) for d, row in enumerate(rows)
    )


def _padded_after(
    computation: HloComputation,
    i: HloInstruction,
    narrow: HloInstruction,
    value: HloInstruction,
    rows: list[PaddingDimension],
) -> HloInstruction:
    places = window_places(i)
    sizes = list(i.attributes.value("slice_sizes"))
    dimensions = list(i.shape.dimensions)
    padding = [_NOTHING] * i.shape.rank
    for d, row in enumerate(rows):
        if row != _NOTHING:
            sizes[d] = dimensions[places[d]] = narrow.shape.dimensions[d]
            padding[places[d]] = row
    small = computation.add(
        "gather",
        i.shape.with_dimensions(dimensions),
        (narrow, i.operands[1]),
        i.attributes.with_values(slice_sizes=tuple(sizes)),
    )
    return computation.add(
        "pad", i.shape, (small, value), attributes_of({"padding": tuple(padding)})
    )


def pads_what_is_taken_whole(i: HloInstruction) -> bool:
    """Return True if the pad changes only dimensions that the gather reads whole."""
    rows = list(paddings(i.operands[0]))
    return any(row != _NOTHING for row in rows) and _passes_through(i, rows)


@rule(
    gather(pad(any_("x"), any_("value"), name="padded"), any_()).that(pads_what_is_taken_whole),
    exactness=Exactness.BITWISE,
    when=(static,),
    before="x = f32[4,3] parameter(0)\n"
    + _INDICES
    + _VALUE
    + "p = f32[4,5] pad(x, v), padding=0_0x0_2\nROOT r = f32[2,5] gather(p, i), "
    + _ROWS % 5,
    after="x = f32[4,3] parameter(0)\n"
    + _INDICES
    + _VALUE
    + "g = f32[2,3] gather(x, i), "
    + _ROWS % 3
    + "\nROOT r = f32[2,5] pad(g, v), padding=0_0x0_2",
)
def gather_of_pad(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    value: HloInstruction,
    padded: HloInstruction,
) -> HloInstruction:
    """Rewrite gather(pad(x)) as pad(gather(x)) if the padded dimensions are read whole."""
    return _padded_after(computation, instruction, x, value, list(paddings(padded)))


@rule(
    gather(reshape_of(pad(any_("x"), any_("value"), name="padded"), name="other"), any_()),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=parameters("f32[2,2,3]", "x")
    + _INDICES
    + _VALUE
    + "p = f32[2,2,5] pad(x, v), padding=0_0x0_0x0_2\na = f32[4,5] reshape(p)\nROOT r = f32[2,5] gather(a, i), "
    + _ROWS % 5,
    after=parameters("f32[2,2,3]", "x")
    + _INDICES
    + _VALUE
    + "a = f32[4,3] reshape(x)\ng = f32[2,3] gather(a, i), "
    + _ROWS % 3
    + "\nROOT r = f32[2,5] pad(g, v), padding=0_0x0_2",
)
def gather_of_reshape_of_pad(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    value: HloInstruction,
    padded: HloInstruction,
    other: HloInstruction,
) -> HloInstruction | None:
    """Rewrite gather(reshape(pad(x))) as pad(gather(reshape(x))) if both keep padded dimensions."""
    kept = unmodified_dimensions(padded.shape.dimensions, other.shape.dimensions)
    rows = [_NOTHING] * other.shape.rank
    dimensions = list(other.shape.dimensions)
    for d, row in enumerate(paddings(padded)):
        if row == _NOTHING:
            continue
        if d not in kept:
            return None
        rows[kept[d]], dimensions[kept[d]] = row, x.shape.dimensions[d]
    if (
        all(row == _NOTHING for row in rows)
        or not x.shape.element_count
        or not _passes_through(instruction, rows)
    ):
        return None
    narrow = reshape(computation, x, x.shape.with_dimensions(dimensions))
    return _padded_after(computation, instruction, narrow, value, rows)


VERY_SMALL = 4  # elements, as XLA's very_small_gather_size


def chooses_among_few(i: HloInstruction) -> bool:
    """Return True for a gather of elements from a vector of two to four, by scalar indices."""
    a, x = i.attributes, i.operands[0].shape
    return (
        x.rank == 1
        and 2 <= x.element_count <= VERY_SMALL
        and a.value("slice_sizes") == (1,)
        and a.value("start_index_map") == (0,)
        and i.shape.element_count > 0
        and not any(i.operands[1].shape.dynamic)
        and i.operands[1].shape.element_count == i.shape.element_count
    )


@rule(
    gather(any_("x"), any_("places")).that(chooses_among_few),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before="x = f32[2] parameter(0)\ni = s32[5] parameter(1)\nROOT r = f32[5] gather(x, i), offset_dims={}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
    after="x = f32[2] parameter(0)\ni = s32[5] parameter(1)\na = f32[1] slice(x), slice={[0:1]}\nb = f32[] reshape(a)\n"
    "first = f32[5] broadcast(b), dimensions={}\nc = f32[1] slice(x), slice={[1:2]}\nd = f32[] reshape(c)\n"
    "second = f32[5] broadcast(d), dimensions={}\none = s32[] constant(1)\nones = s32[5] broadcast(one), dimensions={}\n"
    "later = pred[5] compare(i, ones), direction=GE\nROOT r = f32[5] select(later, second, first)",
)
def gather_of_few(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    places: HloInstruction,
) -> HloInstruction:
    """Rewrite a gather from at most four numbers as selects, which clamp too."""
    shape = instruction.shape
    index = reshape(computation, places, shape.with_element_type(places.shape.element_type))

    def element(number: int) -> HloInstruction:
        bounds = attributes_of({"slice": (SliceDimension(number, number + 1),)})
        part = computation.add("slice", x.shape.with_dimensions((1,)), (x,), bounds)
        value = computation.add("reshape", x.shape.with_dimensions(()), (part,))
        return broadcast_scalar(computation, value, shape) if shape.rank else value

    found = element(0)
    at_least = attributes_of({"direction": "GE"})
    kind = index.shape.element_type
    reachable = 1 << (kind.bits - kind.is_signed)  # a narrow index does not reach every element
    for number in range(1, min(x.shape.element_count, reachable)):
        limit = splat_constant(computation, index.shape, number)
        reached = computation.add(
            "compare", shape.with_element_type(PRED), (index, limit), at_least
        )
        found = computation.add("select", shape, (reached, element(number), found))
    return found
