"""Dot: axes are assigned to batch, free and contracted factors; contraction needs an all-reduce.

Source: xla/service/spmd/dot_handler.cc (the order of the policy `xla`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.choices import Alternative
from xla_explorer.compiler.spmd.partitioning.device_axes import Axes, Tiling
from xla_explorer.compiler.spmd.partitioning.factors import Assignment, Factor, FactorTable
from xla_explorer.compiler.spmd.partitioning.halo import masked
from xla_explorer.compiler.spmd.partitioning.partitioner import Partitioner, handles
from xla_explorer.compiler.spmd.partitioning.resharding import cut_to
from xla_explorer.compiler.spmd.partitioning.sharded_value import ShardedValue, Value
from xla_explorer.compiler.spmd.partitioning.windowed_einsum import (
    LOOP,
    WindowedProduct,
    Windows,
    plain_name,
    refusal,
    windowed_bytes,
    windows_of,
)
from xla_explorer.compiler.spmd.partitioning.xla_order.contraction_order import ContractionOrder
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape


@handles("dot")
def dot(p: Partitioner, i: HloInstruction) -> Value:
    """Multiply the parts that one assignment of axes gives each operand."""
    factors = dot_factors(i)
    values = [p.value(o) for o in i.operands]
    return contracted(p, i, values, factors, p.wanted(i))


def dot_factors(i: HloInstruction) -> list[Factor]:
    """Return the factors of a dot: batch, contracted, left free, right free."""
    lhs, rhs = [o.shape.dimensions for o in i.operands[:2]]
    found = []
    left, right = i.attributes.value("lhs_batch_dims"), i.attributes.value("rhs_batch_dims")
    for k, (a, b) in enumerate(zip(left, right, strict=True)):
        found.append(Factor(lhs[a], (a, b, k)))
    inner = list(
        zip(
            i.attributes.value("lhs_contracting_dims"),
            i.attributes.value("rhs_contracting_dims"),
            strict=True,
        )
    )
    found += [Factor(lhs[a], (a, b, None)) for a, b in inner]
    at = len(left)
    for d, size in enumerate(lhs):
        if d not in left and all(d != a for a, _ in inner):
            found.append(Factor(size, (d, None, at)))
            at += 1
    for d, size in enumerate(rhs):
        if d not in right and all(d != b for _, b in inner):
            found.append(Factor(size, (None, d, at)))
            at += 1
    return found


def contracted(
    p: Partitioner,
    i: HloInstruction,
    values: Sequence[ShardedValue],
    factors: Sequence[Factor],
    wanted: Tiling,
) -> Value:
    """Partition a contraction: a sum of products over its contracted factors."""
    tilings = [Tiling(v.tiling.dims, wanted.manual) for v in values]
    table = FactorTable(p.axes, factors, [*tilings, wanted])
    chosen = _chosen(p, i, values, table, wanted)
    windows = _windows(p, i, values, chosen, wanted)
    targets = [chosen.tiling(k, v.shape.rank) for k, v in enumerate(values)]
    if windows is not None and windows.kind != "scatter":
        targets[windows.array] = values[windows.array].tiling
    given = [p.to(v, target) for v, target in zip(values, targets, strict=True)]
    inner = [
        [f.dims[k] for f in factors if f.contracted and f.dims[k] is not None] for k in range(2)
    ]
    parts = [
        masked(p.w, v, p.w.zero(v.local), [d for d in dims if d is not None])
        for v, dims in zip(given, inner, strict=True)
    ]
    result = chosen.tiling(len(values), i.shape.rank)
    if windows is not None:
        return _looped(p, i, parts, (windows, chosen), wanted)
    local = p.w.copied(i, parts, p.local_shape(i.shape, result))
    value = p.made(local, i.shape, result)
    add = p.run.state.combiner("add", i.shape.element_type) if chosen.partial else None
    runs = [a for f, a in zip(chosen.factors, chosen.axes, strict=True) if f.contracted]
    if not p.cheapest:
        value, runs = _sliced_sum(p, value, runs, wanted, add)
    return value if add is None else p.all_reduced_by_dim(value, runs, add, wanted)


def _windows(
    p: Partitioner,
    i: HloInstruction,
    values: Sequence[ShardedValue],
    chosen: Assignment,
    wanted: Tiling,
) -> Windows | None:
    """Return the loop that a product becomes, and record the decision if there may be one."""
    found = windows_of(p, values, chosen, wanted) if i.opcode.name == "dot" else None
    if found is None:
        return None
    size = windowed_bytes(p, values, chosen, found, i.shape)
    reason = refusal(size, p.run.windowed_from)
    count = p.axes.tiles(found.axes)
    sent = size / count * (count - 1)
    p.choose(
        "windowed-einsum",
        plain_name(found) if reason else LOOP,
        [
            Alternative(plain_name(found), sent * (1 + (found.kind == "scatter")), size),
            Alternative(LOOP, sent, 2 * size // count, 0, reason),
        ],
    )
    return None if reason else found


def _looped(
    p: Partitioner,
    i: HloInstruction,
    parts: Sequence[HloInstruction],
    how: tuple[Windows, Assignment],
    wanted: Tiling,
) -> Value:
    """Write a product as a loop, and sum over the axes that the loop does not run along."""
    windows, chosen = how
    result = chosen.tiling(2, i.shape.rank)
    if windows.kind == "scatter":
        result = result.with_dim(windows.other, wanted.dims[windows.other])
    local = p.local_shape(i.shape, result)
    sizes = list(local.dimensions)
    if windows.kind == "free":
        sizes[windows.other] = windows.shard * p.axes.tiles(windows.axes)
    made = WindowedProduct(p, i, windows, parts).written(sizes)
    value = p.made(cut_to(p.w, made, local.dimensions), i.shape, result)
    if not chosen.partial or windows.kind == "scatter":
        return value
    add = p.run.state.combiner("add", i.shape.element_type)
    runs = [a for f, a in zip(chosen.factors, chosen.axes, strict=True) if f.contracted]
    return p.all_reduced_by_dim(value, runs, add, wanted)


def _sliced_sum(
    p: Partitioner,
    value: ShardedValue,
    runs: Sequence[Axes],
    wanted: Tiling,
    add: HloComputation | None,
) -> tuple[ShardedValue, list[Axes]]:
    """Sum over the axes that split the result, and slice; return the axes that remain.

    XLA does so if just the summed axes split these dimensions, for a later reduce-scatter.
    """
    over = {k for run in runs for k in run}
    taken = value.tiling
    for d, axes in enumerate(wanted.dims):
        if axes and not taken.dims[d] and set(axes) <= over:
            taken = taken.with_dim(d, axes)
    first = [k for d, axes in enumerate(taken.dims) if axes != value.tiling.dims[d] for k in axes]
    if add is None or not first or not over - set(first):
        return value, list(runs)
    value = p.to(p.all_reduced(value, first, add, wanted), taken)
    return value, [tuple([k for k in run if k not in first]) for run in runs]


def _chosen(
    p: Partitioner,
    i: HloInstruction,
    values: Sequence[ShardedValue],
    table: FactorTable,
    wanted: Tiling,
) -> Assignment:
    """Return the assignment of the policy, and record the alternatives."""
    shape = i.shape
    usual = xla_assignment(i, table)
    most = usual.work(p.axes)
    costs: dict[Assignment, float] = {}
    for found in [usual, *table.candidates()]:
        if found not in costs:
            costs[found] = sent_by(p, shape, values, found, wanted)
    best = usual
    if p.cheapest:
        best = min(
            [a for a in costs if a.work(p.axes) <= most],
            key=lambda a: (costs[a], a.work(p.axes), a != usual),
        )
    if any(costs.values()):
        p.choose(
            "dot-strategy",
            described(p, best),
            [
                Alternative(
                    described(p, a),
                    cost,
                    p.local_shape(shape, a.tiling(len(values), shape.rank)).byte_size,
                    2 * a.work(p.axes),
                    "" if a.work(p.axes) <= most else "more work on a device",
                )
                for a, cost in sorted(costs.items(), key=lambda entry: entry[1])[:8]
            ],
        )
    return best


def sent_by(
    p: Partitioner,
    shape: Shape,
    values: Sequence[ShardedValue],
    chosen: Assignment,
    wanted: Tiling,
) -> float:
    """Return the bytes that a device sends if an assignment is chosen."""
    sent = sum([p.cost(v, chosen.tiling(k, v.shape.rank)) for k, v in enumerate(values)])
    result = chosen.tiling(len(values), shape.rank)
    return sent + p.reduction_cost(shape, result, chosen.partial, wanted)


def xla_assignment(i: HloInstruction, table: FactorTable) -> Assignment:
    """Return XLA's choice."""
    shapes = [*[o.shape for o in i.operands[:2]], i.shape]
    return ContractionOrder(table, [s.element_type.bytes for s in shapes]).assignment()


def described(p: Partitioner, chosen: Assignment) -> str:
    """Return an assignment in words: which kind of factor is split how often."""
    found = []
    for factor, axes in zip(chosen.factors, chosen.axes, strict=True):
        if axes:
            kind = (
                "contracting"
                if factor.contracted
                else "batch"
                if None not in factor.dims
                else "left free"
                if factor.dims[0] is not None
                else "right free"
            )
            found.append(f"{kind} by {p.axes.tiles(axes)}")
    return ", ".join(found) or "not split"
