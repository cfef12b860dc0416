"""Collapsing dimensions: neighbours that every access treats as one become one loop.

f32[8,28,28,64] through elementwise operations is one loop of 401,408 steps, which vectorises whatever the inner size is; with
a bias broadcast along the last dimension it is two loops. Only elementwise operations, broadcasts, iotas, splat constants and
parameters take part; anything else keeps the dimensions as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from xla_explorer.compiler.codegen.elemental.data_movement import index_value
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, CodegenError, ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS, Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import constant
from xla_explorer.hlo.analysis.indexing import DimensionMap, dimensions_read
from xla_explorer.hlo.instruction import HloInstruction


def dimension_maps(
    roots: Iterable[HloInstruction], arrays: dict[HloInstruction, ArrayInMemory]
) -> dict[HloInstruction, DimensionMap] | None:
    """How each instruction's dimensions run along the roots' (all of equal dimensions), or None when something moves data.

    arrays: instructions that are read from memory, where the walk stops; they need the default layout.
    """
    maps: dict[HloInstruction, DimensionMap] = {}
    stack: list[tuple[HloInstruction, DimensionMap]] = [(root, tuple(range(root.shape.rank))) for root in roots]
    while stack:
        i, mapping = stack.pop()
        known = maps.get(i)
        if known is not None:
            if known != mapping:
                return None
            continue
        maps[i] = mapping
        if i in arrays:
            if not arrays[i].shape.layout.is_default and arrays[i].shape.rank > 1:
                return None
            continue
        operands = operands_along(i, mapping)
        if operands is None:
            return None
        stack += operands
    return maps


def operands_along(i: HloInstruction, mapping: DimensionMap) -> list[tuple[HloInstruction, DimensionMap]] | None:
    """The operands of an instruction that moves nothing, with what their dimensions run along; None for any other."""
    name = i.opcode.name
    moves_nothing = (name in ELEMENTWISE_EMITTERS and name != "bitcast-convert") or name in ("broadcast", "iota")
    if moves_nothing or (name == "constant" and i.literal.splat is not None):
        return dimensions_read(i, mapping)
    return None


def group_dimensions(
    dimensions: tuple[int, ...], maps: dict[HloInstruction, DimensionMap], borders: AbstractSet[int] = frozenset()
) -> list[list[int]]:
    """Runs of root dimensions that may be one loop. borders: dimensions d such that d and d+1 must stay apart."""
    apart = set(borders)
    for i, mapping in maps.items():
        if mapping == tuple(range(len(dimensions))):
            if i.opcode.name == "iota":
                d = i.attribute("iota_dimension")
                apart.update((d, d - 1))
            continue
        places = {d: k for k, d in enumerate(mapping)}
        for d in range(len(dimensions) - 1):
            a, b = places.get(d), places.get(d + 1)
            if (a is None) != (b is None) or (a is not None and b != a + 1):
                apart.add(d)
        if i.opcode.name == "iota":
            d = mapping[i.attribute("iota_dimension")]
            apart.update((d, d - 1))
    groups: list[list[int]] = []
    for d in range(len(dimensions)):
        if groups and d - 1 not in apart:
            groups[-1].append(d)
        else:
            groups.append([d])
    return groups


class CollapsedEmitter(ElementalEmitter):
    """Elements by collapsed index: one position per group of root dimensions, for every instruction of the fusion."""

    def __init__(
        self,
        writer: FunctionWriter,
        arrays: dict[HloInstruction, ArrayInMemory],
        maps: dict[HloInstruction, DimensionMap],
        groups: list[list[int]],
    ) -> None:
        super().__init__(writer, {})
        self.arrays = arrays
        self.maps = maps
        group_of = {d: number for number, group in enumerate(groups) for d in group}
        last = {number: group[-1] for number, group in enumerate(groups)}
        # per array: the groups it runs along, and the stride of the last dimension of each
        self._strides: dict[HloInstruction, tuple[list[int], list[int]]] = {}
        for i, mapping in maps.items():
            if i in arrays:
                ends = [k for k, d in enumerate(mapping) if last[group_of[d]] == d]
                self._strides[i] = [group_of[mapping[k]] for k in ends], [arrays[i].shape.strides[k] for k in ends]
        self._group_of = group_of
        self._used = {i: {group_of[d] for d in mapping} for i, mapping in maps.items()}

    def own_index(self, i: HloInstruction, index: IndexTuple) -> IndexTuple:
        """A collapsed index has a position for every group; those the instruction does not run along are zero."""
        if i in self.arrays or i in self.maps:
            used = self._used[i]
            return tuple([x if g in used else 0 for g, x in enumerate(index)])
        return index

    def scalar_index(self, index: IndexTuple) -> IndexTuple:
        """Scalars take the whole index too: `own_index` clears it."""
        return index

    def _is_elementwise(self, i: HloInstruction) -> bool:
        # The operand of a lone instruction may be elementwise itself; it is in memory, and its operands are not.
        return i not in self.arrays and super()._is_elementwise(i)

    def runs_from(self, index: IndexTuple) -> list[tuple[ArrayInMemory, str | int]]:
        """The arrays whose elements are next to one another along the last group, with the offset of their element at the index."""
        last = len(index) - 1
        return [(self.arrays[i], self.writer.linear([index[group] for group in groups], strides))
                for i, (groups, strides) in self._strides.items() if groups and groups[-1] == last and strides[-1] == 1]

    def _compute(self, i: HloInstruction, index: IndexTuple) -> Scalar:
        w, name = self.writer, i.opcode.name
        if i in self.arrays:
            groups, strides = self._strides[i]
            offset = w.linear([index[group] for group in groups], strides)
            return self.arrays[i].load_linear(w, offset)
        if name == "broadcast":
            return self.element(i.operands[0], index)
        if name == "iota":
            return index_value(w, index[self._group_of[self.maps[i][i.attribute("iota_dimension")]]], i.shape.element_type)
        if name == "constant":
            return constant(self.writer, i.literal.splat, i.shape.element_type)
        raise CodegenError(f"%{i.name}: {name} in a collapsed fusion")


def extents_of(groups: list[list[int]], dimensions: tuple[int, ...]) -> list[int]:
    """Number of steps of each group."""
    return [math.prod([dimensions[d] for d in group]) for group in groups]
