"""Sharding rules: the dimensions of operands and results as products of named factors.

Source: Shardy's docs/propagation.md; sdy/transforms/propagation/op_sharding_rule_builder.cc.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final


class FactorKind(enum.Enum):
    """The communication that an operation needs if a factor is sharded."""

    PASS_THROUGH = "pass_through"
    REDUCTION = "reduction"
    NEED_REPLICATION = "need_replication"
    PERMUTATION = "permutation"


PASS_THROUGH: Final = FactorKind.PASS_THROUGH
REDUCTION: Final = FactorKind.REDUCTION
NEED_REPLICATION: Final = FactorKind.NEED_REPLICATION
PERMUTATION: Final = FactorKind.PERMUTATION

Tensor = tuple[tuple[int, ...], ...]
"""The factors of each dimension of a tensor, from major to minor."""


@dataclass(frozen=True)
class FactorRule:
    """The sharding rule of one operation.

    Attributes
    ----------
    sizes : tuple of int
        The size of each factor.
    operands, results : tuple of Tensor
        The factors of each dimension of each operand and result.
    kinds : tuple of FactorKind
        The kind of each factor.
    blocked : frozenset of int
        Factors along which no sharding is propagated.
    custom : bool
        True if the program states the rule.

    Examples
    --------
    >>> from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule, REDUCTION, PASS_THROUGH
    >>> kinds = (PASS_THROUGH, PASS_THROUGH, REDUCTION)
    >>> print(FactorRule((4, 8, 16), (((0,), (2,)), ((2,), (1,))), (((0,), (1,)),), kinds))
    ([i, k], [k, j])->([i, j]) {i=4, j=8, k=16} reduction={k}
    """

    sizes: tuple[int, ...]
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    kinds: tuple[FactorKind, ...]
    blocked: frozenset[int] = frozenset()
    custom: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.sizes, self.operands, self.results, self.blocked))

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """The operands, then the results."""
        return self.operands + self.results

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        sides = [", ".join(map(_tensor_text, side)) for side in (self.operands, self.results)]
        text = f"({sides[0]})->({sides[1]})"
        if self.sizes:
            text += " {" + ", ".join([f"{letter(k)}={n}" for k, n in enumerate(self.sizes)]) + "}"
        for kind in (REDUCTION, NEED_REPLICATION, PERMUTATION):
            chosen = [letter(k) for k, one in enumerate(self.kinds) if one is kind]
            text += f" {kind.value}={{{', '.join(chosen)}}}" if chosen else ""
        blocked = [letter(k) for k in sorted(self.blocked)]
        text += f" blocked_propagation={{{', '.join(blocked)}}}" if blocked else ""
        return text + (", custom" if self.custom else "")


def letter(factor: int) -> str:
    """Return the name of a factor: i, j ... z, then z_1, z_2 ..."""
    last = ord("z") - ord("i")
    return chr(ord("i") + factor) if factor <= last else f"z_{factor - last}"


def _tensor_text(tensor: Tensor) -> str:
    return "[" + ", ".join(["".join(map(letter, factors)) for factors in tensor]) + "]"


@dataclass
class RuleBuilder:
    """Collects factors; dimensions without one get a factor of size 1.

    operand_ranks, result_ranks: the rank of each operand and result.
    """

    operand_ranks: Sequence[int]
    result_ranks: Sequence[int]
    _sizes: list[int] = field(default_factory=list)
    _kinds: list[FactorKind] = field(default_factory=list)
    _blocked: set[int] = field(default_factory=set)
    _tensors: list[list[list[int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        ranks = (*self.operand_ranks, *self.result_ranks)
        self._tensors = [[[] for _ in range(rank)] for rank in ranks]

    def add(
        self,
        dimensions: Sequence[int | None],
        size: int,
        kind: FactorKind = PASS_THROUGH,
        *,
        blocked: bool = False,
    ) -> None:
        """Add a factor. dimensions: for each operand and result, the dimension with the factor."""
        factor = self._new(size, kind, blocked)
        for tensor, dimension in zip(self._tensors, dimensions, strict=True):
            if dimension is not None and not (size == 1 and tensor[dimension]):
                tensor[dimension].append(factor)

    def add_everywhere(
        self,
        dimension: int,
        size: int,
        kind: FactorKind = PASS_THROUGH,
        *,
        blocked: bool = False,
    ) -> None:
        """Add a factor of one dimension of every operand and result that is no scalar."""
        factor = self._new(size, kind, blocked)
        for tensor in self._tensors:
            if tensor:
                tensor[dimension].append(factor)

    def add_to_operands(self, dimension: int, size: int, kind: FactorKind) -> None:
        """Add a factor of one dimension of every operand."""
        self._add_to(range(len(self.operand_ranks)), dimension, size, kind)

    def add_to_results(self, dimension: int, size: int, kind: FactorKind) -> None:
        """Add a factor of one dimension of every result."""
        self._add_to(range(len(self.operand_ranks), len(self._tensors)), dimension, size, kind)

    def add_pointwise(
        self,
        sizes: Sequence[int],
        kind: Callable[[int], FactorKind] = lambda _: PASS_THROUGH,
        skip: Sequence[int] = (),
    ) -> RuleBuilder:
        """Add a factor for each dimension of a shape."""
        for dimension, size in enumerate(sizes):
            if dimension not in skip:
                self.add_everywhere(dimension, size, kind(dimension))
        return self

    def add_where_equal(
        self, sizes: Sequence[int], others: Sequence[int], kind: FactorKind, *, blocked: bool
    ) -> RuleBuilder:
        """Add a factor for each dimension; of a given kind where two shapes have other sizes."""
        for dimension, (size, other) in enumerate(zip(sizes, others, strict=True)):
            if size == other:
                self.add_everywhere(dimension, size)
            else:
                self.add_everywhere(dimension, size, kind, blocked=blocked)
        return self

    def build(self) -> FactorRule:
        """Return the rule."""
        sizes, kinds = list(self._sizes), list(self._kinds)
        tensors: list[Tensor] = []
        for tensor in self._tensors:
            made: list[tuple[int, ...]] = []
            for factors in tensor:
                if not factors:
                    made.append((len(sizes),))
                    sizes.append(1)
                    kinds.append(PASS_THROUGH)
                else:
                    made.append(tuple(factors))
            tensors.append(tuple(made))
        count = len(self.operand_ranks)
        return FactorRule(
            tuple(sizes),
            tuple(tensors[:count]),
            tuple(tensors[count:]),
            tuple(kinds),
            frozenset(self._blocked),
        )

    def _new(self, size: int, kind: FactorKind, blocked: bool) -> int:
        self._sizes.append(size)
        self._kinds.append(kind)
        if blocked:
            self._blocked.add(len(self._sizes) - 1)
        return len(self._sizes) - 1

    def _add_to(self, places: range, dimension: int, size: int, kind: FactorKind) -> None:
        factor = self._new(size, kind, False)
        for place in places:
            if self._tensors[place]:
                self._tensors[place][dimension].append(factor)


def identity_rule(sizes: Sequence[int], operands: int = 1) -> FactorRule:
    """Return the rule of values that are equal: one factor for each dimension."""
    rank = len(sizes)
    return RuleBuilder([rank] * operands, [rank]).add_pointwise(sizes).build()
