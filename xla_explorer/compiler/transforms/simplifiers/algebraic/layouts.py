"""Rules after layout assignment: moves that leave every byte in place become bitcasts.

Source: algebraic_simplifier.cc, HandleReshape, HandleTranspose, HandleCopy with
is_layout_sensitive.
"""

from __future__ import annotations

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.operators import bitcast_convert, copy
from xla_explorer.compiler.rewriting.operators import reshape as reshape_of
from xla_explorer.compiler.rewriting.operators import transpose as transpose_of
from xla_explorer.compiler.rewriting.patterns import any_
from xla_explorer.compiler.rewriting.rule import rule
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.broadcasting import (
    dimensions_of,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape


def _order_of_large(shape: Shape) -> list[int]:
    """Return the dimensions of more than one element, the fastest first."""
    return [d for d in shape.layout.minor_to_major if shape.dimensions[d] != 1]


def has_row_major_bytes(shape: Shape) -> bool:
    """Return True for bytes in row-major order, dimensions of size one aside."""
    order = _order_of_large(shape)
    return (
        not shape.layout.properties
        and order == sorted(order, reverse=True)
        and not any(shape.dynamic)
    )


def reshape_groups(before: Shape, after: Shape) -> list[tuple[list[int], list[int]]]:
    """Return the dimensions of more than one element in the smallest groups that a reshape maps."""
    left = [d for d in range(before.rank) if before.dimensions[d] != 1]
    right = [d for d in range(after.rank) if after.dimensions[d] != 1]
    found: list[tuple[list[int], list[int]]] = []
    while left and right:
        mine, other = [left.pop(0)], [right.pop(0)]
        a, b = before.dimensions[mine[0]], after.dimensions[other[0]]
        while a != b:
            if a < b:
                mine.append(left.pop(0))
                a *= before.dimensions[mine[-1]]
            else:
                other.append(right.pop(0))
                b *= after.dimensions[other[-1]]
        found.append((mine, other))
    return found


def no_byte_is_moved(instruction: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require groups of dimensions that are row-major and in the same order in both layouts."""
    shape, source = instruction.shape, x.shape
    untiled = (
        "T(" not in shape.layout.properties and shape.layout.properties == source.layout.properties
    )
    if untiled and not any((*shape.dynamic, *source.dynamic)) and shape.element_count:
        groups = reshape_groups(source, shape)
        order = sorted(
            range(len(groups)), key=lambda n: _order_of_large(source).index(groups[n][0][-1])
        )
        if all(
            [d for n in order for d in reversed(groups[n][side])] == _order_of_large(i)
            for side, i in enumerate((source, shape))
        ):
            return None
    return refuse("layout-differs", f"%{instruction.name} moves bytes from {source} to {shape}")


@rule(
    reshape_of(any_("x")),
    exactness=Exactness.BITWISE,
    layout="sensitive",
    when=(no_byte_is_moved,),
    before="x = f32[3,4] parameter(0)\nROOT r = f32[2,6] reshape(x)",
    after="x = f32[3,4] parameter(0)\nROOT r = f32[2,6] bitcast(x)",
)
def reshape_to_bitcast(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a reshape between layouts that keep all bytes in place as a bitcast."""
    return computation.add("bitcast", instruction.shape, (x,))


@rule(
    reshape_of(copy(any_("x"))),
    exactness=Exactness.BITWISE,
    layout="sensitive",
    when=(no_byte_is_moved,),
    before="x = f32[3,4]{1,0} parameter(0)\nc = f32[3,4]{0,1} copy(x)\nROOT r = f32[2,6] reshape(c)",
    after="x = f32[3,4]{1,0} parameter(0)\nROOT r = f32[2,6] bitcast(x)",
)
def reshape_of_copy(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a reshape of a copy as a bitcast, if its bytes are those before the copy."""
    return computation.add("bitcast", instruction.shape, (x,))


def the_layout_undoes_it(instruction: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require layouts that differ by the transpose's permutation, so that every byte stays."""
    permutation = dimensions_of(instruction)
    moved = [permutation[d] for d in _order_of_large(instruction.shape)]
    if (
        instruction.shape.layout.properties == x.shape.layout.properties
        and moved == _order_of_large(x.shape)
    ):
        return None
    return refuse(
        "bytes-move", f"%{instruction.name} moves bytes from {x.shape} to {instruction.shape}"
    )


@rule(
    transpose_of(any_("x")),
    exactness=Exactness.BITWISE,
    layout="sensitive",
    when=(the_layout_undoes_it,),
    before="x = f32[3,4]{1,0} parameter(0)\nROOT r = f32[4,3]{0,1} transpose(x), dimensions={1,0}",
    after="x = f32[3,4]{1,0} parameter(0)\nROOT r = f32[4,3]{0,1} bitcast(x)",
)
def transpose_to_bitcast(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a transpose between accordingly transposed layouts as a bitcast."""
    return computation.add("bitcast", instruction.shape, (x,))


def no_byte_moves(instruction: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require layouts that differ in dimensions of size one only."""
    mine, other = instruction.shape, x.shape
    if mine.layout.properties == other.layout.properties and _order_of_large(
        mine
    ) == _order_of_large(other):
        return None
    return refuse("bytes-move", f"%{instruction.name} moves bytes from {other} to {mine}")


@rule(
    copy(any_("x")),
    exactness=Exactness.BITWISE,
    layout="sensitive",
    when=(no_byte_moves,),
    before="x = f32[3,1]{1,0} parameter(0)\nROOT r = f32[3,1]{0,1} copy(x)",
    after="x = f32[3,1]{1,0} parameter(0)\nROOT r = f32[3,1]{0,1} bitcast(x)",
)
def copy_to_bitcast(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a copy between layouts with the same order of bytes as a bitcast."""
    return computation.add("bitcast", instruction.shape, (x,))


def only_renames_bits(instruction: HloInstruction, x: HloInstruction) -> Reason | None:
    """Require row-major bytes, and a width that changes at most the last dimension."""
    for i in (instruction, x):
        if not has_row_major_bytes(i.shape):
            return refuse(
                "layout-differs", f"%{i.name} is {i.shape}, whose bytes are not in row-major order"
            )
    kinds = [i.shape.element_type for i in (instruction, x)]
    if any(k.bits < 8 and not k.is_pred for k in kinds) or kinds[0].is_pred:
        return refuse("packed-type", f"%{instruction.name} reads types that do not fill bytes")
    return None


@rule(
    bitcast_convert(any_("x")),
    exactness=Exactness.BITWISE,
    layout="sensitive",
    when=(only_renames_bits,),
    before="x = f32[3,4] parameter(0)\nROOT r = s32[3,4] bitcast-convert(x)",
    after="x = f32[3,4] parameter(0)\nROOT r = s32[3,4] bitcast(x)",
)
def bitcast_convert_to_bitcast(
    computation: HloComputation, instruction: HloInstruction, x: HloInstruction
) -> HloInstruction:
    """Rewrite a bitcast-convert between row-major arrays as a bitcast."""
    return computation.add("bitcast", instruction.shape, (x,))
