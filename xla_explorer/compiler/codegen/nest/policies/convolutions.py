"""The policy of convolutions: register-tiled implicit GEMM, a row of positions x output features.

The contraction is over the whole window, without im2col: adjacent positions of a row are `stride`
input columns apart, and overlap. Window column and input feature become one loop if they are
contiguous in both operands, which makes few input features fast. Padding, or an input whose
features are not contiguous, costs one copy of each image with zeros around it. Weights whose output
features are not contiguous are packed once.

If the input has interior padding (transposed convolutions, derivatives of strided ones), adjacent
outputs read different taps, and zeros contribute nothing. The outputs of each residue then are a
separate product (`SplitByResidue`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import gcd, prod
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.directives import SplitByResidue, StagePadded
from xla_explorer.compiler.codegen.nest.ir import Body, For, Load, LoopNest, Reduce, axes_of, walk
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import accesses
from xla_explorer.compiler.codegen.nest.policies.columns import is_simple
from xla_explorer.compiler.codegen.nest.policies.elementwise import collapsed, in_lanes
from xla_explorer.compiler.codegen.nest.policies.product_copies import OperandPacking
from xla_explorer.compiler.codegen.nest.policies.products import (
    adds_products,
    in_tiles,
    product_of,
    product_policy,
)
from xla_explorer.compiler.codegen.nest.policies.reductions import collapse_reduced, kept_loops
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import ZERO, Axis, IndexExpression, Remainder
from xla_explorer.hlo.analysis.window_phases import MOST_PHASES

COPIED = 0.25  # of the last cache, for an image with its padding, or for weights
LEAST_REGISTER = (
    16  # bytes; copies and few features use no wider registers, which slow down the code around
)


class Convolution(NamedTuple):
    """The loops of a convolution.

    batch: loops over the batch. places: over positions of windows, none if windows do not overlap.
    features: over output features. taps: reduced axes, input features first. image, weights: the
    factors. padded, transposed: the image, or the weights, are copied.
    """

    batch: list[Axis]
    places: list[Axis]
    features: Axis
    taps: list[Axis]
    image: Load
    weights: Load
    padded: bool
    transposed: bool


def convolution_policy(nest: LoopNest, tuning: Tuning, tasks: int = 1) -> Schedule | Reason:
    """Return the schedule of a nest whose result is a convolution.

    tasks: number of tasks for CPU threads, if possible.
    """
    c = convolution_of(nest, tuning)
    if isinstance(c, Reason):
        return c
    if not c.places:
        return product_policy(nest, tuning, tasks)
    filled = max(c.image.element.bytes << (c.features.extent - 1).bit_length(), LEAST_REGISTER)
    plan = Plan(
        nest, replace(tuning, register_bytes=min(tuning.register_bytes, filled), interleave=1)
    )
    depth, *window = c.taps
    order = _kept(nest)[:-1]
    for at, axis in enumerate(c.batch):
        for other in reversed(order[at : order.index(axis)]):
            plan.axis(other).reorder(plan.axis(axis))
        order.insert(at, order.pop(order.index(axis)))
    if depth.extent > 1:
        plan.axis(depth).reorder(*map(plan.axis, window))
    _copy(plan, c, tasks)
    while remainders := _remainders(plan.nest):
        plan.do(SplitByResidue(*remainders[0]))
    while ends := _ends(plan.nest):
        plan.axis(ends[0]).cut(ends[1])
    for name in _without_sums(plan.nest.body):
        chain = collapsed(plan.axis(name), 1)
        assert not isinstance(chain, Reason)
        in_lanes(plan, chain)
    for s, around in [(s, around) for s, around in plan.nest.statements() if isinstance(s, Reduce)]:
        collapse_reduced(plan, s)
        row, column = [loop.axis for loop in around[-2:] if isinstance(loop, For)]
        p = product_of(plan, column, row)
        assert p is not None
        in_tiles(plan, p._replace(near=True), OperandPacking(), tasks)
    plan.parallelize(tasks)
    return plan.schedule()


def convolution_of(nest: LoopNest, tuning: Tuning) -> Convolution | Reason:
    """Return the loops of a convolution without groups, or the reason against tiles."""

    def no(why: str) -> Reason:
        return refuse("no-register-tile", f"@{nest.name} {why}")

    if not tuning.register_bytes or not tuning.fused:
        return no("runs where there are no vectors with multiply-adds")
    kept = kept_loops(nest)
    found = (
        []
        if isinstance(kept, Reason) or not kept
        else [s for s in kept[-1].body if isinstance(s, Reduce)]
    )
    if len(found) != 1 or not is_simple(found[0], guarded=True) or not adds_products(found[0]):
        return no("must have one sum of products, of at least one result")
    (s,), axes = found, _kept(nest)
    features, taps = axes.pop(), [b.axis for b in s.axes]
    if 0 in [a.extent for a in (*axes, features, *taps)]:
        return no("has no multiply-add")
    factors = _factors(nest, s, features, taps)
    if factors is None:
        return no("must have two factors of its type, one of them contiguous along output features")
    weights, (read, offset) = factors
    guards = [g.expression for g in s.guards]
    slid = {a for x in (*read.place, *guards) if x in guards or x.axes & {*taps} for a in x.axes}
    first = next((k for k, a in enumerate(axes) if a in slid), len(axes))
    batch = [
        a for k, a in enumerate(axes) if a not in slid and (k < first or offset.coefficient(a) == 1)
    ]
    places, transposed = (
        [a for a in axes if a not in batch] if first < len(axes) else [],
        weights[1].coefficient(features) != 1,
    )
    if not places and transposed:
        if all(x.coefficient(a) in (0, 1) for x in read.place for a in batch):
            return no("is a product with weights whose output features are not contiguous")
        batch, places = batch[:-1], batch[-1:]  # disjoint windows of one element
    leaves = any(not isinstance(atom, Remainder) for g in guards for atom, _ in g.terms)
    c = Convolution(
        batch,
        places,
        features,
        taps,
        read,
        weights[0],
        leaves or offset.coefficient(taps[0]) not in (0, 1),
        transposed,
    )
    elements = _copied_elements(c)
    if elements * read.element.bytes > COPIED * tuning.last_cache.bytes:
        return no(f"needs a copy of {elements} elements, which does not fit the cache")
    if (
        prod([count for name, count in _remainders(nest) if name in {a.name for a in axes}])
        > MOST_PHASES
    ):
        return no("has outputs that use too many different sets of taps")
    return c


_Read = tuple[Load, IndexExpression]  # a load with its offset in elements


def _factors(
    nest: LoopNest, s: Reduce, features: Axis, taps: list[Axis]
) -> tuple[_Read, _Read] | None:
    """Return the reads of weights and image, or None for other factors."""
    loads = [
        (x, offset)
        for x, offset in accesses(nest, s.body)
        if isinstance(x, Load) and x.element is s.elements[0]
    ]
    weights, image = [
        [x for x in loads if (features in x[1].axes) is moves] for moves in (True, False)
    ]
    if (
        len(weights) != 1
        or len(image) != 1
        or weights[0][0].array == image[0][0].array
        or weights[0][1].axes - {*taps, features}
    ):
        return None
    return weights[0], image[0]


def _copied_elements(c: Convolution) -> int:
    """Return the elements of the larger copy, of the padded image or of the packed weights."""
    own = prod(
        [
            high - low + 1
            for x in c.image.place
            if not x.axes <= {*c.batch}
            for low, high in [x.bounds]
        ]
    )
    packed = prod([a.extent for a in (*c.taps, c.features)])
    return max(own if c.padded else 0, packed if c.transposed else 0)


def _kept(nest: LoopNest) -> list[Axis]:
    kept = kept_loops(nest)
    assert not isinstance(kept, Reason)
    return [loop.axis for loop in kept]


def _copy(plan: Plan, c: Convolution, tasks: int) -> None:
    """Stage weights and images, inside the loops that threads share."""
    depth, *window = c.taps
    inside = [axis for axis in (*window, depth) if axis.extent > 1]
    outer, around = _loops_around(plan, c, tasks)
    if c.padded:
        assert around is not None
        body = walk(around.body)
        axes = {b.axis for s, _ in body for b in axes_of(s)}
        (place,) = [s.place for s, _ in body if isinstance(s, Load) and s.array == c.image.array]
        moves = [d for d, x in enumerate(place) if x.axes & axes]
        moves.sort(
            key=lambda d: max([k for k, a in enumerate(inside) if a in place[d].axes], default=-1)
        )
        order = ".".join(map(str, moves))
        plan.do(StagePadded(f"%{c.image.array}", around.name, "scratch", order=order))
    if c.transposed:
        assert outer is not None
        outer.stage(c.weights.array, [plan.axis(a) for a in (*inside, c.features)])


def _loops_around(
    plan: Plan, c: Convolution, tasks: int
) -> tuple[AxisHandle | None, AxisHandle | None]:
    """Return the loops in whose iterations weights and images are staged.

    A second loop is split if the batch is too short for all threads, or for a single copy.
    """
    batch = [plan.axis(a) for a in c.batch]
    first = c.batch[0] if batch and c.batch[0].extent >= tasks else c.places[0]
    if first in c.batch and not c.transposed:
        return batch[0], batch[-1]
    if not batch and not c.padded and not c.transposed:
        return None, None
    unit = prod([count for name, count in _remainders(plan.nest) if name == first.name])
    steps = next(
        (
            n
            for n in range(tasks, first.extent + 1)
            if n == 1 or (first.extent % n == 0 and first.extent // n % unit == 0)
        ),
        1,
    )
    outer, inner, _ = plan.axis(first).split(first.extent // steps)
    if first in c.batch:
        return outer, batch[-1] if len(batch) > 1 else inner
    for loop in reversed(batch):
        loop.reorder(outer)
    return outer, batch[-1] if batch else outer


def _remainders(nest: LoopNest) -> list[tuple[str, int]]:
    """Return axes in guards on remainders, and the iterations with equal remainders.

    Axes of loops come first, innermost first.
    """
    found: dict[str, int] = {}
    sums = [s for s, _ in nest.statements() if isinstance(s, Reduce)]
    for atom in [
        atom
        for s in sums
        for g in s.guards
        for atom in g.expression.atoms()
        if isinstance(atom, Remainder)
    ]:
        for axis in atom.dividend.axes:
            count = atom.divisor // gcd(atom.divisor, atom.dividend.coefficient(axis) or 0)
            if count > 1:
                found[axis.name] = min(count, axis.extent)
    loops = [name for name, bound in nest.axes().items() if isinstance(bound, For)]
    return sorted(
        found.items(),
        key=lambda item: loops.index(item[0]) if item[0] in loops else -1,
        reverse=True,
    )


def _ends(nest: LoopNest) -> tuple[str, int] | None:
    """Return a reduced axis and the step at which a guard on it changes.

    Such guards remain after splitting by residue.
    """
    for s in [s for s, _ in nest.statements() if isinstance(s, Reduce)]:
        for axis, g in [
            (axis, g) for axis, _ in s.axes for g in s.guards if g.expression.axes == {axis}
        ]:
            values = [
                g.expression.substitute({axis: ZERO + k}).constant for k in range(axis.extent)
            ]
            for k, (one, next_one) in enumerate(pairwise(values), 1):
                if (0 <= one < g.bound) is not (0 <= next_one < g.bound):
                    return axis.name, k
    return None


def _without_sums(body: Body) -> list[str]:
    """Return the outermost loops without a sum: copies, and outputs that no tap reaches."""
    loops = [
        (s, any(isinstance(x, Reduce) for x, _ in walk(s.body))) for s in body if isinstance(s, For)
    ]
    return [
        name for s, sums in loops for name in (_without_sums(s.body) if sums else [s.axis.name])
    ]
