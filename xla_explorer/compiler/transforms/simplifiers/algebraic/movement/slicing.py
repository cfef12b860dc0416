"""Rules on slice and pad. Source: algebraic_simplifier.cc, HandleSlice, HandlePad."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import broadcast, broadcast_scalar
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import has_elements, static
from xla_explorer.compiler.rewriting.operators import broadcast as broadcast_of
from xla_explorer.compiler.rewriting.operators import concatenate, pad
from xla_explorer.compiler.rewriting.operators import reverse as reverse_of
from xla_explorer.compiler.rewriting.operators import slice_ as slice_of
from xla_explorer.compiler.rewriting.patterns import BROADCAST, any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.reshaping import (
    changes_nothing,
)
from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import opcode

SLICE = opcode("slice")
_X = parameters("f32[8]", "x")
_ROOT_X = _X.replace("x =", "ROOT x =")


def bounds(i: HloInstruction) -> tuple[SliceDimension, ...]:
    """Return the `slice` attribute."""
    found: tuple[SliceDimension, ...] = i.attributes["slice"]
    return found


def paddings(i: HloInstruction) -> tuple[PaddingDimension, ...]:
    """Return the `padding` attribute."""
    found: tuple[PaddingDimension, ...] = i.attributes["padding"]
    return found


def slice_attributes(rows: list[SliceDimension]) -> Attributes:
    """Return the attributes `slice={...}`."""
    return attributes_of({"slice": tuple(rows)})


@rule(
    slice_of(any_("x")).that(changes_nothing),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X + "ROOT r = f32[8] slice(x), slice={[0:8]}",
    after=_ROOT_X,
)
def slice_everything(x: HloInstruction) -> HloInstruction:
    """Rewrite a slice of the whole array as x."""
    return x


@rule(
    slice_of(slice_of(any_("x"), name="inner")),
    exactness=Exactness.BITWISE,
    before=_X + "a = f32[6] slice(x), slice={[1:7]}\nROOT r = f32[2] slice(a), slice={[2:4]}",
    after=_X + "ROOT r = f32[2] slice(x), slice={[3:5]}",
)
def slice_of_slice(
    computation: HloComputation,
    instruction: HloInstruction,
    inner: HloInstruction,
    x: HloInstruction,
) -> HloInstruction:
    """Rewrite slice(slice(x)) as one slice."""
    rows = [
        SliceDimension(
            a.start + b.start * a.stride,
            a.start + (b.limit - 1) * a.stride + 1,
            a.stride * b.stride,
        )
        # In an empty slice, the start may exceed the reach of the inner stride, and x.
        if b.size
        else SliceDimension(a.start, a.start)
        for a, b in zip(bounds(inner), bounds(instruction), strict=True)
    ]
    return computation.add(SLICE, instruction.shape, (x,), slice_attributes(rows))


@rule(
    slice_of(pad(any_("x"), any_("value"), name="padded")),
    exactness=Exactness.BITWISE,
    before=_X
    + scalar_constant_text("v", "f32", 0)
    + "p = f32[12] pad(x, v), padding=2_2\nROOT r = f32[4] slice(p), slice={[3:7]}",
    after=_X + "ROOT r = f32[4] slice(x), slice={[1:5]}",
)
def slice_of_pad(
    computation: HloComputation,
    instruction: HloInstruction,
    padded: HloInstruction,
    x: HloInstruction,
    value: HloInstruction,
) -> HloInstruction | None:
    """Rewrite a slice of a pad as the padding value or as a slice of x if it reads only one."""
    rows: list[SliceDimension | None] = []
    if not instruction.shape.element_count:
        return None
    for cut, edge, size in zip(
        bounds(instruction), paddings(padded), x.shape.dimensions, strict=True
    ):
        last = cut.start + (cut.size - 1) * cut.stride
        if last < edge.low or cut.start >= edge.low + size + max(size - 1, 0) * edge.interior:
            return (
                value
                if not instruction.shape.rank
                else broadcast_scalar(computation, value, instruction.shape)
            )
        if edge.interior or cut.start < edge.low or last >= edge.low + size:
            rows.append(None)
        else:
            rows.append(
                SliceDimension(
                    cut.start - edge.low,
                    cut.limit - edge.low if cut.stride == 1 else last - edge.low + 1,
                    cut.stride,
                )
            )
    found = [row for row in rows if row is not None]
    if len(found) < len(rows):
        return None
    if instruction.shape.base is x.shape.base:
        return x
    return computation.add(SLICE, instruction.shape, (x,), slice_attributes(found))


@rule(
    slice_of(broadcast_of(any_("x"), name="wide")),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X
    + "b = f32[5,8] broadcast(x), dimensions={1}\nROOT r = f32[2,3] slice(b), slice={[1:3],[2:5]}",
    after=_X + "s = f32[3] slice(x), slice={[2:5]}\nROOT r = f32[2,3] broadcast(s), dimensions={1}",
)
def slice_of_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    wide: HloInstruction,
    x: HloInstruction,
) -> HloInstruction:
    """Rewrite slice(broadcast(x)) as broadcast(slice(x)), or as a smaller broadcast of x."""
    dimensions = dimensions_of(wide)
    rows = [bounds(instruction)[d] for d in dimensions]
    narrow = x.shape.with_dimensions([row.size for row in rows])
    part = (
        x
        if narrow.base is x.shape.base
        else computation.add(SLICE, narrow, (x,), slice_attributes(rows))
    )
    return broadcast(computation, part, instruction.shape, dimensions)


@rule(
    slice_of(concatenate(name="whole")),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=parameters("f32[8]", "x", "y")
    + "c = f32[16] concatenate(x, y), dimensions={0}\nROOT r = f32[3] slice(c), slice={[9:12]}",
    after=parameters("f32[8]", "x", "y") + "ROOT r = f32[3] slice(y), slice={[1:4]}",
)
def slice_of_concatenate(
    computation: HloComputation, instruction: HloInstruction, whole: HloInstruction
) -> HloInstruction | None:
    """Rewrite a slice that reads one operand of a concatenate as this operand or its slice."""
    dimension = dimensions_of(whole)[0]
    cut = bounds(instruction)[dimension]
    if not instruction.shape.element_count:
        return None
    last, offset = cut.start + (cut.size - 1) * cut.stride, 0
    for operand in whole.operands:
        size = operand.shape.dimensions[dimension]
        if cut.start >= offset and last < offset + size:
            rows = list(bounds(instruction))
            rows[dimension] = SliceDimension(
                cut.start - offset, min(cut.limit - offset, size), cut.stride
            )
            if operand.shape.base is instruction.shape.base:
                return operand
            return computation.add(SLICE, instruction.shape, (operand,), slice_attributes(rows))
        offset += size
    return None


@rule(
    slice_of(reverse_of(any_("x"), name="turned")),
    exactness=Exactness.BITWISE,
    when=(has_elements,),
    before=_X + "a = f32[8] reverse(x), dimensions={0}\nROOT r = f32[3] slice(a), slice={[1:4]}",
    after=_X + "s = f32[3] slice(x), slice={[4:7]}\nROOT r = f32[3] reverse(s), dimensions={0}",
)
def slice_of_reverse(
    computation: HloComputation,
    instruction: HloInstruction,
    turned: HloInstruction,
    x: HloInstruction,
) -> HloInstruction:
    """Rewrite slice(reverse(x)) as reverse(slice(x))."""
    rows = list(bounds(instruction))
    for d in dimensions_of(turned):
        row, size = rows[d], x.shape.dimensions[d]
        last = row.start + (row.size - 1) * row.stride
        rows[d] = SliceDimension(size - 1 - last, size - row.start, row.stride)
    part = computation.add(SLICE, instruction.shape, (x,), slice_attributes(rows))
    return computation.add("reverse", instruction.shape, (part,), turned.attributes)


def has_idle_stride(i: HloInstruction) -> bool:
    """Return True for a stride above one in a dimension with one sliced element."""
    return any(row.stride != 1 and row.size == 1 for row in bounds(i))


@rule(
    slice_of(any_("x")).that(has_idle_stride),
    exactness=Exactness.BITWISE,
    before=_X + "ROOT r = f32[1] slice(x), slice={[2:5:4]}",
    after=_X + "ROOT r = f32[1] slice(x), slice={[2:3]}",
)
def slice_with_idle_stride(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Set the stride of a slice to 1 in a dimension with one sliced element."""
    rows = [
        SliceDimension(row.start, row.start + 1) if row.size == 1 else row
        for row in bounds(instruction)
    ]
    return computation.add(SLICE, instruction.shape, (x,), slice_attributes(rows))


def has_no_elements_to_pad(i: HloInstruction) -> bool:
    """Return True if the padded operand is empty."""
    return i.operands[0].shape.element_count == 0


@rule(
    pad(any_(), any_("value")).that(has_no_elements_to_pad),
    exactness=Exactness.BITWISE,
    before="x = f32[0] parameter(0)\nv = f32[] parameter(1)\nROOT r = f32[3] pad(x, v), padding=1_2",
    after="x = f32[0] parameter(0)\nv = f32[] parameter(1)\nROOT r = f32[3] broadcast(v), dimensions={}",
)
def pad_of_empty(
    computation: HloComputation, instruction: HloInstruction, value: HloInstruction
) -> HloInstruction:
    """Rewrite a pad of an array without elements as a broadcast of the padding value."""
    return broadcast_scalar(computation, value, instruction.shape)


def pads_nothing(i: HloInstruction) -> bool:
    """Return True if all amounts are zero (an interior amount is idle for one element)."""
    return i.shape.base is i.operands[0].shape.base and all(
        row.low == 0 and row.high == 0 for row in paddings(i)
    )


@rule(
    pad(any_("x"), any_()).that(pads_nothing),
    exactness=Exactness.BITWISE,
    before=_X + "v = f32[] parameter(1)\nROOT r = f32[8] pad(x, v), padding=0_0",
    after=_ROOT_X + "v = f32[] parameter(1)\n",
)
def pad_nothing(x: HloInstruction) -> HloInstruction:
    """Rewrite a pad by zero as x."""
    return x


def spreads_one_element(i: HloInstruction) -> bool:
    """Return True for interior padding of at most one element."""
    return any(
        row.interior and size <= 1
        for row, size in zip(paddings(i), i.operands[0].shape.dimensions, strict=True)
    )


@rule(
    pad(any_("x"), any_("value")).that(spreads_one_element),
    exactness=Exactness.BITWISE,
    before="x = f32[1] parameter(0)\nv = f32[] parameter(1)\nROOT r = f32[4] pad(x, v), padding=1_2_5",
    after="x = f32[1] parameter(0)\nv = f32[] parameter(1)\nROOT r = f32[4] pad(x, v), padding=1_2",
)
def pad_within_one_element(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    value: HloInstruction,
) -> HloInstruction:
    """Remove interior padding of a dimension of size one, where it is idle."""
    sizes = x.shape.dimensions
    rows = [
        row if size > 1 else row._replace(interior=0)
        for row, size in zip(paddings(instruction), sizes, strict=True)
    ]
    return computation.add(
        "pad",
        instruction.shape,
        (x, value),
        instruction.attributes.with_values(padding=tuple(rows)),
    )


def crops(i: HloInstruction) -> bool:
    """Return True if some edge amount is negative."""
    return any(row.low < 0 or row.high < 0 for row in paddings(i))


@rule(
    pad(any_("x"), any_("value")).that(crops),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X + "v = f32[] parameter(1)\nROOT r = f32[7] pad(x, v), padding=-2_1",
    after=_X
    + "v = f32[] parameter(1)\np = f32[9] pad(x, v), padding=0_1\nROOT r = f32[7] slice(p), slice={[2:9]}",
)
def pad_by_negative(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    value: HloInstruction,
) -> HloInstruction:
    """Rewrite negative padding as a slice of the padded array."""
    kept, rows, sizes = [], [], []
    for row, size, result in zip(
        paddings(instruction), x.shape.dimensions, instruction.shape.dimensions, strict=True
    ):
        low, high = max(row.low, 0), max(row.high, 0)
        kept.append(PaddingDimension(low, high, row.interior))
        sizes.append(size + max(size - 1, 0) * row.interior + low + high)
        rows.append(SliceDimension(max(-row.low, 0), max(-row.low, 0) + result))
    padded = x
    if any(row != PaddingDimension(0, 0, 0) for row in kept):
        padded = computation.add(
            "pad",
            x.shape.with_dimensions(sizes),
            (x, value),
            attributes_of({"padding": tuple(kept)}),
        )
    return computation.add(SLICE, instruction.shape, (padded,), slice_attributes(rows))


def pads_unmapped_dimensions(i: HloInstruction) -> bool:
    """Return True if a broadcast dimension is neither mapped nor padded."""
    wide = i.operands[0]
    changed = [d for d, row in enumerate(paddings(i)) if row != PaddingDimension(0, 0, 0)]
    if wide.opcode is not BROADCAST or not changed:
        return False
    return any(
        d not in dimensions_of(wide) and d not in changed and wide.shape.dimensions[d] > 1
        for d in range(i.shape.rank)
    )


@rule(
    pad(broadcast_of(any_("x"), name="wide").one_use(), any_("value")).that(
        pads_unmapped_dimensions
    ),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X + "v = f32[] parameter(1)\nb = f32[3,8] broadcast(x), dimensions={1}\n"
    "ROOT r = f32[3,10] pad(b, v), padding=0_0x1_1",
    after=_X
    + "v = f32[] parameter(1)\np = f32[10] pad(x, v), padding=1_1\nROOT r = f32[3,10] broadcast(p), dimensions={1}",
)
def pad_of_broadcast(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    wide: HloInstruction,
    value: HloInstruction,
) -> HloInstruction:
    """Rewrite pad(broadcast(x)) as broadcast(pad(x)) over repeated dimensions without padding."""
    rows, mapped = paddings(instruction), dimensions_of(wide)
    kept = [
        d for d in range(wide.shape.rank) if d in mapped or rows[d] != PaddingDimension(0, 0, 0)
    ]
    narrow = x
    if kept != list(mapped):
        narrow = broadcast(
            computation,
            x,
            x.shape.with_dimensions([wide.shape.dimensions[d] for d in kept]),
            [kept.index(d) for d in mapped],
        )
    padded = computation.add(
        "pad",
        x.shape.with_dimensions([instruction.shape.dimensions[d] for d in kept]),
        (narrow, value),
        attributes_of({"padding": tuple([rows[d] for d in kept])}),
    )
    return broadcast(computation, padded, instruction.shape, kept)
