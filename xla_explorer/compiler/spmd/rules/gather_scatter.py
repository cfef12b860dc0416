"""Sharding rules of gather and scatter.

Source: Shardy's sdy/transforms/propagation/op_sharding_rule_registry.cc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xla_explorer.compiler.spmd.rules.factor_rule import (
    NEED_REPLICATION,
    PASS_THROUGH,
    REDUCTION,
    FactorKind,
    FactorRule,
    RuleBuilder,
)
from xla_explorer.compiler.spmd.rules.registry import builder_of, sharding_rule, sizes_of
from xla_explorer.hlo.instruction import HloInstruction

_COMBINERS: Final = frozenset(["add", "multiply", "maximum", "minimum", "and", "or", "xor"])


@dataclass
class _Indexed:
    """The parts that gather and scatter share.

    window: dimensions of the slices that come from a window. collapsed, batching: dimensions of the
    operand. copies: operands of a scatter, 0 for a gather. combines: True for a scatter with a
    reduction.
    """

    builder: RuleBuilder
    operand: tuple[int, ...]
    slices: tuple[int, ...]
    indices: tuple[int, ...]
    index_vector: int
    window: tuple[int, ...]
    collapsed: tuple[int, ...]
    batching: tuple[int, ...]
    index_batching: tuple[int, ...]
    copies: int = 0
    combines: bool = False

    def rule(self) -> FactorRule:
        """Return the rule."""
        self._slice_dimensions()
        for k in self.collapsed:
            kind = REDUCTION if self.operand[k] > 1 else NEED_REPLICATION
            self._add(k, None, None, self.operand[k], PASS_THROUGH if self.copies else kind)
        if self.index_vector < len(self.indices):
            size = self.indices[self.index_vector]
            self._add(None, self.index_vector, None, size, NEED_REPLICATION)
        return self.builder.build()

    def _slice_dimensions(self) -> None:
        outer, batch = 0, 0
        for k, size in enumerate(self.slices):
            if k in self.window:
                while outer in self.collapsed or outer in self.batching:
                    outer += 1
                self._window_dimension(outer, k, size)
                outer += 1
                continue
            index = batch if batch < self.index_vector else batch + 1
            explicit = index in self.index_batching
            of_operand = self.batching[self.index_batching.index(index)] if explicit else None
            kind = PASS_THROUGH
            if self.copies and not explicit:
                kind = REDUCTION if self.combines else NEED_REPLICATION
            self._add(of_operand, index, k, size, kind)
            batch += 1

    def _window_dimension(self, outer: int, k: int, size: int) -> None:
        """Add the factors of a window dimension: one if it has full size, else one a side."""
        whole = self.operand[outer]
        if whole == size:
            self._add(outer, None, k, whole, PASS_THROUGH)
        elif self.copies or size == 1:
            self._add(outer, None, None, whole, NEED_REPLICATION if self.copies else REDUCTION)
            self._add(None, None, k, size, NEED_REPLICATION)
        else:
            self._add(outer, None, k, whole, NEED_REPLICATION, blocked=True)

    def _add(
        self,
        operand: int | None,
        index: int | None,
        piece: int | None,
        size: int,
        kind: FactorKind,
        *,
        blocked: bool = False,
    ) -> None:
        n = self.copies
        places = (
            [operand] * n + [index] + [piece] * n + [operand] * n if n else [operand, index, piece]
        )
        self.builder.add(places, size, kind, blocked=blocked)


@sharding_rule("gather")
def gather(i: HloInstruction) -> FactorRule:
    """Return the rule: indexed dimensions are reductions (masked gather, all-reduce)."""
    return _Indexed(
        builder_of(i),
        i.operands[0].shape.dimensions,
        sizes_of(i),
        i.operands[1].shape.dimensions,
        i.attribute("index_vector_dim"),
        i.attribute("offset_dims"),
        i.attribute("collapsed_slice_dims"),
        i.attribute("operand_batching_dims"),
        i.attribute("start_indices_batching_dims"),
    ).rule()


@sharding_rule("scatter")
def scatter(i: HloInstruction) -> FactorRule:
    """Return the rule: indexed dimensions pass; updates are reductions if they combine."""
    copies = (len(i.operands) - 1) // 2
    return _Indexed(
        builder_of(i),
        i.operands[0].shape.dimensions,
        i.operands[copies + 1].shape.dimensions,
        i.operands[copies].shape.dimensions,
        i.attribute("index_vector_dim"),
        i.attribute("update_window_dims"),
        i.attribute("inserted_window_dims"),
        i.attribute("input_batching_dims"),
        i.attribute("scatter_indices_batching_dims"),
        copies,
        combines_by_reduction(i),
    ).rule()


def combines_by_reduction(i: HloInstruction) -> bool:
    """Return True if the called computation is one associative operation of its parameters."""
    root = i.to_apply.root
    return (
        root.opcode.name in _COMBINERS
        and len(root.operands) == 2
        and all(operand.opcode.name == "parameter" for operand in root.operands)
    )
