"""Sharding rules of operations that move elements.

Source: Shardy's sdy/transforms/propagation/op_sharding_rule_registry.cc.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.spmd.rules.elementwise import pointwise
from xla_explorer.compiler.spmd.rules.factor_rule import (
    NEED_REPLICATION,
    PASS_THROUGH,
    PERMUTATION,
    FactorKind,
    FactorRule,
    RuleBuilder,
)
from xla_explorer.compiler.spmd.rules.registry import at, builder_of, sharding_rule, sizes_of
from xla_explorer.hlo.instruction import HloInstruction


@sharding_rule("copy")
def copy(i: HloInstruction) -> FactorRule:
    """Return the rule: every dimension passes through."""
    return pointwise(i)


@sharding_rule("broadcast")
def broadcast(i: HloInstruction) -> FactorRule:
    """Return the rule: operand dimensions are mapped; new ones are the result's only."""
    builder, source = builder_of(i), i.operands[0].shape.dimensions
    dimensions = i.attribute("dimensions")
    for k, size in enumerate(sizes_of(i)):
        places = {1: k}
        if k in dimensions:
            inner = dimensions.index(k)
            if source[inner] == 1 != size:
                builder.add(at(i, {0: inner}), 1)
            else:
                places[0] = inner
        builder.add(at(i, places), size)
    return builder.build()


@sharding_rule("transpose")
def transpose(i: HloInstruction) -> FactorRule:
    """Return the rule: each result dimension is one operand dimension."""
    builder = builder_of(i)
    for k, inner in enumerate(i.attribute("dimensions")):
        builder.add(at(i, {0: inner, 1: k}), i.operands[0].shape.dimensions[inner])
    return builder.build()


@sharding_rule("reverse")
def reverse(i: HloInstruction) -> FactorRule:
    """Return the rule: reversed dimensions permute the shards."""
    turned = i.attribute("dimensions")
    return (
        builder_of(i)
        .add_pointwise(sizes_of(i), lambda k: PERMUTATION if k in turned else PASS_THROUGH)
        .build()
    )


@sharding_rule("slice", "pad")
def slice_or_pad(i: HloInstruction) -> FactorRule:
    """Return the rule: dimensions of another size in the result shift elements between shards."""
    source = i.operands[0].shape.dimensions
    return builder_of(i).add_where_equal(source, sizes_of(i), PERMUTATION, blocked=False).build()


@sharding_rule("dynamic-slice")
def dynamic_slice(i: HloInstruction) -> FactorRule:
    """Return the rule: sliced dimensions need replication and pass no sharding on."""
    source = i.operands[0].shape.dimensions
    return (
        builder_of(i).add_where_equal(source, sizes_of(i), NEED_REPLICATION, blocked=True).build()
    )


@sharding_rule("dynamic-update-slice")
def dynamic_update_slice(i: HloInstruction) -> FactorRule:
    """Return the rule: updated dimensions pass; those of the update need replication."""
    builder = builder_of(i)
    constant = all(index.opcode.name == "constant" for index in i.operands[2:])
    result = len(i.operands)
    update = i.operands[1].shape.dimensions
    for k, (size, part) in enumerate(zip(sizes_of(i), update, strict=True)):
        if size == part:
            builder.add_everywhere(k, size)
            continue
        builder.add(at(i, {0: k, result: k}), size)
        builder.add(at(i, {1: k}), part, PASS_THROUGH if constant else NEED_REPLICATION)
    return builder.build()


@sharding_rule("concatenate")
def concatenate(i: HloInstruction) -> FactorRule:
    """Return the rule: the joined dimension permutes shards of slices, else is replicated."""
    (dimension,) = i.attribute("dimensions")
    kind = _joined_kind(i)
    return (
        builder_of(i)
        .add_pointwise(sizes_of(i), lambda k: kind if k == dimension else PASS_THROUGH)
        .build()
    )


def _joined_kind(i: HloInstruction) -> FactorKind:
    """Return PERMUTATION for slices only, or for slices of one array and the array itself."""
    slices = [operand.opcode.name == "slice" for operand in i.operands]
    sources = {
        operand.operands[0] if is_slice else operand
        for operand, is_slice in zip(i.operands, slices, strict=True)
    }
    return PERMUTATION if all(slices) or (any(slices) and len(sources) == 1) else NEED_REPLICATION


@sharding_rule("reshape", "bitcast")
def reshape(i: HloInstruction) -> FactorRule | None:
    """Return the rule: common divisors of the running products, from the left, become factors."""
    source, result = i.operands[0].shape.dimensions, sizes_of(i)
    if math.prod(source) != math.prod(result) or 0 in source:
        return None
    return _Reshape(source, result).rule()


class _Reshape:
    """The factors of a reshape, found from major to minor dimensions on both sides.

    Per side (0: operand, 1: result): the dimension at hand, the product of the dimensions so far
    and the product of the factors so far.
    """

    def __init__(self, source: tuple[int, ...], result: tuple[int, ...]) -> None:
        self.sizes = (source, result)
        self.builder = RuleBuilder([len(source)], [len(result)])
        self.dimension = [0, 0]
        self.whole = [1, 1]
        self.factored = [1, 1]

    def rule(self) -> FactorRule:
        """Return the rule."""
        while any(self._left(side) for side in (0, 1)):
            if not self._skip_ones():
                self._next()
        return self.builder.build()

    def _left(self, side: int) -> bool:
        return self.dimension[side] < len(self.sizes[side])

    def _skip_ones(self) -> bool:
        """Give the next dimension of size 1 a factor of its own; False if there is none."""
        for side in (0, 1):
            if self._left(side) and self.sizes[side][self.dimension[side]] == 1:
                self._add(side, 1)
                self.dimension[side] += 1
                return True
        return False

    def _next(self) -> None:
        """Add the next factors and advance past completed dimensions."""
        for side in (0, 1):
            if self._left(side) and self.whole[side] == self.factored[side]:
                self.whole[side] *= self.sizes[side][self.dimension[side]]
        rest = [self.whole[side] // self.factored[side] for side in (0, 1)]
        common = math.gcd(*rest)
        if self.factored[0] == self.factored[1]:
            if common > 1:
                self.builder.add(self.dimension, common)
                self.factored = [done * common for done in self.factored]
            else:
                for side in (0, 1):
                    self._add(side, rest[side])
        else:
            side = int(self.factored[0] > self.factored[1])
            self._add(side, self._diverged(rest[side], side, common))
        for side in (0, 1):
            if self._left(side) and self.whole[side] == self.factored[side]:
                self.dimension[side] += 1

    def _diverged(self, rest: int, side: int, common: int) -> int:
        """Return the next factor of the side that is behind; it may make both sides meet."""
        behind, ahead = self.factored[side], self.factored[1 - side]
        if ahead % behind == 0 and rest % (ahead // behind) == 0:
            return ahead // behind
        return rest // common if rest > common else rest

    def _add(self, side: int, size: int) -> None:
        self.builder.add(
            [self.dimension[0] if side == 0 else None, self.dimension[1] if side == 1 else None],
            size,
        )
        self.factored[side] *= size
