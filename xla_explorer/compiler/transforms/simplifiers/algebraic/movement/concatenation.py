"""Rules on concatenate. Source: algebraic_simplifier.cc, HandleConcatenate."""

from __future__ import annotations

from xla_explorer.compiler.rewriting.construction import broadcast, reshape
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.example import filled, parameters, scalar_constant_text
from xla_explorer.compiler.rewriting.guards import static
from xla_explorer.compiler.rewriting.operators import concatenate
from xla_explorer.compiler.rewriting.patterns import BROADCAST
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import (
    SLICE,
    bounds,
    slice_attributes,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import opcode

CONCATENATE = opcode("concatenate")
_X = parameters("f32[8]", "x")
_ROOT_X = _X.replace("x =", "ROOT x =")


def has_one_operand(i: HloInstruction) -> bool:
    """Return True for a single operand."""
    return len(i.operands) == 1


@rule(
    concatenate().that(has_one_operand),
    exactness=Exactness.BITWISE,
    before=_X + "ROOT r = f32[8] concatenate(x), dimensions={0}",
    after=_ROOT_X,
)
def concatenate_one(instruction: HloInstruction) -> HloInstruction:
    """Rewrite concatenate(x) as x."""
    return instruction.operands[0]


def has_empty_operand(i: HloInstruction) -> bool:
    """Return True if some operand has no elements."""
    return len(i.operands) > 1 and any(o.shape.element_count == 0 for o in i.operands)


@rule(
    concatenate().that(has_empty_operand),
    exactness=Exactness.BITWISE,
    before=_X + "e = f32[0] parameter(1)\nROOT r = f32[16] concatenate(x, e, x), dimensions={0}",
    after=_X + "e = f32[0] parameter(1)\nROOT r = f32[16] concatenate(x, x), dimensions={0}",
)
def concatenate_drops_empty(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Drop operands of a concatenate without elements."""
    kept = [o for o in instruction.operands if o.shape.element_count] or list(
        instruction.operands[:1]
    )
    return (
        kept[0]
        if len(kept) == 1
        else computation.add(CONCATENATE, instruction.shape, kept, instruction.attributes)
    )


def contains_concatenate(i: HloInstruction) -> bool:
    """Return True if some operand is a concatenate along the same dimension with one reader."""
    return any(_joins(o, i) for o in i.operands)


_MOST_REPEATED = (
    128  # operands of one concatenate, if some are repeated in it more often than written
)


def few_operands(instruction: HloInstruction) -> Reason | None:
    """Require few operands: repeated self-concatenation would double them each time."""
    inner = [o for o in instruction.operands if _joins(o, instruction)]
    rest = len(instruction.operands) - len(inner)
    count, written = (
        rest + sum([len(o.operands) for o in inner]),
        rest + sum([len(o.operands) for o in set(inner)]),
    )
    if count > max(_MOST_REPEATED, written):
        message = (
            f"%{instruction.name} would have {count} operands, of which {written} are written "
            f"(limit {_MOST_REPEATED})"
        )
        return refuse("too-many-operands", message, operands=count, limit=_MOST_REPEATED)
    return None


def _joins(operand: HloInstruction, outer: HloInstruction) -> bool:
    return (
        operand.opcode is CONCATENATE
        and operand.attributes is outer.attributes
        and len(operand.users) == 1
    )


@rule(
    concatenate().that(contains_concatenate),
    when=(few_operands,),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    before=_X
    + "a = f32[16] concatenate(x, x), dimensions={0}\nROOT r = f32[24] concatenate(x, a), dimensions={0}",
    after=_X + "ROOT r = f32[24] concatenate(x, x, x), dimensions={0}",
)
def concatenate_of_concatenate(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite concatenate(a, concatenate(b, c)) as concatenate(a, b, c)."""
    flat: list[HloInstruction] = []
    for operand in instruction.operands:
        flat.extend(operand.operands if _joins(operand, instruction) else [operand])
    return computation.add(CONCATENATE, instruction.shape, flat, instruction.attributes)


def _adjacent(a: HloInstruction, b: HloInstruction, dimension: int) -> bool:
    if a.opcode is not SLICE or b.opcode is not SLICE or a.operands[0] is not b.operands[0]:
        return False
    for d, (mine, other) in enumerate(zip(bounds(a), bounds(b), strict=True)):
        if (
            mine.stride != 1
            or other.stride != 1
            or (mine.limit != other.start if d == dimension else mine != other)
        ):
            return False
    return True


def has_adjacent_slices(i: HloInstruction) -> bool:
    """Return True if two adjacent operands are contiguous slices of one array."""
    dimension = dimensions_of(i)[0]
    return any(_adjacent(a, b, dimension) for a, b in zip(i.operands, i.operands[1:], strict=False))


@rule(
    concatenate().that(has_adjacent_slices),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    before=_X + "a = f32[3] slice(x), slice={[1:4]}\nb = f32[2] slice(x), slice={[4:6]}\n"
    "ROOT r = f32[5] concatenate(a, b), dimensions={0}",
    after=_X + "ROOT r = f32[5] slice(x), slice={[1:6]}",
)
def concatenate_adjacent_slices(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Merge contiguous slices of one array in a concatenate."""
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
        merged[-1] = computation.add(
            SLICE, last.shape.with_dimensions(sizes), last.operands, slice_attributes(rows)
        )
    return (
        merged[0]
        if len(merged) == 1
        else computation.add(CONCATENATE, instruction.shape, merged, instruction.attributes)
    )


def appends_a_scalar(i: HloInstruction) -> bool:
    """Return True for two operands, exactly one of them the broadcast of a scalar."""
    if len(i.operands) != 2:
        return False
    filled_in = [o.opcode is BROADCAST and o.operands[0].shape.is_scalar for o in i.operands]
    return filled_in[0] != filled_in[1]


@rule(
    concatenate().that(appends_a_scalar),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before=_X + filled("z", "f32[3]", 0) + "ROOT r = f32[11] concatenate(x, z), dimensions={0}",
    after=_X + scalar_constant_text("z", "f32", 0) + "ROOT r = f32[11] pad(x, z), padding=0_3",
)
def concatenate_to_pad(computation: HloComputation, instruction: HloInstruction) -> HloInstruction:
    """Rewrite concatenate(x, broadcast(s)) as pad(x, s)."""
    dimension = dimensions_of(instruction)[0]
    first, second = instruction.operands
    in_front = first.opcode is BROADCAST and first.operands[0].shape.is_scalar
    edge, x = (first, second) if in_front else (second, first)
    rows = [PaddingDimension(0, 0)] * instruction.shape.rank
    size = edge.shape.dimensions[dimension]
    rows[dimension] = PaddingDimension(size, 0) if in_front else PaddingDimension(0, size)
    return computation.add(
        "pad", instruction.shape, (x, edge.operands[0]), attributes_of({"padding": tuple(rows)})
    )


def repeats_one_slice(i: HloInstruction) -> bool:
    """Return True if all operands are one array, of size one along the dimension."""
    return (
        len(i.operands) > 1
        and len(set(i.operands)) == 1
        and i.operands[0].shape.dimensions[dimensions_of(i)[0]] == 1
    )


@rule(
    concatenate().that(repeats_one_slice),
    exactness=Exactness.BITWISE,
    layout="insensitive",
    when=(static,),
    before="x = f32[1,4] parameter(0)\nROOT r = f32[3,4] concatenate(x, x, x), dimensions={0}",
    after="x = f32[1,4] parameter(0)\na = f32[4] reshape(x)\nROOT r = f32[3,4] broadcast(a), dimensions={1}",
)
def concatenate_to_broadcast(
    computation: HloComputation, instruction: HloInstruction
) -> HloInstruction:
    """Rewrite concatenate(x, x, x) along a dimension of size one as a broadcast."""
    dimension, x = dimensions_of(instruction)[0], instruction.operands[0]
    kept = [d for d in range(x.shape.rank) if d != dimension]
    narrow = reshape(computation, x, x.shape.with_dimensions([x.shape.dimensions[d] for d in kept]))
    return broadcast(computation, narrow, instruction.shape, kept)
