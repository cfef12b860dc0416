"""Products in another order: three factors as labels of dimensions, and moved factors.

A reverse, pad or broadcast of one factor has a counterpart on the other one.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.contractions import DotDimensions
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import paddings
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.attributes.values import PaddingDimension
from xla_explorer.hlo.instruction import HloInstruction

Labels = tuple[int, ...]


class Product(NamedTuple):
    """A dot as labels of dimensions: equal labels of both sides are batch or contracted."""

    left: Labels
    right: Labels
    result: Labels

    @property
    def operations(self) -> Labels:
        """The labels of all loops."""
        return tuple(dict.fromkeys([*self.left, *self.right]))


def _product(left: Labels, right: Labels, needed: set[int]) -> Product:
    """Return the dot of two sides; labels of both sides that nothing needs are contracted."""
    shared = [d for d in left if d in right]
    batch = [d for d in shared if d in needed]
    free = [d for d in (*left, *right) if d not in shared]
    return Product(left, right, (*batch, *free))


def dot_attributes(product: Product, old: Attributes) -> Attributes:
    """Return the dimension numbers of a product, with the other attributes of a dot."""
    shared = [d for d in product.left if d in product.right]
    batch = [d for d in shared if d in product.result]
    contracted = [d for d in shared if d not in product.result]
    return old.with_values(
        lhs_batch_dims=tuple([product.left.index(d) for d in batch]),
        rhs_batch_dims=tuple([product.right.index(d) for d in batch]),
        lhs_contracting_dims=tuple([product.left.index(d) for d in contracted]),
        rhs_contracting_dims=tuple([product.right.index(d) for d in contracted]),
    )


class NestedDot(NamedTuple):
    """The two orders of a product of three factors.

    factors: the operands p and q of the inner dot, and the other operand. first: the old inner and
    outer product. second: the new ones. result: the labels of the result, in order.
    """

    factors: tuple[HloInstruction, HloInstruction, HloInstruction]
    inner_is_left: bool
    first: tuple[Product, Product]
    second: tuple[Product, Product]
    result: Labels
    sizes: dict[int, int]

    @property
    def saved(self) -> float:
        """The operations of the old order by those of the new one."""
        old, new = (
            sum([math.prod([self.sizes[d] for d in one.operations]) for one in order])
            for order in (self.first, self.second)
        )
        return old / max(new, 1)


def _dot_labels(
    i: HloInstruction, left: list[int], right: list[int], names: dict[int, int]
) -> Product:
    """Return the labels of a dot whose paired dimensions get the name of the left one."""
    numbers = DotDimensions(i)
    for a, b in zip(
        numbers.lhs_batch + numbers.lhs_contracting,
        numbers.rhs_batch + numbers.rhs_contracting,
        strict=True,
    ):
        names[right[b]] = left[a]
    ends = [[names.get(d, d) for d in side] for side in (left, right)]
    result = [
        *[ends[0][d] for d in numbers.lhs_batch],
        *[ends[0][d] for d in numbers.lhs_free],
        *[ends[1][d] for d in numbers.rhs_free],
    ]
    return Product(tuple(ends[0]), tuple(ends[1]), tuple(result))


def nested_dot(outer: HloInstruction) -> NestedDot | Reason:
    """Return both orders of a dot of a dot, or why the factors have only one."""
    left = outer.operands[0].opcode.name == "dot"
    inner, other = outer.operands if left else outer.operands[::-1]
    p, q = inner.operands
    count = itertools.count()
    labels = [[next(count) for _ in range(one.shape.rank)] for one in (p, q, other)]
    sizes = {
        name: size
        for side, one in zip(labels, (p, q, other), strict=True)
        for name, size in zip(side, one.shape.dimensions, strict=True)
    }
    names: dict[int, int] = {}
    within = _dot_labels(inner, labels[0], labels[1], names)
    sides = (list(within.result), labels[2])
    whole = _dot_labels(outer, *(sides if left else sides[::-1]), names)
    final = [tuple([_final(names, d) for d in side]) for side in (*within[:2], labels[2])]
    result = tuple([_final(names, d) for d in whole.result])
    batch = {_final(names, d) for d in within.result if d in within.left and d in within.right}
    if any(d not in result for d in batch if d in final[2]):
        return refuse(
            "contracted-batch",
            f"%{outer.name} contracts a batch dimension of %{inner.name}",
        )
    a, b, c = final
    old = _product(a, b, {*c, *result})
    if left:
        new = _product(b, c, {*a, *result})
        last = _product(a, new.result, set(result))
    else:
        new = _product(c, a, {*b, *result})
        last = _product(new.result, b, set(result))
    ends = (old.result, c) if left else (c, old.result)
    return NestedDot(
        (p, q, other),
        left,
        (old, _product(*ends, set(result))),
        (new, last),
        result,
        sizes,
    )


def _final(names: dict[int, int], label: int) -> int:
    while label in names:
        label = names[label]
    return label


def has_a_dot_side(i: HloInstruction) -> bool:
    """Return True if an operand is a dot."""
    return any(o.opcode.name == "dot" for o in i.operands)


class Mirrored(NamedTuple):
    """A dot whose operand `source` is moved by a reverse, pad or broadcast.

    side: 0 for the left operand. pairs: contracted dimension of the source -> of the other side.
    moved: the contracted dimensions that the instruction changes. rest: True if the instruction
    changes others too. saved: see `gain`.
    """

    side: int
    pairs: dict[int, int]
    moved: tuple[int, ...]
    rest: bool
    saved: float


def _changed_dimensions(i: HloInstruction) -> list[int]:
    """Return the dimensions of the result that a reverse, pad or broadcast makes."""
    if i.opcode.name == "reverse":
        return list(i.attributes.value("dimensions"))
    if i.opcode.name == "pad":
        return [d for d, p in enumerate(paddings(i)) if p != PaddingDimension(0, 0, 0)]
    kept = i.attributes.value("dimensions")
    return [d for d in range(i.shape.rank) if d not in kept]


def _may_mirror(source: HloInstruction, moved: tuple[int, ...]) -> bool:
    if source.opcode.name != "pad":
        return bool(moved)
    chosen = [paddings(source)[d] for d in moved]
    return (
        bool(chosen)
        and uniform_value(source.operands[1]) == 0
        and all(p.low >= 0 and p.high >= 0 for p in chosen)
    )


def mirrored_operand(i: HloInstruction) -> Mirrored | Reason:
    """Return the operand whose movement can be mirrored on the other side, or why there is none."""
    numbers = DotDimensions(i)
    names = [o.opcode.name for o in i.operands]
    side = next((k for k in (0, 1) if names[k] in ("reverse", "pad", "broadcast")), None)
    if side is None:
        return refuse("nothing-to-mirror", f"no operand of %{i.name} is reversed or padded")
    source, other = i.operands[side], i.operands[1 - side]
    ends = (numbers.lhs_contracting, numbers.rhs_contracting)
    pairs = dict(zip(ends[side], ends[1 - side], strict=True))
    changed = _changed_dimensions(source)
    moved = tuple([d for d in changed if d in pairs])
    if not _may_mirror(source, moved):
        return refuse("nothing-to-mirror", f"%{source.name} moves no contracted dimension")
    rest = len(changed) > len(moved)
    if source.opcode.name == "reverse":
        saved = source.shape.element_count / max(other.shape.element_count, 1)
    elif source.opcode.name == "pad":
        inner = source.operands[0].shape.dimensions
        saved = math.prod([source.shape.dimensions[d] / max(inner[d], 1) for d in moved])
    else:
        saved = float(math.prod([source.shape.dimensions[d] for d in moved]))
        rest = rest or source.operands[0].shape.dimensions != tuple(
            [n for d, n in enumerate(source.shape.dimensions) if d not in moved]
        )
    halved = rest and source.opcode.name != "reverse"
    return Mirrored(side, pairs, moved, rest, saved / 2 if halved else saved)
