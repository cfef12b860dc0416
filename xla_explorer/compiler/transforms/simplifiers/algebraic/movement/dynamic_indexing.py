"""Rules on dynamic-slice of iotas, moves and slices, and on reshapes and selects of updates.

Source: algebraic_simplifier.cc, HandleDynamicSlice, HandleReshape, HandleSelect.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import reshape, scalar_constant
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import scalar_constant_text
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import dynamic_slice, dynamic_update_slice, select
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.patterns import BROADCAST, any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    IOTA,
    dimensions_of,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.dynamic_slicing import (
    start_operands,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.conversion import integer_range
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.shape import Shape

_I = "i = s32[] parameter(0)\n"
_MULTIPLY = opcode("multiply")
_RESHAPE = opcode("reshape")
_TRANSPOSE = opcode("transpose")
_DYNAMIC_SLICE = opcode("dynamic-slice")
_UPDATE = opcode("dynamic-update-slice")


def clamped(computation: HloComputation, start: HloInstruction, limit: int) -> HloInstruction:
    """Return the start index that a dynamic-slice uses: at least 0, at most `limit`.

    A narrow index type may end before the limit.
    """
    limit = min(limit, integer_range(start.shape.element_type)[1])
    low, high = (
        scalar_constant(computation, start.shape, 0),
        scalar_constant(computation, start.shape, limit),
    )
    return computation.add("clamp", start.shape, (low, start, high))


def _iota_and_factor(x: HloInstruction) -> tuple[HloInstruction, HloInstruction | None] | None:
    """Return the iota behind x and its scalar factor or None; None without an iota."""
    if x.opcode is IOTA:
        return x, None
    if x.opcode is not _MULTIPLY:
        return None
    for counts, factor in (x.operands, x.operands[::-1]):
        if (
            counts.opcode is IOTA
            and factor.opcode is BROADCAST
            and factor.operands[0].shape.is_scalar
        ):
            return counts, factor.operands[0]
    return None


def reads_one_element_of_iota(i: HloInstruction) -> bool:
    """Return True for one element of a vector iota, or of its multiple, in 32-bit integers."""
    x = i.operands[0].shape
    return (
        i.shape.dimensions == (1,)
        and x.rank == 1
        and x.element_type.name in ("s32", "u32")
        and len(i.operands) == 2
        and _iota_and_factor(i.operands[0]) is not None
    )


@rule(
    dynamic_slice().that(reads_one_element_of_iota),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_I
    + "c = s32[4] iota(), iota_dimension=0\nROOT r = s32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}",
    after=_I
    + scalar_constant_text("z", "s32", 0)
    + scalar_constant_text("three", "s32", 3)
    + "c = s32[] clamp(z, i, three)\nROOT r = s32[1] reshape(c)",
)
def dynamic_slice_of_iota(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite one element of an iota, or of a multiple of one, as the clamped index, multiplied."""
    x, start = instruction.operands
    found = _iota_and_factor(x)
    assert found is not None
    number = clamped(computation, start, x.shape.dimensions[0] - 1)
    scalar = x.shape.with_dimensions(())
    if scalar is not number.shape:
        number = computation.add("convert", scalar, (number,))
    if found[1] is not None:
        number = computation.add("multiply", scalar, (number, found[1]))
    return reshape(computation, number, instruction.shape)


def _kept_dimensions(narrow: Shape, wide: Shape) -> list[int] | None:
    """Return the dimensions of `wide` that `narrow` has, if the others have size one, else None."""
    kept, at = [], 0
    for size in narrow.dimensions:
        while at < wide.rank and wide.dimensions[at] != size and wide.dimensions[at] == 1:
            at += 1
        if at == wide.rank or wide.dimensions[at] != size:
            return None
        kept.append(at)
        at += 1
    return kept if all(size == 1 for size in wide.dimensions[at:]) else None


def slices_a_squeezed_array(i: HloInstruction) -> bool:
    """Return True if the array is a reshape that removes dimensions of size one."""
    x = i.operands[0]
    return (
        x.opcode is _RESHAPE
        and len(start_operands(i)) == x.shape.rank > 0
        and x.shape.rank < x.operands[0].shape.rank
        and _kept_dimensions(x.shape, x.operands[0].shape) is not None
    )


@rule(
    dynamic_slice().that(slices_a_squeezed_array),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before=_I
    + "x = f32[1,8] parameter(1)\na = f32[8] reshape(x)\nROOT r = f32[3] dynamic-slice(a, i), dynamic_slice_sizes={3}",
    after=_I
    + "x = f32[1,8] parameter(1)\n"
    + scalar_constant_text("z", "s32", 0)
    + "s = f32[1,3] dynamic-slice(x, z, i), dynamic_slice_sizes={1,3}\nROOT r = f32[3] reshape(s)",
)
def dynamic_slice_of_reshape(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite dynamic-slice(reshape(x)) as reshape(dynamic-slice(x)) if only ones are removed."""
    narrow = instruction.operands[0]
    x, starts = narrow.operands[0], start_operands(instruction)
    kept = _kept_dimensions(narrow.shape, x.shape)
    assert kept is not None
    zero = scalar_constant(computation, starts[0].shape, 0)
    sizes = tuple(
        [
            instruction.shape.dimensions[kept.index(d)] if d in kept else 1
            for d in range(x.shape.rank)
        ]
    )
    part = computation.add(
        _DYNAMIC_SLICE,
        instruction.shape.with_dimensions(sizes),
        (x, *[starts[kept.index(d)] if d in kept else zero for d in range(x.shape.rank)]),
        attributes_of({"dynamic_slice_sizes": sizes}),
    )
    return reshape(computation, part, instruction.shape)


def slices_a_transpose(i: HloInstruction) -> bool:
    """Return True if the array is a transpose, and every dimension has its start index."""
    return i.operands[0].opcode is _TRANSPOSE and len(start_operands(i)) == i.shape.rank


@rule(
    dynamic_slice().that(slices_a_transpose),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before=_I
    + "j = s32[] parameter(1)\nx = f32[4,8] parameter(2)\nt = f32[8,4] transpose(x), dimensions={1,0}\n"
    + "ROOT r = f32[3,2] dynamic-slice(t, i, j), dynamic_slice_sizes={3,2}",
    after=_I
    + "j = s32[] parameter(1)\nx = f32[4,8] parameter(2)\ns = f32[2,3] dynamic-slice(x, j, i), dynamic_slice_sizes={2,3}\n"
    + "ROOT r = f32[3,2] transpose(s), dimensions={1,0}",
)
def dynamic_slice_of_transpose(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite dynamic-slice(transpose(x)) as transpose(dynamic-slice(x))."""
    turned, starts = instruction.operands[0], start_operands(instruction)
    permutation = dimensions_of(turned)
    back = [permutation.index(d) for d in range(len(permutation))]
    sizes = tuple([instruction.shape.dimensions[d] for d in back])
    part = computation.add(
        _DYNAMIC_SLICE,
        instruction.shape.with_dimensions(sizes),
        (turned.operands[0], *[starts[d] for d in back]),
        attributes_of({"dynamic_slice_sizes": sizes}),
    )
    return computation.add(_TRANSPOSE, instruction.shape, (part,), turned.attributes)


def slices_a_slice(i: HloInstruction) -> bool:
    """Return True if the array is a dynamic-slice without other readers.

    Its start indices must have the same type.
    """
    inner = i.operands[0]
    if inner.opcode is not _DYNAMIC_SLICE or len(inner.users) != 1:
        return False
    mine, other = start_operands(i), start_operands(inner)
    return len(mine) == len(other) == i.shape.rank and all(
        s.shape is mine[0].shape for s in (*mine, *other)
    )


@rule(
    dynamic_slice().that(slices_a_slice),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before=_I
    + "j = s32[] parameter(1)\nx = f32[9] parameter(2)\ns = f32[5] dynamic-slice(x, i), dynamic_slice_sizes={5}\n"
    + "ROOT r = f32[2] dynamic-slice(s, j), dynamic_slice_sizes={2}",
    after=_I
    + "j = s32[] parameter(1)\nx = f32[9] parameter(2)\nz = s32[] constant(0)\nfour = s32[] constant(4)\n"
    + "three = s32[] constant(3)\na = s32[] clamp(z, i, four)\nb = s32[] clamp(z, j, three)\nc = s32[] add(b, a)\n"
    + "ROOT r = f32[2] dynamic-slice(x, c), dynamic_slice_sizes={2}",
)
def dynamic_slice_of_dynamic_slice(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction | Reason:
    """Rewrite dynamic-slice(dynamic-slice(x)) as one, at the sum of the clamped start indices."""
    inner = instruction.operands[0]
    x = inner.operands[0]
    starts = _added_starts(
        computation,
        x,
        (start_operands(inner), inner.shape),
        (start_operands(instruction), instruction.shape),
    )
    if isinstance(starts, Reason):
        return starts
    return computation.add(_DYNAMIC_SLICE, instruction.shape, (x, *starts), instruction.attributes)


def _added_starts(
    computation: HloComputation,
    x: HloInstruction,
    first: tuple[tuple[HloInstruction, ...], Shape],
    second: tuple[tuple[HloInstruction, ...], Shape],
) -> list[HloInstruction] | Reason:
    """Return the start of the second part in x, from clamped start indices of both parts.

    The first part is a part of x, the second a part of the first.
    """
    kind = first[0][0].shape.element_type
    largest = (1 << (kind.bits - kind.is_signed)) - 1
    if any(size > largest for size in x.shape.dimensions):
        return refuse("index-overflows", f"{kind.name} does not hold every index of %{x.name}")
    starts = []
    for d, (far, near) in enumerate(zip(first[0], second[0], strict=True)):
        taken, left = first[1].dimensions[d], x.shape.dimensions[d] - first[1].dimensions[d]
        room = taken - second[1].dimensions[d]
        outer = None if not room else _in_range(computation, near, room)
        base = None if not left else _in_range(computation, far, left)
        if outer is None or base is None:
            starts.append(outer or base or scalar_constant(computation, far.shape, 0))
        else:
            starts.append(computation.add("add", far.shape, (outer, base)))
    return starts


def _in_range(computation: HloComputation, start: HloInstruction, limit: int) -> HloInstruction:
    value = as_integer(start)
    return (
        start if value is not None and 0 <= value <= limit else clamped(computation, start, limit)
    )


def updates_a_part_within(i: HloInstruction) -> bool:
    """Return True if an updated part of an array is written back to its place in the array."""
    inner = i.operands[1]
    if (
        inner.opcode is not i.opcode
        or inner.operands[0].opcode is not _DYNAMIC_SLICE
        or len(inner.users) != 1
    ):
        return False
    part, mine = inner.operands[0], i.operands[2:]
    return (
        part.operands[0] is i.operands[0]
        and part.operands[1:] == mine
        and len(mine) == len(inner.operands[2:]) == i.shape.rank > 0
        and all(s.shape is mine[0].shape for s in (*mine, *inner.operands[2:]))
    )


@rule(
    dynamic_update_slice().that(updates_a_part_within),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_I
    + "j = s32[] parameter(1)\nx = f32[9] parameter(2)\nu = f32[2] parameter(3)\n"
    + "s = f32[5] dynamic-slice(x, i), dynamic_slice_sizes={5}\nd = f32[5] dynamic-update-slice(s, u, j)\n"
    + "ROOT r = f32[9] dynamic-update-slice(x, d, i)",
    after=_I
    + "j = s32[] parameter(1)\nx = f32[9] parameter(2)\nu = f32[2] parameter(3)\nz = s32[] constant(0)\nfour = s32[] constant(4)\n"
    + "three = s32[] constant(3)\na = s32[] clamp(z, i, four)\nb = s32[] clamp(z, j, three)\nc = s32[] add(b, a)\n"
    + "ROOT r = f32[9] dynamic-update-slice(x, u, c)",
)
def update_of_part(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction | Reason:
    """Rewrite the update of an updated part as one update, at the sum of the clamped starts."""
    x, inner = instruction.operands[:2]
    starts = _added_starts(
        computation,
        x,
        (instruction.operands[2:], inner.shape),
        (inner.operands[2:], inner.operands[1].shape),
    )
    if isinstance(starts, Reason):
        return starts
    return computation.add(
        "dynamic-update-slice", instruction.shape, (x, inner.operands[1], *starts)
    )


@rule(
    reshape_of(dynamic_update_slice(name="updated").one_use()),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before=_I
    + "x = f32[8] parameter(1)\nu = f32[3] parameter(2)\nd = f32[8] dynamic-update-slice(x, u, i)\nROOT r = f32[1,8] reshape(d)",
    after=_I
    + "x = f32[8] parameter(1)\nu = f32[3] parameter(2)\na = f32[1,8] reshape(x)\nb = f32[1,3] reshape(u)\n"
    + "z = s32[] constant(0)\nROOT r = f32[1,8] dynamic-update-slice(a, b, z, i)",
)
def reshape_of_update(
    computation: HloComputation, instruction: HloInstruction, updated: HloInstruction
) -> HloInstruction | None:
    """Rewrite reshape(dynamic-update-slice(x, u)) as an update of reshape(x), up to ones."""
    narrow, wide = updated.shape, instruction.shape
    starts, update = start_operands(updated), updated.operands[1]
    if len(starts) != narrow.rank or not narrow.rank or not wide.rank or narrow.element_count == 0:
        return None
    zero: HloInstruction | None = None
    if narrow.rank < wide.rank and (kept := _kept_dimensions(narrow, wide)) is not None:
        zero = scalar_constant(computation, starts[0].shape, 0)
        places = [starts[kept.index(d)] if d in kept else zero for d in range(wide.rank)]
        sizes = [
            update.shape.dimensions[kept.index(d)] if d in kept else 1 for d in range(wide.rank)
        ]
    elif narrow.rank > wide.rank and (kept := _kept_dimensions(wide, narrow)) is not None:
        places = [starts[d] for d in kept]
        sizes = [update.shape.dimensions[d] for d in kept]
        if update.shape.element_count != _product(sizes):
            return None
    else:
        return None
    return computation.add(
        "dynamic-update-slice",
        wide,
        (
            reshape(computation, updated.operands[0], wide),
            reshape(computation, update, wide.with_dimensions(sizes)),
            *places,
        ),
        updated.attributes,
    )


def _product(sizes: list[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def chooses_an_update(i: HloInstruction) -> bool:
    """Return True if one side of the select is an update of the other, and p has their shape."""
    p, on_true, on_false = i.operands
    if on_true.opcode is not _UPDATE and on_false.opcode is not _UPDATE:
        return False
    return p.shape.dimensions == i.shape.dimensions and any(
        d.opcode is _UPDATE
        and d.operands[0] is other
        and len(d.users) == 1
        and len(start_operands(d)) == i.shape.rank
        for d, other in ((on_true, on_false), (on_false, on_true))
    )


@rule(
    select(any_("p"), any_("on_true"), any_("on_false")).that(chooses_an_update),
    exactness=Exactness.BITWISE,
    when=(static,),
    before=_I
    + "p = pred[8] parameter(1)\nx = f32[8] parameter(2)\nu = f32[3] parameter(3)\nd = f32[8] dynamic-update-slice(x, u, i)\n"
    + "ROOT r = f32[8] select(p, d, x)",
    after=_I
    + "p = pred[8] parameter(1)\nx = f32[8] parameter(2)\nu = f32[3] parameter(3)\n"
    + "q = pred[3] dynamic-slice(p, i), dynamic_slice_sizes={3}\ns = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}\n"
    + "v = f32[3] select(q, u, s)\nROOT r = f32[8] dynamic-update-slice(x, v, i)",
)
def select_of_update(
    computation: HloComputation,
    instruction: HloInstruction,
    p: HloInstruction,
    on_true: HloInstruction,
    on_false: HloInstruction,
) -> HloInstruction:
    """Rewrite a select between an array and its update as an update by a smaller select."""
    updated, x = (
        (on_true, on_false)
        if on_true.operands and on_true.operands[0] is on_false
        else (on_false, on_true)
    )
    update, starts = updated.operands[1], start_operands(updated)
    sizes = attributes_of({"dynamic_slice_sizes": update.shape.dimensions})
    chosen = computation.add(
        _DYNAMIC_SLICE, update.shape.with_element_type(p.shape.element_type), (p, *starts), sizes
    )
    part = computation.add(_DYNAMIC_SLICE, update.shape, (x, *starts), sizes)
    sides = (update, part) if updated is on_true else (part, update)
    mixed = computation.add("select", update.shape, (chosen, *sides))
    return computation.add(
        "dynamic-update-slice", instruction.shape, (x, mixed, *starts), updated.attributes
    )
