"""Rules on dynamic-slice and dynamic-update-slice.

Source: algebraic_simplifier.cc, HandleDynamicSlice, HandleDynamicUpdateSlice.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import broadcast, scalar_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import add, dynamic_slice, dynamic_update_slice
from xla_explorer.compiler.rewriting.patterns import BROADCAST, any_, is_varying, uniform_value
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer, same_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import (
    SLICE,
    slice_attributes,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRED

_X = parameters("f32[8]", "x")
_ROOT_X = _X.replace("x =", "ROOT x =")


@rule(
    dynamic_slice(name="part"),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X
    + "i = s32[] parameter(1)\nROOT r = f32[8] dynamic-slice(x, i), dynamic_slice_sizes={8}",
    after=_ROOT_X + "i = s32[] parameter(1)\n",
)
def dynamic_slice_everything(part: HloInstruction) -> HloInstruction | None:
    """Rewrite a dynamic-slice of the whole array as the array: the start is clamped to zero."""
    x = part.operands[0]
    return x if x.shape.base is part.shape.base else None


@rule(
    dynamic_slice(name="part"),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X
    + "i = s32[] parameter(1)\nj = s32[] parameter(2)\nb = f32[5,8] broadcast(x), dimensions={1}\n"
    "ROOT r = f32[2,3] dynamic-slice(b, i, j), dynamic_slice_sizes={2,3}",
    after=_X
    + "i = s32[] parameter(1)\nj = s32[] parameter(2)\ns = f32[3] dynamic-slice(x, j), dynamic_slice_sizes={3}\n"
    "ROOT r = f32[2,3] broadcast(s), dimensions={1}",
)
def dynamic_slice_of_broadcast(
    computation: HloComputation, part: HloInstruction
) -> HloInstruction | None:
    """Rewrite dynamic-slice(broadcast(x)) as broadcast(dynamic-slice(x))."""
    wide, starts = part.operands[0], part.operands[1:]
    if (
        wide.opcode is not BROADCAST
        or len(starts) != wide.shape.rank
        or not wide.operands[0].shape.rank
    ):
        return None
    dimensions, x = dimensions_of(wide), wide.operands[0]
    sizes = tuple([part.shape.dimensions[d] for d in dimensions])
    small = computation.add(
        "dynamic-slice",
        x.shape.with_dimensions(sizes),
        (x, *[starts[d] for d in dimensions]),
        attributes_of({"dynamic_slice_sizes": sizes}),
    )
    return broadcast(computation, small, part.shape, dimensions)


def start_operands(i: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return the start indices of a dynamic-slice or dynamic-update-slice."""
    return i.operands[1:] if i.opcode.name == "dynamic-slice" else i.operands[2:]


def _slice_sizes(i: HloInstruction) -> tuple[int, ...]:
    return (
        i.shape.dimensions if i.opcode.name == "dynamic-slice" else i.operands[1].shape.dimensions
    )


def has_pointless_index(i: HloInstruction) -> bool:
    """Return True for a nonzero start index in a dimension that is read or written whole."""
    starts = start_operands(i)
    if len(starts) != i.operands[0].shape.rank:
        return False
    return any(
        size == whole and as_integer(start) != 0
        for size, whole, start in zip(
            _slice_sizes(i), i.operands[0].shape.dimensions, starts, strict=True
        )
    )


def _with_zero_indices(computation: HloComputation, i: HloInstruction) -> HloInstruction:
    starts = list(start_operands(i))
    for d, (size, whole) in enumerate(
        zip(_slice_sizes(i), i.operands[0].shape.dimensions, strict=True)
    ):
        if size == whole:
            starts[d] = scalar_constant(computation, starts[d].shape, 0)
    return computation.add(
        i.opcode, i.shape, (*i.operands[: len(i.operands) - len(starts)], *starts), i.attributes
    )


@rule(
    dynamic_slice().that(has_pointless_index),
    exactness=Exactness.BITWISE,
    when=(static,),
    before="x = f32[4,8] parameter(0)\ni = s32[] parameter(1)\nj = s32[] parameter(2)\n"
    "ROOT r = f32[2,8] dynamic-slice(x, i, j), dynamic_slice_sizes={2,8}",
    after="x = f32[4,8] parameter(0)\ni = s32[] parameter(1)\nj = s32[] parameter(2)\n"
    + scalar_constant_text("z", "s32", 0)
    + "ROOT r = f32[2,8] dynamic-slice(x, i, z), dynamic_slice_sizes={2,8}",
)
def dynamic_slice_index_to_zero(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Set the start index of a dimension to 0 if a dynamic-slice covers the dimension."""
    return _with_zero_indices(computation, instruction)


@rule(
    dynamic_update_slice().that(has_pointless_index),
    exactness=Exactness.BITWISE,
    when=(static,),
    before="x = f32[4,8] parameter(0)\nu = f32[2,8] parameter(1)\ni = s32[] parameter(2)\nj = s32[] parameter(3)\n"
    "ROOT r = f32[4,8] dynamic-update-slice(x, u, i, j)",
    after="x = f32[4,8] parameter(0)\nu = f32[2,8] parameter(1)\ni = s32[] parameter(2)\nj = s32[] parameter(3)\n"
    + scalar_constant_text("z", "s32", 0)
    + "ROOT r = f32[4,8] dynamic-update-slice(x, u, i, z)",
)
def dynamic_update_index_to_zero(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Set the start index of a dimension to 0 if an update covers the dimension."""
    return _with_zero_indices(computation, instruction)


def starts_are_constant(i: HloInstruction) -> bool:
    """Return True if every start index is a non-negative constant, and the array varies."""
    starts = start_operands(i)
    values = [as_integer(start) for start in starts]
    return (
        len(values) == i.operands[0].shape.rank
        and all(v is not None and v >= 0 for v in values)
        and is_varying(i.operands[0])
    )


@rule(
    dynamic_slice().that(starts_are_constant),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X
    + scalar_constant_text("i", "s32", 7)
    + "ROOT r = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
    after=_X + "ROOT r = f32[3] slice(x), slice={[5:8]}",
)
def dynamic_slice_to_slice(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite a dynamic-slice with constant starts as a slice; starts are clamped into range."""
    rows = []
    for start, size, whole in zip(
        start_operands(instruction),
        instruction.shape.dimensions,
        instruction.operands[0].shape.dimensions,
        strict=True,
    ):
        first = min(as_integer(start) or 0, whole - size)
        rows.append(SliceDimension(first, first + size))
    return computation.add(
        SLICE, instruction.shape, instruction.operands[:1], slice_attributes(rows)
    )


@rule(
    dynamic_update_slice(name="updated"),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=parameters("f32[8]", "x", "u")
    + "i = s32[] parameter(2)\nROOT r = f32[8] dynamic-update-slice(x, u, i)",
    after=parameters("f32[8]", "x", "u").replace("u =", "ROOT u =") + "i = s32[] parameter(2)\n",
)
def dynamic_update_everything(updated: HloInstruction) -> HloInstruction | None:
    """Rewrite an update of the whole array as the update, an empty one as the array."""
    x, update = updated.operands[0], updated.operands[1]
    if update.shape.base is updated.shape.base:
        return update
    return x if update.shape.element_count == 0 else None


def updates_a_scalar_broadcast(i: HloInstruction) -> bool:
    """Return True if the array is a broadcast scalar and every start index a constant."""
    x = i.operands[0]
    return (
        x.opcode is BROADCAST
        and x.operands[0].shape.is_scalar
        and all((as_integer(s) or -1) >= 0 or as_integer(s) == 0 for s in start_operands(i))
    )


@rule(
    dynamic_update_slice(name="updated").that(updates_a_scalar_broadcast),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=parameters("f32[3]", "u")
    + filled("z", "f32[8]", 0)
    + scalar_constant_text("i", "s32", 2)
    + "ROOT r = f32[8] dynamic-update-slice(z, u, i)",
    after=parameters("f32[3]", "u")
    + scalar_constant_text("z", "f32", 0)
    + "ROOT r = f32[8] pad(u, z), padding=2_3",
)
def dynamic_update_to_pad(
    computation: HloComputation, updated: HloInstruction
) -> HloInstruction | Reason:
    """Rewrite an update of a broadcast scalar at constant places as a pad of the update."""
    x, update = updated.operands[0], updated.operands[1]
    starts = start_operands(updated)
    if len(starts) != x.shape.rank:
        return refuse("vector-index", f"%{updated.name} gives its start indices as one vector")
    rows = []
    for start, size, whole in zip(starts, update.shape.dimensions, x.shape.dimensions, strict=True):
        low = min(as_integer(start) or 0, whole - size)
        rows.append(PaddingDimension(low, whole - size - low))
    return computation.add(
        "pad", updated.shape, (update, x.operands[0]), attributes_of({"padding": tuple(rows)})
    )


@rule(
    dynamic_slice(name="outer"),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_X
    + "u = f32[3] parameter(1)\ni = s32[] parameter(2)\nd = f32[8] dynamic-update-slice(x, u, i)\n"
    "ROOT r = f32[3] dynamic-slice(d, i), dynamic_slice_sizes={3}",
    after=_X.replace("x =", "x =") + "ROOT u = f32[3] parameter(1)\ni = s32[] parameter(2)\n",
)
def dynamic_slice_of_its_update(outer: HloInstruction) -> HloInstruction | None:
    """Rewrite a dynamic-slice of an update at the same place as the update."""
    inner = outer.operands[0]
    if (
        inner.opcode.name != "dynamic-update-slice"
        or inner.operands[1].shape.base is not outer.shape.base
    ):
        return None
    mine, other = start_operands(outer), start_operands(inner)
    return (
        inner.operands[1] if len(mine) == len(other) and all(map(same_value, mine, other)) else None
    )


def updates_zeros(i: HloInstruction) -> bool:
    """Return True if the updated array is zero everywhere."""
    return uniform_value(i.operands[0]) == 0 and i.shape.element_type is not PRED


@rule(
    add(any_("x"), dynamic_update_slice(name="updated").that(updates_zeros).one_use()),
    exactness=Exactness.NUMERIC,
    when=(static,),
    before=_X
    + "u = f32[3] parameter(1)\ni = s32[] parameter(2)\n"
    + filled("z", "f32[8]", 0)
    + "d = f32[8] dynamic-update-slice(z, u, i)\nROOT r = f32[8] add(x, d)",
    after=_X
    + "u = f32[3] parameter(1)\ni = s32[] parameter(2)\ns = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}\n"
    + "a = f32[3] add(s, u)\nROOT r = f32[8] dynamic-update-slice(x, a, i)",
)
def add_update_of_zeros(
    computation: HloComputation,
    instruction: HloInstruction,
    x: HloInstruction,
    updated: HloInstruction,
) -> HloInstruction:
    """Rewrite x + (zeros updated by u) as x with u added in place."""
    update, starts = updated.operands[1], updated.operands[2:]
    sizes = attributes_of({"dynamic_slice_sizes": update.shape.dimensions})
    part = computation.add("dynamic-slice", update.shape, (x, *starts), sizes)
    total = computation.add("add", update.shape, (part, update))
    return computation.add(
        "dynamic-update-slice", instruction.shape, (x, total, *starts), updated.attributes
    )
