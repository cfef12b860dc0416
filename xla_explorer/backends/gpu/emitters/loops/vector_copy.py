"""Kernels that mostly move data: concatenate, gather of rows, dynamic-update-slice in place; a thread moves neighbours, 16 bytes at once.

The width divides every extent and offset along the minor dimension, so that each access is aligned wherever the row begins.
Source: xla/backends/gpu/codegen/emitters/concatenate.cc and in_place_dynamic_update_slice.cc for the shapes of code; the widths are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context
from xla_explorer.backends.gpu.launch_dimensions import SMALL_BLOCK, LaunchDimensions, launch_dimensions
from xla_explorer.compiler.codegen.elemental.data_movement import dynamic_starts
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

_ROOTS = frozenset({"concatenate", "gather", "dynamic-update-slice"})


class Piece(NamedTuple):
    """Part of the result. extents: of its elements; start: where it lies along the minor dimension; value, place: of an element."""

    extents: tuple[int, ...]
    start: int
    value: Callable[[ElementalEmitter, IndexTuple], Scalar]
    place: Callable[[IndexTuple], IndexTuple]


def _pieces(context: KernelContext) -> list[Piece] | Reason:
    root, w = context.roots[0], context.writer
    name = context.instruction.name
    if root.opcode.name == "concatenate":
        (dimension,) = root.attribute("dimensions")
        pieces, start = [], 0
        for operand in root.operands:
            offset = start

            def place(index: IndexTuple, offset: int = offset) -> IndexTuple:
                return (*index[:dimension], w.add(index[dimension], offset), *index[dimension + 1 :])

            def element(emitter: ElementalEmitter, index: IndexTuple, operand: HloInstruction = operand) -> Scalar:
                return emitter.element(operand, index)

            if 0 not in operand.shape.dimensions:
                along = offset if dimension == root.shape.rank - 1 else 0
                pieces.append(Piece(operand.shape.dimensions, along, element, place))
            start += operand.shape.dimensions[dimension]
        return pieces
    if root.opcode.name == "gather":
        return [Piece(root.shape.dimensions, 0, lambda e, index: e.element(root, index), lambda index: index)]
    operand, update = root.operands[:2]
    array = context.arrays.get(operand)
    if array is None or array.pointer != context.outputs[0].pointer:
        return refuse("not-in-place", f"%{name} makes a new array, it does not update one in place")
    if update.shape.dimensions[-1:] != operand.shape.dimensions[-1:]:
        return refuse("rows-in-part", f"%{name} updates parts of rows, from where is known at run time only")
    starts: list[str | int] = []

    def updated(index: IndexTuple) -> IndexTuple:
        return tuple([w.add(s, x) for s, x in zip(starts, index, strict=True)])

    def value(emitter: ElementalEmitter, index: IndexTuple) -> Scalar:
        if not starts:
            starts.extend(dynamic_starts(emitter, root.operands[2:], operand.shape, update.shape.dimensions))
        return emitter.element(update, index)

    return [Piece(update.shape.dimensions, 0, value, updated)]


def plan_vector_copy(context: KernelContext, architecture: GpuArchitecture) -> tuple[int, list[Piece]] | Reason:
    """Elements a thread and the pieces, or why one element each."""
    name, root = context.instruction.name, context.roots[0]
    if len(context.roots) != 1 or root.opcode.name not in _ROOTS:
        return refuse("no-copy", f"%{name} does not only move data")
    output = context.outputs[0].shape
    if 0 in output.dimensions or not output.rank or not output.layout.is_default:
        return refuse("one-element-a-thread", f"%{name}: {output} is scalar, empty or not row-major")
    pieces = _pieces(context)
    if isinstance(pieces, Reason):
        return pieces
    types = [output.element_type, *[a.shape.element_type for i, a in context.arrays.items() if a.shape.rank and i not in root.operands[1:]]]
    width = max(16 // max([t.bytes for t in types]), 1)
    why = f"{width} elements are 16 bytes"
    for extent in (output.dimensions[-1], *[n for piece in pieces for n in (piece.extents[-1], piece.start)]):
        while extent % width:
            width //= 2
            why = f"an extent or offset of {extent} along the minor dimension is a multiple of {width}"
    largest = max([math.prod(piece.extents) for piece in pieces], default=0)
    while width > 1 and largest // width < architecture.multiprocessors * SMALL_BLOCK // 4:
        width //= 2
        why = f"more would leave some of {architecture.multiprocessors} multiprocessors without a warp"
    if width < 2:
        return refuse("one-element-a-thread", f"%{name}: {why}", elements=largest)
    return width, pieces


def write_vector_copy(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel, or why one element each."""
    context = fresh_context(i, slots)
    plan = plan_vector_copy(context, architecture)
    if isinstance(plan, Reason):
        return plan
    return OperationDraft((KernelDraft(context, _write(context, *plan, architecture)),), "vector-copy")


def _write(context: KernelContext, width: int, pieces: list[Piece], architecture: GpuArchitecture) -> LaunchDimensions:
    """Write the kernel."""
    w, output = context.writer, context.outputs[0]
    for piece in pieces:
        emitter = context.emitter()
        with context.iterate([*piece.extents[:-1], piece.extents[-1] // width]) as index, emitter.scope():
            first = w.mul(index[-1], width)
            places = [(*index[:-1], w.add(first, j)) for j in range(width)]
            values = [piece.value(emitter, place) for place in places]
            for place, value in zip(places, values, strict=True):
                output.store(w, piece.place(place), value)
    launch = launch_dimensions(context.threads, architecture)
    count = f"{len(pieces)} piece{'s' if len(pieces) > 1 else ''}"
    return launch._replace(reasoning=f"{width} neighbours a thread, {count}; {launch.reasoning}")
