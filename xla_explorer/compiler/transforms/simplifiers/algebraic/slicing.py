"""Rules on slice, pad, concatenate, dynamic-slice and dynamic-update-slice.

Source: algebraic_simplifier.cc, HandleSlice, HandlePad, HandleConcatenate, HandleDynamicSlice, HandleDynamicUpdateSlice.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import broadcast, broadcast_scalar, reshape, scalar_constant
from xla_explorer.compiler.rewriting.example import filled, parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.guards import has_elements, static
from xla_explorer.compiler.rewriting.operators import broadcast as broadcast_of
from xla_explorer.compiler.rewriting.operators import concatenate, dynamic_slice, dynamic_update_slice, pad
from xla_explorer.compiler.rewriting.operators import reverse as reverse_of
from xla_explorer.compiler.rewriting.operators import slice_ as slice_of
from xla_explorer.compiler.rewriting.patterns import BROADCAST, any_, is_varying
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.broadcasting import dimensions_of
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer, same_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.reshaping import changes_nothing
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import opcode

CONCATENATE = opcode("concatenate")
SLICE = opcode("slice")
_X = parameters("f32[8]", "x")
_ROOT_X = _X.replace("x =", "ROOT x =")


def bounds(i: HloInstruction) -> tuple[SliceDimension, ...]:
    """The `slice` attribute."""
    found: tuple[SliceDimension, ...] = i.attributes["slice"]
    return found


def paddings(i: HloInstruction) -> tuple[PaddingDimension, ...]:
    """The `padding` attribute."""
    found: tuple[PaddingDimension, ...] = i.attributes["padding"]
    return found


def slice_attributes(rows: list[SliceDimension]) -> Attributes:
    """Attributes that are just `slice={...}`."""
    return attributes_of({"slice": tuple(rows)})


# -- slice -----------------------------------------------------------------------------------------------------------
@rule(slice_of(any_("x")).that(changes_nothing), exactness=Exactness.BITWISE, when=(static,), before=_X + "ROOT r = f32[8] slice(x), slice={[0:8]}", after=_ROOT_X)
def slice_everything(x: HloInstruction) -> HloInstruction:
    """A slice of the whole array becomes x."""
    return x


@rule(slice_of(slice_of(any_("x"), name="inner")), exactness=Exactness.BITWISE,
      before=_X + "a = f32[6] slice(x), slice={[1:7]}\nROOT r = f32[2] slice(a), slice={[2:4]}", after=_X + "ROOT r = f32[2] slice(x), slice={[3:5]}")
def slice_of_slice(computation: HloComputation, instruction: HloInstruction, inner: HloInstruction, x: HloInstruction) -> HloInstruction:
    """slice(slice(x)) becomes one slice."""
    rows = [SliceDimension(a.start + b.start * a.stride, a.start + (b.limit - 1) * a.stride + 1 if b.size else a.start + b.start * a.stride,
                           a.stride * b.stride) for a, b in zip(bounds(inner), bounds(instruction), strict=True)]
    return computation.add(SLICE, instruction.shape, (x,), slice_attributes(rows))


@rule(slice_of(pad(any_("x"), any_("value"), name="padded")), exactness=Exactness.BITWISE,
      before=_X + scalar_constant_text("v", "f32", 0) + "p = f32[12] pad(x, v), padding=2_2\nROOT r = f32[4] slice(p), slice={[3:7]}",
      after=_X + "ROOT r = f32[4] slice(x), slice={[1:5]}")
def slice_of_pad(computation: HloComputation, instruction: HloInstruction, padded: HloInstruction, x: HloInstruction,
                 value: HloInstruction) -> HloInstruction | None:
    """A slice of a pad that reads only padding becomes the padding value, one that reads only x a slice of x."""
    rows: list[SliceDimension | None] = []
    for cut, edge, size in zip(bounds(instruction), paddings(padded), x.shape.dimensions, strict=True):
        last = cut.start + (cut.size - 1) * cut.stride
        if cut.size and (last < edge.low or cut.start >= edge.low + size + max(size - 1, 0) * edge.interior):
            return value if not instruction.shape.rank else broadcast_scalar(computation, value, instruction.shape)
        if edge.interior or cut.start < edge.low or last >= edge.low + size:
            rows.append(None)
        else:
            rows.append(SliceDimension(cut.start - edge.low, cut.limit - edge.low if cut.stride == 1 else last - edge.low + 1, cut.stride))
    found = [row for row in rows if row is not None]
    if len(found) < len(rows):
        return None
    if instruction.shape.base is x.shape.base:
        return x
    return computation.add(SLICE, instruction.shape, (x,), slice_attributes(found))


@rule(slice_of(broadcast_of(any_("x"), name="wide")), exactness=Exactness.BITWISE, when=(static,),
      before=_X + "b = f32[5,8] broadcast(x), dimensions={1}\nROOT r = f32[2,3] slice(b), slice={[1:3],[2:5]}",
      after=_X + "s = f32[3] slice(x), slice={[2:5]}\nROOT r = f32[2,3] broadcast(s), dimensions={1}")
def slice_of_broadcast(computation: HloComputation, instruction: HloInstruction, wide: HloInstruction, x: HloInstruction) -> HloInstruction:
    """slice(broadcast(x)) becomes broadcast(slice(x)), or a smaller broadcast of x when only repeated dimensions are cut."""
    dimensions = dimensions_of(wide)
    rows = [bounds(instruction)[d] for d in dimensions]
    narrow = x.shape.with_dimensions([row.size for row in rows])
    part = x if narrow.base is x.shape.base else computation.add(SLICE, narrow, (x,), slice_attributes(rows))
    return broadcast(computation, part, instruction.shape, dimensions)


@rule(slice_of(concatenate(name="whole")), exactness=Exactness.BITWISE, when=(static,),
      before=parameters("f32[8]", "x", "y") + "c = f32[16] concatenate(x, y), dimensions={0}\nROOT r = f32[3] slice(c), slice={[9:12]}",
      after=parameters("f32[8]", "x", "y") + "ROOT r = f32[3] slice(y), slice={[1:4]}")
def slice_of_concatenate(computation: HloComputation, instruction: HloInstruction, whole: HloInstruction) -> HloInstruction | None:
    """A slice that reads one operand of a concatenate becomes that operand or a slice of it."""
    dimension = dimensions_of(whole)[0]
    cut = bounds(instruction)[dimension]
    if not instruction.shape.element_count:
        return None
    last, offset = cut.start + (cut.size - 1) * cut.stride, 0
    for operand in whole.operands:
        size = operand.shape.dimensions[dimension]
        if cut.start >= offset and last < offset + size:
            rows = list(bounds(instruction))
            rows[dimension] = SliceDimension(cut.start - offset, min(cut.limit - offset, size), cut.stride)
            if operand.shape.base is instruction.shape.base:
                return operand
            return computation.add(SLICE, instruction.shape, (operand,), slice_attributes(rows))
        offset += size
    return None


@rule(slice_of(reverse_of(any_("x"), name="turned")), exactness=Exactness.BITWISE, when=(has_elements,),
      before=_X + "a = f32[8] reverse(x), dimensions={0}\nROOT r = f32[3] slice(a), slice={[1:4]}",
      after=_X + "s = f32[3] slice(x), slice={[4:7]}\nROOT r = f32[3] reverse(s), dimensions={0}")
def slice_of_reverse(computation: HloComputation, instruction: HloInstruction, turned: HloInstruction, x: HloInstruction) -> HloInstruction:
    """slice(reverse(x)) becomes reverse(slice(x))."""
    rows = list(bounds(instruction))
    for d in dimensions_of(turned):
        row, size = rows[d], x.shape.dimensions[d]
        last = row.start + (row.size - 1) * row.stride
        rows[d] = SliceDimension(size - 1 - last, size - row.start, row.stride)
    part = computation.add(SLICE, instruction.shape, (x,), slice_attributes(rows))
    return computation.add("reverse", instruction.shape, (part,), turned.attributes)


def has_idle_stride(i: HloInstruction) -> bool:
    """A stride above one in a dimension where one element is taken."""
    return any([row.stride != 1 and row.size == 1 for row in bounds(i)])


@rule(slice_of(any_("x")).that(has_idle_stride), exactness=Exactness.BITWISE,
      before=_X + "ROOT r = f32[1] slice(x), slice={[2:5:4]}", after=_X + "ROOT r = f32[1] slice(x), slice={[2:3]}")
def slice_with_idle_stride(computation: HloComputation, instruction: HloInstruction, x: HloInstruction) -> HloInstruction:
    """A stride that can reach one element only becomes 1."""
    rows = [SliceDimension(row.start, row.start + 1) if row.size == 1 else row for row in bounds(instruction)]
    return computation.add(SLICE, instruction.shape, (x,), slice_attributes(rows))


# -- pad -------------------------------------------------------------------------------------------------------------
def has_no_elements_to_pad(i: HloInstruction) -> bool:
    """The padded operand is empty."""
    return i.operands[0].shape.element_count == 0


@rule(pad(any_(), any_("value")).that(has_no_elements_to_pad), exactness=Exactness.BITWISE,
      before="x = f32[0] parameter(0)\nv = f32[] parameter(1)\nROOT r = f32[3] pad(x, v), padding=1_2",
      after="x = f32[0] parameter(0)\nv = f32[] parameter(1)\nROOT r = f32[3] broadcast(v), dimensions={}")
def pad_of_empty(computation: HloComputation, instruction: HloInstruction, value: HloInstruction) -> HloInstruction:
    """A pad of an array without elements becomes a broadcast of the padding value."""
    return broadcast_scalar(computation, value, instruction.shape)


def pads_nothing(i: HloInstruction) -> bool:
    """All amounts are zero (an interior amount does nothing where there is one element)."""
    return i.shape.base is i.operands[0].shape.base and all([row.low == 0 and row.high == 0 for row in paddings(i)])


@rule(pad(any_("x"), any_()).that(pads_nothing), exactness=Exactness.BITWISE,
      before=_X + "v = f32[] parameter(1)\nROOT r = f32[8] pad(x, v), padding=0_0", after=_ROOT_X + "v = f32[] parameter(1)\n")
def pad_nothing(x: HloInstruction) -> HloInstruction:
    """A pad by zero becomes x."""
    return x


def crops(i: HloInstruction) -> bool:
    """Some edge amount is negative."""
    return any([row.low < 0 or row.high < 0 for row in paddings(i)])


@rule(pad(any_("x"), any_("value")).that(crops), exactness=Exactness.BITWISE, when=(static,),
      before=_X + "v = f32[] parameter(1)\nROOT r = f32[7] pad(x, v), padding=-2_1",
      after=_X + "v = f32[] parameter(1)\np = f32[9] pad(x, v), padding=0_1\nROOT r = f32[7] slice(p), slice={[2:9]}")
def pad_by_negative(computation: HloComputation, instruction: HloInstruction, x: HloInstruction, value: HloInstruction) -> HloInstruction:
    """Negative padding becomes a slice of the padded array."""
    kept, rows, sizes = [], [], []
    for row, size, result in zip(paddings(instruction), x.shape.dimensions, instruction.shape.dimensions, strict=True):
        low, high = max(row.low, 0), max(row.high, 0)
        kept.append(PaddingDimension(low, high, row.interior))
        sizes.append(size + max(size - 1, 0) * row.interior + low + high)
        rows.append(SliceDimension(max(-row.low, 0), max(-row.low, 0) + result))
    padded = x
    if any([row != PaddingDimension(0, 0, 0) for row in kept]):
        padded = computation.add("pad", x.shape.with_dimensions(sizes), (x, value), attributes_of({"padding": tuple(kept)}))
    return computation.add(SLICE, instruction.shape, (padded,), slice_attributes(rows))


def pads_unmapped_dimensions(i: HloInstruction) -> bool:
    """The operand is a broadcast that leaves some dimension alone which the pad leaves alone too."""
    wide = i.operands[0]
    changed = [d for d, row in enumerate(paddings(i)) if row != PaddingDimension(0, 0, 0)]
    if wide.opcode is not BROADCAST or not changed:
        return False
    return any([d not in dimensions_of(wide) and d not in changed and wide.shape.dimensions[d] > 1 for d in range(i.shape.rank)])


@rule(pad(broadcast_of(any_("x"), name="wide").one_use(), any_("value")).that(pads_unmapped_dimensions), exactness=Exactness.BITWISE, when=(static,),
      before=_X + "v = f32[] parameter(1)\nb = f32[3,8] broadcast(x), dimensions={1}\nROOT r = f32[3,10] pad(b, v), padding=0_0x1_1",
      after=_X + "v = f32[] parameter(1)\np = f32[10] pad(x, v), padding=1_1\nROOT r = f32[3,10] broadcast(p), dimensions={1}")
def pad_of_broadcast(computation: HloComputation, instruction: HloInstruction, x: HloInstruction, wide: HloInstruction,
                     value: HloInstruction) -> HloInstruction:
    """pad(broadcast(x)) becomes broadcast(pad(x)) over the repeated dimensions that are not padded."""
    rows, mapped = paddings(instruction), dimensions_of(wide)
    kept = [d for d in range(wide.shape.rank) if d in mapped or rows[d] != PaddingDimension(0, 0, 0)]
    narrow = x
    if kept != list(mapped):
        narrow = broadcast(computation, x, x.shape.with_dimensions([wide.shape.dimensions[d] for d in kept]), [kept.index(d) for d in mapped])
    padded = computation.add("pad", x.shape.with_dimensions([instruction.shape.dimensions[d] for d in kept]), (narrow, value),
                             attributes_of({"padding": tuple([rows[d] for d in kept])}))
    return broadcast(computation, padded, instruction.shape, kept)


# -- concatenate -----------------------------------------------------------------------------------------------------
def has_one_operand(i: HloInstruction) -> bool:
    """There is nothing to put together."""
    return len(i.operands) == 1


@rule(concatenate().that(has_one_operand), exactness=Exactness.BITWISE,
      before=_X + "ROOT r = f32[8] concatenate(x), dimensions={0}", after=_ROOT_X)
def concatenate_one(instruction: HloInstruction) -> HloInstruction:
    """concatenate(x) becomes x."""
    return instruction.operands[0]


def has_empty_operand(i: HloInstruction) -> bool:
    """Some operand has no elements."""
    return len(i.operands) > 1 and any([o.shape.element_count == 0 for o in i.operands])


@rule(concatenate().that(has_empty_operand), exactness=Exactness.BITWISE,
      before=_X + "e = f32[0] parameter(1)\nROOT r = f32[16] concatenate(x, e, x), dimensions={0}",
      after=_X + "e = f32[0] parameter(1)\nROOT r = f32[16] concatenate(x, x), dimensions={0}")
def concatenate_drops_empty(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Operands without elements are left out."""
    kept = [o for o in instruction.operands if o.shape.element_count] or list(instruction.operands[:1])
    return kept[0] if len(kept) == 1 else computation.add(CONCATENATE, instruction.shape, kept, instruction.attributes)


def contains_concatenate(i: HloInstruction) -> bool:
    """Some operand is a concatenate along the same dimension that nobody else reads."""
    return any([o.opcode is CONCATENATE and o.attributes is i.attributes and len(o.users) == 1 for o in i.operands])


@rule(concatenate().that(contains_concatenate), exactness=Exactness.BITWISE, layout="insensitive",
      before=_X + "a = f32[16] concatenate(x, x), dimensions={0}\nROOT r = f32[24] concatenate(x, a), dimensions={0}",
      after=_X + "ROOT r = f32[24] concatenate(x, x, x), dimensions={0}")
def concatenate_of_concatenate(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """concatenate(a, concatenate(b, c)) becomes concatenate(a, b, c)."""
    flat: list[HloInstruction] = []
    for operand in instruction.operands:
        inner = operand.opcode is CONCATENATE and operand.attributes is instruction.attributes and len(operand.users) == 1
        flat.extend(operand.operands if inner else [operand])
    return computation.add(CONCATENATE, instruction.shape, flat, instruction.attributes)


def _adjacent(a: HloInstruction, b: HloInstruction, dimension: int) -> bool:
    if a.opcode is not SLICE or b.opcode is not SLICE or a.operands[0] is not b.operands[0]:
        return False
    for d, (mine, other) in enumerate(zip(bounds(a), bounds(b), strict=True)):
        if mine.stride != 1 or other.stride != 1 or (mine.limit != other.start if d == dimension else mine != other):
            return False
    return True


def has_adjacent_slices(i: HloInstruction) -> bool:
    """Two neighbours are slices of one array that touch."""
    dimension = dimensions_of(i)[0]
    return any([_adjacent(a, b, dimension) for a, b in zip(i.operands, i.operands[1:], strict=False)])


@rule(concatenate().that(has_adjacent_slices), exactness=Exactness.BITWISE, layout="insensitive",
      before=_X + "a = f32[3] slice(x), slice={[1:4]}\nb = f32[2] slice(x), slice={[4:6]}\nROOT r = f32[5] concatenate(a, b), dimensions={0}",
      after=_X + "ROOT r = f32[5] slice(x), slice={[1:6]}")
def concatenate_adjacent_slices(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Neighbouring slices of one array that touch become one slice."""
    dimension = dimensions_of(instruction)[0]
    merged: list[HloInstruction] = [instruction.operands[0]]
    for operand in instruction.operands[1:]:
        last = merged[-1]
        if not _adjacent(last, operand, dimension):
            merged.append(operand)
            continue
        rows = list(bounds(last))
        rows[dimension] = SliceDimension(rows[dimension].start, bounds(operand)[dimension].limit)
        sizes = [row.size for row in rows]
        merged[-1] = computation.add(SLICE, last.shape.with_dimensions(sizes), last.operands, slice_attributes(rows))
    return merged[0] if len(merged) == 1 else computation.add(CONCATENATE, instruction.shape, merged, instruction.attributes)


def appends_a_scalar(i: HloInstruction) -> bool:
    """Two operands, exactly one of them the broadcast of a scalar."""
    if len(i.operands) != 2:
        return False
    filled_in = [o.opcode is BROADCAST and o.operands[0].shape.is_scalar for o in i.operands]
    return filled_in[0] != filled_in[1]


@rule(concatenate().that(appends_a_scalar), exactness=Exactness.BITWISE, layout="insensitive", when=(static,),
      before=_X + filled("z", "f32[3]", 0) + "ROOT r = f32[11] concatenate(x, z), dimensions={0}",
      after=_X + scalar_constant_text("z", "f32", 0) + "ROOT r = f32[11] pad(x, z), padding=0_3")
def concatenate_to_pad(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """concatenate(x, broadcast(s)) becomes pad(x, s)."""
    dimension = dimensions_of(instruction)[0]
    first, second = instruction.operands
    in_front = first.opcode is BROADCAST and first.operands[0].shape.is_scalar
    edge, x = (first, second) if in_front else (second, first)
    rows = [PaddingDimension(0, 0)] * instruction.shape.rank
    size = edge.shape.dimensions[dimension]
    rows[dimension] = PaddingDimension(size, 0) if in_front else PaddingDimension(0, size)
    return computation.add("pad", instruction.shape, (x, edge.operands[0]), attributes_of({"padding": tuple(rows)}))


def repeats_one_slice(i: HloInstruction) -> bool:
    """The same operand several times, of size one along the dimension."""
    return len(i.operands) > 1 and len(set(i.operands)) == 1 and i.operands[0].shape.dimensions[dimensions_of(i)[0]] == 1


@rule(concatenate().that(repeats_one_slice), exactness=Exactness.BITWISE, layout="insensitive", when=(static,),
      before="x = f32[1,4] parameter(0)\nROOT r = f32[3,4] concatenate(x, x, x), dimensions={0}",
      after="x = f32[1,4] parameter(0)\na = f32[4] reshape(x)\nROOT r = f32[3,4] broadcast(a), dimensions={1}")
def concatenate_to_broadcast(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """concatenate(x, x, x) along a dimension of size one becomes a broadcast."""
    dimension, x = dimensions_of(instruction)[0], instruction.operands[0]
    kept = [d for d in range(x.shape.rank) if d != dimension]
    narrow = reshape(computation, x, x.shape.with_dimensions([x.shape.dimensions[d] for d in kept]))
    return broadcast(computation, narrow, instruction.shape, kept)


# -- dynamic slices --------------------------------------------------------------------------------------------------
@rule(dynamic_slice(name="part"), exactness=Exactness.BITWISE, when=(static,),
      before=_X + "i = s32[] parameter(1)\nROOT r = f32[8] dynamic-slice(x, i), dynamic_slice_sizes={8}", after=_ROOT_X + "i = s32[] parameter(1)\n")
def dynamic_slice_everything(part: HloInstruction) -> HloInstruction | None:
    """A dynamic-slice of the whole array becomes the array: the start is clamped to zero."""
    x = part.operands[0]
    return x if x.shape.base is part.shape.base else None


@rule(dynamic_slice(name="part"), exactness=Exactness.BITWISE, when=(static,),
      before=_X + "i = s32[] parameter(1)\nj = s32[] parameter(2)\nb = f32[5,8] broadcast(x), dimensions={1}\n"
             "ROOT r = f32[2,3] dynamic-slice(b, i, j), dynamic_slice_sizes={2,3}",
      after=_X + "i = s32[] parameter(1)\nj = s32[] parameter(2)\ns = f32[3] dynamic-slice(x, j), dynamic_slice_sizes={3}\n"
            "ROOT r = f32[2,3] broadcast(s), dimensions={1}")
def dynamic_slice_of_broadcast(computation: HloComputation, part: HloInstruction) -> HloInstruction | None:
    """dynamic-slice(broadcast(x)) becomes broadcast(dynamic-slice(x))."""
    wide, starts = part.operands[0], part.operands[1:]
    if wide.opcode is not BROADCAST or len(starts) != wide.shape.rank or not wide.operands[0].shape.rank:
        return None
    dimensions, x = dimensions_of(wide), wide.operands[0]
    sizes = tuple([part.shape.dimensions[d] for d in dimensions])
    small = computation.add("dynamic-slice", x.shape.with_dimensions(sizes), (x, *[starts[d] for d in dimensions]),
                            attributes_of({"dynamic_slice_sizes": sizes}))
    return broadcast(computation, small, part.shape, dimensions)


def start_operands(i: HloInstruction) -> tuple[HloInstruction, ...]:
    """The start indices of a dynamic-slice or dynamic-update-slice."""
    return i.operands[1:] if i.opcode.name == "dynamic-slice" else i.operands[2:]


def _slice_sizes(i: HloInstruction) -> tuple[int, ...]:
    return i.shape.dimensions if i.opcode.name == "dynamic-slice" else i.operands[1].shape.dimensions


def has_pointless_index(i: HloInstruction) -> bool:
    """A start index that is no zero, in a dimension where the slice is as large as the array."""
    starts = start_operands(i)
    if len(starts) != i.operands[0].shape.rank:
        return False
    return any([size == whole and as_integer(start) != 0 for size, whole, start in
                zip(_slice_sizes(i), i.operands[0].shape.dimensions, starts, strict=True)])


def _with_zero_indices(computation: HloComputation, i: HloInstruction) -> HloInstruction:
    starts = list(start_operands(i))
    for d, (size, whole) in enumerate(zip(_slice_sizes(i), i.operands[0].shape.dimensions, strict=True)):
        if size == whole:
            starts[d] = scalar_constant(computation, starts[d].shape, 0)
    return computation.add(i.opcode, i.shape, (*i.operands[: len(i.operands) - len(starts)], *starts), i.attributes)


@rule(dynamic_slice().that(has_pointless_index), exactness=Exactness.BITWISE, when=(static,),
      before="x = f32[4,8] parameter(0)\ni = s32[] parameter(1)\nj = s32[] parameter(2)\n"
             "ROOT r = f32[2,8] dynamic-slice(x, i, j), dynamic_slice_sizes={2,8}",
      after="x = f32[4,8] parameter(0)\ni = s32[] parameter(1)\nj = s32[] parameter(2)\n" + scalar_constant_text("z", "s32", 0)
            + "ROOT r = f32[2,8] dynamic-slice(x, i, z), dynamic_slice_sizes={2,8}")
def dynamic_slice_index_to_zero(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """The start index of a dimension that is taken whole becomes 0."""
    return _with_zero_indices(computation, instruction)


@rule(dynamic_update_slice().that(has_pointless_index), exactness=Exactness.BITWISE, when=(static,),
      before="x = f32[4,8] parameter(0)\nu = f32[2,8] parameter(1)\ni = s32[] parameter(2)\nj = s32[] parameter(3)\n"
             "ROOT r = f32[4,8] dynamic-update-slice(x, u, i, j)",
      after="x = f32[4,8] parameter(0)\nu = f32[2,8] parameter(1)\ni = s32[] parameter(2)\nj = s32[] parameter(3)\n"
            + scalar_constant_text("z", "s32", 0) + "ROOT r = f32[4,8] dynamic-update-slice(x, u, i, z)")
def dynamic_update_index_to_zero(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """The start index of a dimension that is updated whole becomes 0."""
    return _with_zero_indices(computation, instruction)


def starts_are_constant(i: HloInstruction) -> bool:
    """Every start index is a non-negative constant, and the array varies."""
    starts = start_operands(i)
    values = [as_integer(start) for start in starts]
    return len(values) == i.operands[0].shape.rank and all([v is not None and v >= 0 for v in values]) and is_varying(i.operands[0])


@rule(dynamic_slice().that(starts_are_constant), exactness=Exactness.BITWISE, when=(static,),
      before=_X + scalar_constant_text("i", "s32", 7) + "ROOT r = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
      after=_X + "ROOT r = f32[3] slice(x), slice={[5:8]}")
def dynamic_slice_to_slice(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """A dynamic-slice with constant starts becomes a slice; starts are clamped into range."""
    rows = []
    for start, size, whole in zip(start_operands(instruction), instruction.shape.dimensions, instruction.operands[0].shape.dimensions, strict=True):
        first = min(as_integer(start) or 0, whole - size)
        rows.append(SliceDimension(first, first + size))
    return computation.add(SLICE, instruction.shape, instruction.operands[:1], slice_attributes(rows))


@rule(dynamic_update_slice(name="updated"), exactness=Exactness.BITWISE, when=(static,),
      before=parameters("f32[8]", "x", "u") + "i = s32[] parameter(2)\nROOT r = f32[8] dynamic-update-slice(x, u, i)",
      after=parameters("f32[8]", "x", "u").replace("u =", "ROOT u =") + "i = s32[] parameter(2)\n")
def dynamic_update_everything(updated: HloInstruction) -> HloInstruction | None:
    """An update of the whole array becomes the update, an empty one the array."""
    x, update = updated.operands[0], updated.operands[1]
    if update.shape.base is updated.shape.base:
        return update
    return x if update.shape.element_count == 0 else None


def updates_a_scalar_broadcast(i: HloInstruction) -> bool:
    """The array is the broadcast of a scalar and every start index a constant."""
    x = i.operands[0]
    return x.opcode is BROADCAST and x.operands[0].shape.is_scalar and all([(as_integer(s) or -1) >= 0 or as_integer(s) == 0 for s in start_operands(i)])


@rule(dynamic_update_slice(name="updated").that(updates_a_scalar_broadcast), exactness=Exactness.BITWISE, when=(static,),
      before=parameters("f32[3]", "u") + filled("z", "f32[8]", 0) + scalar_constant_text("i", "s32", 2)
             + "ROOT r = f32[8] dynamic-update-slice(z, u, i)",
      after=parameters("f32[3]", "u") + scalar_constant_text("z", "f32", 0) + "ROOT r = f32[8] pad(u, z), padding=2_3")
def dynamic_update_to_pad(computation: HloComputation, updated: HloInstruction) -> HloInstruction | Reason:
    """An update at constant places of an array that holds one scalar becomes a pad of the update."""
    x, update = updated.operands[0], updated.operands[1]
    starts = start_operands(updated)
    if len(starts) != x.shape.rank:
        return refuse("vector-index", f"%{updated.name} gives its start indices as one vector")
    rows = []
    for start, size, whole in zip(starts, update.shape.dimensions, x.shape.dimensions, strict=True):
        low = min(as_integer(start) or 0, whole - size)
        rows.append(PaddingDimension(low, whole - size - low))
    return computation.add("pad", updated.shape, (update, x.operands[0]), attributes_of({"padding": tuple(rows)}))


@rule(dynamic_slice(name="outer"), exactness=Exactness.BITWISE, when=(static,),
      before=_X + "u = f32[3] parameter(1)\ni = s32[] parameter(2)\nd = f32[8] dynamic-update-slice(x, u, i)\n"
             "ROOT r = f32[3] dynamic-slice(d, i), dynamic_slice_sizes={3}",
      after=_X.replace("x =", "x =") + "ROOT u = f32[3] parameter(1)\ni = s32[] parameter(2)\n")
def dynamic_slice_of_its_update(outer: HloInstruction) -> HloInstruction | None:
    """Reading back what was just written at the same place becomes what was written."""
    inner = outer.operands[0]
    if inner.opcode.name != "dynamic-update-slice" or inner.operands[1].shape.base is not outer.shape.base:
        return None
    mine, other = start_operands(outer), start_operands(inner)
    return inner.operands[1] if len(mine) == len(other) and all(map(same_value, mine, other)) else None
